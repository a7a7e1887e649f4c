"""What holds for every baseline: its graph, its channels, its run folder, and that nothing depends on chance."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk
from langgraph.checkpoint.memory import InMemorySaver
from loopback.answering import Fault
from loopback.planned import BUILDERS, NAMES, PEOPLE, Baseline, name_in, round_in
from loopback.scripted import prompt_of
from run_files import logged, run_json

import persimchat
from persimchat.graph.kinds import graph_for
from persimchat.runs.events import Event, Stopped
from persimchat.runs.run.resume import resume_run
from persimchat.state.conversation import utterance_id, utterances
from persimchat.state.errors import InputError, ModelError
from persimchat.state.kinds import unheeded
from persimchat.state.settings import Settings

pytestmark = pytest.mark.proof

Start = Callable[..., Baseline]

SCRIPT = "\n".join(f"{name.split()[0]}: Tea number {n}." for n, name in enumerate([*NAMES, *NAMES, *NAMES]))
PLAN = {NAMES[0]: ["18"], NAMES[1]: ["20", "18"], NAMES[2]: ["20"]}
JUDGE = {"reasoning": "The second side is right.", "decided": True, "side": "negative", "answer": "20"}
SCORE = {"reasoning": "Fine.", "coherence": 7.0, "sentiment": 5.0, "engagement": 6.5}
SETTINGS: dict[str, Any] = {"rounds": 3, "max_messages": 9, "answer_format": "number"}
ALL = sorted(BUILDERS)
DEBATES = ["mad", "mad_judge", "reconcile"]
DISCUSSIONS = ["group_chat", "single_agent"]


@pytest.fixture
def ready(baseline: Start) -> Baseline:
    """Answers for every baseline."""
    return baseline(PLAN, script=SCRIPT, group_chat=words, mad_judge=judge, analysis=SCORE)


def judge(body: dict[str, Any]) -> dict[str, Any]:
    return JUDGE if "last round" in prompt_of(body) else {**JUDGE, "decided": False, "side": None, "answer": None}


def words(body: dict[str, Any]) -> str:
    """What nobody has said yet, so that nobody is asked again; the same for the same prompt."""
    (turn,) = re.findall(r"- Progress: (\d+) of", prompt_of(body))
    return f"Number {int(turn) + 1}."


def settings_of(name: str) -> dict[str, Any]:
    return SETTINGS if name not in DISCUSSIONS else {"max_messages": 9, "closing": "off"}


def source_of(name: str) -> str:
    """Which rule ends it: a group chat has those of the conversation of minds."""
    return "message_limit" if name == "group_chat" else name


@pytest.mark.parametrize("name", ALL)
def test_it_is_drawn(name: str):
    graph = graph_for(Settings(mode="discussion" if name in DISCUSSIONS else "debate", baseline=name))
    drawing = graph.get_graph(xray=True).draw_mermaid()
    assert all(f"{node}({node})" in drawing for node in ("assemble", "end_check", "analyse"))
    assert graph.name == name


def test_a_graph_is_compiled_once():
    settings = Settings(mode="debate", baseline="mad")
    assert graph_for(settings) is graph_for(settings.model_copy(update={"rounds": 7}))


@pytest.mark.parametrize("name", ALL)
def test_it_leaves_the_channels_of_a_conversation(ready: Baseline, name: str):
    output = ready.hold(name, **settings_of(name))
    said = utterances(output["messages"])
    assert [u["turn"] for u in said] == list(range(1, 10)) and output["turn"] == 9
    assert [m.id for m in output["messages"]] == [utterance_id("test", turn) for turn in range(1, 10)]
    assert all(m.name == u["speaker"] and m.text == u["text"] for m, u in zip(output["messages"], said, strict=True))
    assert (output["stop_source"], output["stop_reason"]) == (source_of(name), "message_limit")
    assert output["stop_detail"].endswith(".") and "\n" not in output["stop_detail"]
    assert all(u["emotion"] == u["need_to_talk"] == {} and u["corrections"] == [] for u in said)
    json.dumps(said)
    assert sum(row["calls"] for row in output["usage"].values()) == len(ready.server.bodies())
    assert sum(u["tokens"]["input"] for u in said) == sum(
        row["input_tokens"] for key, row in output["usage"].items() if not key.startswith(("judge", "selector"))
    )
    conclusion = output["conclusion"]
    assert (conclusion is None) is (name in DISCUSSIONS)
    if conclusion:
        assert (conclusion["by"], conclusion["consensus"]) == (name, False)


@pytest.mark.parametrize("name", ALL)
async def test_it_runs_in_both_worlds_and_says_the_same_again(ready: Baseline, name: str):
    settings = ready.settings(name, **settings_of(name))
    topic = {"topic": "Tea?", "participants": PEOPLE, "simulation": "test"}
    first = await graph_for(settings).ainvoke(topic, context=settings)
    again = await asyncio.to_thread(graph_for(settings).invoke, topic, context=settings)

    def comparable(output: dict[str, Any]) -> Any:
        timeless = [{k: v for k, v in u.items() if k != "response_time_s"} for u in utterances(output["messages"])]
        return timeless, output["conclusion"], output["stop_detail"], list(output["verdicts"])

    assert comparable(first) == comparable(again)


@pytest.mark.parametrize("name", ALL)
async def test_every_utterance_streams_whole_and_once(ready: Baseline, name: str):
    """A script streams nothing: its words are no utterances until they are parsed. A group chat streams its words."""
    settings = ready.settings(name, **settings_of(name))
    seen: dict[str, str] = {}
    streamed: dict[str, str] = {}
    topic = {"topic": "Tea?", "participants": PEOPLE, "simulation": "test"}
    async for message, _ in graph_for(settings).astream(topic, context=settings, stream_mode="messages"):
        if isinstance(message, AIMessageChunk):
            assert name == "group_chat"
            streamed[message.id or ""] = streamed.get(message.id or "", "") + str(message.text)
        else:
            seen[message.id or ""] = str(message.text)
    assert sorted({**seen, **streamed}) == sorted(utterance_id("test", turn) for turn in range(1, 10))
    assert streamed == ({utterance_id("test", n): f"Number {n}." for n in range(1, 10)} if streamed else {})
    assert bool(streamed) is (name == "group_chat")


@pytest.mark.parametrize("name", ALL)
def test_a_second_one_on_the_same_thread_begins_anew(ready: Baseline, name: str):
    settings = ready.settings(name, **settings_of(name))
    graph = BUILDERS[name](InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    graph.invoke({"topic": "Tea?", "participants": PEOPLE}, config, context=settings)
    asked = len(ready.scripted.asked)
    output = graph.invoke({"topic": "Milk?", "participants": PEOPLE}, config, context=settings)
    assert (output["turn"], len(output["messages"])) == (9, 18)
    assert [u["turn"] for u in utterances(output["messages"])] == [*range(1, 10), *range(1, 10)]
    assert len(ready.scripted.asked) == 2 * asked
    assert not any("Tea?" in prompt for _, prompt in ready.scripted.asked[asked:])
    first = ready.scripted.asked[asked][1]
    assert "answered:" not in first
    json.dumps(graph.get_state(config).values["agents"])


@pytest.mark.parametrize("name", DEBATES)
def test_what_failed_goes_on_where_it_was(baseline: Start, name: str):
    broken = [True]

    def answer(body: dict[str, Any]) -> Any:
        prompt = prompt_of(body)
        if broken and name_in(prompt) == NAMES[1] and round_in(prompt) == 2:
            return Fault(status=401, body={"error": {"message": "no key"}})
        return {"reasoning": "r", "answer": "18" if name_in(prompt) == NAMES[0] else "20", "confidence": 0.5}

    b = baseline(answering=answer, mad_judge=judge)
    settings, graph = b.settings(name, **SETTINGS), BUILDERS[name](InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    with pytest.raises(ModelError):
        graph.invoke({"topic": "Tea?", "participants": PEOPLE}, config, context=settings)
    broken.clear()
    first = [p for p in b.scripted.prompts("answering") if round_in(p) == 1]
    output = graph.invoke(None, config, context=settings)
    assert output["turn"] == 9 and len(output["messages"]) == 9
    assert [p for p in b.scripted.prompts("answering") if round_in(p) == 1] == first


@pytest.mark.parametrize("name", DEBATES)
def test_less_than_a_round_is_refused_before_anybody_is_asked(ready: Baseline, name: str):
    with pytest.raises(InputError, match="max_messages=2 leaves no room") as caught:
        ready.hold(name, max_messages=2)
    assert ready.scripted.asked == []
    assert caught.value.remedy


@pytest.mark.parametrize("name", DEBATES)
def test_the_message_limit_cuts_whole_rounds(ready: Baseline, name: str):
    output = ready.hold(name, **{**SETTINGS, "max_messages": 8})
    assert output["turn"] == 6
    assert "- Progress: 3 of 6 utterances made" in ready.answering(NAMES[0], 2)


@pytest.mark.parametrize("name", ALL)
def test_analysis_scores_every_utterance_knowing_what_came_before(ready: Baseline, name: str):
    output = ready.hold(name, analysis=True, recent_utterances=4, **settings_of(name))
    assert [score["turn"] for score in output["scores"]] == list(range(1, 10))
    texts = [" ".join(u["text"].split()) for u in utterances(output["messages"])]
    prompts = sorted(ready.scripted.prompts("analysis"), key=lambda p: int(p.split("Progress: ")[1].split(" of ")[0]))
    for number, prompt in enumerate(prompts):
        heard = prompt.split("<heard>")[1]
        before = prompt.split("<last_utterances>")[1].split("</last_utterances>")[0] if number else ""
        assert texts[number] in heard
        assert before.count("\n- ") == min(number, 3)
        assert texts[number - 1] in before or not number


@pytest.mark.parametrize("name", ALL)
def test_analysis_delays_no_round(ready: Baseline, name: str):
    """A debate's scores of one round are asked for together with the answers of the next."""
    ready.server.delay_s = 0.15
    ready.hold(name, analysis=True, **settings_of(name))
    tasks = [task for task, _ in ready.scripted.asked]
    if name == "single_agent":
        assert tasks == ["script", *["analysis"] * 9]
    elif name == "group_chat":
        assert tasks[:3] == ["selector", "group_chat", "selector"]
        assert set(tasks[3:5]) == {"group_chat", "analysis"}
        assert ready.server.most_at_once == 2
    else:
        last = len(tasks) - 1 - tasks[::-1].index("answering")
        assert tasks[:last].count("analysis") >= 3
        assert ready.server.most_at_once >= (6 if name != "mad_judge" else 4)


