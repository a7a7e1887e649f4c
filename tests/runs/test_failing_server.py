"""Servers that fail, answer wrongly, have a small context or never stop."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback.answering import Fault, Reply, embeddings
from loopback.failing import HEARING, Failing
from loopback.scripted import Scripted
from loopback.server import LoopbackServer
from run_files import logged, run_json
from talks import check_replay, end_of

import persimchat
from persimchat.app.views.plain_view import left_out
from persimchat.memory.store import MemoryStore
from persimchat.models import capacity, ladder, limits
from persimchat.models.exchange import Exchange
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.runs.events import Event
from persimchat.runs.folder.reading import calls_in, calls_of, read_run
from persimchat.runs.folder.run_folder import MEMORIES
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import ModelError
from persimchat.state.settings import Settings

RUN = "a-run"

SCENARIO = make_scenario("Should the square be free of cars?", default_participants(3))

MESSAGES = 5

FAULTS = {
    "busy": Fault(429, headers={"retry-after": "0.02"}),
    "broken": Fault(500),
    "hung up": Fault(hang_up=True),
    "cut stream": Fault(partial="I was about to say that"),
    "endless stream": Fault(partial="I was about to say that", silent=True),
    "too slow": Fault(503, delay_s=3.2),
    "unavailable": Fault(503, "<html>Down for maintenance</html>"),
}
"""What passes by itself, so that it is worth trying again."""


def settings_with(server: LoopbackServer, **more: Any) -> Settings:
    return Settings(**{"model": server.model(), "max_messages": MESSAGES, "timeout_s": 30, **more})


async def to_the_end(events: AsyncIterator[Event]) -> list[Event]:
    """All events; an error that comes after them must be a model's."""
    seen = []
    try:
        async for event in events:
            seen.append(event)
    except ModelError as error:
        stopped = end_of(seen)
        assert (stopped.reason, stopped.detail) == ("error", str(error))
    return seen


def left_behind(out: Path) -> dict[str, Any]:
    """What a run left, without the time that anything took."""
    folder = out / RUN
    left: dict[str, Any] = {}
    left["transcript.md"] = (folder / "transcript.md").read_text(encoding="utf-8")
    for kind in ("mind", "verdict", "judge_mind", "analysis"):
        left[kind] = logged(folder, kind)
    said = logged(folder, "utterance")
    left["said"] = [{key: value for key, value in line.items() if key != "response_time_s"} for line in said]
    manifest = run_json(folder)
    left["run"] = {key: manifest[key] for key in ("turn", "stop_reason", "stop_source", "detail", "conclusion")}
    store = MemoryStore(str(folder / MEMORIES))
    for found in store._of(RUN):
        got = found.get(include=["metadatas", "embeddings"])
        rows = zip(got["ids"], got["metadatas"] or [], got["embeddings"], strict=True)
        left[f"memories of {(found.metadata or {})['agent']}"] = {i: (m["memory"], v.tobytes()) for i, m, v in rows}
    store.close()
    return left


def stop_reason(out: Path) -> str | None:
    manifest = run_json(out / RUN)
    return manifest["stop_reason"]  # type: ignore[no-any-return]


