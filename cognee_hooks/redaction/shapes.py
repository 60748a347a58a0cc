"""What a credential looks like, and what only looks like one."""

from __future__ import annotations

import base64
import binascii
import itertools
import re
from collections import Counter

_TAG = re.compile(r"\[redacted:([a-z0-9-]*)\]")

_REFERENCE = re.compile(
    r"""
      \$\{?\{?[\w.\s:?/@!-]+\}{0,2}        # $VAR, ${VAR}, ${{ secrets.X }}, ${VAR:-x}
    | \$\(.*                               # $(command
    | \{\{.*                               # {{ template }}
    | \{[\w.!:\[\]'"-]*\}                  # {format}
    | <[^<>]*>?                            # <your-token>
    | %\w+%|%\([\w.]+\)s|%[sdv]            # %VAR%, %(name)s, %s
    | %~?\d | \.[*+].* | @\w[\w.]*@?                          # @token@
    | \#\{.*                               # #{ruby}
    | :\w+|\?|\$\d+                        # SQL parameters
    | (?:op|vault|secret|env|file|ref\+\w+|aws-sm|gcp-sm|keychain|ssm)://?\S*
    | (?:vault|ref\+\w+|sops|ssm):\S*
    | \$\{\{.* | <%.*                     # cut off at a blank
    | \#[0-9a-fA-F]{3,8}                  # colours
    | [\^~<>=v]{0,3}\d+(?:\.\d+){1,3}(?:[-+][\w.]+)?  # versions
    | !(?:vault|Ref|Sub|GetAtt|ImportValue|secret|env)\b.*
    | arn:aws:\S+ | projects/\S+/secrets/\S+
    | \\?[*•.x#_X-]{3,}\\?                 # ****, ...., xxxx
    """,
    re.VERBOSE | re.DOTALL,
)
_PLACEHOLDER = re.compile(
    r"""(?ix)
      (?:<|\[|\{)?(?:your|my|the|some|insert|enter|put|add|replace|change|paste|use|example|
        sample|dummy|fake|test|placeholder|todo|fixme|an?(?=.[a-z]{3}))[-_ .].*
    | .*[-_ ](?:here|goes|placeholder|example)(?:>|\]|\})?
    | (?:change[-_]?(?:me|it|this)|replace[-_]?(?:me|this)|placeholder|redacted|hidden|masked|todo|
        tbd|n/?a|unset|unknown|empty|blank|secret|password|passwd|pass|pwd|token|key|apikey|api_key|
        credential|credentials|username|user|example|dummy|foo|bar|baz|value|none|null|nil|undefined|
        true|false|yes|no|on|off|default|required|optional|disabled|enabled|auto|basic|bearer|digest|
        oauth2?|jwt|hmac|plain|plaintext|text|string|str|int|integer|number|bool|boolean|bytes|any|
        object|float|double|void|unknown|never|self|this|const|new|await|async|function|lambda|
        return|secretstr|optional|sensitive|encrypted|hashed|invalid|missing|expired|valid|revoked|
        incorrect|wrong|reset|prompt|stdin|env|file|keyring|vault|varchar|include|omit|argon2\w*|bcrypt|scrypt|
        pbkdf2\w*|sha-?\d+|md5|aes\S*|rsa\S*|ed25519)[!?]?
    | (?:sk|pk|ghp|xox[bp]|key)[-_]\.{2,}.* | \S{0,12}\.{3,} | (?:[a-z]{2,12}[-_]){1,3}[x*•]{3,}
    | (?:required|nullable|sometimes|string)(?:\|[\w:,]+)+ | aws4-hmac-sha256
    | (.)\1{3,}
    """,
    re.DOTALL,
)
_CODE = re.compile(
    r"""(?x)
      [A-Za-z_$][\w$.]*(?:\?\.|->|::)?[\w$.]*[(\[].*          # call( or index[
    | (?:os|process|import\.meta|Deno|ENV|System|config|settings|self|this|cls|args|opts|options|
        request|req|res|ctx|context|state|props|params|env|app|user|data|event|secrets|var|local|
        module|each|values|Values|steps|inputs|github)\.[\w.$\[\]'"]+
    | [A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+                          # dotted identifiers
    | (?:await|new|typeof|not|lambda|async|function|return|if|for|from)\b.*
    | [A-Z]\w*<.*                                              # generics
    | [A-Za-z_]\w*(?:\s+[|?&]{1,2}\s+|\|{1,2}|&&|\?\?)\w+.*
    | (?:\.[*+]|\[\^|\\[sSwWd]|\(\?|\(\.).* | &\w+.* | \*\w+
    | \(.*\)\s*=>?.* | \[.*\]?  | \{.*
    """,
    re.DOTALL,
)
_PATH = re.compile(
    r"(?:~|\.{1,2})?(?:/[\w.@+-]*)+|[A-Za-z]:\\[\w\\ .-]+|(?:[\w.-]+/)+[\w-]+\.\w{1,5}"
)
_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S*", re.IGNORECASE)
_CAMEL_OR_SNAKE = re.compile(
    r"[A-Za-z]?[a-z]{2,}(?:[A-Z][a-z]{2,}|[_-]{1,2}[A-Za-z]{2,})*|[A-Z]{2,}(?:_[A-Z]{2,})*"
)
_WORD = re.compile(r"[A-Za-z]+")
_ADDRESS = re.compile(r"[A-Za-z][\w.+-]*@[A-Za-z][\w.-]*:?")
_ATTRIBUTE = re.compile(r"[A-Za-z_.:-]{1,40}=")
_NUMBERED_NAME = re.compile(r"[A-Za-z]+(?:[-_.][A-Za-z]+)*[-_.]?v?\d{1,2}")
_LABELS = frozenset({"password", "key", "token", "secret", "code", "phrase", "passphrase"})
_PROSE = frozenset(
    "the your our their this that these is are was were be been must should may can cannot will "
    "has have had not and or of to for from with without when where which who what how please "
    "enter required forgot incorrect confirm field value values provided at least characters "
    "between used "
    "using see if it its you we they as by on into than then only same one all any each".split()
)
_MIN_ENTROPIC = 20
_LONGEST_WORD = 24
_SENSELESS = 2
"""Changes from lower to upper case that no word has, if there is one in four letters."""


