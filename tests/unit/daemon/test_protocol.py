from __future__ import annotations

import asyncio
import os
from types import MappingProxyType

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cognee_hooks.daemon import protocol, thin_client
from cognee_hooks.daemon.protocol import (
    BadRequest,
    Opening,
    answer,
    is_ident,
    is_newer,
    read_opening,
    split_record,
    taken,
)

NAMES = st.binary(min_size=1, max_size=12).map(
    lambda each: each.replace(b"\0", b"_").replace(b"=", b"_")
)
VALUES = st.binary(max_size=30).map(lambda each: each.replace(b"\0", b"_"))
ENVIRONMENTS = st.dictionaries(
    NAMES | st.sampled_from([b"HOME", b"COGNEE_X", b"PATH", b"LLM_MODEL", b"SECRET"]), VALUES
)
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


def opening(**changes) -> Opening:
    fields = {
        "version": "1.2.3",
        "kind": "hook",
        "ident": "17-4-1",
        "agent": "claude-code",
        "event": "Stop",
        "pid": 42,
        "cwd": "/work",
        "environ": MappingProxyType({}),
    }
    return Opening(**(fields | changes))


def record(*fields: bytes, version: bytes = b"1.0", kind: bytes = b"hook") -> bytes:
    block = b"\0".join(fields)
    return b"cognee-hooks %b %b %d\n" % (version, kind, len(block)) + block


FIXED = (b"17-4", b"pi", b"start", b"42", b"/w", b"")


async def read(data: bytes, *, ended: bool = True, limit: int = 2**16) -> tuple[Opening, bytes]:
    reader = asyncio.StreamReader(limit=limit)
    reader.feed_data(data)
    if ended:
        reader.feed_eof()
    read = await read_opening(reader)
    return read, await reader.read()


# -- what the thin client writes -----------------------------------------------------------------


@given(environ=ENVIRONMENTS, agent=WORDS, event=WORDS, payload=st.binary(max_size=50))
@example(
    environ={b"A": b"a=b\nc", b"B": b"", b"C": b"\xff\xfe", b"D=": b"1"},
    agent="pi",
    event="\n",
    payload=b"\0\n{}",
)
def test_both_readers_understand_what_the_thin_client_writes(environ, agent, event, payload):
    environ = {name: value for name, value in environ.items() if b"=" not in name}
    sent = thin_client.compose("hook", agent, event, environ)
    split, rest = split_record(sent + payload)
    assert asyncio.run(read(sent + payload)) == (split, payload)
    assert rest == payload
    assert (split.version, split.kind) == (thin_client.VERSION, "hook")
    assert (split.agent, split.event) == (agent, event)
    assert (split.pid, split.cwd) == (os.getppid(), os.getcwd())  # noqa: PTH109 -- a text
    assert is_ident(split.ident)
    assert {os.fsencode(k): os.fsencode(v) for k, v in split.environ.items()} == environ


@given(environ=ENVIRONMENTS)
def test_what_is_kept_of_an_opening_is_what_the_client_itself_would_have_kept(environ):
    whole, _ = split_record(thin_client.compose("hook", "pi", "x", environ))
    spooled, _ = split_record(thin_client.compose("hook", "pi", "x", environ, thin_client.KEPT))
    kept, rest = split_record(whole.kept() + b"{}")
    assert rest == b"{}"
    assert kept.environ == spooled.environ
    assert b"SECRET=" not in whole.kept()


def test_ids_of_the_thin_client_sort_by_time():
    idents = [split_record(thin_client.compose("hook", "pi", "x", {}))[0].ident for _ in range(50)]
    assert idents == sorted(idents)


# -- what is kept --------------------------------------------------------------------------------


@given(agent=WORDS, event=WORDS, path=WORDS, value=WORDS, pid=st.integers(0, 2**31))
def test_an_opening_comes_back_from_what_is_kept_of_it(agent, event, path, value, pid):
    before = opening(
        agent=agent, event=event, pid=pid, cwd=f"/{path}", environ={"COGNEE_A": value, "HOME": ""}
    )
    after, payload = split_record(before.kept() + b'{"a": 1}')
    assert after == before
    assert payload == b'{"a": 1}'


def test_bytes_that_are_no_utf_8_come_back_too():
    before = opening(cwd=os.fsdecode(b"/\xff"), environ={"HOME": os.fsdecode(b"/h\xc3")})
    assert split_record(before.kept())[0] == before


# -- what is no request --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"GET / HTTP/1.1\r\n",
        b"cognee-hooks 1.0 hook\n",
        b"cognee-hooks  hook 0\n",
        b"cognee-hooks 1.0 HOOK 0\n",
        b"cognee-hooks 1.0 hook -1\n",
        b"cognee-hooks 1.0 hook +1\n",
        b"cognee-hooks 1.0 hook 0\r\n",
        b"cognee-hooks 1.0 hook 0 \n",
        b" cognee-hooks 1.0 hook 0\n",
        b"cognee-hooks 1.0 hook 99999999\n",
        b"cognee-hooks 1.0 hook 999999999999\n",
        b"cognee-hooks " + b"1" * 41 + b" hook 0\n",
        b"cognee-hooks 1.0; hook 0\n",
        "cognee-hooks 1.0 hook \u0661\n".encode(),
        b"x" * 100_000,
        b"x" * 100_000 + b"\n",
    ],
)
async def test_another_first_line_is_refused(line):
    with pytest.raises(BadRequest):
        await read(line)
    with pytest.raises(BadRequest):
        split_record(line)


