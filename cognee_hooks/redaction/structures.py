"""Secrets that are known by the structure around them: keys in blocks, URLs, headers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from cognee_hooks.redaction import shapes
from cognee_hooks.redaction.names import kind_of
from cognee_hooks.redaction.spans import Span

Finder = Callable[[str], Iterator[Span]]

# -- private keys --------------------------------------------------------------------------------

_KEY_BEGIN = re.compile(r"-{4,5}\s?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?\s?-{4,5}")
_KEY_END = re.compile(r"-{4,5}\s?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?\s?-{4,5}")
_KEY_BODY_BEFORE = re.compile(
    r"(?<![A-Za-z0-9+/=])(?:[A-Za-z0-9+/=]{20,}(?:\\n|\\r|[\s>+|\"',])+)+\Z"
)
_PUTTY = re.compile(r"Private-Lines:[\s\S]*?(?:Private-MAC:\s*[0-9a-f]+|\Z)")


def private_keys(text: str) -> Iterator[Span]:
    """Find PEM, OpenSSH, PGP and PuTTY private keys, also cut off at either end."""
    position = 0
    while (begin := _KEY_BEGIN.search(text, position)) is not None:
        end = _KEY_END.search(text, begin.end())
        position = end.end() if end is not None else len(text)
        yield Span(begin.start(), position, "private-key", "private-key")
    first_end = _KEY_END.search(text)
    if first_end is not None and _KEY_BEGIN.search(text, 0, first_end.start()) is None:
        start = max(0, first_end.start() - 8192)
        body = _KEY_BODY_BEFORE.search(text[start : first_end.start()])
        if body is not None:
            yield Span(start + body.start(), first_end.end(), "private-key", "private-key")
    if "PuTTY-User-Key-File" in text:
        for match in _PUTTY.finditer(text):
            yield Span(*match.span(), "private-key", "private-key")


# -- URLs ----------------------------------------------------------------------------------------

_SCHEME = re.compile(r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,40}:(?://|\\/\\/|%2F%2F)", re.ASCII)
_URL_END = re.compile(r"[\s\"'`<>]|\\[nrt\"']|&quot;|\Z")
_PORT = re.compile(r"\d{1,5}(?:[/?#]|\Z)")


def url_credentials(text: str) -> Iterator[Span]:
    """Find passwords, and tokens in place of a user, in the authority of URLs."""
    for scheme in _SCHEME.finditer(text):
        start = scheme.end()
        limit = min(len(text), start + 2048)
        end_match = _URL_END.search(text, start, limit)
        rest = text[start : end_match.start() if end_match else limit]
        at = _at_of(rest)
        if at <= 0:
            continue
        user, colon, password = rest[:at].partition(":")
        if colon and password and not _only_refers(password):
            first = start + len(user) + 1
            yield Span(first, start + at, "url-password", "password")
        if shapes.is_random(user, 12 if not colon else 30) and (
            not colon or password in _NO_PASSWORDS
        ):
            yield Span(start, start + len(user), "url-token", "credential")


_NO_PASSWORDS = frozenset({"", "x", "X", "x-oauth-basic", "x-oauth-token", "api_token"})
"""What stands in the place of a password where the user's name is a token."""


def _only_refers(password: str) -> bool:
    """Whether a password in a URL stands for one; even ``password`` is used as one there."""
    return (
        shapes.is_tag(password)
        or password[:1] in {"$", "<", "{", "%(", "*"}
        or re.fullmatch(r"[A-Z_]{3,}|x{3,}|\.{3}", password) is not None
    )


_LATER_HOST = re.compile(
    r"[\w-]{1,40}(?:/[^\s/@?#]{1,60}|:[^\s/@?#\d][^\s/@?#]{0,60}(?:/[^\s/@?#]{1,60})?)@(?=[\w.-]{1,80}(?::\d+)?/|[\w.-]{1,80}:\d)"
)
"""What follows an ``@`` that belongs to the password: no host with a dot, and another ``@``."""


def _at_of(rest: str) -> int:
    """Return where the userinfo ends, -1 where there is none.

    It normally ends before the first slash. A password may hold one all the same, which shows when
    what follows the colon is no port.
    """
    authority_end = next((i for i, c in enumerate(rest) if c in "/?#"), len(rest))
    at = rest.rfind("@", 0, authority_end)
    if at >= 0:
        later = _LATER_HOST.match(rest, at + 1)
        return at if later is None else later.end() - 1
    colon = rest.find(":", 0, authority_end)
    if colon < 0 or _PORT.match(rest, colon + 1):
        return -1
    at = rest.rfind("@")
    host = re.match(r"[\w.-]+(?::\d+)?(?:[/?]|\Z)", rest[at + 1 :]) if at > colon else None
    return at if host is not None else -1


# -- headers -------------------------------------------------------------------------------------