def is_tag(text: str) -> bool:
    """Whether the text is, or begins with, one of our own tags."""
    return _TAG.match(text) is not None


def tags(text: str) -> list[tuple[int, int]]:
    """Return where our own tags stand."""
    return [match.span() for match in _TAG.finditer(text)] if "[redacted:" in text else []


def labels_in(text: str) -> Counter[str]:
    """Return how often each label stands in a text, in place of what was cut out."""
    return Counter(_TAG.findall(text) if "[redacted:" in text else ())


def masked(text: str, filler: str = "*") -> str:
    """Return the text without our own tags, whose words nobody wrote.

    Args:
        text: Redacted text.
        filler: One character, which takes the place of each of theirs.
    """
    return _TAG.sub(lambda tag: filler * len(tag[0]), text) if "[redacted:" in text else text


def is_stand_in(value: str) -> bool:
    """Whether a value only stands for a secret: a reference, a placeholder, a type, nothing."""
    stripped = value.strip().strip("\"'`,;").rstrip("/").removeprefix("(").removesuffix(")")
    if len(stripped) < 2:  # noqa: PLR2004 - one character is no secret worth the damage
        return True
    return (
        is_tag(stripped)
        or _REFERENCE.fullmatch(stripped) is not None
        or _PLACEHOLDER.fullmatch(stripped) is not None
    )


def is_code(value: str) -> bool:
    """Whether an unquoted value is an expression of a programming language."""
    return _CODE.fullmatch(value) is not None


def is_url(value: str) -> bool:
    """Whether a value is a URL."""
    return _URL.fullmatch(value) is not None


def is_path_or_url(value: str) -> bool:
    """Whether a value names a place rather than being a secret."""
    if is_url(value):
        return True
    return _PATH.fullmatch(value) is not None and not _mixes_all(value)


def is_prose(value: str) -> bool:
    """Whether a value is a sentence for people."""
    words = [word.lower() for word in _WORD.findall(value)]
    return len(words) > 1 and " " in value and any(word in _PROSE for word in words)


def is_label(value: str) -> bool:
    """Whether a value is what a form shows beside a field, such as "New password"."""
    words = value.split(" ")
    return (
        value[:1].isupper()
        and all(word.isalpha() and word[1:].lower() == word[1:] for word in words)
    ) or (len(words) > 1 and value.replace(" ", "").isalpha() and words[-1].lower() in _LABELS)


