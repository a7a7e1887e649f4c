"""Settings from files, the environment and arguments: which wins, and how each mistake is told."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from fixtures import Refused, Write

from persimchat.state.configuration import load_settings, parse_assignment
from persimchat.state.settings import Settings


def test_defaults():
    assert load_settings(environment={}) == Settings()
    assert load_settings(environment={}).model_fields_set == set()


def test_precedence(write: Write):
    sources: dict[str, Any] = {"scenario": {"max_messages": 1}, "environment": {}}
    assert load_settings(**sources).max_messages == 1
    file = write("settings.yaml", "max_messages: 2\n")
    assert load_settings(file, **sources).max_messages == 2
    sources["environment"] = {"PERSIMCHAT_MAX_MESSAGES": "3"}
    assert load_settings(file, **sources).max_messages == 3
    assert load_settings(file, **sources, max_messages=4).max_messages == 4


def test_mappings_are_joined_key_by_key(write: Write):
    file = write("settings.yaml", "weights: {recency: 2, importance: 2, emotional: 2}\nagent_models: {Eva: a}\n")
    environment = {
        "PERSIMCHAT_WEIGHTS__IMPORTANCE": "3",
        "PERSIMCHAT_AGENT_MODELS": '{"Bo": "b"}',
        "PERSIMCHAT_AGENT_MODELS__Al": "c",
    }
    settings = load_settings(
        file, environment=environment, scenario={"weights": {"relevance": 0}}, **{"weights.emotional": 4}
    )
    weights = settings.weights
    assert (weights.recency, weights.importance, weights.relevance) == (2, 3, 0)
    assert (weights.emotional, weights.stm_relevance) == (4, 1)
    assert settings.agent_models == {"Eva": "a", "Bo": "b", "Al": "c"}


def test_environment_values():
    environment = {
        "PERSIMCHAT_CONCURRENT": "off",
        "PERSIMCHAT_MODEL": "123",
        "PERSIMCHAT_STORE": "#folder: x",
        "PERSIMCHAT_PRICES": "{m: [1, 2.5]}",
        "PERSIMCHAT_SEED": " ",
        "PERSIMCHAT_SHARED": "/data",
        "PERSIMCHAT_API_KEY": "secret",
        "PERSIMCHAT_KEY_HOSTS": "gpu.example",
        "PERSIMCHAT_TOKEN": "opensesame",
        "PERSIMCHATTER": "x",
        "persimchat_timeout_s": "3",
        "OPENAI_API_KEY": "secret",
    }
    assert load_settings(environment=environment).model_dump(exclude_unset=True) == {
        "concurrent": False,
        "model": "123",
        "store": "#folder: x",
        "prices": {"m": (1.0, 2.5)},
        "timeout_s": 3.0,
    }


def test_the_environment_is_the_process_own_unless_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setitem(os.environ, "PERSIMCHAT_SEED", "5")
    (tmp_path / ".env").write_text("PERSIMCHAT_MAX_MESSAGES=77\n")
    monkeypatch.chdir(tmp_path)
    settings = load_settings()
    assert settings.seed == 5
    assert settings.max_messages == Settings().max_messages, ".env files are not read"
    assert load_settings(environment={}).seed == 0


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("MAX_MESSAGES", "0", ["max_messages", "not 0", "from 1 to 100000", "the message limit"]),
        ("MAX_MESSAGES", "many", ["not 'many'", "a whole number"]),
        ("WEIGHTS__RECENCY", "-1", ["weights.recency", "not -1", "from 0 to 100"]),
        ("WEIGHTS__RECENSY", "1", ["unknown setting 'weights.recensy'", "Did you mean 'recency'?"]),
        ("SEED__X", "1", ["'seed' has no parts", "whole number"]),
        ("PATTERN", "robin", ["pattern", "not 'robin'", "round_robin"]),
        ("BASELINE", "madd", ["baseline", "not 'madd'", "reconcile"]),
        ("CONCURRENT", "perhaps", ["not 'perhaps'", "true or false"]),
        ("TIMEOUT_S", "0", ["timeout_s", "greater than or equal to 0.001", "from 0.001 to 3600"]),
        ("MODULE_MODELS", "{plannin: x}", ["unknown field 'plannin'", "Did you mean 'planning'?"]),
        ("PRICES", "{m: [1]}", ["prices.m", "at least 2 items"]),
        ("AGENT_MODELS", "[1", ["cannot be read", "not well-formed YAML", "a mapping of names"]),
        ("AGENT_MODELS", "x", ["agent_models", "valid dictionary, not 'x'", "a mapping of names"]),
    ],
)
def test_mistakes_in_the_environment(refused: Refused, variable: str, value: str, words: list[str]):
    name = f"PERSIMCHAT_{variable}"
    refused(lambda: load_settings(environment={name: value}), f"environment variable {name}", *words)


def test_unknown_variable(refused: Refused):
    message = refused(
        lambda: load_settings(environment={"PERSIMCHAT_MAX_MESAGES": "s3cret"}),
        "PERSIMCHAT_MAX_MESAGES is not a setting",
        "environment",
        "Did you mean 'PERSIMCHAT_MAX_MESSAGES'?",
    )
    assert "s3cret" not in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("max_messages: 0\n", [":1, field max_messages)", "not 0", "from 1 to 100000"]),
        ("seed: 1\nmax_mesages: 3\n", [":2, field max_mesages)", "Did you mean 'max_messages'?"]),
        ("weights:\n  recensy: 3\n", [":2, field weights.recensy)", "Did you mean 'recency'?"]),
        ("judge_window: 0\n", [":1, field judge_window)", "not 0", "from 1 to 1000"]),
        ("model: [a]\n", [":1, field model)", "valid string", "Give text"]),
        ("- a\n", [":1", "holds a list", "field: value"]),
    ],
)
def test_mistakes_in_a_file(write: Write, refused: Refused, text: str, words: list[str]):
    path = write("settings.yaml", text)
    refused(lambda: load_settings(path, environment={}), str(path), *words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"max_messages": 0}, ["argument max_messages", "not 0", "from 1 to 100000"]),
        ({"max_mesages": 1}, ["argument max_mesages", "Did you mean 'max_messages'?"]),
        ({"weights": 3}, ["argument weights", "not 3", "recency, importance"]),
        ({"weights.recency": "x"}, ["argument weights.recency", "not 'x'", "from 0 to 100"]),
        ({"model": "m@http://u:pw@h/v1", "seed": -1}, ["argument seed", "not -1"]),
    ],
)
def test_mistakes_in_arguments(refused: Refused, arguments: dict[str, Any], words: list[str]):
    refused(lambda: load_settings(environment={}, **arguments), *words)


def test_mistakes_in_a_scenario(refused: Refused):
    refused(
        lambda: load_settings(environment={}, scenario={"max_messages": 0}),
        "the scenario's settings, field max_messages",
        "not 0",
        "from 1 to 100000",
    )


def test_credentials_in_addresses_are_not_shown(refused: Refused):
    message = refused(lambda: load_settings(environment={}, seed="http://me:pw@host/v1"), "argument seed", "***@host")
    assert "pw" not in message


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("max_messages=20", ("max_messages", 20)),
        (" seed = 3", ("seed", 3)),
        ("weights.recency=2.5", ("weights.recency", 2.5)),
        ("concurrent=false", ("concurrent", False)),
        ("model=m@http://localhost:1/v1?a=b", ("model", "m@http://localhost:1/v1?a=b")),
        ("model=null", ("model", None)),
        ("agent_models={Eva: offline}", ("agent_models", {"Eva": "offline"})),
        ("agent_models.Dr. Eva Malá=offline", ("agent_models.Dr. Eva Malá", "offline")),
        ("prices.gpt-4.1=[2, 8]", ("prices.gpt-4.1", [2, 8])),
        ("module_models.planning=openai:x", ("module_models.planning", "openai:x")),
    ],
)
def test_assignments(text: str, pair: tuple[str, Any]):
    assert parse_assignment(text) == pair
    settings = load_settings(environment={}, **dict([parse_assignment(text)]))
    assert len(settings.model_fields_set) == 1


def test_assignments_reach_inside_names_with_dots():
    arguments = dict([parse_assignment("prices.gpt-4.1=[2, 8]"), parse_assignment("agent_models.Dr. Eva=offline")])
    settings = load_settings(environment={}, **arguments)
    assert settings.prices == {"gpt-4.1": (2.0, 8.0)}
    assert settings.agent_models == {"Dr. Eva": "offline"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("max_messages", ["'max_messages' is not a setting", "Write name=value"]),
        ("=3", ["is not a setting", "Write name=value"]),
        ("max_mesages=3", ["unknown setting 'max_mesages'", "Did you mean 'max_messages'?"]),
        ("weights.recensy=3", ["unknown setting 'weights.recensy'", "Did you mean 'recency'?"]),
        ("seed.x=3", ["'seed' has no parts", "whole number"]),
        ("agent_models.=3", ["unknown setting", "Write a name after the dot"]),
        ("weights={recency", ["cannot be read", "setting weights", "Give a mapping"]),
    ],
)
def test_mistakes_in_assignments(refused: Refused, text: str, words: list[str]):
    refused(lambda: parse_assignment(text), *words)


def test_settings_that_belong_together_may_come_from_different_sources(write: Write):
    path = write("settings.yaml", "choices: [A, B]\nbaseline: mad\n")
    environment = {"PERSIMCHAT_ANSWER_FORMAT": "choice"}
    settings = load_settings(path, environment=environment, scenario={"mode": "debate"}, max_messages=9)
    assert (settings.choices, settings.baseline, settings.mode) == (["A", "B"], "mad", "debate")


def test_settings_that_contradict_each_other_are_refused_together(write: Write, refused: Refused):
    path = write("settings.yaml", "choices: [A, B]\n")
    refused(lambda: load_settings(path, environment={}, mode="debate"), "go with answer_format=choice", "Leave one")
    refused(lambda: load_settings(path, environment={}), "choices does not go with a discussion", "of debates")
    refused(
        lambda: load_settings(environment={}, baseline="mad"), "baseline=mad, which is a debate", "persimchat debate"
    )


def test_the_environment_is_for_all_kinds(refused: Refused) -> None:
    """What a conversation does not have is refused only where it was given for that conversation."""
    environment = {"PERSIMCHAT_JUDGE_WINDOW": "5", "PERSIMCHAT_MAX_MESSAGES": "7"}
    found, debate = (load_settings(environment=environment, mode=mode) for mode in ("discussion", "debate"))
    assert (found.judge_window, found.max_messages, debate.judge_window) == (10, 7, 5)
    assert load_settings(environment={}, base=debate, mode="discussion").judge_window == 10
    words = "judge_window=6 does not go with a discussion"
    refused(lambda: load_settings(environment=environment, judge_window=6), words)