@pytest.mark.parametrize("name", ALL)
def test_its_run_is_one_like_any_other(ready: Baseline, name: str, tmp_path: Path):
    settings = ready.settings(name, analysis=True, **settings_of(name))
    result = persimchat.simulate("Tea?", PEOPLE, settings=settings, out=tmp_path)
    folder = Path(result.folder or "")

    manifest = run_json(folder)
    assert (manifest["stop_reason"], manifest["stop_source"], manifest["turn"]) == ("message_limit", source_of(name), 9)
    said = logged(folder, "utterance")
    assert [u["turn"] for u in said] == list(range(1, 10))
    assert all(("answer" in u) is (name not in DISCUSSIONS) for u in said)
    assert all(("confidence" in u) is (name == "reconcile") for u in said)
    assert logged(folder, "mind") == []
    assert [score["turn"] for score in logged(folder, "analysis")] == list(range(1, 10))
    assert manifest["usage"]["total"]["calls"] == len(ready.server.bodies())
    readable = (folder / "transcript.md").read_text(encoding="utf-8")
    if name in DISCUSSIONS:
        assert manifest["conclusion"] is None
    else:
        assert manifest["conclusion"]["by"] == name
        assert manifest["conclusion"]["answer"] in readable
    if name == "mad_judge":
        assert [verdict["turn"] for verdict in logged(folder, "verdict")] == [3, 6, 9]


