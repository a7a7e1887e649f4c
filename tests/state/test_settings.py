"""The settings model: frozen, bounded, strict."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from persimchat.state.settings import MODULES, RetrievalWeights, Settings


def test_frozen():
    settings = Settings()
    with pytest.raises(ValidationError, match="frozen"):
        settings.seed = 1  # type: ignore[misc]
    with pytest.raises(ValidationError, match="frozen"):
        settings.weights.recency = 2.0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("max_messages", [1, 100_000], [0, 100_001, 1.5, "x"]),
        ("selection_temperature", [0.01, 100], [0, 101, float("nan")]),
        ("seed", [0, 2**63 - 1], [-1, 2**63]),
        ("ltm_capacity", [10], [9]),
        ("memory_tokens", [50], [49]),
        ("utterance_words", [3, 1000], [2, 1001]),
        ("model_temperature", [None, 0, 2], [-0.1, 2.1]),
        ("model_top_p", [None, 0.001, 1], [0, -0.1, 1.1, True, float("nan")]),
        ("timeout_s", [0.1, 3600], [0, 3601]),
        ("requests_per_second", [None, 0.1], [0, -1]),
        ("prices", [{"m": (1, 2)}], [{"m": (1,)}, {"m": 1}, {"m": (-1, 1)}, {"m": (1, float("nan"))}]),
        ("module_models", [{"planning": "m"}], [{"plan": "m"}]),
        (
            "module_temperatures",
            [{"planning": 0}, {"choice": 2, "poll": 0.5}],
            [{"plan": 1}, {"planning": -0.1}, {"planning": 2.1}, {"planning": True}, {"planning": None}],
        ),
        ("weights", [{"recency": 0}, {"recency": 100}], [{"recency": -1}, {"recency": 101}, {"other": 1}]),
        ("mode", ["discussion", "debate"], ["talk"]),
        ("closing", ["off", "on", "near_limit", True, False], ["late", 1.5]),
        ("judge_window", [1, 1000], [0, 1001]),
        ("judge_every", [1], [0]),
        ("rounds", [1, 100], [0, 101]),
        ("unknown", [], [1]),
    ],
)
def test_bounds(field: str, good: list[Any], bad: list[Any]):
    for value in good:
        assert field in Settings.model_validate({field: value}).model_fields_set
    for value in bad:
        with pytest.raises(ValidationError):
            Settings.model_validate({field: value})


def test_defaults_are_the_thesis_base():
    settings = Settings()
    assert settings.planning_and_reflection and settings.emotional_retrieval and settings.stm_retrieval
    assert (settings.memory_filtering, settings.selection, settings.allow_repeated_speaker) == (False, "argmax", False)
    assert settings.weights == RetrievalWeights()
    assert set(settings.weights.model_dump().values()) == {1.0}


def test_a_module_s_model_goes_before_the_agent_s():
    settings = Settings(model="a", agent_models={"Eva": "b"}, module_models={"planning": "c"})
    assert [settings.model_for("Eva", m) for m in ("planning", "emotion")] == ["c", "b"]
    assert settings.model_for("Bo", "emotion") == "a"
    assert {Settings().model_for("Bo", module) for module in MODULES} == {None}


def test_every_setting_says_what_it_is():
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_a_debate_has_defaults_of_its_own():
    assert (Settings().max_messages, Settings().closing) == (10, "near_limit")
    assert (Settings(mode="debate").max_messages, Settings(mode="debate").closing) == (60, "off")
    assert Settings(mode="debate", max_messages=7, closing="on").model_dump(include={"max_messages", "closing"}) == {
        "max_messages": 7,
        "closing": "on",
    }


def test_yaml_switches_are_understood():
    assert [Settings.model_validate({"closing": value}).closing for value in (True, False)] == ["on", "off"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"answer_format": "choice"}, "two or more different choices"),
        ({"answer_format": "choice", "choices": ["A"]}, "two or more different choices"),
        ({"answer_format": "choice", "choices": ["Tea", "tea"]}, "two or more different choices"),
        ({"choices": ["A", "B"]}, "go with answer_format=choice"),
        ({"baseline": "mad", "mode": "debate", "pattern": "selector"}, "does not use pattern"),
        ({"baseline": "mad", "mode": "debate", "judge": "persona"}, "does not use judge"),
        ({"baseline": "group_chat", "pattern": "selector"}, "does not use pattern"),
        ({"baseline": "group_chat", "mode": "debate", "judge": "persona"}, "does not use judge"),
        ({"baseline": "mad"}, "is a debate"),
        ({"baseline": "reconcile", "mode": "discussion"}, "is a debate"),
        ({"baseline": "single_agent", "mode": "debate"}, "is a discussion"),
    ],
)
def test_settings_that_contradict_each_other(given: dict[str, object], words: str):
    with pytest.raises(ValidationError, match=words):
        Settings.model_validate(given)


def test_the_judge_s_mind_asks_the_judge_s_model():
    settings = Settings(model="a", agent_models={"Judge": "b"}, module_models={"judge": "c", "planning": "d"})
    assert settings.of_judge().model_for("Judge", "emotion") == "c"
    assert settings.of_judge().model_for("Judge", "planning") == "c"
    assert Settings(model="a").of_judge().model_for("Judge", "emotion") == "a"
