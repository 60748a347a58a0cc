"""Secrets in XML, tables, lists of names and values, SQL, and calls that take a user's password."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cognee_hooks.redaction import shapes
from cognee_hooks.redaction.forms import form
from cognee_hooks.redaction.names import PASSWORD, kind_of
from cognee_hooks.redaction.spans import Span

_QUOTED = r"(?P<q>\\{0,3}['\"])(?P<value>[^'\"\r\n]{1,500})(?P=q)"

_NAMED = (
    form(
        "xml-element",
        "</",
        r"<(?P<name>(?:\w+:)?[\w.-]{2,60})(?:\s[^<>]{0,200})?>(?:<!\[CDATA\[)?(?P<value>[^<>]{2,4000}?)(?:\]\]>)?</(?P=name)>",
    ),
    form(
        "xml-named-element",
        "</",
        r"<\w+\s[^<>]{0,80}?(?:name|key|id)=\\{0,3}[\"'](?P<name>[\w.:-]{2,80})\\{0,3}[\"'][^<>]{0,80}>(?:<!\[CDATA\[)?(?P<value>[^<>\r\n]{2,4000}?)(?:\]\]>)?</",
    ),
    form(
        "terraform-variable",
        "variable",
        r"\bvariable[ \t]+\"?(?P<name>[\w.-]{2,80})\"?[ \t]*\{[^{}]{0,300}?\bdefault[ \t]*=[ \t]*\"(?P<value>[^\"\r\n]{1,500})\"",
    ),
    form(
        "plist",
        "<key>",
        r"<key>(?P<name>[\w.-]{2,80})</key>\s{0,40}<string>(?P<value>[^<>\r\n]{2,4000})</string>",
    ),
    form(
        "named-value",
        "value",
        r"(?:\b(?:name|key|id|header|variable|parameterkey)\\{0,3}[\"']?[ \t]*[:=][ \t]*\\{0,3}[\"']?)(?P<name>[\w.$ -]{2,80}?)\\{0,3}[\"']?[ \t]*,?[ \t]*(?:\r?\n[ \t]*|\\n[ \t]*)?\\{0,3}[\"']?\b(?:parameter)?value\\{0,3}[\"']?[ \t]*[:=][ \t]*(?:\\{0,3}(?=[\"']))?(?P<q>[\"']?)(?P<value>(?<=[\"'])(?:[^\"'\r\n\\]|\\(?![\"'\\])){1,4096}|(?<![\"'])[^\s\"'{,\\]{1,4096})",
    ),
)
_FORMS = (
    form(
        "sql",
        "password identified",
        rf"\b(?:password|identified[ \t]+(?:with[ \t]+\S+[ \t]+)?by(?:[ \t]+password)?)(?:[ \t]+=[ \t]*|=[ \t]+|[ \t]+|\([ \t]*)E?{_QUOTED}",
    ),
    form(
        "sql",
        "identified",
        r"\bidentified[ \t]+by[ \t]+(?P<value>[^\s'\";]{4,100})(?=[ \t]*(?:;|\r?\n|\Z))",
    ),
    form(
        "azure-keys",
        "primarykey secondarykey",
        r"\"(?:primary|secondary)Key\"\s*:\s*\"(?P<value>[A-Za-z0-9+/_-]{24,}={0,2})\"",
        random_only=True,
    ),
    form(
        "consul",
        "secret",
        r"\bsecret[ _]?id\"?[ \t]*[:=][ \t]*\"?(?P<value>[0-9a-f]{8}-[0-9a-f-]{27})",
    ),
    form(
        "browser",
        "password",
        r"password[\"')]{1,4}[^\n]{0,20}\.(?:fill|type|send_?keys)\((?P<q>[\"'])(?P<value>[^\"'\r\n]{4,200})(?P=q)",
    ),
    form(
        "app-password",
        "password",
        r"app(?:lication)?[ _-]?password\W{1,4}(?P<value>[a-z]{4}(?: [a-z]{4}){3})(?!\w)",
    ),
    form(
        "docker-auth",
        "auth",
        r"\"auth\"\s*:\s*\"(?P<value>[A-Za-z0-9+/]{8,}={0,2})\"",
        random_only=True,
    ),
    form(
        "npm-auth",
        "_auth",
        r"(?<![\w-])_auth[ \t]*=[ \t]*\"?(?P<value>[A-Za-z0-9+/]{8,}={0,2})",
        random_only=True,
    ),
    form(
        "kube-config",
        "-data -token",
        r"\b(?:client-key-data|id-token|refresh-token)\s*:\s*(?P<value>[A-Za-z0-9+/._=-]{20,})",
    ),
    form("laravel", "base64:", r"\bAPP_KEY\s*=\s*(?P<value>base64:[A-Za-z0-9+/]{20,}={0,2})"),
    form("wifi", "psk", r"\bpsk\s*=\s*(?P<q>\"?)(?P<value>[^\s\"]{8,64})(?P=q)"),
    form(
        "azure-keys",
        "keyname",
        r"\"keyName\"[^{}]{0,200}\"value\"\s*:\s*\"(?P<value>[A-Za-z0-9+/]{40,}={0,2})\"",
    ),
    form(
        "unseal-key", "unseal", r"\b(?:unseal|recovery)[ \t]+key[ \t]+\d+:[ \t]*(?P<value>\S{20,})"
    ),
    form(
        "enable-secret",
        "enable",
        r"\benable[ \t]+(?:secret|password)[ \t]+\d[ \t]+(?P<value>\S{4,})",
    ),
)
_CREDENTIAL_CALL = form(
    "user-password",
    "auth credential login password",
    r"(?:auth|authentication|credentials?|creds|login|changeUserPassword|UsernamePassword\w{0,20})[\"']?[ \t]*(?:[:=][ \t]*)?[(\[][ \t]*"
    r"(?P<p>[\"'])[^\"'\n]{1,100}(?P=p)[ \t]*,[ \t]*(?P<q>[\"'])(?P<value>[^\"'\r\n]{3,200})(?P=q)",
)
_USER_PASSWORD = form(
    "user-password",
    "auth credentials ident",
    r"(?:auth|credentials?|ident)[\"']?[ \t]*(?:[:=]|\bare\b)[ \t]*[\"']?[\w.@+-]{1,60}:(?P<value>[^\s\"'/:,;]{4,200})",
)
_CLIENT_CALL = form(
    "client-argument",
    "client( auth( api( v2(",
    r"(?:client(?:v\d)?|auth|api)\([ \t]*(?P<q>[\"'])(?P<value>[A-Za-z0-9_-]{32,200})(?P=q)",
    random_only=True,
)
_TABLE_ROW = re.compile(
    r"(?<![\w.-])(?P<name>[\w.-]{2,80})(?:[ \t]{0,80}[|\u2502\u2503][ \t]{0,80}|[ \t]{2,80}|\t)"
    r"(?P<value>[^\s|\u2502\u2503=:]\S{5,500})[ \t]*(?=[|\u2502\u2503]|\r?$)",
    re.MULTILINE,
)
_INSERT = re.compile(
    r"\binsert\s+into\s+[\w.\"`\[\]]{1,120}\s*\((?P<columns>[\w\s,\"`\[\]]{1,1000})\)\s*values\s*\((?P<values>[^\n]{1,4000})",
    re.IGNORECASE,
)
_SQL_VALUE = re.compile(
    r"\s*(?:'(?P<text>(?:[^'\\\n]|\\.|''){0,1000})'|[^,'()]{0,200}(?:\([^()']{0,100}\))?)\s*(?:,|\)|;|$)"
)


def markup(text: str) -> Iterator[Span]:
    """Find secrets whose name and value stand in two places that belong together."""
    lowered = text.lower()
    for each in _NAMED:
        for match in each.matches(text, lowered):
            value, kind = match["value"], kind_of(match["name"])
            if not kind or match["name"].lower().endswith("cookie"):
                continue
            start = match.start("value") + shapes.scheme_length(value)
            value = text[start : match.end("value")]
            if not (
                shapes.is_stand_in(value) or shapes.is_prose(value) or shapes.is_path_or_url(value)
            ):
                yield Span(start, match.end("value"), each.name, kind)
    for each in _FORMS:
        for match in each.matches(text, lowered):
            value = match["value"]
            if not shapes.is_stand_in(value) and (not each.random_only or shapes.is_basic(value)):
                yield Span(*match.span("value"), each.name, PASSWORD)
    yield from _calls(text, lowered)
    yield from _inserts(text, lowered)


def _calls(text: str, lowered: str) -> Iterator[Span]:
    for each in (_CREDENTIAL_CALL, _USER_PASSWORD, _CLIENT_CALL):
        for match in each.matches(text, lowered):
            value = match["value"]
            machine = shapes.is_token(value) if each.random_only else shapes.is_random(value)
            if machine and not shapes.is_code(value):
                yield Span(*match.span("value"), each.name, PASSWORD)


def tables(text: str) -> Iterator[Span]:
    """Find secrets in columns, as command-line tools print them."""
    if (
        "|" not in text
        and "\u2502" not in text
        and "\u2503" not in text
        and "  " not in text
        and "\t" not in text
    ):
        return
    for match in _TABLE_ROW.finditer(text):
        kind, value = kind_of(match["name"]), match["value"]
        if kind and shapes.is_random(value, 8) and not _is_reference(value):
            yield Span(*match.span("value"), "table", kind)


def _inserts(text: str, lowered: str) -> Iterator[Span]:
    if "insert" not in lowered:
        return
    for match in _INSERT.finditer(text):
        kinds = [kind_of(column.strip(' \t\r\n"`[]')) for column in match["columns"].split(",")]
        if not any(kinds):
            continue
        position = match.start("values")
        for kind in kinds:
            value = _SQL_VALUE.match(text, position, match.end("values"))
            if value is None:
                break
            inner = value["text"]
            if kind and inner and not shapes.is_stand_in(inner):
                yield Span(*value.span("text"), "sql", kind)
            position = value.end()


def _is_reference(value: str) -> bool:
    return shapes.is_path_or_url(value) or shapes.is_code(value)
