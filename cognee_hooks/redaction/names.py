"""Which names promise a secret: keys of objects, variables, options, headers, parameters."""

from __future__ import annotations

import re
from functools import lru_cache

PASSWORD = "password"  # noqa: S105 - the word, not one
CREDENTIAL = "credential"

_PASSWORD_WORDS = frozenset(
    "password passwd passphrase passcode passwrd pwd pass userpass dbpass pw psk requirepass "
    "masterauth bindpw storepass keypass userpassword dbpassword adminpassword mysqlpwd "
    "rootpassword pgpassword mypassword smtppassword".split()
)
_CREDENTIAL_WORDS = frozenset(
    "secret secrets token apikey apisecret apitoken accesstoken authtoken refreshtoken bearertoken "
    "idtoken sessiontoken secretkey privatekey accesskey authkey clientsecret appsecret appkey "
    "jwt cookie credential credentials creds mnemonic seedphrase pat otp sharedsecret "
    "connectionstring connstr accountkey licensekey licencekey webhooksecret signingkey "
    "encryptionkey instrumentationkey masterkey authtok sastoken sessionkey secretaccesskey "
    "authorization".split()
)
_KEY_QUALIFIERS = frozenset(
    "api access secret private auth encryption encrypt signing sign master account shared service "
    "client license licence app application deploy storage admin session sdk user write ingest "
    "integration rest hmac aes cipher crypto decryption webhook jwt subscription function host "
    "root ssh pgp gpg age rsa ecdsa server signature token consumer validation "
    "instrumentation functions maps openai anthropic github "
    "stripe sendgrid personal".split()
)
_PAIRS = frozenset(
    {
        ("connection", "string"),
        ("conn", "string"),
        ("seed", "phrase"),
        ("recovery", "phrase"),
        ("client", "key"),
        ("password", "hash"),
        ("passwd", "hash"),
        ("key", "data"),
        ("webhook", "url"),
        ("sas", "url"),
        ("auth", "header"),
        ("recovery", "code"),
        ("backup", "code"),
        ("security", "answer"),
        ("honeycomb", "team"),
        ("unseal", "key"),
        ("bw", "session"),
        ("op", "session"),
        ("auth", "salt"),
        ("in", "salt"),
        ("nonce", "salt"),
        ("nonce", "key"),
        ("in", "key"),
    }
)
_TAIL = frozenset(
    "prod production dev development test testing stage staging live old new prev previous next "
    "current base value raw text plain string str b64 base64 env var default backup primary "
    "secondary main override confirm confirmation v 1 2 3 local ci bot write read".split()
)
_NO_SECRET_TOKENS = frozenset(
    "bos eos unk pad sep cls mask stop special page continuation cursor next".split()
)
"""Tokens of language models and of paged lists."""
_SPLIT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_QUERY_NAMES = frozenset(
    {"sig", "signature", "key", "auth", "code", "hmac", "sign", "sid", "pin", "appid", "hapikey"}
)


@lru_cache(maxsize=4096)
def kind_of(name: str) -> str:
    """Return what a name promises: `PASSWORD`, `CREDENTIAL`, or "" for nothing secret.

    Spelling does not matter: ``apiKey``, ``API_KEY``, ``x-api-key`` and ``api.key`` are one name.
    """
    words = [word.lower() for word in _SPLIT.findall(name)]
    while words:
        kind = _kind(words)
        if kind or words[-1] not in _TAIL:
            return kind
        words.pop()
    return ""


def _kind(words: list[str]) -> str:
    last = words[-1]
    if last == "token" and words[-2:-1] and words[-2] in _NO_SECRET_TOKENS:
        return ""
    if last in _PASSWORD_WORDS:
        return PASSWORD
    if last in _CREDENTIAL_WORDS:
        return CREDENTIAL
    if len(words) > 1:
        pair = words[-2], last
        if pair in {("pass", "word"), ("pass", "phrase"), ("pass", "code")}:
            return PASSWORD
        if pair in _PAIRS or (last == "key" and words[-2] in _KEY_QUALIFIERS):
            return CREDENTIAL
    joined = "".join(words)
    if joined in _PASSWORD_WORDS or last.endswith(("password", "passwd")):
        return PASSWORD
    return CREDENTIAL if joined in _CREDENTIAL_WORDS else ""


def names_secret(name: str) -> bool:
    """Whether a name promises a secret of any kind."""
    return bool(kind_of(name))


def is_query_secret(name: str) -> bool:
    """Whether a parameter of this name is a secret in a URL although elsewhere it is not."""
    return name.lower() in _QUERY_NAMES or name.lower().startswith("x-amz-s")
