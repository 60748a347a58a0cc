"""What is kept of the account that a plugin was given."""

from __future__ import annotations

from builtin_plugins.provisioning.agent_key import fingerprint


def test_vector_25_whose_account_it_is_is_kept_as_a_digest():
    """As the other cognee plugins write it, so that each knows the other's."""
    digest = "af992aed0fffe87db6f95f12d6fc8cd6f73bb17abb0742929652a04c10e7ef34"
    assert fingerprint("principal-" + "key-1") == digest