def is_spoken_secret(value: str) -> bool:
    """Whether a word that follows the name of a secret without any sign is one."""
    return (
        is_random(value)
        and value[0] not in "-([{<=:,.#/"
        and not value.startswith(("pass:", "file:", "env:"))
        and _ADDRESS.fullmatch(value) is None
        and _ATTRIBUTE.match(value) is None
        and _NUMBERED_NAME.fullmatch(value) is None
        and not is_path_or_url(value)
        and not is_code(value)
    )


def has_random_part(url: str) -> bool:
    """Whether a part of a URL is random enough to let in whoever knows it."""
    return any(is_random(part, 16) for part in re.split(r"[/?&=:@#]", url))


def is_identifier(value: str) -> bool:
    """Whether a value is a word or several joined as in source code, without anything random."""
    if _CAMEL_OR_SNAKE.fullmatch(value) is None:
        return False
    return (
        len(value) <= _LONGEST_WORD
        or not (value.islower() or value.isupper())
        or "_" in value
        or "-" in value
    )


def is_random(value: str, minimum: int = 6) -> bool:
    """Whether a value looks made by a machine or chosen as a password.

    Letters with digits, letters with punctuation that names do not hold, or letters whose case
    changes without sense.
    """
    if len(value) < minimum or is_stand_in(value):
        return False
    letters = any(character.isalpha() for character in value)
    digits = any(character.isdigit() for character in value)
    if letters and digits:
        return re.fullmatch(r"v?\d+(?:\.\d+)*\w{0,6}|\d+[a-z]{1,3}", value) is None
    if letters and re.search(r"[!@#$%^&*~+=|\\?]", value):
        return True
    if not letters:
        return len(value) >= _MIN_ENTROPIC and digits
    if value.isalpha() and len(value) > _LONGEST_WORD and (value.islower() or value.isupper()):
        return True
    return (
        not is_identifier(value)
        and not re.fullmatch(r"[A-Za-z]+(?:[-_. /:,'][A-Za-z]+)*\W?", value)
    ) or _case_changes(value) >= max(_SENSELESS, len(value) // 4)


def _case_changes(value: str) -> int:
    return sum(a.islower() and b.isupper() for a, b in itertools.pairwise(value))


def _mixes_all(value: str) -> bool:
    """Whether some part between slashes mixes cases and digits, as base64 does."""
    return any(
        len(part) > 8  # noqa: PLR2004 - shorter parts mix by chance
        and re.search(r"[a-z]", part) is not None
        and re.search(r"[A-Z]", part) is not None
        and re.search(r"\d", part) is not None
        for part in value.split("/")
    )


def is_basic(value: str) -> bool:
    """Whether a value is base64 of ``user:password`` or otherwise shaped like it."""
    if len(value) < 8:  # noqa: PLR2004 - "a:b" is four characters of base64
        return False
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        decoded = b""
    return b":" in decoded or value.endswith("=") or is_random(value)


_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_AUTH_SCHEME = re.compile(
    r"(?:bearer|basic|token|apikey|api-key|ssws|genie-?key|negotiate|ntlm|bot)[ \t]+(?=\S)",
    re.IGNORECASE,
)
_MIN_TOKEN = 20


def is_token(value: str) -> bool:
    """Whether a value looks made by a machine and is no identifier of a known form."""
    return (
        len(value) >= _MIN_TOKEN
        and any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
        and _UUID.fullmatch(value) is None
        and not is_stand_in(value)
        and not is_path_or_url(value)
    )


def scheme_length(value: str) -> int:
    """Return how much of a header's value is the name of its scheme, such as ``Bearer``."""
    scheme = _AUTH_SCHEME.match(value)
    return 0 if scheme is None else scheme.end()


_PLACEHOLDER_KEY = re.compile(
    r"(?i:your[-_]?(?:own|api|key|token|secret|access)|example|placeholder|[-_](?:goes[-_])?here\b)"
    r"|x{6,}|X{6,}|\*{4,}|(?:1234567890){2}|0{10,}"
)


def is_placeholder_key(key: str) -> bool:
    """Whether something with the beginning of a vendor's key only shows what one looks like."""
    return _PLACEHOLDER_KEY.search(key) is not None
