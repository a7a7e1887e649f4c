"""The setting `module_temperatures`: what the server receives, in a discussion and in a story; and in records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback.answering import OF_STORIES, TASK
from loopback.server import LoopbackServer
from run_files import run_json
from story_talks import scenario

from persimchat.personas.scenario import make_scenario
from persimchat.runs.events import Event, Stopped, Uttered
from persimchat.runs.folder.manifest import Manifest
from persimchat.runs.run.going_on import changed_settings
from persimchat.runs.run.replay import Replay
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

Serving = Callable[..., LoopbackServer]
WORDS = ("utterance", "story_utterance")


def discussion() -> Scenario:
    return make_scenario("Tea?", [{"name": name, "description": "Somebody."} for name in ("Ada Lind", "Bo Vik")])


async def held(given: Scenario, out: Path, **settings: Any) -> list[Event]:
    chosen = Settings(**{**given.settings, **settings})
    return [event async for event in run_simulation(given, chosen, out=out, run="r")]


def temperatures(server: LoopbackServer, since: int = 0) -> dict[str, set[float | None]]:
    """The temperatures that the server received, by module."""
    found: dict[str, set[float | None]] = {}
    for request in server.requests[since:]:
        task = TASK.findall(request.text)[-1]
        found.setdefault("natural_language" if task in WORDS else task, set()).add(request.body.get("temperature"))
    return found


async def test_each_module_of_a_discussion_asks_with_its_own_temperature(serving: Serving, tmp_path: Path) -> None:
    server = serving()
    own = {"natural_language": 0.9, "perception": 0.0, "need_to_talk": 1.5}
    chosen: dict[str, Any] = {"model": server.model(), "max_messages": 2, "closing": "off", "repetition_check": False}
    await held(discussion(), tmp_path, **chosen, module_temperatures=own, model_temperature=0.4)
    received = temperatures(server)
    assert {name: received[name] for name in own} == {name: {value} for name, value in own.items()}
    others = {name: values for name, values in received.items() if name not in own}
    assert len(others) > 3
    assert set(map(frozenset, others.values())) == {frozenset({0.4})}
    assert run_json(tmp_path / "r")["settings"]["module_temperatures"] == own


async def test_the_strategist_s_modules_ask_with_their_own_temperature(serving: Serving, tmp_path: Path) -> None:
    server = serving()
    own = {"stocktaking": 0.5, "choice": 0.0, "summary": 0.1, "review": 0.6, "ballot": 0.3, "natural_language": 0.7}
    made = scenario(2, 0, stages=[{"kind": "private", "exchanges": 1}])
    events = await held(made, tmp_path, mode="story", model=server.model(), rounds=1, module_temperatures=own)
    assert isinstance(events[-1], Stopped)
    assert events[-1].reason == "settled"
    assert temperatures(server) == {name: {value} for name, value in own.items()}
    assert own.keys() == {*OF_STORIES, "natural_language"} - {"story_utterance"}


async def test_without_the_setting_no_temperature_is_sent_or_written(serving: Serving, tmp_path: Path) -> None:
    server = serving()
    await held(discussion(), tmp_path, model=server.model(), max_messages=1, closing="off")
    assert {value for values in temperatures(server).values() for value in values} == {None}
    assert "module_temperatures" not in run_json(tmp_path / "r")["settings"]
    assert "module_temperatures" not in Settings().model_dump()


@pytest.mark.proof
async def test_a_run_goes_on_with_its_temperatures_or_with_new_ones_and_is_replayed(
    serving: Serving, tmp_path: Path
) -> None:
    server = serving()
    chosen: dict[str, Any] = {"model": server.model(), "closing": "off"}
    await held(discussion(), tmp_path, **chosen, max_messages=1, module_temperatures={"perception": 0.2})
    since = len(server.bodies())
    events = [event async for event in resume_run(tmp_path / "r", changes={"max_messages": 2})]
    assert isinstance(events[-1], Stopped)
    received = temperatures(server, since)
    assert (received["perception"], received["natural_language"]) == ({0.2}, {None})
    since = len(server.bodies())
    changes = {"max_messages": 3, "module_temperatures": {"natural_language": 1.1}}
    said = [event async for event in resume_run(tmp_path / "r", changes=changes) if isinstance(event, Uttered)]
    assert said[-1].turn == 3
    received = temperatures(server, since)
    assert (received["perception"], received["natural_language"]) == ({0.2}, {1.1})
    manifest = run_json(tmp_path / "r")
    assert manifest["settings"]["module_temperatures"] == {"perception": 0.2, "natural_language": 1.1}
    assert manifest["resumed"][-1]["changed"].keys() == {"max_messages", "module_temperatures"}
    since = len(server.bodies())
    replay = Replay(tmp_path / "r")
    async for _ in replay.events():
        pass
    assert replay.comparison is not None
    assert replay.comparison.same, replay.comparison.parts
    assert len(server.bodies()) == since


def test_a_run_that_never_had_the_setting_says_so_when_it_gets_it() -> None:
    manifest = Manifest.begun("r", discussion(), Settings(model="offline"), "")
    own = Settings(model="offline", module_temperatures={"choice": 0.0})
    assert changed_settings(manifest, own) == {"module_temperatures": {"choice": 0.0}}
    assert changed_settings(manifest, Settings(model="offline")) == {}


@pytest.mark.parametrize("module", ["judge", "perception"])
def test_the_persona_judge_s_mind_asks_with_the_judge_s_temperature(module: str) -> None:
    given = {"module_temperatures": {"judge": 0.0, "perception": 1.0}, "model_temperature": 0.5}
    assert Settings(**given).of_judge().of_module(module).model_temperature == 0.0  # type: ignore[arg-type]
    without = Settings(model_temperature=0.5, module_temperatures={"perception": 1.0}).of_judge()
    assert without.of_module(module).model_temperature == {"judge": 0.5, "perception": 1.0}[module]
