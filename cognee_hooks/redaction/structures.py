"""Secrets that are known by the structure around them: keys in blocks, URLs, headers, commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

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
_PUTTY = re.compile(
    r"PuTTY-User-Key-File-\d[\s\S]*?(?P<key>Private-Lines:[\s\S]*?(?:Private-MAC:\s*[0-9a-f]+|\Z))"
)


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
            yield Span(*match.span("key"), "private-key", "private-key")


# -- URLs ----------------------------------------------------------------------------------------

_SCHEME = re.compile(r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,40}:(?://|\\/\\/|%2F%2F)", re.ASCII)
_URL_END = re.compile(r"[\s\"'`<>]|\\[nrt\"']|&quot;|\Z")
_USERINFO_FORBIDDEN = re.compile(r"[?#]")
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
        elif not colon and shapes.is_random(user, 12):
            yield Span(start, start + at, "url-token", "credential")


def _only_refers(password: str) -> bool:
    """Whether a password in a URL stands for one; even ``password`` is used as one there."""
    return (
        shapes.is_tag(password)
        or password[:1] in {"$", "<", "{", "%(", "*"}
        or re.fullmatch(r"[A-Z_]{3,}|x{3,}|\.{3}", password) is not None
    )


def _at_of(rest: str) -> int:
    """Return where the userinfo ends, -1 where there is none.

    It normally ends before the first slash. A password may hold one all the same, which shows when
    what follows the colon is no port.
    """
    authority_end = next((i for i, c in enumerate(rest) if c in "/?#"), len(rest))
    at = rest.rfind("@", 0, authority_end)
    if at >= 0:
        return at
    colon = rest.find(":", 0, authority_end)
    if colon < 0 or _PORT.match(rest, colon + 1):
        return -1
    at = rest.rfind("@")
    host = re.match(r"[\w.-]+(?::\d+)?(?:[/?]|\Z)", rest[at + 1 :]) if at > colon else None
    return at if host is not None else -1


# -- headers -------------------------------------------------------------------------------------

_AUTHORIZATION = re.compile(
    r"authorization\b[\"'\\]{0,4}\s{0,4}(?:[:=,]|=>|%3A)\s{0,4}[\"'\\`]{0,4}"
    r"(?P<scheme>[A-Za-z][\w-]{1,30})(?:\s+|%20)(?P<value>[^\s\"'`\\<>,;][^\"'`\\<>\r\n]{0,4096})",
    re.IGNORECASE,
)
_SCHEME_WORD = re.compile(
    r"\b(?P<scheme>bearer|basic|token|apikey|api-key|ssws|digest|negotiate|ntlm)(?:[ \t]+|%20)"
    r"(?P<value>[A-Za-z0-9._~+/=:-]{4,4096})",
    re.IGNORECASE,
)
_AWS_SIGNATURE = re.compile(r"\bSignature=(?P<value>[0-9a-fA-F]{32,})")
_DIGEST_RESPONSE = re.compile(r"\bresponse=\"?(?P<value>[0-9a-f]{32})\"?")
_COOKIE = re.compile(
    r"\b(?:set-)?cookies?[\"'\\]{0,4}\s{0,3}[:=,]\s{0,3}[\"'\\]{0,4}(?P<line>[^\r\n\"]{4,8192})",
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
    if scheme.startswith("aws4"):
        for signature in _AWS_SIGNATURE.finditer(text, start, match.end()):
            yield Span(*signature.span("value"), "authorization", "authorization")
    elif scheme == "digest":
        for response in _DIGEST_RESPONSE.finditer(text, start, match.end()):
            yield Span(*response.span("value"), "authorization", "authorization")
    else:
        first = value.split()[0]
        if not shapes.is_stand_in(first) and not shapes.is_code(first):
            yield Span(start, start + len(first), "authorization", "authorization")


def _is_bearer(value: str) -> bool:
    return shapes.is_random(value, 6) and not shapes.is_code(value)


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


# -- command lines and small languages -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Shape:
    """A pattern whose group ``value`` is a secret unless it only stands for one."""

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    random_only: bool = False


_WORD = r"(?P<q>[\"']?)(?P<value>[^\s\"'|;&<>`][^\s\"']{0,1023}|(?<=[\"'])[^\"'\r\n]{1,1024})(?P=q)"


def _shape(name: str, hints: str, pattern: str, *, random_only: bool = False) -> _Shape:
    return _Shape(name, tuple(hints.split()), re.compile(pattern, re.IGNORECASE), random_only)


_SHAPES = (
    _shape(
        "flag",
        "--",
        r"(?<![\w-])--?(?=[\w-]*(?:pass|pwd|secret|token|key|auth|cred))"
        rf"(?P<name>[A-Za-z][\w-]{{1,60}})(?:[ \t]+|=){_WORD}",
    ),
    _shape(
        "user-password",
        "-u --user",
        r"(?<![\w-])(?:-u|--user|--proxy-user|-U)(?:[ \t]+|=)[\"']?[^\s:\"'/]{1,100}:(?P<value>[^\s\"'/@][^\s\"']{0,500})",
    ),
    _shape(
        "auth-flag",
        "http -a",
        r"\b(?:http|https|xh|ab|httpie)\b[^\n|;]{0,300}[ \t](?:-a|--auth|-A)(?:[ \t]+|=)[\"']?[^\s:\"']{1,100}:(?P<value>[^\s\"']{1,500})",
    ),
    _shape("docker-login", "login", rf"\blogin\b[^\n|;]{{0,300}}[ \t]-p[ \t=]?{_WORD}"),
    _shape(
        "mysql",
        "mysql mariadb",
        r"\b(?:mysql\w*|mariadb\w*)\b[^\n|;]{0,300}[ \t]-p(?P<value>[^\s\"'-][^\s\"']{2,200})",
    ),
    _shape("sshpass", "sshpass", rf"\bsshpass[ \t]+-p[ \t]*{_WORD}"),
    _shape("redis", "redis-cli", rf"\bredis-cli\b[^\n|;]{{0,300}}[ \t](?:-a|--pass)[ \t]+{_WORD}"),
    _shape(
        "redis-conf",
        "requirepass masterauth AUTH",
        rf"(?:^|\n|>)[ \t]*(?:requirepass|masterauth|AUTH(?:[ \t]+\w+(?=[ \t]+\S))?)[ \t]+{_WORD}",
    ),
    _shape(
        "ldap",
        "ldap bindpw bindpass",
        rf"(?:\bldap\w+\b[^\n|;]{{0,300}}[ \t]-w[ \t]+|\bbind(?:pw|passwd|password)[ \t]+){_WORD}",
    ),
    _shape("ssh-keygen", "ssh-keygen", rf"\bssh-keygen\b[^\n|;]{{0,300}}[ \t]-[NP][ \t]+{_WORD}"),
    _shape(
        "htpasswd",
        "htpasswd",
        r"\bhtpasswd[ \t]+-\w*b\w*[ \t]+(?:\S+[ \t]+)?\S+[ \t]+(?P<value>\S+)",
    ),
    _shape("openssl", "pass:", r"\bpass:(?P<value>[^\s\"']{2,200})"),
    _shape(
        "stdin-password",
        "--password-stdin sudo chpasswd --passphrase-fd passwd",
        r"\b(?:echo|printf)[ \t]+(?:-\w+[ \t]+)?(?P<q>[\"']?)(?P<value>(?:(?!(?P=q))[^\n|]){2,200}?)(?P=q)[ \t]*\|[ \t]*(?:sudo[ \t]+-\w*S|[^\n|]{0,200}(?:--password-stdin|--passphrase-fd|--with-token|passwd|chpasswd|cryptsetup))",
    ),
    _shape(
        "here-string",
        "<<<",
        rf"(?:--with-token|--password-stdin|login|passwd)\b[^\n]{{0,100}}<<<[ \t]*{_WORD}",
    ),
    _shape(
        "aws-configure",
        "configure set",
        rf"\bset[ \t]+(?=\S*(?:secret|token|key|pass))[\w.-]+[ \t]+{_WORD}",
    ),
    _shape(
        "setx",
        "set",
        rf"(?:\bsetx|\bset[ \t]+-\w+|\bsetenv)[ \t]+(?=\w*(?:SECRET|TOKEN|KEY|PASS|PWD))\w+[ \t]+{_WORD}",
    ),
    _shape("cargo-login", "cargo login", r"\bcargo[ \t]+login[ \t]+(?P<value>[A-Za-z0-9_-]{20,})"),
    _shape(
        "netrc",
        "login machine",
        r"\blogin[ \t\n]+\S{1,200}[ \t\n]+password[ \t\n]+(?P<value>\S{2,500})",
    ),
    _shape(
        "netrc",
        "machine password",
        r"\bmachine[ \t\n]+\S{1,200}[ \t\n]+password[ \t\n]+(?P<value>\S{2,500})",
    ),
    _shape(
        "pgpass",
        ":",
        r"(?:^|\n)[\w.*-]{1,200}:(?:\d{2,5}|\*):[\w.*-]{1,100}:[\w.*-]{1,100}:(?P<value>[^\s:]{2,200})(?=\s|\Z)",
    ),
    _shape(
        "sql",
        "password identified",
        r"\b(?:password|identified[ \t]+(?:with[ \t]+\S+[ \t]+)?by(?:[ \t]+password)?)[ \t]+(?:=[ \t]*)?(?P<q>['\"])(?P<value>[^'\"\r\n]{1,500})(?P=q)",
    ),
    _shape(
        "secure-string",
        "SecureString",
        r"ConvertTo-SecureString[ \t]+(?:-String[ \t]+)?(?P<q>[\"'])(?P<value>[^\"'\r\n]{1,500})(?P=q)",
    ),
    _shape(
        "xml-element",
        "</",
        r"<(?P<name>(?:\w+:)?[\w.-]{2,60})(?:\s[^<>]{0,200})?>(?:<!\[CDATA\[)?(?P<value>[^<>]{2,4000}?)(?:\]\]>)?</(?P=name)>",
    ),
    _shape(
        "named-value",
        "value",
        r"(?:\b(?:name|key|id|header|variable)[\"']?[ \t]*[:=][ \t]*[\"']?)(?P<name>[\w.$ -]{2,80}?)[\"']?[ \t]*,?[ \t]*(?:\r?\n[ \t]*)?[\"']?\bvalue[\"']?[ \t]*[:=][ \t]*(?P<q>[\"']?)(?P<value>(?<=[\"'])[^\"'\r\n]{1,4096}|(?<![\"'])[^\s\"'{,]{1,4096})",
    ),
    _shape(
        "docker-auth",
        "auth",
        r"\"auth\"\s*:\s*\"(?P<value>[A-Za-z0-9+/]{8,}={0,2})\"",
        random_only=True,
    ),
    _shape(
        "kube-config",
        "-data",
        r"\b(?:client-key-data|id-token|refresh-token)\s*:\s*(?P<value>[A-Za-z0-9+/._=-]{20,})",
    ),
    _shape("laravel", "base64:", r"\bAPP_KEY\s*=\s*(?P<value>base64:[A-Za-z0-9+/]{20,}={0,2})"),
    _shape("wifi", "psk", r"\bpsk\s*=\s*(?P<q>\"?)(?P<value>[^\s\"]{8,64})(?P=q)"),
)
_NAMED = frozenset({"flag", "xml-element", "named-value"})


def shaped(text: str) -> Iterator[Span]:
    """Find what command-line options, SQL, XML and small configuration languages carry."""
    lowered = text.lower()
    for shape in _SHAPES:
        if not any(hint.lower() in lowered for hint in shape.hints):
            continue
        for match in shape.pattern.finditer(text):
            value = match["value"]
            kind = kind_of(match["name"]) if shape.name in _NAMED else "password"
            if not kind and shape.name == "flag" and match["name"].lower() in {"auth", "key"}:
                kind = "credential" if shapes.is_random(value, 12) else ""
            if kind and _counts(shape, value):
                yield Span(*match.span("value"), shape.name, kind)


def _counts(shape: _Shape, value: str) -> bool:
    if shapes.is_stand_in(value) or value.startswith("-"):
        return False
    if shape.random_only:
        return shapes.is_basic(value)
    if shape.name == "flag":
        return not (shapes.is_path_or_url(value) or shapes.is_code(value))
    return not (shape.name in {"xml-element", "named-value"} and shapes.is_prose(value))


# -- prose and objects ---------------------------------------------------------------------------

_SAID = re.compile(
    r"\b(?P<name>pass(?:word|phrase|code|wd)?|pwd|secret|token|credential|api[ _-]?key|access[ _-]?key"
    r"|(?:secret|private|auth|signing|license|encryption|app|client)[ _-]?key|pin)\b"
    r"[\"'`)]{0,2}(?:[ \t]+(?:for|of|to|on)[ \t]+[\w.@/-]{1,60}(?:[ \t]+[\w.@/-]{1,60}){0,3})?"
    r"(?:[ \t]+(?:is|was|are|=|to|be|now|set|as|we|you|have|use|stored|still|currently|should|changed"
    r"|printed|used|i)){0,5}[ \t]*[:=]?[ \t]+(?P<q>[\"'`]?)(?P<value>[^\s\"'`<>]{6,512})(?P=q)",
    re.IGNORECASE,
)
_SECRET_OBJECT = re.compile(r"^kind:[ \t]*Secret\b", re.MULTILINE)
_DATA_LINE = re.compile(
    r"^(?P<indent>[ ]{1,8})[\w.-]{1,100}:[ \t]+(?P<q>[\"']?)(?P<value>[^\s\"'#]{2,8192})(?P=q)[ \t]*$",
    re.MULTILINE,
)
_DATA = re.compile(r"^(?:data|stringData):[ \t]*$", re.MULTILINE)
_AWS_PAIR = re.compile(r"(?<![A-Za-z0-9/+=])(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])")


def said(text: str) -> Iterator[Span]:
    """Find what people say: "the password is …", where the value looks like one."""
    for match in _SAID.finditer(text):
        value = match["value"].rstrip(".,;:!?)")
        start = match.start("value")
        if shapes.is_random(value) and not (shapes.is_path_or_url(value) or shapes.is_code(value)):
            yield Span(start, start + len(value), "said", "credential")


def kubernetes_secrets(text: str) -> Iterator[Span]:
    """Find the values of a Kubernetes Secret, which are base64 under any name at all."""
    if _SECRET_OBJECT.search(text) is None:
        return
    for data in _DATA.finditer(text):
        position = data.end() + 1
        while (line := _DATA_LINE.match(text, position)) is not None:
            if not shapes.is_stand_in(line["value"]):
                yield Span(*line.span("value"), "kubernetes-secret", "credential")
            position = line.end() + 1


def aws_secret_keys(text: str) -> Iterator[Span]:
    """Find the 40 characters that go with an AWS access key id in the same text."""
    if re.search(r"\bA[KS]IA[A-Z0-9]{16}\b|aws_secret", text, re.ASCII) is None:
        return
    for match in _AWS_PAIR.finditer(text):
        value = match["value"]
        if re.search(r"[a-z]", value) and re.search(r"[A-Z]", value) and re.search(r"\d", value):
            yield Span(*match.span("value"), "aws-secret-access-key", "aws-secret-access-key")


FINDERS: tuple[Finder, ...] = (
    private_keys,
    url_credentials,
    headers,
    shaped,
    said,
    kubernetes_secrets,
    aws_secret_keys,
)
"""All finders of this module; they look at the whole text, independently of each other."""