DEBATE: dict[str, Any] = {"mode": "debate", "analysis": True}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What a discussion and a debate leave behind whose server never fails."""
    left = {}
    for kind, more in (("discussion", {}), ("debate", DEBATE)):
        out = tmp_path_factory.mktemp(kind)
        with LoopbackServer() as server:
            asyncio.run(to_the_end(run_simulation(SCENARIO, settings_with(server, **more), out=out, run=RUN)))
        left[kind] = left_behind(out)
        assert left[kind]["run"]["turn"] == MESSAGES
    return left


@pytest.mark.proof(cases=2)
@pytest.mark.usefixtures("quick_retries")
@pytest.mark.parametrize("fault", FAULTS)
async def test_what_passes_soon_is_outlasted(
    tmp_path: Path, undisturbed: dict[str, dict[str, Any]], fault: str
) -> None:
    tasks = ("utterance",) if "stream" in fault else ()
    failing = Failing(FAULTS[fault], after=2, tasks=tasks, count=2 if fault == "too slow" else 3)
    with LoopbackServer(answer=failing) as server:
        settings = settings_with(server, timeout_s=3 if fault == "too slow" else 30)
        await to_the_end(run_simulation(SCENARIO, settings, out=tmp_path, run=RUN))
    assert len(failing.failed) == failing.count
    assert left_behind(tmp_path) == undisturbed["discussion"]
    assert logged(tmp_path / RUN, "silenced") == []


@pytest.mark.proof(cases=2)
@pytest.mark.usefixtures("quick_retries")
@pytest.mark.parametrize("kind", ["discussion", "debate"])
@pytest.mark.parametrize("fault", ["busy", "broken", "refuses the key", "no protocol"])
async def test_what_lasts_ends_the_run_which_goes_on(
    tmp_path: Path, undisturbed: dict[str, dict[str, Any]], kind: str, fault: str
) -> None:
    lasting = {"refuses the key": Fault(401), "no protocol": Fault(200, "<html>Welcome</html>")}
    failing = Failing({**FAULTS, **lasting}[fault], after=3, tasks=HEARING)
    more = DEBATE if kind == "debate" else {}
    with LoopbackServer(answer=failing) as server:
        settings = settings_with(server, **more)
        await to_the_end(run_simulation(SCENARIO, settings, out=tmp_path, run=RUN))
        assert stop_reason(tmp_path) == "error"
        await to_the_end(resume_run(tmp_path / RUN))  # in vain
        assert stop_reason(tmp_path) == "error"
        failing.heal()
        events = await to_the_end(resume_run(tmp_path / RUN))
    assert [event.turn for event in events if event.event == "utterance"] == list(range(1, MESSAGES + 1))
    assert left_behind(tmp_path) == undisturbed[kind]  # everybody has heard everything, and nobody was silent


@pytest.mark.proof
@pytest.mark.usefixtures("quick_retries")
async def test_nobody_listens_from_the_start(tmp_path: Path) -> None:
    """Minds that could not awaken are asked again as neutral ones; so the answers here do not depend on the prompts."""
    with LoopbackServer(answer=Scripted()) as server:
        await to_the_end(run_simulation(SCENARIO, settings_with(server), out=tmp_path / "undisturbed", run=RUN))
        server.stop()
        events = await to_the_end(run_simulation(SCENARIO, settings_with(server), out=tmp_path, run=RUN))
        assert [event.event for event in events] == ["started", "stopped"]
        assert stop_reason(tmp_path) == "error"
        server.start()
        await to_the_end(resume_run(tmp_path / RUN))
    assert left_behind(tmp_path) == left_behind(tmp_path / "undisturbed")


@pytest.mark.proof
@pytest.mark.usefixtures("quick_retries")
async def test_the_server_is_restarted_and_nobody_notices(
    tmp_path: Path, undisturbed: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: Counter[str] = Counter()
    explained = Exchange._explained
    with LoopbackServer() as server:

        def back_after_a_while(self: Exchange, error: Exception) -> ModelError:
            refused[self.module] += 1
            if sum(refused.values()) == 8:
                server.start()
            return explained(self, error)

        monkeypatch.setattr(Exchange, "_explained", back_after_a_while)
        events = []
        async for event in run_simulation(SCENARIO, settings_with(server), out=tmp_path, run=RUN):
            events.append(event)
            if event.event == "utterance" and event.turn == 3:
                server.stop()
    assert sum(refused.values()) >= 8
    assert refused.keys() == HEARING
    assert left_behind(tmp_path) == undisturbed["discussion"]


@pytest.mark.proof
@pytest.mark.usefixtures("quick_retries")
async def test_the_server_goes_and_comes_back_later(tmp_path: Path, undisturbed: dict[str, dict[str, Any]]) -> None:
    with LoopbackServer() as server:
        events = []
        with pytest.raises(ModelError, match="nothing listens at"):
            async for event in run_simulation(SCENARIO, settings_with(server), out=tmp_path, run=RUN):
                events.append(event)
                if event.event == "utterance" and event.turn == 3:
                    server.stop()
        assert not [event for event in events if event.event == "silenced"]  # nobody heard: it is heard again
        server.start()
        await to_the_end(resume_run(tmp_path / RUN))
    assert left_behind(tmp_path) == undisturbed["discussion"]


@pytest.mark.proof(cases=2)
@pytest.mark.usefixtures("quick_retries")
@pytest.mark.parametrize("task", ["judge", "analysis", "utterance", "emotion"])
async def test_one_task_fails_for_everybody(tmp_path: Path, task: str) -> None:
    """Whatever it is, nothing is said or remembered twice when the run goes on."""
    failing = Failing(Fault(500), after=3, tasks={task})
    with LoopbackServer(answer=failing) as server:
        settings = settings_with(server, mode="debate", analysis=True)
        await to_the_end(run_simulation(SCENARIO, settings, out=tmp_path, run=RUN))
        assert stop_reason(tmp_path) == "error"
        failing.heal()
        events = await to_the_end(resume_run(tmp_path / RUN))
    said = [event.turn for event in events if event.event == "utterance"]
    assert said == list(range(1, MESSAGES + 1))
    left = left_behind(tmp_path)
    assert left["run"]["stop_reason"] == "message_limit"
    for name, least in (("verdict", 3), ("analysis", 1)):
        turns = [one["turn"] for one in left[name]]
        assert turns == list(range(least, MESSAGES + 1)), name
    minds = Counter(one["turn"] for one in left["mind"])
    assert minds == dict.fromkeys(range(MESSAGES + 1), 3)


ENDS = ("message_limit", "closed")

LONG = "And the kettle sang about the tea of the old town and of the new one, too, " * 6
"""A theme that is cut to its length: memories in prompts are long."""

PEOPLE = [{"name": name, "description": f"{name} runs a tea room."} for name in ("Ada Lind", "Bo Berg", "Cy Dahl")]

BO = "Bo Berg"


@pytest.fixture(autouse=True)
def nothing_remembered() -> Iterator[None]:
    capacity.forget()
    ladder.forget()
    yield
    capacity.forget()
    ladder.forget()


def scripted(**replaced: Any) -> Scripted:
    percept = {"theme": LONG, "keywords": ["tea"], "importance": 4}
    said = iter(range(1000))
    words = {"utterance": lambda _: f"Tea number {next(said)} is another one. {LONG}"}
    return Scripted(**{"perception": percept, **words, **replaced})


def held(server: LoopbackServer, out: Path, **options: Any) -> list[Any]:
    given = {"model": server.model(), "max_messages": 5, "memory_tokens": 4000, "out": out, **options}
    return list(persimchat.stream_events("Tea or coffee?", given.pop("participants", 2), **given))


@pytest.mark.proof
def test_a_small_context_is_said_once_and_the_run_goes_on(tmp_path: Path) -> None:
    tells = {"/props": {"default_generation_settings": {"n_ctx": 2200}}}
    with LoopbackServer(answer=scripted(), tells=tells) as server:
        events = held(server, tmp_path)
        assert max(len(request.text) for request in server.requests) / 4 < 2200
    names = [event.event for event in events]
    assert names.count("shortened") == 1
    assert events[-1].reason in ENDS
    told = next(event for event in events if event.event == "shortened")
    assert told.context_tokens == 2200
    assert told.memories + told.utterances > 0
    folder = Path(events[-1].folder)
    assert any(row.dropped for row in calls_in(folder))


@pytest.mark.proof
def test_texts_that_are_cut_for_their_embedding_are_told_once(tmp_path: Path) -> None:
    def embeds(body: dict[str, Any]) -> Any:
        said = "inputs must have less than 64 tokens. Given: 2000"
        return Fault(413, {"error": said}) if max(map(len, body["input"])) > 200 else embeddings(body)

    with LoopbackServer(answer=scripted()) as server:
        server.embeds = embeds
        events = held(server, tmp_path, embedding=server.model("e"))
    (told,) = [event for event in events if event.event == "shortened" and event.characters is not None]
    assert told.characters <= 200 and (told.module, told.model) == ("embedding", server.model("e"))
    assert f"only their first {told.characters} characters" in left_out(told)
    assert events[-1].reason in ENDS
    assert LONG.strip() in (Path(events[-1].folder) / "transcript.md").read_text(encoding="utf-8")


@pytest.mark.proof
def test_a_server_that_refuses_above_1500_tokens_ends_no_run(tmp_path: Path) -> None:
    answers = scripted()

    def answer(body: dict[str, Any]) -> Any:
        if sum(len(str(m["content"])) for m in body["messages"]) > 4 * 1500:
            return Fault(400, {"error": {"message": "the prompt is too long", "code": "context_length_exceeded"}})
        return answers(body)

    with LoopbackServer(answer=answer) as server:
        events = held(server, tmp_path)
    assert events[-1].reason in ENDS
    assert not [event for event in events if event.event == "silenced"]


@pytest.mark.long
@pytest.mark.proof
def test_a_model_that_never_stops_ends_no_run(tmp_path: Path) -> None:
    said = iter(range(1000))

    def endless(_: Any) -> Reply:
        number = next(said)
        return Reply(" ".join(f"Tea {number} goes with milk {n}." for n in range(30_000)), finish_reason="length")

    with LoopbackServer(answer=scripted(utterance=endless)) as server:
        events = held(server, tmp_path, max_messages=2)
    assert events[-1].reason in ENDS
    uttered = [event for event in events if event.event == "utterance"]
    assert all(len(event.text) <= 4000 and event.text.endswith(".") for event in uttered)
    assert sum(len(event.text) for event in events if event.event == "token") < 50_000
    folder = Path(events[-1].folder)
    assert (folder / "run.sqlite").stat().st_size < 4_000_000


@pytest.mark.proof
def test_what_an_error_says_to_lower_may_be_lowered(tmp_path: Path) -> None:
    with LoopbackServer(answer=scripted()) as server:
        with pytest.raises(persimchat.PerSimChatError, match=r"too long.*--set context_tokens=8192") as caught:
            held(server, tmp_path, context_tokens=300)
        assert caught.value.exit_code == 3
        folder = next(path.parent for path in tmp_path.rglob("run.sqlite"))
        changes = {"context_tokens": 8192, "memory_tokens": 300, "recent_utterances": 2, "answer_tokens": 500}
        persimchat.resume(folder, **changes)
        assert {body.get("max_tokens") for body in server.bodies()} == {500}
    manifest = run_json(folder)
    assert manifest["stop_reason"] in ENDS
    assert manifest["resumed"][-1]["changed"]["context_tokens"] == 8192


@pytest.mark.long
@pytest.mark.proof
async def test_a_run_with_shortened_prompts_replays_byte_for_byte(tmp_path: Path) -> None:
    tells = {"/props": {"default_generation_settings": {"n_ctx": 1700}}}
    with LoopbackServer(answer=scripted(), tells=tells) as server:
        folder = Path((await asyncio.to_thread(held, server, tmp_path / "run"))[-1].folder)
    assert len(shortened_in(folder)) >= 3
    await check_replay(folder, tmp_path / "again")
    assert shortened_in(tmp_path / "again" / folder.name) == shortened_in(folder)


@pytest.mark.proof
async def test_an_agent_whose_prompts_are_too_long_is_silent_in_the_replay_too(tmp_path: Path) -> None:
    tells = {"/props": {"default_generation_settings": {"n_ctx": 600}}}
    with LoopbackServer(answer=scripted()) as server, LoopbackServer(answer=scripted(), tells=tells) as small:
        given = {"participants": PEOPLE, "agent_models": {BO: small.model()}}
        events = await asyncio.to_thread(held, server, tmp_path / "run", **given)
    folder = Path(events[-1].folder)
    silenced = [event for event in events if event.event == "silenced"]
    assert {event.agent for event in silenced} == {BO}
    assert all("too long" in event.why for event in silenced)
    rows = list(calls_in(folder))
    unsent = [row for row in rows if row.calls == 0]
    assert {row.agent for row in unsent} == {BO}
    made = len(rows) - len(unsent)
    assert sum(call.calls for call in calls_of(read_run(folder))) == made, "what was not sent is no call"
    assert run_json(folder)["usage"]["total"]["calls"] == made
    await check_replay(folder)


def shortened_in(folder: Path) -> set[str]:
    return {row.model_dump_json() for row in calls_in(folder) if row.dropped}


@pytest.mark.proof
def test_followers_learn_that_a_server_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(limits, "TOLD_FROM_S", 0.1)
    first = iter([Fault(429, headers={"retry-after": "0.3"})])
    with LoopbackServer(answer=scripted(utterance=lambda _: next(first, "Tea is best."))) as server:
        events = held(server, tmp_path, max_messages=1)
        (told,) = [event for event in events if event.event == "waiting"]
        assert (told.model, told.asked_s, told.wait_s) == (server.model(), 0.3, 0.3)
    names = [event.event for event in events]
    assert names.index("speaking") < names.index("waiting") < names.index("utterance")
    assert events[-1].reason in ENDS
