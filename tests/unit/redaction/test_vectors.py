"""The vectors of the capture rules: strings, and keys of objects.

Our tags keep names where the older rules cut them too, so what counts here is the value.
"""

from __future__ import annotations

import pytest

from cognee_hooks.redaction import RedactionPipeline, rules
from cognee_hooks.redaction.names import kind_of
from cognee_hooks.redaction.spans import replace

BEGIN, END = "-----BEGIN {} KEY-----", "-----END {} KEY-----"


def redact(text: str) -> str:
    return replace(text, rules.find_secrets(text))


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("token: supersecretvalue123", "supersecretvalue123"),
        ("sk-" + "abcdefghijklmnop123456", "abcdefghijklmnop123456"),
        ("postgres://user:" + "pw@db.example.com:5432/x", ":pw@"),
        ("mongodb+srv://u:" + "p@c/db?x=1 ok", ":p@"),
        ("Authorization: Bearer abcdefghijklmno1234", "abcdefghijklmno1234"),
        ("token: Bearer abc.def", "abc.def"),
        ("password=hunter2 next", "hunter2"),
        ('{"api_key": "abc def", "x": 1}', "abc def"),
        ("client_secret='a b c';", "a b c"),
        ("?token=abc&user=1", "abc"),
        ("x-api-key: k1, other", "k1"),
        ("Password : 'x1' and more", "x1"),
        ("--password=hunter2", "hunter2"),
        (f"{BEGIN.format('RSA PRIVATE')}\nMIIE\n{END.format('RSA PRIVATE')} tail", "MIIE"),
        (f"{BEGIN.format('PRIVATE')}\nMIIE no end", "MIIE"),
        ("sk-ant-" + "a" * 20, "aaaa"),
        ("sk-proj-" + "b" * 20, "bbbb"),
        ("github_pat_" + "A" * 22, "AAAA"),
        ("xoxb-" + "1" * 16, "1111"),
        ("whsec_" + "q" * 16, "qqqq"),
        ("$2a$10$" + "c" * 53, "cccc"),
        ("my bearer token: eyJhbGciOi", "eyJhbGciOi"),
        ("basic token: hunter2", "hunter2"),
        ("AWS_SECRET_ACCESS_KEY=abcd1234", "abcd1234"),
        ("AKIA" + "ABCDEFGHIJKLMNOP", "ABCDEFGHIJKLMNOP"),
        ("postgresql+asyncpg://u:" + "p@h/db", ":p@"),
        ("https://user:" + "pw@host/x", ":pw@"),
        ("rediss://:" + "pw@host/0", ":pw@"),
        ("accessToken=abc", "abc"),
        ("sk_live_" + "z" * 24, "zzzz"),
        ("AIza" + "SyA" + "0bC-" * 8, "0bC-0bC-"),
        ("eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxIn0" + ".c2lnbmF0dXJl", "eyJzdWIiOiIxIn0"),
        ("clientSecret: 'q8w7e6'", "q8w7e6"),
        ("pwd=hunter2", "hunter2"),
        ("psql --password hunter2", "hunter2"),
        ("PGPASSWORD=" + "s3cr3t! psql -h db", "s3cr3t!"),
    ],
)
def test_the_value_of_a_vector_goes(text, secret):
    after = redact(text)
    assert secret not in after
    assert "[redacted:" in after


@pytest.mark.parametrize(
    "text",
    [
        "sk-short",
        "max_tokens=100",
        "tokenizer: gpt2",
        "secret",
        "plain text stays",
        "a basic example of this",
        "const token = getToken();",
        "password:\nnext line",
        "shipped via #1466, squash 0fda534e, merge 4c536992",
        "0fda534e0fda534e0fda534e0fda534e0fda534e\n4c5369924c5369924c5369924c5369924c536992\n",
    ],
)
def test_what_is_no_secret_stays(text):
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("password=hunter2 next", ("password=", " next")),
        ('{"api_key": "abc def", "x": 1}', ('{"api_key": "', '", "x": 1}')),
        ("?token=abc&user=1", ("?token=", "&user=1")),
        ("x-api-key: k1, other", ("x-api-key: ", ", other")),
        (
            "postgres://user:" + "pw@db.example.com:5432/x",
            ("postgres://user:", "@db.example.com:5432/x"),
        ),
        ("PGPASSWORD=" + "s3cr3t! psql -h db", ("PGPASSWORD=", " psql -h db")),
    ],
)
def test_names_and_what_follows_stay(text, kept):
    after = redact(text)
    assert after.startswith(kept[0])
    assert after.endswith(kept[1])


SECRET_KEYS = (
    "api_key apiKey API-KEY Authorization x-api-key access_token client-secret db_passwd "
    "accessToken private_key cookie "
    "clientSecret pwd PGPASSWORD password newPassword refreshToken DB_PASS "
    "connectionString secretAccessKey passphrase credentials"
).split()
PLAIN_KEYS = (
    "tokens token_count max_tokens tokenizer token_type key sort_key primary_key foreign_key "
    "public_key password_hash_algorithm passed compass bypass author keyboard monkey path "
    "description cookie_policy secretary"
).split()


@pytest.mark.parametrize("key", SECRET_KEYS)
def test_a_value_under_a_secret_key_goes_whole(key):
    value = {"outer": {key: ["a", {"b": 12345}]}, "other": "words"}
    after = RedactionPipeline().redact_blocking(value).value
    assert after == {"outer": {key: f"[redacted:{kind_of(key)}]"}, "other": "words"}


@pytest.mark.parametrize("key", PLAIN_KEYS)
def test_a_value_under_a_plain_key_stays(key):
    value = {key: ["a", {"b": 12345}]}
    assert RedactionPipeline().redact_blocking(value).value == value


def test_every_value_of_a_yaml_block_goes_and_its_shape_stays():
    values = {
        "PASSWORD": "Fj0rd!" + "19%walrus",
        "SEARCH_API_KEY": "d91960a9-cf0b" + "-4701-8925-361433eca765",
        "FEED_URL": "https://feeds.example.com/v1?format=json&apiKey=" + "8fj2k9dk2l",
        "ALERTS": "https://hooks.slack.com/services/" + "T0AXE2ED/BU3INXE/Q40FLEad8wUumWNq",
        "DEPLOY_TOKEN": "abcdefghijklmnopqrstuvwxyz" + "abcdefghijklmn",
        "REGION": "eu-north-1",
    }
    text = "env:\n" + "".join(f"  {name}: {value}\n" for name, value in values.items())
    after = redact(text)
    assert [line.split(":")[0] for line in after.splitlines()] == [
        "env",
        *(f"  {n}" for n in values),
    ]
    assert "  REGION: eu-north-1\n" in after
    assert "https://feeds.example.com/v1?format=json&apiKey=[redacted:" in after
    assert "https://hooks.slack.com/services/[redacted:" in after
    for secret in ("Fj0rd!", "d91960a9", "8fj2k9dk2l", "T0AXE2ED", "abcdefgh"):
        assert secret not in after
