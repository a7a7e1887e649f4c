"""The settings model: frozen, bounded, strict."""

from __future__ import annotations

import json
import math
import re
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from offenders import check_each
from pydantic import ValidationError

from persimchat.app.commands.setting_command import condition_in_words, default_in_words
from persimchat.state import kinds
from persimchat.state.configuration import load_settings, parse_assignment
from persimchat.state.errors import InputError
from persimchat.state.setting import GROUPS
from persimchat.state.settings import ABOUT, PART, RetrievalWeights, Settings, modules


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
        assert field in Settings.model_validate({field: value}, context=PART).model_fields_set
    for value in bad:
        with pytest.raises(ValidationError):
            Settings.model_validate({field: value}, context=PART)


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
    assert {Settings().model_for("Bo", module) for module in modules()} == {None}


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
        ({"mode": "debate", "answer_format": "choice"}, "two or more different choices"),
        ({"mode": "debate", "answer_format": "choice", "choices": ["A"]}, "two or more different choices"),
        ({"mode": "debate", "answer_format": "choice", "choices": ["Tea", "tea"]}, "two or more different choices"),
        ({"judge_window": 5}, "judge_window=5 does not go with a discussion; it is a setting of debates"),
        ({"mode": "debate", "cognition": "strategist"}, "cognition=strategist does not go with a debate"),
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


# What settings say of their use


def test_settings_are_listed_group_by_group():
    assert list(ABOUT) == list(Settings.model_fields)
    groups = [about.group for about in ABOUT.values()]
    assert list(dict.fromkeys(groups)) == list(GROUPS)
    assert groups == sorted(groups, key=list(GROUPS).index)


def test_conditions_name_settings_and_values_that_there_are():
    for name, about in ABOUT.items():
        for other, values in about.needs.items():
            annotation = Settings.model_fields[other].annotation
            given = get_args(annotation)
            literals = {value for part in given for value in get_args(part)} | set(given)
            assert set(values) <= literals, name
            assert list(ABOUT).index(other) < list(ABOUT).index(name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("max_messages", "10; debates: 60"),
        ("closing", "near_limit; debates: off"),
        ("analysis", "no"),
        ("relationships", "yes"),
        ("selection_temperature", "1.0"),
        ("answer_tokens", "not set"),
        ("budget_calls", "no limit"),
        ("choices", "none"),
    ],
)
def test_defaults_in_words(name: str, words: str):
    assert default_in_words(name) == words


def test_conditions_in_words():
    assert condition_in_words("selection_temperature") == "pattern=need_to_talk and selection=softmax"
    assert condition_in_words("allow_repeated_speaker") == "pattern=need_to_talk or selector"
    assert condition_in_words("seed") == ""


# Every number among the settings has bounds, and true is no number


NUMBERS = [
    *(n for n, f in Settings.model_fields.items() if {int, float} & {f.annotation, *get_args(f.annotation)}),
    *(f"weights.{name}" for name in RetrievalWeights.model_fields),
]
ABSURD: list[Any] = [
    True,
    False,
    -1,
    math.nan,
    math.inf,
    -math.inf,
    1e300,
    10**40,
    10**400,
    "true",
    "nan",
    "inf",
    "abc",
]


def test_all_are_found() -> None:
    assert {"max_messages", "requests_per_second", "seed", "budget_usd", "weights.recency"} <= set(NUMBERS)


def test_an_absurd_number_is_refused() -> None:
    def check(name: str, value: Any) -> None:
        with pytest.raises(InputError) as caught:
            load_settings(environment={}, **{name: value})
        assert name in str(caught.value)
        assert len(str(caught.value)) < 500

    check_each(product(NUMBERS, ABSURD), check)


@pytest.mark.parametrize("name", ["requests_per_second", "timeout_s", "budget_usd", "selection_temperature"])
def test_a_number_next_to_nothing_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} should be greater than or equal to"):
        load_settings(environment={}, **{name: 1e-300})


