"""Secrets in sentences, in other languages than English, and in objects known by what they are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cognee_hooks.redaction import shapes
from cognee_hooks.redaction.spans import Span

_SAID = re.compile(
    r"\b(?P<name>pass(?:word|phrase|code|wd)?|pwd|secret|token|credential|api[ _-]?key|(?:secret[ _-])?access[ _-]?key|(?:recovery|backup|security)[ _-]codes?"
    r"|(?:secret|private|auth|signing|license|encryption|app|client)[ _-]?key|pin)\b"
    r"[\"'`)]{0,2}(?:(?:[ \t]+(?:is|was))?(?:[ \t]+generated)?[ \t]+(?:for|of|to|on)[ \t]+[\w.@/-]{1,60}(?:[ \t]+[\w.@/-]{1,60}){0,3})?"
    r"(?:[ \t]+(?:is|was|are|=|to|be|now|set|as|we|you|have|use|stored|still|currently|should|changed"
    r"|printed|used|i)){0,5}(?:[ \t]*+[:=])?[ \t]++(?P<q>[\"'`]?)(?P<value>[^\s\"'`<>]{6,512})(?P=q)",
    re.IGNORECASE,
)
_FOREIGN = re.compile(
    r"(?<!\w)(?:kennwort|passwort|mot[ _]de[ _]passe|mdp|contrase(?:\u00f1|n)a|clave|senha|wachtwoord|has\u0142o|haslo"
    r"|l\u00f6senord|adgangskode|passord|salasana|parola|heslo|jelsz\u00f3|\u015fifre|sifre|\u043f\u0430\u0440\u043e\u043b\u044c|\u5bc6\u7801|\u5bc6\u78bc|\u53e3\u4ee4|\u30d1\u30b9\u30ef\u30fc\u30c9|\ube44\ubc00\ubc88\ud638)"
    r"[\"'`]?[ \t]*(?::=|=>|[:=\uff1a]|ist|est|es|\u00e9|is|\u662f)[ \t]*(?P<q>[\"'`]?)(?P<value>[^\s\"'`<>]{4,512})(?P=q)",
    re.IGNORECASE,
)
_WORDS = re.compile(
    r"\b(?:seed|recovery|mnemonic|backup|wallet)[ _-]?(?:phrase|words|seed|mnemonic)?[\"'`]?[ \t]*(?:is|[:=])[ \t]*[\"'`]?(?P<value>(?:[a-z]{3,8}[ \t]+){11,23}[a-z]{3,8})\b",
    re.IGNORECASE,
)
_FOREIGN_HINTS = (
    "kennwort passwort passe mdp contrase clave senha wachtwoord has\u0142o haslo l\u00f6senord "
    "adgangskode passord salasana parola heslo jelsz \u015fifre sifre "
    "\u043f\u0430\u0440\u043e\u043b\u044c \u5bc6\u7801 \u5bc6\u78bc \u53e3\u4ee4 "
    "\u30d1\u30b9\u30ef\u30fc\u30c9 \ube44\ubc00\ubc88\ud638".split()
)
_WORDS_HINTS = ["seed", "recovery", "mnemonic", "backup", "wallet"]
_SECRET_OBJECT = re.compile(r"^kind:[ \t]*Secret\b", re.MULTILINE)
_DATA_LINE = re.compile(
    r"^(?P<indent>[ ]{1,8})[\w.-]{1,100}:[ \t]+(?P<q>[\"']?)(?P<value>[^\s\"'#]{2,8192})(?P=q)[ \t]*$",
    re.MULTILINE,
)
_DATA = re.compile(r"^(?:data|stringData):[ \t]*$", re.MULTILINE)
_AWS_PAIR = re.compile(r"(?<![A-Za-z0-9/+=])(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])")
_BEFORE_A_VALUE = re.compile(r"[A-Za-z][a-z_:-]{0,30}=")


def said(text: str) -> Iterator[Span]:
    """Find what people say: "the password is ...", where the value looks like one."""
    for match in _SAID.finditer(text):
        value = match["value"].rstrip(".,;:!?)")
        start = match.start("value")
        if _is_said(value):
            yield Span(start, start + len(value), "said", "credential")
    lowered = text.lower()
    for match in _matches(_FOREIGN, _FOREIGN_HINTS, text, lowered):
        value = match["value"].rstrip(".,;!?)")
        start = match.start("value")
        if (shapes.is_random(value, 4) or match["q"]) and not shapes.is_stand_in(value):
            yield Span(start, start + len(value), "said", "password")
    for match in _matches(_WORDS, _WORDS_HINTS, text, lowered):
        yield Span(*match.span("value"), "seed-phrase", "credential")


def _matches(
    pattern: re.Pattern[str], hints: list[str], text: str, lowered: str
) -> Iterator[re.Match[str]]:
    if any(hint in lowered for hint in hints):
        yield from pattern.finditer(text)


def _is_said(value: str) -> bool:
    if value.startswith(("(", "-", "#", "--")) or _BEFORE_A_VALUE.fullmatch(value):
        return False
    return bool(value) and shapes.is_spoken_secret(value)


def kubernetes_secrets(text: str) -> Iterator[Span]:
    """Find the values of a Kubernetes Secret, which are base64 under any name at all."""
    if "Secret" not in text or _SECRET_OBJECT.search(text) is None:
        return
    for data in _DATA.finditer(text):
        position = data.end() + 1
        while (line := _DATA_LINE.match(text, position)) is not None:
            if not shapes.is_stand_in(line["value"]):
                yield Span(*line.span("value"), "kubernetes-secret", "credential")
            position = line.end() + 1


def aws_secret_keys(text: str) -> Iterator[Span]:
    """Find the 40 characters that go with an AWS access key id in the same text."""
    if (
        re.search(
            r"\bA[KS]IA[A-Z0-9]{16}\b|(?i:secret[ _]?access[ _]?key)|aws_secret", text, re.ASCII
        )
        is None
    ):
        return
    for match in _AWS_PAIR.finditer(text):
        value = match["value"]
        if re.search(r"[a-z]", value) and re.search(r"[A-Z]", value) and re.search(r"\d", value):
            yield Span(*match.span("value"), "aws-secret-access-key", "aws-secret-access-key")