async def test_an_endless_first_line_is_refused_before_it_ends():
    with pytest.raises(BadRequest, match="not complete"):
        await read(b"x" * 3000, ended=False, limit=1000)


async def test_an_environment_that_is_longer_than_any_is_refused_before_it_comes():
    with pytest.raises(BadRequest, match="first line"):
        await read(b"cognee-hooks 1.0 hook %d\n" % (protocol.MAX_BLOCK + 1), ended=False)


@pytest.mark.parametrize(
    "fields",
    [
        (),
        FIXED[:5],
        (*FIXED[:5], b"HOME=/"),
        (b"", *FIXED[1:]),
        (b"../../x", *FIXED[1:]),
        (b"17-4-1-1", *FIXED[1:]),
        (b"17-4\n", *FIXED[1:]),
        ("\u0661-\u0661".encode(), *FIXED[1:]),
        (b"1" * 25 + b"-1", *FIXED[1:]),
        *(
            (*FIXED[:3], pid, *FIXED[4:])
            for pid in (b"", b"-1", b"4 2", b"0x2", b"\xb2", b"1" * 11)
        ),
        # Python refuses to read a number as long as this one.
        (*FIXED[:3], b"1" * 5000, *FIXED[4:]),
    ],
)
async def test_fields_that_are_missing_or_none_are_refused(fields):
    with pytest.raises(BadRequest):
        await read(record(*fields))
    with pytest.raises(BadRequest):
        split_record(record(*fields))


async def test_a_torn_request_is_refused_wherever_it_ends():
    whole = record(*FIXED, b"HOME=/h")
    for length in range(len(whole)):
        with pytest.raises(BadRequest):
            split_record(whole[:length])
        with pytest.raises(BadRequest):
            await read(whole[:length])


@given(data=st.binary(max_size=80), fields=st.lists(st.binary(max_size=6), max_size=9))
def test_no_bytes_do_worse_than_to_be_refused(data, fields):
    for each in (
        data,
        b"cognee-hooks 1 hook 20\n" + data,
        record(*fields),
        record(*FIXED, *fields),
    ):
        try:
            found, rest = split_record(each)
        except BadRequest:
            with pytest.raises(BadRequest):
                asyncio.run(read(each))
        else:
            assert asyncio.run(read(each)) == (found, rest)
            assert split_record(found.kept())[0].ident == found.ident


async def test_a_refusal_says_nothing_of_what_was_sent():
    with pytest.raises(BadRequest) as refused:
        await read(b"password is swordfish\n")
    assert "swordfish" not in str(refused.value)


# -- details -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [b"hook", b"channel", b"control"])
def test_the_kind_and_the_version_are_read(kind):
    found, _ = split_record(record(*FIXED, kind=kind, version=b"2.0.dev1+g12ab"))
    assert (found.kind, found.version) == (kind.decode(), "2.0.dev1+g12ab")


@pytest.mark.parametrize("entry", [b"", b"=", b"=x", b"NAME", b"\xff"])
def test_entries_that_are_no_variables_are_passed_over(entry):
    found, _ = split_record(record(*FIXED, entry, b"A=1"))
    assert dict(found.environ) == {"A": "1"}


def test_of_a_variable_that_comes_twice_the_last_counts():
    assert split_record(record(*FIXED, b"A=1", b"A=2"))[0].environ["A"] == "2"


def test_the_environment_cannot_be_changed():
    with pytest.raises(TypeError):
        split_record(record(*FIXED))[0].environ["A"] = "1"


@pytest.mark.parametrize("cwd", [b"", b"relative", b"~"])
def test_a_folder_that_is_not_absolute_is_none(cwd):
    assert split_record(record(*FIXED[:4], cwd, b""))[0].cwd == ""


def test_an_answer_is_told_by_its_length_in_bytes():
    assert taken(1500) == b"+1500\n"
    assert answer("") == b"0\n"
    assert answer("é\n") == b"3\n\xc3\xa9\n"
    assert answer("\ud800") == b"1\n?"


@pytest.mark.parametrize(
    ("version", "than"),
    [
        ("0.10.0", "0.9.9"),
        ("1", "0.9"),
        ("1.0.1", "1.0"),
        ("1.0", "1.0rc2"),
        ("1.0rc10", "1.0rc9"),
        ("1.0rc1", "1.0b1"),
        ("1.0b1", "1.0a1"),
        ("1.0a1", "1.0.dev3"),
        ("1.0.post1", "1.0"),
        ("1.0.1.dev1", "1.0"),
        ("1", "rubbish"),
    ],
)
def test_a_later_version_is_newer_and_the_earlier_one_is_not(version, than):
    assert is_newer(version, than)
    assert not is_newer(than, version)


@pytest.mark.parametrize(
    ("version", "than"),
    [("1.0", "1.0"), ("1.0.0", "1"), ("0", "0.0"), ("1.0+local", "1.0"), ("", "x"), ("..", "+")],
)
def test_neither_of_two_equal_versions_is_newer(version, than):
    assert not is_newer(version, than)
    assert not is_newer(than, version)


@pytest.mark.parametrize("rubbish", ["", "x", ".", "..1", "+1", "٣.0", "v9"])
def test_rubbish_is_newer_than_nothing(rubbish):
    for than in ("0", "0.0.1", "1.0.dev1", rubbish):
        assert not is_newer(rubbish, than)


def test_only_an_id_is_an_id():
    assert all(map(is_ident, ["1-1", "00000000001700000000-12345", "9-9-9"]))
    assert not any(map(is_ident, ["", "1", "1-", "-1", "1-1-", "1-1/", " 1-1", "1-1\n", "a-1"]))