@pytest.mark.parametrize("text", ["true", "1e-300", "-1", ".inf", "9" * 400])
def test_the_same_from_everywhere(text: str, tmp_path: Path) -> None:
    """A file in YAML or JSON, the environment, and `--set`."""
    (tmp_path / "s.yaml").write_text(f"requests_per_second: {text}\n", encoding="utf-8")
    (tmp_path / "s.json").write_text(json.dumps({"requests_per_second": text == "true" or text}), encoding="utf-8")
    for ask in (
        lambda: load_settings(tmp_path / "s.yaml", environment={}),
        lambda: load_settings(tmp_path / "s.json", environment={}),
        lambda: load_settings(environment={"PERSIMCHAT_REQUESTS_PER_SECOND": text}),
        lambda: load_settings(environment={}, **dict([parse_assignment(f"requests_per_second={text}")])),
    ):
        with pytest.raises(InputError, match="requests_per_second"):
            ask()


@pytest.mark.parametrize("price", [True, -1, math.nan, math.inf, 1e300])
def test_prices_have_bounds(price: Any) -> None:
    with pytest.raises(InputError, match="prices"):
        load_settings(environment={}, prices={"a": [price, 1]})


OTHER: dict[str, Any] = yaml.safe_load("""
{max_messages: 7, pattern: selector, selection: softmax, selection_temperature: 2.0, allow_repeated_speaker: true,
judge: persona, judge_window: 5, judge_every: 2, answer_format: yesno, model: offline, model_temperature: 0.5,
model_top_p: 0.5, embedding: minilm, listeners: 3, ablation: [emotion], joined: [perception, focal_points],
planning_and_reflection: false, memory_filtering: true, emotional_retrieval: false, stm_retrieval: false,
relationships: false, social_goals: false, language: cs, prompts: {_item: x},
speech_register: formal, utterance_words: 9, closing: 'on',
closing_need: 3, human_turns: hand, analysis: true, pruning: {lambda: 0.5},
budget_calls: 9, budget_tokens: 9, budget_usd: 9.0, seed: 4, rounds: 2, weights: {recency: 2.0}, ltm_capacity: 20,
memory_tokens: 90, recent_utterances: 3, prompt_order: nbrmpec, repetition_check: false, repetition_overlap: 0.5,
repetition_similarity: 0.5, repetition_window: 9, strict_answers: true, agent_models: {A: offline},
module_models: {planning: offline}, module_temperatures: {planning: 0.5}, concurrent: false, max_concurrency: 3,
requests_per_second: 2.0, answer_tokens: 99, context_tokens: 999, timeout_s: 9.0, local_slots: 2, local_context: 999,
prices: {a: [1, 2]}, store: ephemeral, checkpoints: memory, companion: {silence_minutes: 9}}
""")
"""A value that is no default for every setting but those that choose a kind, and `choices`, which need a form."""


def test_the_table_has_every_setting() -> None:
    assert OTHER.keys() | {"mode", "baseline", "cognition", "choices", "modules"} == ABOUT.keys()


@pytest.mark.parametrize("kind", [*kinds.conversations(), *kinds.MINDS], ids=lambda kind: kind.__name__)
def test_a_kind_heeds_a_setting_or_refuses_it_in_one_sentence(kind: type[kinds.Choice]) -> None:
    """What it does not heed is passed over where comparisons set it for all kinds, and is refused elsewhere."""
    mode = {"mode": "story"} if kind is kinds.Strategist else {}
    chosen = {**mode, **kinds.chosen_by(kind)} if kind not in kinds.MINDS else {**mode, **kind.CHOSEN}
    told = kinds.kinds_of(chosen)
    for name, value in OTHER.items():
        given = {**chosen, name: value}
        only = [one.ONLY[name] for one in told if name in one.ONLY]
        heeded = name not in kinds.unheeded(chosen) or any(name in one.PASSES for one in told)
        if all(value in allowed for allowed in only) and heeded:
            made = Settings.model_validate(given)
            assert made.model_dump(mode="json", by_alias=True, include={name}, exclude_unset=True), name
            continue
        with pytest.raises(ValidationError) as refused:
            Settings.model_validate(given)
        (error,) = refused.value.errors()
        said = error["msg"].removeprefix("Value error, ")
        assert re.match(
            rf"(the setting )?{name}(=\S+)? does not go with .+; (.+; )?(leave {name} out|set {name}=)", said
        ), said
        assert only or "it is a setting of" in said
