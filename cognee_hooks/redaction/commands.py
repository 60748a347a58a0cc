"""Secrets that command lines carry: options, operands, pipes and small configuration languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cognee_hooks.redaction import shapes
from cognee_hooks.redaction.forms import form
from cognee_hooks.redaction.names import kind_of
from cognee_hooks.redaction.spans import Span

_WORD = r"(?P<q>(?:\\{0,3}[\"'])?)(?P<value>[^\s\"'|;&<>`\\][^\s\"']{0,1023}|(?<=[\"'])[^\"'\r\n]{1,1024})(?P=q)"
_LINE = r"[^\n|;]{0,300}[ \t]"
_PORTS = re.compile(r"[\d.:/]+(?:/(?:tcp|udp))?")

_FLAG = form(
    "flag",
    "-",
    r"(?<![\w-])--?(?=[\w-]*(?:pass|pwd|secret|token|key|auth|cred|bearer))"
    rf"(?P<name>[A-Za-z][\w-]{{1,60}})(?:[ \t]+|=){_WORD}",
)
_NAMED = (
    form(
        "dockerfile", "ENV", rf"(?:^|\n|\\n|[\"'`])[ \t]*ENV[ \t]+(?P<name>\w{{3,60}})[ \t]+{_WORD}"
    ),
    form("powershell", "env:", rf"\benv:(?P<name>\w{{3,60}})[ \t]+-value[ \t]+{_WORD}"),
    form("define", "#define", rf"#[ \t]*define[ \t]+(?P<name>\w{{3,60}})[ \t]+(?=[\"']){_WORD}"),
    form(
        "set",
        "set",
        rf"\b(?:setx?|setenv)[ \t]+(?:-\w+[ \t]+){{0,3}}(?P<name>[\w.:/@-]{{3,120}})[ \t]+(?!(?:for|to|is)\b|=){_WORD}",
    ),
    form(
        "set", "user-secrets", rf"user-secrets[ \t]+set[ \t]+\"?(?P<name>[\w:.]+)\"?[ \t]+{_WORD}"
    ),
    form("set", "rclone", rf"\brclone\b{_LINE}(?P<name>\w{{3,60}})[ \t]+{_WORD}"),
    form(
        "set", "config", rf"\bconfig{_LINE}(?P<name>[\w.-]{{3,60}}token[\w.-]{{0,40}})[ \t]+{_WORD}"
    ),
)
_QUOTED_USER = form(
    "user-password",
    "-u --user",
    r"(?<![\w-])(?:--user|--proxy-user|-u)[ \t=]*(?P<q>[\"'])[^\s:\"'/=]{1,100}:(?P<value>[^\"'\r\n]{1,500})(?P=q)",
)
_CURL_USER = form(
    "user-password",
    "-u --user",
    r"(?<![\w-])(?:(?:--user|--proxy-user|-U)(?:[ \t]+|=)|-u[ \t]*)[\"']?[^\s:\"'/=]{1,100}:(?P<value>[^\s\"'/@][^\s\"']{0,500})",
)
_FORMS = (
    _QUOTED_USER,
    _CURL_USER,
    form(
        "auth-flag",
        "http -a",
        r"\b(?:http|https|xh|ab|httpie)\b[^\n|;]{0,300}[ \t](?:-a|--auth|-A)(?:[ \t]+|=)[\"']?[^\s:\"']{1,100}:(?P<value>[^\s\"']{1,500})",
    ),
    form("docker-login", "login", rf"\blogin\b{_LINE}-p[ \t=]?{_WORD}"),
    form(
        "short-option",
        "mosquitto p4 ncftp mongo twine cqlsh trino beeline influx sqlcmd bcp isql rabbitmqadmin openstack net-snmp",
        rf"\b(?:mosquitto\w*|p4|ncftp\w*|mongo\w*|twine|cqlsh|trino|beeline|influx\w*|sqlcmd|bcp|isql|rabbitmqadmin|openstack)\b{_LINE}-[pP][ \t]+{_WORD}",
    ),
    form(
        "archive",
        "zip 7z rar",
        rf"\b(?:zip|unzip|7za?|rar|unrar)\b(?:{_LINE}|[ \t])-[pP][ \t]?{_WORD}",
    ),
    form("mysql", "mysql mariadb", rf"\b(?:mysql\w*|mariadb\w*)\b{_LINE}-p(?![ \t-]){_WORD}"),
    form("sshpass", "sshpass", rf"\bsshpass[ \t]+-p[ \t]*{_WORD}"),
    form("redis", "redis-cli", rf"\bredis-cli\b{_LINE}(?:-a|--pass)[ \t]+{_WORD}"),
    form(
        "redis-conf",
        "requirepass masterauth AUTH auth_pass",
        rf"(?:^|\n|\\n|[>\"'`]|\bset[ \t]+)[ \t]*(?:requirepass|masterauth|auth_pass|(?-i:AUTH)(?![ \t]+(?:LOGIN|PLAIN|CRAM|XOAUTH|TOKEN|KEY|HEADER))(?:[ \t]+\w+(?=[ \t]+\S))?)[ \t]+{_WORD}(?=[ \t]*(?:\r?\n|[\\\"'<]|\Z))",
    ),
    form(
        "redis-acl",
        "user",
        r"\buser[ \t]+\S+[ \t]+(?:on|off)[ \t]+(?:\S+[ \t]+){0,8}>(?P<value>\S{2,200})",
    ),
    form(
        "ldap",
        "ldap bindpw bindpass",
        rf"(?:\bldap\w+\b{_LINE}-w[ \t]+|\bbind(?:pw|passwd|password)[ \t]+){_WORD}",
    ),
    form("ssh-keygen", "ssh-keygen", rf"\bssh-keygen\b{_LINE}-[NP][ \t]+{_WORD}"),
    form(
        "htpasswd",
        "htpasswd",
        r"\bhtpasswd[ \t]+-\w*b\w*[ \t]+(?:\S+[ \t]+)?\S+[ \t]+(?P<value>\S+)",
    ),
    form("openssl", "pass:", r"\bpass:(?P<value>[^\s\"']{2,200})"),
    form("openssl", "openssl", rf"\bopenssl[ \t]+enc\b{_LINE}-[kK][ \t]+{_WORD}"),
    form(
        "smb",
        "smbclient rpcclient net",
        r"(?:-U|--user)[ \t=]*[\"']?[\w\\./-]{1,80}%(?P<value>[^\s\"']{2,200})",
    ),
    form("net-use", "net use", rf"\bnet[ \t]+use\b{_LINE}/user:\S+[ \t]+{_WORD}"),
    form("snmp", "snmp", rf"\bsnmp\w*\b{_LINE}-c[ \t]+(?!public\b|private\b){_WORD}"),
    form(
        "snmp", "snmp-server", rf"\bsnmp-server[ \t]+community[ \t]+(?!public\b|private\b){_WORD}"
    ),
    form(
        "oracle",
        "sqlplus jdbc:oracle",
        r"(?:\bsqlplus[ \t]+(?:-\w[ \t]+)?|jdbc:oracle:thin:)[\"']?[\w.-]{1,60}/(?P<value>[^\s\"'@/]{2,100})@",
    ),
    form(
        "stdin-password",
        "--password-stdin sudo chpasswd --passphrase-fd passwd --with-token cryptsetup login",
        r"\b(?:echo|printf)[ \t]+(?:-\w+[ \t]+|[\"']%s(?:\\n)?[\"'][ \t]+)?(?P<q>[\"']?)(?:\w{1,40}:(?=[^\n|]{1,200}\|[ \t]*(?:sudo[ \t]+)?chpasswd))?(?P<value>[^\s\"'|][^\n|\"']{1,200}?)(?P=q)[ \t]*\|[ \t]*(?:sudo[ \t]+-\w*S|[^\n|]{0,200}(?:--password-stdin|--passphrase-fd|--with-token|passwd|chpasswd|cryptsetup))",
    ),
    form(
        "here-string",
        "<<<",
        rf"(?:--with-token|--password-stdin|login|passwd|sudo[ \t]+-S|cryptsetup|keyring|chpasswd)\b[^\n]{{0,100}}<<<[ \t]*{_WORD}",
    ),
    form(
        "login",
        "login",
        r"\blogin[ \t]+(?P<value>[A-Za-z0-9._-]{20,200})(?![\w@./-])",
        random_only=True,
    ),
    form("authtoken", "authtoken", rf"\b(?:add-)?authtoken[ \t]+{_WORD}", random_only=True),
    form(
        "cloudflared",
        "cloudflared",
        r"\bcloudflared\b[^\n]{0,200}(?P<value>eyJ[A-Za-z0-9+/=_-]{40,})",
    ),
    form("wifi", "nmcli wpa", rf"\bnmcli\b{_LINE}password[ \t]+{_WORD}"),
    form("basic-config", "http-basic", rf"\bhttp-basic\.\S+[ \t]+\S+[ \t]+{_WORD}"),
    form(
        "rabbitmq",
        "rabbitmqctl",
        rf"\brabbitmqctl\b{_LINE}(?:add_user|change_password)[ \t]+\S+[ \t]+{_WORD}",
    ),
    form("parameter", "SecureString", rf"--value[ \t=]+{_WORD}(?=[^\n]{{0,200}}SecureString)"),
    form("parameter", "SecureString", rf"SecureString[^\n]{{0,200}}--value[ \t=]+{_WORD}"),
    form(
        "secure-string",
        "ConvertTo-SecureString",
        r"ConvertTo-SecureString[ \t]+(?:-String[ \t]+)?(?P<q>[\"'])(?P<value>[^\"'\r\n]{1,500})(?P=q)",
    ),
    form(
        "netrc",
        "login machine",
        r"\blogin[ \t\n]+\S{1,200}[ \t\n]+password[ \t\n]+(?P<value>\S{2,500})",
    ),
    form(
        "netrc",
        "machine password",
        r"\bmachine[ \t\n]+\S{1,200}[ \t\n]+password[ \t\n]+(?P<value>\S{2,500})",
    ),
    form(
        "pgpass",
        ":",
        r"(?:^|\n|\\n|[\"'`])[\w.*-]{1,200}:(?:\d{2,5}|\*):[\w.*-]{1,100}:[\w.*-]{1,100}:(?P<value>[^\s:\"'`]{2,200})(?=[\s\"'`]|\Z)",
    ),
)


def command_lines(text: str) -> Iterator[Span]:
    """Find passwords and tokens in the options and operands of commands."""
    lowered = text.lower()
    yield from _flags(text, lowered)
    for each in _NAMED:
        for match in each.matches(text, lowered):
            kind = kind_of(match["name"])
            if kind and _counts(match["value"]):
                yield Span(*match.span("value"), each.name, kind)
    for each in _FORMS:
        for match in each.matches(text, lowered):
            value = match["value"]
            if _counts(value) and (not each.random_only or shapes.is_token(value)):
                yield Span(*match.span("value"), each.name, "password")


def _flags(text: str, lowered: str) -> Iterator[Span]:
    for match in _FLAG.matches(text, lowered):
        value = match["value"].rstrip("])")
        name = match["name"].lower()
        kind = kind_of(name)
        if not kind and name in {"auth", "key", "oauth2-bearer", "bearer"}:
            kind = "credential" if shapes.is_random(value, 12) else ""
        place = shapes.is_path_or_url(value) or shapes.is_code(value)
        if (
            kind
            and _counts(value)
            and not place
            and not value.startswith(("pass:", "file:", "env:"))
        ):
            start = match.start("value")
            yield Span(start, start + len(value), _FLAG.name, kind)


def _counts(value: str) -> bool:
    return not (
        shapes.is_stand_in(value) or value.startswith("-") or _PORTS.fullmatch(value) is not None
    )
