"""What a run of OpenAI agents tells the host, and what its model calls get, call by call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, RunConfig, RunHooks, Runner, function_tool
from agents.exceptions import UserError
from agents.testing import ScriptedModel, assistant_message, function_call

from cognee_hooks import Deadline, hookimpl
from cognee_hooks.host import Host
from cognee_hooks.results import AdditionalContext
from cognee_hooks.sdk.openai_agents import CogneeMemory
from tests.support.scripted import ScriptedClient

QUIET = RunConfig(tracing_disabled=True)


class Recorder:
    """Keeps all events and numbers what it gives the model."""

    def __init__(self) -> None:
        self.prompts: list[Any] = []
        self.calls: list[Any] = []
        self.stops: list[Any] = []

    @hookimpl
    async def cognee_user_prompt_submit(self, event):
        self.prompts.append(event)
        return AdditionalContext(text=f"memory {len(self.prompts)}")

    @hookimpl
    async def cognee_post_tool_use(self, event):
        self.calls.append(event)

    @hookimpl
    async def cognee_post_tool_use_failure(self, event):
        self.calls.append(event)

    @hookimpl
    async def cognee_stop(self, event):
        self.stops.append(event)


@function_tool
def add(first: int, second: int) -> int:
    """Add two numbers."""
    return first + second


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
async def host(recorder: Recorder, isolated_environment: Path) -> AsyncIterator[Host]:
    made = Host(
        "openai-agents",
        environ={"HOME": str(isolated_environment), "COGNEE_CAPTURE": "false"},
        session_id="s1",
        cwd="/work",
        client=ScriptedClient(),
        plugins={"recorder": recorder},
        entry_points=(),
    )
    await made.start()
    yield made
    await made.close(Deadline.after(1))


def adding() -> Any:
    return function_call("add", {"first": 1, "second": 2}, call_id="call_1")


def scripted(*steps: Any) -> ScriptedModel:
    """A model that answers with one item a call, or raises."""
    return ScriptedModel([step if isinstance(step, Exception) else [step] for step in steps])


async def run(
    host: Host, agent: Agent[Any], prompt: Any, memory: CogneeMemory | None = None
) -> Any:
    used = memory or CogneeMemory(host)
    return await Runner.run(agent, prompt, hooks=used.hooks, run_config=used.run_config_with(QUIET))


def given(model: ScriptedModel) -> list[list[str]]:
    """What was said in each model call, memory included."""
    return [
        [str(item["content"]) for item in call.input if item.get("role") == "user"]
        for call in model.calls
    ]


async def test_events_say_what_happened(host: Host, recorder: Recorder) -> None:
    model = scripted(adding(), assistant_message("three"))
    await run(host, Agent(name="a", model=model, tools=[add]), "how many?")
    [prompt], [call], [stop] = recorder.prompts, recorder.calls, recorder.stops
    assert prompt.prompt == "how many?"
    assert (call.tool_name, call.tool_use_id) == ("add", "call_1")
    assert (dict(call.tool_input), call.tool_response) == ({"first": 1, "second": 2}, 3)
    assert stop.last_assistant_message == "three"
    for event in (prompt, call, stop):
        assert (event.session_id, event.agent, event.cwd) == ("s1", "openai-agents", "/work")
        assert (event.agent_id, event.agent_type) == ("", "")
        assert event.prompt_id == prompt.prompt_id != ""


async def test_one_recall_serves_all_model_calls_of_a_run(host: Host, recorder: Recorder) -> None:
    model = scripted(adding(), assistant_message("three"), assistant_message("again"))
    agent, memory = Agent(name="a", model=model, tools=[add]), CogneeMemory(host)
    result = await run(host, agent, "how many?", memory)
    await run(
        host, agent, [*result.to_input_list(), {"role": "user", "content": "and now?"}], memory
    )
    assert given(model) == [
        ["memory 1", "how many?"],
        ["memory 1", "how many?"],
        ["how many?", "memory 2", "and now?"],
    ]
    assert len({each.prompt_id for each in recorder.prompts}) == 2


async def test_the_same_prompt_again_is_a_new_turn(host: Host, recorder: Recorder) -> None:
    model = scripted(assistant_message("one"), assistant_message("two"))
    agent, memory = Agent(name="a", model=model), CogneeMemory(host)
    for _ in range(2):
        await run(host, agent, "go on", memory)
    assert given(model) == [["memory 1", "go on"], ["memory 2", "go on"]]
    assert [each.last_assistant_message for each in recorder.stops] == ["one", "two"]


async def test_after_a_run_that_failed_the_next_one_has_its_own_turn(
    host: Host, recorder: Recorder
) -> None:
    broken = scripted(RuntimeError("model gone"))
    model = scripted(assistant_message("fine"))
    memory = CogneeMemory(host)
    with pytest.raises(RuntimeError, match="model gone"):
        await run(host, Agent(name="a", model=broken), "first", memory)
    await run(host, Agent(name="a", model=model), "second", memory)
    assert given(model) == [["memory 2", "second"]]
    assert [each.last_assistant_message for each in recorder.stops] == ["fine"]


async def test_an_agent_that_takes_over_is_named_in_its_tool_calls(
    host: Host, recorder: Recorder
) -> None:
    expert = Agent(name="expert", model=scripted(adding(), assistant_message("three")), tools=[add])
    first = Agent(
        name="a",
        model=scripted(function_call("transfer_to_expert", {}, call_id="call_0")),
        handoffs=[expert],
    )
    await run(host, first, "how many?")
    assert len(recorder.prompts) == 1
    assert (recorder.calls[0].agent_id, recorder.calls[0].agent_type) == ("expert", "expert")
    [stop] = recorder.stops
    assert (stop.agent_id, stop.agent_type) == ("", "expert")
    assert given(expert.model) == [["memory 1", "how many?"]] * 2


async def test_an_agent_used_as_a_tool_gets_no_memory_and_its_end_is_no_answer(
    host: Host, recorder: Recorder
) -> None:
    memory = CogneeMemory(host)
    helper = Agent(name="helper", model=scripted(adding(), assistant_message("three")), tools=[add])
    tool = helper.as_tool("help", "Helps.", hooks=memory.hooks)
    asking = function_call("help", {"input": "add them"}, call_id="call_9")
    agent = Agent(name="a", model=scripted(asking, assistant_message("done")), tools=[tool])
    await run(host, agent, "how many?", memory)
    assert [each.prompt for each in recorder.prompts] == ["how many?"]
    assert given(helper.model) == [["add them"]] * 2
    assert [(each.tool_name, each.agent_id) for each in recorder.calls] == [
        ("add", "helper"),
        ("help", ""),
    ]
    assert [(each.last_assistant_message, each.agent_id) for each in recorder.stops] == [
        ("three", "helper"),
        ("done", ""),
    ]


async def test_a_handover_inside_a_helper_does_not_move_the_conversation(
    host: Host, recorder: Recorder
) -> None:
    memory = CogneeMemory(host)
    expert = Agent(name="expert", model=scripted(assistant_message("three")))
    handing = function_call("transfer_to_expert", {}, call_id="call_0")
    helper = Agent(name="helper", model=scripted(handing), handoffs=[expert])
    tool = helper.as_tool("help", "Helps.", hooks=memory.hooks)
    asking = function_call("help", {"input": "add them"}, call_id="call_9")
    model = scripted(asking, assistant_message("done"))
    await run(host, Agent(name="a", model=model, tools=[tool]), "how many?", memory)
    assert given(model) == [["memory 1", "how many?"]] * 2
    assert [(each.last_assistant_message, each.agent_id) for each in recorder.stops] == [
        ("three", "expert"),
        ("done", ""),
    ]


async def test_a_tool_that_is_not_there_is_no_tool_call(host: Host, recorder: Recorder) -> None:
    memory = CogneeMemory(host)
    own = RunConfig(tracing_disabled=True, tool_not_found_behavior="return_error_to_model")
    model = scripted(function_call("gone", {}, call_id="call_1"), assistant_message("fine"))
    await Runner.run(
        Agent(name="a", model=model, tools=[add]),
        "try it",
        hooks=memory.hooks,
        run_config=memory.run_config_with(own),
    )
    assert recorder.calls == []


async def test_a_tool_that_raised_is_a_failure_once(host: Host, recorder: Recorder) -> None:
    tries = iter([ValueError("no such thing")])

    @function_tool
    def flaky() -> str:
        """Fail the first time."""
        for error in tries:
            raise error
        return "fine"

    call = function_call("flaky", {}, call_id="call_1")
    again = function_call("flaky", {}, call_id="call_2")
    model = scripted(call, again, assistant_message(""))
    await run(host, Agent(name="a", model=model, tools=[flaky]), "try it")
    first, second = recorder.calls
    assert first.error == "ValueError: no such thing"
    assert second.tool_response == "fine"


async def test_a_run_that_waited_for_an_approval_goes_on_with_the_same_turn(
    host: Host, recorder: Recorder
) -> None:
    @function_tool(needs_approval=True)
    def risky() -> str:
        """Do something that a person has to allow."""
        return "did it"

    call = function_call("risky", {}, call_id="call_1")
    model = scripted(call, assistant_message("done"))
    agent, memory = Agent(name="a", model=model, tools=[risky]), CogneeMemory(host)
    paused = await run(host, agent, "do it please", memory)
    state = paused.to_state()
    state.approve(paused.interruptions[0])
    result = await run(host, agent, state, memory)
    assert result.final_output == "done"
    assert [each.prompt for each in recorder.prompts] == ["do it please"]
    assert given(model) == [["memory 1", "do it please"]] * 2
    assert [each.tool_response for each in recorder.calls] == ["did it"]
    assert [each.agent_id for each in recorder.stops] == [""]


async def test_a_prompt_that_the_programs_filter_rewrites_keeps_its_memory(host: Host) -> None:
    async def own(data):
        data.model_data.input = [{"role": "user", "content": "rewritten"}]
        return data.model_data

    model = scripted(assistant_message("fine"))
    memory = CogneeMemory(host)
    config = memory.run_config_with(RunConfig(tracing_disabled=True, call_model_input_filter=own))
    await Runner.run(
        Agent(name="a", model=model), "as it was", hooks=memory.hooks, run_config=config
    )
    assert given(model) == [["memory 1", "rewritten"]]


async def test_faults_of_the_programs_own_filter_and_hooks_reach_the_run(host: Host) -> None:
    def own_filter(data):
        raise ZeroDivisionError

    class Own(RunHooks[Any]):
        async def on_agent_end(self, context, agent, output):
            raise KeyError

    memory = CogneeMemory(host)
    agent = Agent(name="a", model=scripted(assistant_message("fine")))
    config = memory.run_config_with(
        RunConfig(tracing_disabled=True, call_model_input_filter=own_filter)
    )
    with pytest.raises(ZeroDivisionError):
        await Runner.run(agent, "prompt", hooks=memory.hooks, run_config=config)
    with pytest.raises(KeyError):
        await Runner.run(
            agent,
            "prompt",
            hooks=memory.hooks_with(Own()),
            run_config=memory.run_config_with(QUIET),
        )


@pytest.mark.expects_faults
async def test_a_filter_that_returns_rubbish_is_told_so_by_the_sdk(host: Host) -> None:
    memory = CogneeMemory(host)
    config = memory.run_config_with(
        RunConfig(tracing_disabled=True, call_model_input_filter=lambda _: "rubbish")
    )
    agent = Agent(name="a", model=scripted())
    with pytest.raises(UserError, match="ModelInputData"):
        await Runner.run(agent, "prompt", hooks=memory.hooks, run_config=config)


@pytest.mark.expects_faults
async def test_a_fault_of_the_adapter_never_reaches_the_run(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any) -> None:
        raise RuntimeError("broken")

    for name in ("user_prompt_submit", "post_tool_use", "stop"):
        monkeypatch.setattr(host, name, broken)
    model = scripted(adding(), assistant_message("three"))
    result = await run(host, Agent(name="a", model=model, tools=[add]), "how many?")
    assert result.final_output == "three"
    assert given(model) == [["how many?"]] * 2
    assert {row.hook for row in host.faults.rows("openai-agents")} == {
        "on_agent_start",
        "on_tool_end",
        "on_agent_end",
    }


async def test_a_run_without_a_prompt_recalls_nothing(host: Host, recorder: Recorder) -> None:
    model = scripted(assistant_message("fine"))
    await run(host, Agent(name="a", model=model), [])
    assert recorder.prompts == []
    assert [each.last_assistant_message for each in recorder.stops] == ["fine"]


def test_the_programs_run_config_is_left_as_it_is(isolated_environment: Path) -> None:
    host = Host(
        "a", environ={"HOME": str(isolated_environment)}, client=ScriptedClient(), entry_points=()
    )
    own = RunConfig(workflow_name="mine", trace_metadata={"key": "value"})
    made = CogneeMemory(host).run_config_with(own)
    assert own.call_model_input_filter is None
    assert (made.workflow_name, made.trace_metadata) == ("mine", {"key": "value"})


async def test_the_model_may_use_the_memory_by_itself(host: Host) -> None:
    memory = CogneeMemory(host)
    names = [tool.name for tool in memory.tools]
    assert {"cognee_remember", "cognee_recall", "cognee_forget"} <= set(names)
    asking = function_call("cognee_recall", {}, call_id="call_1")
    model = scripted(asking, assistant_message("nothing"))
    agent = Agent(name="a", model=model, tools=[add, *memory.tools])
    result = await run(host, agent, "what is known?", memory)
    assert result.final_output == "nothing"
    [output] = [
        item for item in model.calls[-1].input if item.get("type") == "function_call_output"
    ]
    assert "say what to search for" in str(output["output"])
