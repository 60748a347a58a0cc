"""Real agent SDKs with a scripted model and a real memory server, all on loopback."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from agents import (
    Agent,
    ModelSettings,
    OpenAIProvider,
    RunConfig,
    RunHooks,
    Runner,
    SQLiteSession,
    function_tool,
    set_tracing_disabled,
)
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    ResultMessage,
    SystemMessage,
    query,
)
from openai import AsyncOpenAI

from cognee_hooks import hookimpl
from cognee_hooks.sdk import running
from cognee_hooks.sdk.claude_agent import with_memory
from cognee_hooks.sdk.openai_agents import CogneeMemory
from tests.support.documents import ROOT, Page
from tests.support.messages_endpoint import messages_endpoint
from tests.support.scripted_model import ScriptedModel
from tests.support.sdk_endpoints import agents_endpoint
from tests.support.sdk_hosts import FACT, QUESTION, Memories
from tests.support.servers import Server

CLOSED = "http://127.0.0.1:9"
OUTAGE = "=== Cognee memory: recall skipped (server unreachable) ==="
SECRET = "ghp_" + "8sJ2kLq0ZxWv4Tn6" + "Bm1CyRd3FhGpAe5UoK7i"


class Broken:
    """A plugin that fails in every hook that a run meets."""

    @hookimpl
    def cognee_user_prompt_submit(self):
        raise ValueError("broken")

    @hookimpl
    def cognee_post_tool_use(self):
        raise SystemExit(3)

    @hookimpl
    def cognee_stop(self):
        raise ValueError("broken")


@pytest.fixture
def memories(embedded_server: Server, isolated_environment: Path) -> Memories:
    return Memories.fresh(embedded_server, isolated_environment)


# -- OpenAI Agents SDK -----------------------------------------------------------------------------


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with agents_endpoint() as endpoint:
        yield endpoint


@pytest.fixture
async def own_config(model: ScriptedModel) -> AsyncIterator[RunConfig]:
    """What a program brings itself: a model provider."""
    async with AsyncOpenAI(base_url=f"{model.url}/v1", api_key="none", max_retries=0) as client:
        yield RunConfig(
            model_provider=OpenAIProvider(openai_client=client),
            model_settings=ModelSettings(store=False),
            tracing_disabled=True,
        )


@function_tool
def shell_command(command: str) -> str:
    """Run a command."""
    if command == "fail":
        raise ValueError("no such thing")
    return f"ran {command}; TOKEN={SECRET}"


def agent(**more: Any) -> Agent[Any]:
    fields = {
        "name": "helper",
        "model": "scripted",
        "instructions": "Help.",
        "tools": [shell_command],
    }
    return Agent(**(fields | more))


async def test_openai_the_model_gets_the_recalled_fact_before_the_prompt(
    memories: Memories, model: ScriptedModel, own_config: RunConfig
) -> None:
    await memories.remember()
    async with memories.running("openai-agents", "openai_recall") as host:
        memory = CogneeMemory(host)
        result = await Runner.run(
            agent(), QUESTION, hooks=memory.hooks, run_config=memory.run_config_with(own_config)
        )
    assert result.final_output == "Done."
    [sent] = model.requests
    recalled, asked = sent["input"]
    assert FACT in recalled["content"]
    assert asked["content"] == QUESTION
    assert sent["instructions"] == "Help."
    assert "Cognee" not in json.dumps(result.to_input_list())


async def test_openai_a_session_of_the_program_never_holds_memory(
    memories: Memories, model: ScriptedModel, own_config: RunConfig
) -> None:
    await memories.remember()
    session = SQLiteSession("conversation")
    async with memories.running("openai-agents", "openai_session") as host:
        memory = CogneeMemory(host)
        config = memory.run_config_with(own_config)
        for prompt in (QUESTION, "And where did the quillfeather service listen before?"):
            await Runner.run(
                agent(), prompt, session=session, hooks=memory.hooks, run_config=config
            )
    kept = json.dumps(await session.get_items())
    session.close()
    assert QUESTION in kept
    assert "Cognee" not in kept
    assert [len(model.context_texts(index)) for index in (0, 1)] == [1, 1]


async def test_openai_memory_can_go_into_the_instructions(
    memories: Memories, model: ScriptedModel, own_config: RunConfig
) -> None:
    await memories.remember()
    async with memories.running("openai-agents", "openai_instructions") as host:
        memory = CogneeMemory(host, into="instructions")
        await Runner.run(
            agent(),
            QUESTION + " {{tool: look}}",
            auto_previous_response_id=True,
            hooks=memory.hooks,
            run_config=memory.run_config_with(own_config),
        )
    first, second = model.requests
    for sent in (first, second):
        assert sent["instructions"].startswith("Help.\n\n")
        assert FACT in sent["instructions"]
        assert FACT not in json.dumps(sent["input"])


async def test_openai_a_provider_that_stores_the_conversation_gets_memory_once(
    memories: Memories, model: ScriptedModel, own_config: RunConfig
) -> None:
    await memories.remember()
    async with memories.running("openai-agents", "openai_stored") as host:
        memory = CogneeMemory(host)
        await Runner.run(
            agent(),
            QUESTION + " {{tool: look}}",
            auto_previous_response_id=True,
            hooks=memory.hooks,
            run_config=memory.run_config_with(own_config),
        )
    assert [len(model.context_texts(index)) for index in (0, 1)] == [1, 0]
    assert [item["type"] for item in model.requests[1]["input"]] == ["function_call_output"]


async def test_openai_a_tools_secret_does_not_reach_the_server(
    memories: Memories, model: ScriptedModel, own_config: RunConfig
) -> None:
    prompt = f"Please look around with {SECRET} {{{{tool: look}}}} {{{{say: it said {SECRET}}}}}"
    async with memories.running("openai-agents", "openai_secret") as host:
        memory = CogneeMemory(host)
        result = await Runner.run(
            agent(), prompt, hooks=memory.hooks, run_config=memory.run_config_with(own_config)
        )
    assert SECRET in result.final_output
    stored = memories.stored("openai_secret")
    assert "shell_command" in stored
    assert "ran look" in stored
    assert "Please look around" in stored
    assert SECRET not in stored


async def test_openai_a_tool_that_raises_is_kept_as_a_failure(
    memories: Memories, model: ScriptedModel, own_config: RunConfig
) -> None:
    async with memories.running("openai-agents", "openai_failure") as host:
        memory = CogneeMemory(host)
        await Runner.run(
            agent(),
            "Please try this {{tool: fail}}",
            hooks=memory.hooks,
            run_config=memory.run_config_with(own_config),
        )
    stored = json.loads(memories.stored("openai_failure"))
    [trace] = stored["traces"]
    assert trace["status"] == "error"
    assert trace["error_message"] == "ValueError: no such thing"


async def test_openai_streamed_runs_have_memory_too(
    memories: Memories, model: ScriptedModel, own_config: RunConfig
) -> None:
    await memories.remember()
    async with memories.running("openai-agents", "openai_streamed") as host:
        memory = CogneeMemory(host)
        result = Runner.run_streamed(
            agent(),
            QUESTION + " {{tool: look}} {{say: streamed answer}}",
            hooks=memory.hooks,
            run_config=memory.run_config_with(own_config),
        )
        async for _ in result.stream_events():
            pass
    assert all(sent["stream"] for sent in model.requests)
    assert [FACT in json.dumps(sent["input"]) for sent in model.requests] == [True, True]
    assert "streamed answer" in memories.stored("openai_streamed")


async def test_openai_an_agent_that_takes_over_knows_the_same_and_answers_the_prompt(
    memories: Memories, model: ScriptedModel, own_config: RunConfig
) -> None:
    await memories.remember()
    first = agent(tools=[], handoffs=[agent(name="expert")])
    async with memories.running("openai-agents", "openai_handoff") as host:
        memory = CogneeMemory(host)
        result = await Runner.run(
            first,
            QUESTION + " {{agent: transfer_to_expert}} {{tool: look}} {{say: the expert's answer}}",
            hooks=memory.hooks,
            run_config=memory.run_config_with(own_config),
        )
    assert result.last_agent.name == "expert"
    assert [len(model.context_texts(index)) for index in range(3)] == [1, 1, 1]
    stored = json.loads(memories.stored("openai_handoff"))
    [turn] = stored["qas"]
    assert turn["question"].startswith(QUESTION)
    assert turn["answer"] == "the expert's answer"


async def test_openai_an_agent_that_folds_the_history_when_taking_over_still_has_memory(
    memories: Memories, model: ScriptedModel, own_config: RunConfig
) -> None:
    await memories.remember()
    first = agent(tools=[], handoffs=[agent(name="expert")])
    own_config.handoff_input_filter = lambda given: given.clone(input_history="A summary.")
    async with memories.running("openai-agents", "openai_folded") as host:
        memory = CogneeMemory(host)
        await Runner.run(
            first,
            QUESTION + " {{agent: transfer_to_expert}}",
            hooks=memory.hooks,
            run_config=memory.run_config_with(own_config),
        )
    assert FACT in model.requests[-1]["instructions"]


async def test_openai_without_a_server_the_run_goes_on_with_one_line(
    memories: Memories, model: ScriptedModel, own_config: RunConfig
) -> None:
    environ = {"COGNEE_BASE_URL": CLOSED}
    async with running(
        memories.host("openai-agents", "openai_offline", environ=environ), close_seconds=1
    ) as host:
        memory = CogneeMemory(host)
        result = await Runner.run(
            agent(),
            QUESTION + " {{tool: look}}",
            hooks=memory.hooks,
            run_config=memory.run_config_with(own_config),
        )
    assert result.final_output == "Done."
    assert model.context_texts() == [OUTAGE]


@pytest.mark.expects_faults
async def test_openai_a_broken_plugin_changes_nothing(
    memories: Memories, model: ScriptedModel, own_config: RunConfig
) -> None:
    await memories.remember()
    async with memories.running(
        "openai-agents", "openai_broken", plugins={"broken": Broken()}
    ) as host:
        memory = CogneeMemory(host)
        result = await Runner.run(
            agent(),
            QUESTION + " {{tool: look}}",
            hooks=memory.hooks,
            run_config=memory.run_config_with(own_config),
        )
    assert result.final_output == "Done."
    assert FACT in model.context_texts()[0]
    assert "ran look" in memories.stored("openai_broken")


async def test_openai_the_programs_own_hooks_and_filter_still_run(
    memories: Memories, model: ScriptedModel, own_config: RunConfig
) -> None:
    called: list[str] = []

    class Own(RunHooks[Any]):
        async def on_agent_start(self, context, agent):
            called.append("start")

        async def on_llm_start(self, context, agent, system_prompt, input_items):
            called.append("llm start")

        async def on_llm_end(self, context, agent, response):
            called.append("llm end")

        async def on_tool_start(self, context, agent, tool):
            called.append("tool start")

        async def on_tool_end(self, context, agent, tool, result):
            called.append("tool end")

        async def on_agent_end(self, context, agent, output):
            called.append("end")

    def own_filter(data):
        called.append("filter")
        data.model_data.instructions = "Filtered."
        return data.model_data

    own_config.call_model_input_filter = own_filter
    own_config.tool_error_formatter = lambda failed: f"formatted {failed.error}"
    await memories.remember()
    async with memories.running("openai-agents", "openai_own") as host:
        memory = CogneeMemory(host)
        await Runner.run(
            agent(),
            QUESTION + " {{tool: fail}}",
            hooks=memory.hooks_with(Own()),
            run_config=memory.run_config_with(own_config),
        )
    model_call = ["filter", "llm start", "llm end"]
    assert called == ["start", *model_call, "tool start", "tool end", *model_call, "end"]
    first, second = model.requests
    assert first["instructions"] == "Filtered."
    assert FACT in json.dumps(first["input"])
    assert second["input"][-1]["output"] == "formatted no such thing"


# -- Claude Agent SDK ------------------------------------------------------------------------------


@pytest.fixture
def claude() -> Iterator[ScriptedModel]:
    with messages_endpoint() as endpoint:
        yield endpoint


@pytest.fixture
def options(
    claude: ScriptedModel, isolated_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> ClaudeAgentOptions:
    """What a program brings itself: an agent that talks to nobody but the scripted model."""
    # The agent inherits the environment; one that runs these tests must not reach it.
    for name in [name for name in os.environ if name.startswith(("CLAUDE", "ANTHROPIC"))]:
        monkeypatch.delenv(name)
    return ClaudeAgentOptions(
        env={
            "ANTHROPIC_BASE_URL": claude.url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
            "IS_SANDBOX": "1",
        },
        permission_mode="bypassPermissions",
        cwd=isolated_environment,
    )


async def ask(prompt: str, options: ClaudeAgentOptions) -> list[Any]:
    """Ask once; returns all messages."""
    messages = [each async for each in query(prompt=prompt, options=options)]
    assert isinstance(messages[-1], ResultMessage)
    assert not messages[-1].is_error
    return messages


async def test_claude_the_model_gets_the_recalled_fact(
    memories: Memories, claude: ScriptedModel, options: ClaudeAgentOptions
) -> None:
    await memories.remember()
    async with memories.running("claude-code", "claude_recall") as host:
        messages = await ask(QUESTION, with_memory(options, host))
    assert messages[-1].result == "Done."
    assert FACT in "".join(claude.context_texts())
    assert QUESTION in memories.stored("claude_recall")


async def test_claude_a_tools_secret_does_not_reach_the_server(
    memories: Memories, claude: ScriptedModel, options: ClaudeAgentOptions
) -> None:
    prompt = f"Look around {{{{tool: echo found {SECRET}}}}} {{{{tool: echo none; exit 3}}}}"
    async with memories.running("claude-code", "claude_secret") as host:
        await ask(prompt, with_memory(options, host))
    stored = memories.stored("claude_secret")
    traces = json.loads(stored)["traces"]
    assert sorted(each["status"] for each in traces) == ["error", "success"]
    assert "found" in stored
    assert SECRET not in stored


async def test_claude_turns_of_one_client_are_kept_one_by_one_and_a_subagents_end_is_no_answer(
    memories: Memories, claude: ScriptedModel, options: ClaudeAgentOptions
) -> None:
    async with (
        memories.running("claude-code", "claude_turns") as host,
        ClaudeSDKClient(with_memory(options, host)) as client,
    ):
        for prompt in (
            "First question {{agent: look [[say: of the sub-agent]]}} {{say: first answer}}",
            "Second question {{say: second answer}}",
        ):
            await client.query(prompt)
            async for _ in client.receive_response():
                pass
    turns = json.loads(memories.stored("claude_turns"))["qas"]
    assert sorted(each["answer"] for each in turns) == ["first answer", "second answer"]


async def test_claude_without_a_server_the_run_goes_on_with_one_line(
    memories: Memories, claude: ScriptedModel, options: ClaudeAgentOptions
) -> None:
    environ = {"COGNEE_BASE_URL": CLOSED}
    async with running(
        memories.host("claude-code", "claude_offline", environ=environ), close_seconds=1
    ) as host:
        messages = await ask(QUESTION, with_memory(options, host))
    assert messages[-1].result == "Done."
    [line] = claude.context_texts()
    assert line.splitlines()[0] == OUTAGE


@pytest.mark.expects_faults
async def test_claude_a_broken_plugin_changes_nothing(
    memories: Memories, claude: ScriptedModel, options: ClaudeAgentOptions
) -> None:
    await memories.remember()
    async with memories.running(
        "claude-code", "claude_broken", plugins={"broken": Broken()}
    ) as host:
        messages = await ask(QUESTION, with_memory(options, host))
    assert messages[-1].result == "Done."
    assert FACT in "".join(claude.context_texts())


async def test_claude_the_programs_own_hooks_still_run(
    memories: Memories, claude: ScriptedModel, options: ClaudeAgentOptions
) -> None:
    called: list[str] = []

    async def own(given, tool_use_id, context):
        called.append(given["hook_event_name"])
        return {}

    options.hooks = {
        event: [HookMatcher(hooks=[own])]
        for event in ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop")
    }
    async with memories.running("claude-code", "claude_own") as host:
        await ask("Look around {{tool: echo found}}", with_memory(options, host))
    assert called == ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"]
    assert "found" in memories.stored("claude_own")


async def test_claude_notices_are_shown_to_the_person(
    memories: Memories, claude: ScriptedModel, options: ClaudeAgentOptions
) -> None:
    async with memories.running("claude-code", "claude_notice") as host:
        host.say("Cognee memory: something to know.")
        messages = await ask("A question about it", with_memory(options, host))
    system = [str(each.data) for each in messages if isinstance(each, SystemMessage)]
    assert "Cognee memory: something to know." in "".join(system)


async def test_claude_hooks_that_are_installed_for_the_agent_stay_silent(
    memories: Memories,
    claude: ScriptedModel,
    options: ClaudeAgentOptions,
    isolated_environment: Path,
) -> None:
    seen = isolated_environment / "seen"
    command = f'printf %s "$COGNEE_HOOKS_NESTED" > {seen}'
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}
    (isolated_environment / ".claude").mkdir()
    (isolated_environment / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    async with memories.running("claude-code", "claude_nested") as host:
        await ask("A question about it", with_memory(options, host))
    assert seen.read_text() == "1"


# -- as the documents show it ----------------------------------------------------------------------


@pytest.fixture
def documented(memories: Memories, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Gives the function ``ask`` of a snippet, whose Host finds its settings in the environment."""
    settings = {
        "COGNEE_BASE_URL": memories.server.url,
        "COGNEE_API_KEY": memories.server.key,
        "COGNEE_PLUGIN_DATASET": memories.dataset,
        "COGNEE_RECALL_TIMEOUT_MS": "9000",
    }
    for name, text in settings.items():
        monkeypatch.setenv(name, text)

    def ask_of(word: str) -> Any:
        page = Page(ROOT / "docs" / "agents.md")
        (block,) = (each for each in page.blocks if word in each.text and each.kind == "python")
        namespace: dict[str, Any] = {}
        exec(compile(block.text, str(block), "exec"), namespace)  # noqa: S102 - our own page
        return namespace["ask"]

    return ask_of


async def test_openai_as_the_documents_show_it(
    memories: Memories,
    model: ScriptedModel,
    documented: Callable[[str], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await memories.remember()
    monkeypatch.setenv("OPENAI_BASE_URL", f"{model.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    set_tracing_disabled(disabled=True)
    try:
        assert await documented("CogneeMemory(host)")(agent(), QUESTION) == "Done."
    finally:
        set_tracing_disabled(disabled=False)
    assert FACT in json.dumps(model.requests[0]["input"])


async def test_claude_as_the_documents_show_it(
    memories: Memories,
    claude: ScriptedModel,
    options: ClaudeAgentOptions,
    documented: Callable[[str], Any],
) -> None:
    await memories.remember()
    assert await documented("with_memory(options, host)")(options, QUESTION) == "Done."
    assert FACT in "".join(claude.context_texts())
