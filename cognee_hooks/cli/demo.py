"""``cognee-hooks demo``: a whole session against the small local server."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cognee_hooks.cli.common import add_json_option, print_json
from cognee_hooks.cli.demo_script import (
    ANSWER,
    EARLIER_ANSWER,
    EARLIER_PROMPT,
    FOLLOW_UP,
    OUTAGE_ANSWER,
    OUTAGE_PROMPT,
    PROMPT,
    tool_call,
)
from cognee_hooks.deadline import Deadline
from cognee_hooks.embedded import EmbeddedServer
from cognee_hooks.events import SessionEnd, SessionStart, Stop, UserPromptSubmit
from cognee_hooks.host import Host

AGENT = "claude-code"
STEP_SECONDS = 5.0
RECOVERY_SECONDS = 8.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Play the session; everything lives in a temporary folder that is removed afterwards."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="cognee-hooks-demo-") as folder:
        demo = _Demo(Path(folder))
        report = asyncio.run(demo.play())
    report["seconds"] = round(time.monotonic() - started, 1)
    if options.json:
        print_json(report)
    else:
        _print(report)
    return 0 if report["ok"] else 1


class _Demo:
    """One run: a server, an earlier session, and today's session with an outage in the middle."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._data = folder / "memory.db"
        self._server = EmbeddedServer(self._data)

    async def play(self) -> dict[str, Any]:
        """Play everything and report it."""
        self._server.start()
        try:
            return await self._sessions()
        finally:
            self._server.stop()

    async def _sessions(self) -> dict[str, Any]:
        earlier = self._host("demo_yesterday")
        await self._turn(earlier, EARLIER_PROMPT, EARLIER_ANSWER)
        await earlier.close(Deadline.after(STEP_SECONDS))
        host = self._host("demo_today")
        await host.start()
        await host.session_start(SessionStart(session_id="demo_today", agent=AGENT))
        recalled = await self._prompt(host, PROMPT)
        secrets, call = tool_call("demo_today")
        await host.post_tool_use(call)
        await self._stop(host, ANSWER)
        await host.flush(Deadline.after(STEP_SECONDS))
        outage = await self._outage(host)
        after = await self._recover(host)
        await host.session_end(SessionEnd(session_id="demo_today", agent=AGENT))
        detail = await host.services.client.session("demo_today", Deadline.after(STEP_SECONDS))
        lost = await host.close(Deadline.after(STEP_SECONDS))
        stored = [dict(each) for each in (*detail.qas, *detail.traces)]
        return self._report(host, recalled, outage, after, stored, secrets, lost)

    async def _outage(self, host: Host) -> dict[str, Any]:
        self._server.stop()
        header = await self._prompt(host, OUTAGE_PROMPT)
        await self._stop(host, OUTAGE_ANSWER)
        await host.background.settle(Deadline.after(STEP_SECONDS))
        return {"context": header, "waiting": host.waiting}

    async def _recover(self, host: Host) -> dict[str, Any]:
        self._server = EmbeddedServer(self._data, port=urlsplit(self._server.url).port or 0)
        self._server.start()
        back = asyncio.Event()
        host.services.health.subscribe(lambda event: back.set() if event.current == "ok" else None)
        host.services.health.probe_soon()
        async with asyncio.timeout(RECOVERY_SECONDS):
            await back.wait()
        await host.flush(Deadline.after(STEP_SECONDS))
        return {"context": await self._prompt(host, FOLLOW_UP), "waiting": host.waiting}

    async def _turn(self, host: Host, prompt: str, answer: str) -> None:
        await self._prompt(host, prompt)
        await self._stop(host, answer)
        await host.flush(Deadline.after(STEP_SECONDS))

    async def _prompt(self, host: Host, prompt: str) -> str:
        event = UserPromptSubmit(session_id=host.session.session_id, agent=AGENT, prompt=prompt)
        return (await host.user_prompt_submit(event)).context

    async def _stop(self, host: Host, answer: str) -> None:
        session_id = host.session.session_id
        await host.stop(Stop(session_id=session_id, agent=AGENT, last_assistant_message=answer))

    def _host(self, session_id: str) -> Host:
        environ = {"HOME": str(self._folder), "COGNEE_LOCAL_API_URL": self._server.url}
        return Host(AGENT, environ=environ, session_id=session_id, entry_points=())

    def _report(
        self,
        host: Host,
        recalled: str,
        outage: dict[str, Any],
        after: dict[str, Any],
        stored: list[dict[str, Any]],
        secrets: dict[str, str],
        lost: int,
    ) -> dict[str, Any]:
        _, call = tool_call("demo_today")
        _, hits = host.redaction.explain(f"{call.tool_input}\n{call.tool_response}")
        leaked = [name for name, value in secrets.items() if value in str(stored)]
        kept = {each.get("question") for each in stored}
        return {
            "server": host.mode.url,
            "prompt": PROMPT,
            "model_was_given": recalled,
            "redacted": [{"rule": hit.rule, "as": hit.label} for hit in hits],
            "outage": {"prompt": OUTAGE_PROMPT, "model_was_given": outage["context"]},
            "kept_during_outage": outage["waiting"],
            "recovery": {"prompt": FOLLOW_UP, "model_was_given": after["context"]},
            "stored": stored,
            "leaked": leaked,
            "lost": lost,
            "ok": not leaked
            and not lost
            and "7431" in recalled
            and "recall skipped" in outage["context"]
            and OUTAGE_PROMPT in kept
            and FOLLOW_UP not in kept,
        }


def _print(report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.panel import Panel
    from rich.text import Text

    console = Console(highlight=False)

    def show(title: str, text: str) -> None:
        console.print(Panel(Text(text or "(nothing)"), title=title, title_align="left"))

    console.print(
        f"A small memory server runs at {report['server']}. It knows one earlier session."
    )
    show("1. The user asks", report["prompt"])
    show("   and the model is given", report["model_was_given"])
    rules = ", ".join(sorted({each["rule"] for each in report["redacted"]}))
    show("2. A tool call prints secrets; these rules cut them out", rules)
    show("3. The server goes away; the model is given", report["outage"]["model_was_given"])
    show("4. The server is back; the model is given", report["recovery"]["model_was_given"])
    show(f"5. Stored in this session ({len(report['stored'])} entries)", _stored_text(report))
    verdict = "nothing lost, no secret stored" if report["ok"] else "SOMETHING WENT WRONG"
    console.print(f"Verdict: {verdict}; {report['seconds']} s in all.")
    console.print("next: cognee-hooks install AGENT, such as claude-code; --dry-run only looks")


def _stored_text(report: dict[str, Any]) -> str:
    lines: list[str] = []
    for each in report["stored"]:
        if "question" in each:
            lines += [f"question: {each['question']}", f"answer:   {each['answer']}"]
        else:
            lines += [f"tool:     {each['origin_function']} ({each['status']})"]
            lines += [f"          {line}" for line in str(each["method_return_value"]).splitlines()]
    return "\n".join(lines)