async def resumed(folder: Path, **changes: Any) -> list[Event]:
    return [event async for event in resume_run(folder, changes=changes)]


@pytest.mark.parametrize("name", ALL)
async def test_a_budget_ends_it_and_a_higher_one_goes_on(ready: Baseline, name: str, tmp_path: Path):
    """No request more than the budget is made; in the end, everything was said as without one."""
    answers: list[Any] = [SCRIPT.splitlines()[0], SCRIPT]  # the first script is too short, so it is asked for again
    ready.scripted.answers["script"] = lambda _: answers.pop(0) if len(answers) > 1 else answers[0]
    settings = ready.settings(name, **settings_of(name))
    budget = 1 if name == "single_agent" else 4
    result = await persimchat.asimulate(
        "Tea?", PEOPLE, settings=settings.model_copy(update={"budget_calls": budget}), out=tmp_path
    )
    folder = Path(result.folder or "")
    assert (result.stop_reason, result.stop_source) == ("budget", "budget_calls")
    assert len(ready.server.bodies()) == result.totals.calls == budget
    with pytest.raises(InputError, match="budget is used up"):
        await resumed(folder)
    last = (await resumed(folder, budget_calls=100))[-1]
    assert isinstance(last, Stopped) and (last.reason, last.source) == ("message_limit", source_of(name))
    assert last.totals.calls == len(ready.server.bodies())
    whole = await persimchat.asimulate("Tea?", PEOPLE, settings=settings, out=tmp_path)
    said = [(u["speaker"], u["text"]) for u in logged(folder, "utterance")]
    assert said == [(u.speaker, u.text) for u in whole.utterances]


