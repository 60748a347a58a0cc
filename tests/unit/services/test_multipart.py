from __future__ import annotations

from email import message_from_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognee_hooks.errors import FailureKind, ServerFailure
from cognee_hooks.services.multipart import MULTIPART_LIMIT, encode_multipart

SENDABLE = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@given(st.lists(SENDABLE, min_size=1, max_size=4))
def test_values_come_out_as_they_went_in(values):
    body, content_type = encode_multipart([("field", value) for value in values])
    message = message_from_bytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body)
    boundary = message.get_boundary().encode()
    parts = body.split(b"--" + boundary)[1:-1]
    assert [part.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n") for part in parts] == [
        value.encode() for value in values
    ]


@pytest.mark.parametrize("value", ["x" * (MULTIPART_LIMIT + 1), "\ud800"])
def test_what_cannot_be_sent_is_refused(value):
    with pytest.raises(ServerFailure) as caught:
        encode_multipart([("raw_data", value)])
    assert (caught.value.kind, caught.value.sent) == (FailureKind.REJECTED, False)
