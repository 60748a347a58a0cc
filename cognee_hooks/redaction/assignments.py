"""Secrets that are known by the name they are given: ``NAME=value`` in every syntax there is.

A name is found by the word in it that promises a secret, then read to both sides; what follows it
is taken apart by hand, because no single expression covers ``.env``, YAML, JSON inside JSON,
headers, URLs, command lines and source code, and stays linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cognee_hooks.redaction import shapes
from cognee_hooks.redaction.names import PASSWORD, is_query_secret, kind_of
from cognee_hooks.redaction.spans import Span

_KEYWORDS = (
    "pass pwd psk secret token key jwt cookie cred mnemonic phrase connection connstr auth webhook "
    "sas bindpw otp pat pw code answer honeycomb salt session instrumentation validation".split()
)
"""Strings one of which every name that promises a secret holds, in lower case. Looking for plain
strings is many times faster than one expression, and most text has none of them."""
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.$")
_MAX_NAME = 100
_MAX_VALUE = 4096

_QUOTE = r"(?:\\{1,7}[\"']|\\u0022|\\u0027|%22|%27|&quot;|&\#3[49];|&apos;|[\"'`])"
_SEPARATOR = re.compile(
    rf"""
    (?P<closing>{_QUOTE}?[\])]?)
    (?P<before>[ \t]*)
    (?P<sign>:=|=>|[=!]={{1,2}}|<-|\uff1a|=|:|%3[DA]|\\u003[dDaA]|&\#6[15];|,(?=[ \t]*{_QUOTE}))
    (?P<after>[ \t]*(?:!(?:unsafe|!str|!binary)[ \t]+|string\(\d{{1,5}}\)[ \t]+)?(?:\r?\n[ \t]*(?={_QUOTE}))?)
    (?P<prefix>(?:[rbfuRBFU]{{1,2}}|@|\$)?(?={_QUOTE}))?
    (?P<open>{_QUOTE}?)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TYPE_HINT = re.compile(
    r"[ \t]*[A-Za-z_][\w.]{0,60}(?:\[[\w., |]{0,60}\])?(?:[ \t]*\|[ \t]*\w{1,40})?[ \t]*=[ \t]*(?=[\"'])"
)
_BLOCK_SCALAR = re.compile(r"[|>][+-]?\d?[ \t]*\r?\n")
_KEY_FOLLOWS = re.compile(r"[ \t]*:")
_CLOSED_ALREADY = re.compile(r"[,);\]}:]+(?:\s|\Z)")
_LOOSE = re.compile(
    r"[\"'`)\]]{0,3}[ \t]+(?:(?:is|was|to|are|now|set|be|of)[ \t]+){0,3}"
    r"(?:(?P<q>[\"'`])(?P<quoted>[^\"'`\r\n]{6,200})(?P=q)|(?P<value>[^\s\"'`<>]{6,512}))"
)
_ALONE = re.compile(r"[ \t]*(?:#|\r?\n|\Z)")
_STRONG = re.compile(
    r"=(?=[\w-]{0,200}\d)(?=[\w-]{0,200}[a-z])(?=[\w-]{0,200}[A-Z])[A-Za-z0-9_-]{32,}(?![\w/.-])"
)
_LIST = re.compile(r"[\"']?[ \t]*[:=][ \t]*\[\s{0,40}(?=[\"'])")
_LIST_ITEM = re.compile(r"(?P<q>[\"'])(?P<value>[^\"'\r\n]{1,500})(?P=q)\s{0,40},?\s{0,40}")
_YAML_LIST = re.compile(r"[\"']?[ \t]*:[ \t]*\r?\n(?=[ \t]*-[ \t])")
_YAML_ITEM = re.compile(
    r"[ \t]*-[ \t]+(?P<q>[\"']?)(?P<value>[^\s\"':]{1,500})(?P=q)[ \t]*(?:\r?\n|\Z)"
)
_CONNECTION = re.compile(
    r"(?:^|;)[ \t]*(?:server|data source|host|endpoint|defaultendpointsprotocol|accountendpoint)[ \t]*=",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"(?:bearer|basic|token)[ \t]+(?=\S{4})", re.IGNORECASE)
_BARE_END = re.compile(
    r"[\s\"'`<>]|&(?=[\w.~%-]{1,60}=|\s|\Z)|;(?=[\s\w]|\Z)|,(?=\s|[\w.-]{1,60}[=:]|\Z)|\\[nrt\"']|%26|&amp;|\|(?=\s)"
)
_CLOSERS = {")": "(", "]": "[", "}": "{"}
_RULE = "assignment"
_SHORTEST_WORD = 5
_LONGEST_TYPE = 24


def find(text: str) -> Iterator[Span]:
    """Yield the values that stand under names which promise a secret."""
    position = 0
    for found in _candidates(text):
        if found < position:
            continue
        start, end = _name_around(text, found, found + 1)
        position = end
        name = text[start:end]
        query = text[start - 1 : start] in {"?", "&", "#", ";"} and text[end : end + 1] == "="
        kind = kind_of(name) or ("credential" if query and is_query_secret(name) else "")
        if not kind and name.lower() == "key" and _STRONG.match(text, end):
            kind = "credential"
        yield from _listed(text, end, kind or kind_of(name[:-1] if name[-1:] in "sS" else ""))
        if kind and text[max(0, start - 3) : start] != "://":
            span = _value_after(text, start, end, kind)
            if span is not None:
                position = max(position, span.end)
                yield span
    yield from _query_parameters(text)


def _listed(text: str, name_end: int, kind: str) -> Iterator[Span]:
    """Yield the items of a list that stands under a name."""
    if not kind:
        return
    for begin, item in ((_LIST, _LIST_ITEM), (_YAML_LIST, _YAML_ITEM)):
        found = begin.match(text, name_end)
        position = found.end() if found is not None else len(text)
        while (value := item.match(text, position)) is not None:
            if shapes.is_random(value["value"]) and not shapes.is_path_or_url(value["value"]):
                yield Span(*value.span("value"), _RULE, kind)
            position = value.end()


def _candidates(text: str) -> list[int]:
    """Return where a keyword stands, in order."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters become two in lower case
        lowered = "".join(each if len(each.lower()) != 1 else each.lower() for each in text)
    positions: set[int] = set()
    for keyword in _KEYWORDS:
        position = lowered.find(keyword)
        while position >= 0:
            positions.add(position)
            position = lowered.find(keyword, position + len(keyword))
    return sorted(positions)


_QUERY = re.compile(
    r"(?<=[?&#;])(?:amp;)?(?P<name>[\w.-]{2,40})=(?P<value>[^&#\s\"'<>;\\`]{6,4096})"
)


def _query_parameters(text: str) -> Iterator[Span]:
    """Yield parameters whose names mean a secret in a URL only, where the value looks like one."""
    if "=" not in text or ("?" not in text and "&" not in text):
        return
    for match in _QUERY.finditer(text):
        value = match["value"]
        if is_query_secret(match["name"]) and shapes.is_random(value, 12):
            yield Span(*match.span("value"), _RULE, "credential")


def _name_around(text: str, start: int, end: int) -> tuple[int, int]:
    lowest, highest = max(0, start - _MAX_NAME), min(len(text), end + _MAX_NAME)
    while start > lowest and text[start - 1] in _NAME_CHARACTERS:
        start -= 1
    while end < highest and text[end] in _NAME_CHARACTERS:
        end += 1
    start = min(start + _escape_length(text, start), end)
    while end > start and text[end - 1] in "-.$":
        end -= 1
    while start < end and text[start] in "-.$":
        start += 1
    return start, end


def _escape_length(text: str, start: int) -> int:
    r"""Return how much of an escaped character, such as ``\n`` or ``%3F``, a name begins with."""
    before = text[start - 1 : start]
    if before == "\\" and text[start : start + 1] in {"n", "r", "t"}:
        return 1
    return 2 if before == "%" and re.match(r"[0-9A-Fa-f]{2}", text[start : start + 2]) else 0


def _value_after(text: str, start: int, name_end: int, kind: str) -> Span | None:
    separator = _SEPARATOR.match(text, name_end)
    if separator is None:
        return _loose(text, name_end, kind)
    sign, quote, value_start = separator["sign"], separator["open"], separator.end()
    if sign == ":" and text.startswith(":", separator.end("sign")):
        return None  # the path of a name, as in Secret::new
    if quote:
        return _in_quotes(text, text[start:name_end], value_start, quote, kind, sign)
    if sign == ":":
        hinted = _TYPE_HINT.match(text, value_start)
        if hinted is not None and not shapes.is_random(hinted[0].strip(), _LONGEST_TYPE):
            return _quoted(text, hinted.end() + 1, text[hinted.end()], kind)
        block = _BLOCK_SCALAR.match(text, value_start)
        if block is not None:
            return _block_scalar(text, start, block.end(), kind)
    return _bare(text, start, separator, kind)


def _in_quotes(
    text: str, name: str, value_start: int, quote: str, kind: str, sign: str
) -> Span | None:
    if len(quote) == 1 and text.startswith(quote * 2, value_start):
        quote, value_start = quote * 3, value_start + 2
    if _holds_cookies(name, text[value_start : value_start + _MAX_NAME]):
        return None
    return _quoted(text, value_start, quote, kind, listed=sign == ",")


def _bare(text: str, start: int, separator: re.Match[str], kind: str) -> Span | None:
    value_start, name = separator.end(), text[start : separator.start()]
    scheme = _SCHEME.match(text, value_start)
    if scheme is not None:
        value_start = scheme.end()
    value_end = _bare_end(text, value_start, line=_begins_line(text, start), kind=kind)
    if text[start - 1 : start] in {"?", "&"}:
        anchor = text.find("#", value_start, value_end)
        value_end = anchor if anchor > 0 else value_end
    value = text[value_start:value_end]
    if _CONNECTION.search(value) or _holds_cookies(name, value):
        return None
    told = scheme is not None and not value.isalpha() and not shapes.is_stand_in(value)
    if told or _is_bare_secret(text, start, separator, value, kind):
        return Span(value_start, value_end, _RULE, kind)
    return None


def _holds_cookies(name: str, value: str) -> bool:
    """Whether a value is made of pairs, of which the rule for cookies takes the secret ones."""
    return name.lower().endswith("cookie") and "=" in value


def _loose(text: str, name_end: int, kind: str) -> Span | None:
    """Take what follows a name without a sign, as in ``ENV NAME value``, if it looks random."""
    match = _LOOSE.match(text, name_end)
    if match is None:
        return None
    group = "quoted" if match["q"] else "value"
    value = match[group].rstrip(".,;:!?)")
    if not shapes.is_spoken_secret(value) or shapes.is_prose(value):
        return None
    start = match.start(group)
    return Span(start, start + len(value), _RULE, kind)


def _quoted(text: str, start: int, quote: str, kind: str, *, listed: bool = False) -> Span | None:
    end = _closing_quote(text, start, quote)
    scheme = _SCHEME.match(text, start, end)
    start = start if scheme is None else scheme.end()
    value = text[start:end]
    if shapes.is_stand_in(value) or shapes.is_prose(value) or _says_itself(value, kind):
        return None
    if _CONNECTION.search(value):
        return None
    if shapes.is_label(value) or (kind != PASSWORD and shapes.is_identifier(value)):
        return None
    if listed and (not shapes.is_random(value) or _KEY_FOLLOWS.match(text, end + len(quote))):
        return None
    if _CLOSED_ALREADY.match(value) or (
        shapes.is_path_or_url(value) and not shapes.has_random_part(value)
    ):
        return None
    return Span(start, end, _RULE, kind)


def _closing_quote(text: str, start: int, quote: str) -> int:
    limit = min(len(text), start + _MAX_VALUE)
    position = start
    while (found := text.find(quote, position, limit)) >= 0:
        # Inside plain quotes a backslash takes the next quote's meaning away.
        before = found
        while before > start and text[before - 1] == "\\":
            before -= 1
        # YAML and SQL double a quote that belongs to the value.
        doubled = quote == "'" and found > start and text[found + 1 : found + 2] == "'"
        if doubled and text[found + 2 : found + 3].isalnum():
            position = found + 2
        elif len(quote) > 1 or (found - before) % 2 == 0:
            return found
        else:
            position = found + 1
    line_end = text.find("\n", start, limit)
    return line_end if line_end >= 0 else limit


def _block_scalar(text: str, name_start: int, start: int, kind: str) -> Span | None:
    """Take the indented lines under ``name: |``."""
    line_start = text.rfind("\n", 0, name_start) + 1
    indent = len(text[line_start:name_start]) - len(text[line_start:name_start].lstrip(" -"))
    end = start
    while end < len(text):
        line_end = text.find("\n", end)
        line_end = len(text) if line_end < 0 else line_end
        line = text[end:line_end]
        if line.strip() and len(line) - len(line.lstrip(" ")) <= indent:
            break
        end = min(len(text), line_end + 1)
    body = text[start:end]
    stripped = body.strip()
    if not stripped or shapes.is_stand_in(stripped):
        return None
    first = start + len(body) - len(body.lstrip())
    return Span(first, first + len(stripped), _RULE, kind)


def _bare_end(text: str, start: int, *, line: bool, kind: str) -> int:
    limit = min(len(text), start + _MAX_VALUE)
    if line and kind == PASSWORD and (end := _passphrase_end(text, start, limit)) > start:
        return end
    match = _BARE_END.search(text, start, limit)
    end = match.start() if match is not None else limit
    # A bracket that closes something before the value does not belong to it.
    while end > start and text[end - 1] in ")]},;:" and not _is_balanced(text[start:end]):
        end -= 1
    return end


_PASSPHRASE = re.compile(r"(?:[a-z]{3,10}[ \t]+){3,24}[a-z]{3,10}(?=[ \t]*(?:#|\r?\n|\Z))")


def _passphrase_end(text: str, start: int, limit: int) -> int:
    """Return where a run of plain words that is a passphrase ends, else ``start``."""
    match = _PASSPHRASE.match(text, start, limit)
    return match.end() if match is not None and not shapes.is_prose(match.group()) else start


def _is_balanced(value: str) -> bool:
    closer = value[-1]
    opener = _CLOSERS.get(closer)
    return opener is not None and value.count(opener) >= value.count(closer)


def _begins_line(text: str, start: int) -> bool:
    line_start = max(text.rfind("\n", 0, start) + 1, start - _MAX_NAME)
    return not text[line_start:start].strip(" \t-\"'>+|")


def _is_bare_secret(text: str, start: int, separator: re.Match[str], value: str, kind: str) -> bool:
    if not value or shapes.is_stand_in(value) or _says_itself(value, kind):
        return False
    if shapes.is_url(value):
        return shapes.has_random_part(value)
    if value[0] in "/~." and shapes.is_path_or_url(value):
        return False
    if value[0] == "(" and value.strip("()").isalpha():
        return False
    sign, spaced = separator["sign"], bool(separator["before"] or separator["after"])
    name = text[start : separator.start()]
    tight = (sign == "=" and not spaced) or sign.startswith(("%", "\\", "&"))
    if shapes.is_random(value) and not _is_expression(value, tight=tight):
        return True
    if shapes.is_path_or_url(value) or _is_expression(value, tight=tight):
        return False
    header = sign == ":" and "-" in name and separator["closing"] == ""
    if tight or header or (sign == ":" and _is_setting(text, start, separator, value, kind)):
        return kind == PASSWORD or not value.isdigit()
    return kind == PASSWORD and value.isdigit() and len(value) >= 4  # noqa: PLR2004 - a PIN or more


def _is_setting(text: str, start: int, separator: re.Match[str], value: str, kind: str) -> bool:
    """Whether a plain word is the value of a line of YAML rather than a word of a sentence."""
    name = text[start : separator.start()]
    return (
        _begins_line(text, start)
        and _ALONE.match(text, separator.end() + len(value)) is not None
        and (name.islower() or name.isupper())
        and (kind == PASSWORD or "_" in name or "." in name)
        and len(value) >= _SHORTEST_WORD
        and not value[0].isupper()
    )


def _is_expression(value: str, *, tight: bool) -> bool:
    """Whether a bare value is code; after ``NAME=`` without blanks plain words are values."""
    if (
        tight
        and re.fullmatch(r"[\w!#$%^&*+/=?@~.:-]+", value)
        and not re.fullmatch(
            r"(?:os|process|self|this|settings|config|args|request|req|env)\.[\w.]+", value
        )
    ):
        return False
    return shapes.is_code(value)


def _says_itself(value: str, kind: str) -> bool:
    """Whether a value is only another name of the thing, as in ``password=userPassword``."""
    bare = value.strip("\"'`{}$.,;")
    last = bare.rpartition(".")[2]
    return kind_of(last) == kind and all(map(shapes.is_identifier, bare.split(".")))