@pytest.mark.parametrize("name", ALL)
def test_a_budget_holds_without_a_run(ready: Baseline, name: str):
    """Inside other programs, the graph's own ledger ends it."""
    budget = 1 if name == "single_agent" else 4
    output = ready.hold(name, analysis=True, budget_calls=budget, **settings_of(name))
    reason = "message_limit" if name == "single_agent" else "budget"
    assert (output["stop_reason"], len(ready.server.bodies())) == (reason, budget)


async def test_scores_that_a_budget_left_out_are_made_with_a_higher_one(ready: Baseline, tmp_path: Path):
    settings = ready.settings("single_agent", analysis=True, budget_calls=4, max_messages=9)
    result = await persimchat.asimulate("Tea?", PEOPLE, settings=settings, out=tmp_path)
    folder = Path(result.folder or "")
    assert (result.stop_reason, result.stop_detail) == (
        "message_limit",
        "One model wrote 9 utterances. None was left to score the last utterances.",
    )
    await resumed(folder, budget_calls=100)
    assert [score["turn"] for score in logged(folder, "analysis")] == list(range(1, 10))
    assert run_json(folder)["detail"] == "One model wrote 9 utterances."


IN_A_LOOP = """
import asyncio, json, sys
from blockbuster import blockbuster_ctx
from persimchat.graph.kinds import graph_for
from persimchat.state.settings import Settings

async def main():
    settings = Settings(**json.loads(sys.argv[1]))
    with blockbuster_ctx():
        output = await graph_for(settings).ainvoke(json.loads(sys.argv[2]), context=settings)
    print(output["turn"], output["stop_reason"])

asyncio.run(main())
"""


@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("name", ["single_agent", "group_chat", "mad_judge"])
def test_nothing_blocks_the_event_loop(ready: Baseline, name: str):
    """What is read at first use is read once a process, so each of these is the first in a process of its own."""
    settings = ready.settings(name, **settings_of(name)).model_dump_json()
    topic = json.dumps({"topic": "Tea?", "participants": PEOPLE})
    done = subprocess.run(
        [sys.executable, "-c", IN_A_LOOP, settings, topic], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip() == "9 message_limit"


@pytest.mark.parametrize("name", ALL)
def test_what_it_does_not_heed_it_does_not_read(ready: Baseline, name: str, monkeypatch: pytest.MonkeyPatch):
    """The memories of a prompt are cut to `memory_tokens`, also where there are none.

    Nothing else that it passes over is even read; what it refuses has its default.
    """
    read: set[str] = set()
    plain = Settings.__getattribute__

    def noted(settings: Settings, field: str) -> Any:
        read.add(field)
        return plain(settings, field)

    settings = [{"analysis": True, **settings_of(name)}]
    settings += [{**settings_of(name), "mode": "debate"}] if name == "group_chat" else []
    for each in settings:
        chosen = ready.settings(name, relationships=True, social_goals=True, **each)
        with monkeypatch.context() as patch:
            patch.setattr(Settings, "__getattribute__", noted)
            graph_for(chosen).invoke({"topic": "Tea?", "participants": PEOPLE}, context=chosen)
    assert {"max_messages", "seed", "social_goals"} <= read
    assert read & unheeded(dict(chosen)) & {*chosen.kind.PASSES} <= {"memory_tokens"}


def test_a_group_chat_has_no_memories_to_cut(ready: Baseline):
    """The same prompts, however many tokens of memories would fit."""
    prompts: list[list[str]] = []
    for tokens in (100, 2000):
        ready.scripted.asked.clear()
        ready.hold("group_chat", memory_tokens=tokens, **settings_of("group_chat"))
        prompts.append([prompt for _, prompt in ready.scripted.asked])
    assert prompts[0] == prompts[1]