_AUTHORIZATION = re.compile(
    r"authorization\b[\"'\\]{0,4}[ \t]{0,4}(?:[:=,]|=>|%3A)[ \t]{0,4}[\"'\\`]{0,4}"
    r"(?P<scheme>[A-Za-z][\w-]{1,30})(?:[ \t]+|%20)(?P<value>[^\s\"'`\\<>,;][^\"'`\\<>\r\n]{0,4096})",
    re.IGNORECASE,
)
_SCHEME_WORD = re.compile(
    r"\b(?P<scheme>bearer|basic|token|apikey|api-key|ssws|digest|negotiate|ntlm)(?:[ \t]+|%20)(?:token=)?[\"']?"
    r"(?P<value>[A-Za-z0-9._~+/=:-]{4,4096})",
    re.IGNORECASE,
)
_AWS_SIGNATURE = re.compile(r"\bSignature=(?P<value>[0-9a-fA-F]{32,})")
_DIGEST_RESPONSE = re.compile(
    r"\b(?:response|mac|oauth_signature|oauth_token)=\\?\"?(?P<value>[A-Za-z0-9%+/=_-]{16,500})"
)
_COOKIE = re.compile(
    r"\b(?:set-)?cookies?[\"'\\]{0,4}\s{0,3}[:=,]\s{0,3}[\"'\\]{0,4}(?:value[\"'\\]{0,4}\s{0,3}[:=]\s{0,3}[\"'\\]{0,4})?(?P<line>[^\r\n\"]{4,8192})",
    re.IGNORECASE,
)
_COOKIE_FLAG = re.compile(
    r"(?:-b|--cookie)[ =](?P<quote>[\"'])(?P<line>[^\"'\r\n]{4,8192})(?P=quote)"
)
_COOKIE_PAIR = re.compile(r"(?P<name>[\w.%$-]{1,100})=(?P<value>[^;\s\"'\\]{1,4096})")
_COOKIE_ATTRIBUTES = frozenset({"path", "domain", "expires", "max-age", "samesite", "version"})


def headers(text: str) -> Iterator[Span]:
    """Find what HTTP headers carry: Authorization, cookies, signatures."""
    for match in _AUTHORIZATION.finditer(text):
        yield from _authorization(text, match)
    for match in _SCHEME_WORD.finditer(text):
        basic = match["scheme"].lower() == "basic"
        value = match["value"].rstrip(".,:")
        shaped = shapes.is_basic(value) if basic else _is_bearer(value)
        if shaped and not _is_only_words(value):
            start = match.start("value")
            yield Span(start, start + len(value), "authorization", "authorization")
    for match in _cookie_lines(text):
        yield from _cookie_values(text, *match.span("line"))


def _authorization(text: str, match: re.Match[str]) -> Iterator[Span]:
    scheme, value = match["scheme"].lower(), match["value"].rstrip(" ,;)}]")
    start = match.start("value")
    if not value:  # nothing but the end of what the header is quoted in
        return
    if scheme.startswith("aws4"):
        for signature in _AWS_SIGNATURE.finditer(text, start, match.end()):
            yield Span(*signature.span("value"), "authorization", "authorization")
    elif scheme in {"digest", "oauth", "mac", "hawk"}:
        line_end = text.find("\n", start, start + 4096)
        for response in _DIGEST_RESPONSE.finditer(
            text, start, line_end if line_end > 0 else start + 4096
        ):
            yield Span(*response.span("value"), "authorization", "authorization")
    else:
        first = value.split()[0]
        if first.startswith("token="):
            start, first = start + len("token="), first[len("token=") :]
        if not shapes.is_stand_in(first) and not shapes.is_code(first):
            yield Span(start, start + len(first), "authorization", "authorization")


def _is_bearer(value: str) -> bool:
    return shapes.is_spoken_secret(value)


def _is_only_words(value: str) -> bool:
    return re.fullmatch(r"[A-Za-z]+(?:[-./:][A-Za-z]+)*:?", value) is not None and (
        shapes.is_identifier(value) or not shapes.is_random(value, 12)
    )


def _cookie_lines(text: str) -> Iterator[re.Match[str]]:
    if "ookie" in text or "OOKIE" in text:
        yield from _COOKIE.finditer(text)
    yield from _COOKIE_FLAG.finditer(text)


def _cookie_values(text: str, start: int, end: int) -> Iterator[Span]:
    for pair in _COOKIE_PAIR.finditer(text, start, end):
        value = pair["value"]
        plain = pair["name"].lower() in _COOKIE_ATTRIBUTES or shapes.is_stand_in(value)
        if not plain and (shapes.is_random(value, 8) or kind_of(pair["name"])):
            yield Span(*pair.span("value"), "cookie", "cookie")


FINDERS: tuple[Finder, ...] = (private_keys, url_credentials, headers)
"""All finders of this module; they look at the whole text, independently of each other."""
