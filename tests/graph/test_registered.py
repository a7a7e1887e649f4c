"""What a script or a notebook registers: a module of minds, a rule of who speaks next, and a measure."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Event
from typing import Any, ClassVar

import pytest
from pydantic import Field

import persimchat
from persimchat.experiments import Experiment, run_experiment
from persimchat.experiments.measuring import evaluators_of
from persimchat.experiments.plan import plan
from persimchat.runs.events import MindChanged
from persimchat.state.errors import InputError
from persimchat.state.minds.emotion import Level
from persimchat.state.packages import ADDED, Given

TOPIC = "Tea or coffee?"


class Irony(persimchat.OwnModule):
    """How ironically it was meant."""

    TASK: ClassVar[str] = "How ironically was it meant?"
    irony: Level = Field(description="0 in earnest to 10 the opposite of what it says")


def last_in_order(minds: Mapping[str, Mapping[str, Any]], turn: int, chance: random.Random) -> str:
    return list(minds)[-1]


def utterances(outputs: Mapping[str, Any]) -> int:
    return len(outputs["utterances"])


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    persimchat.register("module", "irony", Irony)
    persimchat.register("pattern", "last", last_in_order)
    persimchat.register("measure", "said", utterances)
    yield
    for kind, name in ("module", "irony"), ("pattern", "last"), ("measure", "said"):
        ADDED[kind].pop(name)  # type: ignore[index]


def judged(**settings: Any) -> list[dict[str, Any]]:
    given: dict[str, Any] = {"model": "offline", "max_messages": 2, "modules": ["irony"], **settings}
    events = persimchat.stream_events(TOPIC, participants=2, **given)
    return [event.record.own["irony"] for event in events if isinstance(event, MindChanged) and event.record.own]


@pytest.mark.parametrize("cognition", ["full", "lean"])
def test_minds_have_the_module(cognition: str) -> None:
    made = judged(cognition=cognition, module_models={"irony": "offline"}, module_temperatures={"irony": 0.5})
    assert len(made) == 4 and all(0 <= one["irony"] <= 10 for one in made)


class Mockery(persimchat.OwnModule):
    TASK: ClassVar[str] = "How much does it mock?"
    mockery: Level


def test_registered_again_it_is_the_new_one() -> None:
    judged(cognition="lean")
    persimchat.register("module", "irony", Mockery)
    assert all(one.keys() == {"mockery"} for one in judged(cognition="lean"))


def test_an_experiment_tells_modules_apart_that_have_one_name() -> None:
    given = {"name": "x", "base": {"topic": TOPIC, "settings": {"model": "offline", "modules": ["irony"]}}}
    cells = []
    for module in Irony, Irony, Mockery:
        persimchat.register("module", "irony", module)
        cells.append([one.cell.id for one in plan(Experiment.model_validate(given)).cells])
    assert cells[0] == cells[1] != cells[2]


def test_the_rule_says_who_speaks() -> None:
    held = persimchat.simulate(
        TOPIC, 3, model="offline", max_messages=3, pattern="last", allow_repeated_speaker=True, closing="off"
    )
    assert len({said.speaker for said in held.utterances}) == 1


def test_a_rule_that_takes_too_long_stops_the_run_in_one_sentence() -> None:
    persimchat.register("pattern", "last", lambda minds, turn, chance: Event().wait())
    with pytest.raises(InputError, match=r"failed after utterance 0: TimeoutError: it took longer than 1 s"):
        persimchat.simulate(TOPIC, 2, model="offline", max_messages=1, pattern="last", timeout_s=1)


def test_minds_that_stay_as_they_are_speak_by_the_rule() -> None:
    settings: dict[str, Any] = {"cognition": "fixed", "allow_repeated_speaker": True, "closing": "off"}
    held = persimchat.simulate(TOPIC, 3, model="offline", max_messages=2, pattern="last", **settings)
    assert len({said.speaker for said in held.utterances}) == 1


def test_an_experiment_has_the_measure_and_the_rule(tmp_path: Path) -> None:
    described = Experiment.model_validate(
        {
            "name": "said",
            "base": {"topic": TOPIC, "participants": ["Jarmila", "Rowan"], "settings": {"model": "offline"}},
            "grid": {"max_messages": [2, 3], "method": ["last"]},
            "measures": {"evaluators": ["said"]},
        }
    )
    rows = run_experiment(described, out=tmp_path).rows("measures")
    assert [(row["method"], row["value"]) for row in rows] == [("last", 2), ("last", 3)]


def test_a_measure_by_the_name_of_a_shipped_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ADDED["measure"], "balance", Given("persimchat.measure", "balance", utterances))
    base = {"topic": TOPIC, "participants": ["Jarmila", "Rowan"], "settings": {"model": "offline"}}
    described = Experiment.model_validate({"name": "x", "base": base, "measures": {"evaluators": ["balance"]}})
    with pytest.raises(InputError, match="there is an evaluator balance beside yours"):
        evaluators_of(described)


@pytest.mark.parametrize(
    ("kind", "name", "made", "settings", "said"),
    [
        ("mode", "toast", Irony, {}, "'mode' cannot be registered.*a kind of conversation needs a package"),
        ("pattern", "selector", last_in_order, {}, "there is a pattern selector already.*Give yours another name"),
        ("module", "emotion", Irony, {"modules": ["emotion"]}, "emotion is a module of every mind"),
        ("module", "odd", dict, {"modules": ["odd"]}, r"builtins:dict is no class of .*OwnModule.*Register a class of"),
        ("pattern", 3, last_in_order, {}, "3 is no name"),
        ("module", "odd", str.upper, {"modules": ["odd"]}, "'upper' of 'str' objects> is no class of"),
        ("pattern", "odd", 3, {"pattern": "odd"}, r"3 is no function \(candidates, turn, chance\)"),
        ("module", "odd", Irony, {"modules": ["even"]}, r"no installed package has a module even \(there are"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(
    kind: Any, name: str, made: Any, settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError) as refused:
        persimchat.register(kind, name, made)
        persimchat.simulate(TOPIC, 2, model="offline", max_messages=1, **settings)
    ADDED.get(kind, {}).pop(name, None)
    assert refused.match(f"(?s).*{said}")
