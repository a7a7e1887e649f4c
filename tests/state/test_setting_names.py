"""What settings say of their use, and their old names."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, get_args

import pytest

from persimchat.app.commands.setting_options import condition_in_words, default_in_words
from persimchat.state.configuration import load_settings, parse_assignment
from persimchat.state.errors import InputError
from persimchat.state.scenario import Scenario
from persimchat.state.setting import GROUPS, RenamedSetting
from persimchat.state.settings import ABOUT, FORMER_NAMES, Settings

RENAMED = [
    ("temperature", "selection_temperature", 2.5),
    ("allow_repetition", "allow_repeated_speaker", True),
    ("window_size", "judge_window", 4),
]


def test_settings_are_listed_group_by_group():
    assert list(ABOUT) == list(Settings.model_fields)
    groups = [about.group for about in ABOUT.values()]
    assert list(dict.fromkeys(groups)) == list(GROUPS)
    assert groups == sorted(groups, key=list(GROUPS).index)


def test_conditions_name_settings_and_values_that_there_are():
    for name, about in ABOUT.items():
        for other, values in about.only_if.items():
            annotation = Settings.model_fields[other].annotation
            given = get_args(annotation)
            literals = {value for part in given for value in get_args(part)} | set(given)
            assert set(values) <= literals, name
            assert list(ABOUT).index(other) < list(ABOUT).index(name)


def test_names_are_of_one_setting_each():
    old = [name for about in ABOUT.values() for name in about.formerly]
    assert len(old) == len(set(old)) == len(FORMER_NAMES)
    assert not set(old) & set(ABOUT)


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


@pytest.mark.parametrize(("old", "name", "value"), RENAMED)
def test_old_names_are_understood_everywhere_with_a_hint(old: str, name: str, value: Any, tmp_path: Path):
    file = tmp_path / "settings.yaml"
    file.write_text(f"{old}: {str(value).lower()}\n", encoding="utf-8")
    given: list[dict[str, Any]] = [
        {"file": file, "environment": {}},
        {"environment": {f"PERSIMCHAT_{old.upper()}": str(value).lower()}},
        {"environment": {}, "scenario": {old: value}},
        {"environment": {}, old: value},
    ]
    for sources in given:
        with pytest.warns(RenamedSetting, match=f"^{old} is called {name} now") as hints:
            settings = load_settings(**sources)
        assert getattr(settings, name) == value
        assert len(hints) == 1
    with pytest.warns(RenamedSetting):
        assert getattr(Settings.model_validate({old: value}), name) == value
    with pytest.warns(RenamedSetting):
        assert parse_assignment(f"{old}={value}")[0] == name


def test_a_later_source_overrides_an_old_name(tmp_path: Path):
    file = tmp_path / "settings.yaml"
    file.write_text("judge_window: 5\n", encoding="utf-8")
    with pytest.warns(RenamedSetting):
        assert load_settings(file, environment={}, scenario={"window_size": 4}).judge_window == 5
    with pytest.warns(RenamedSetting):
        assert load_settings(file, environment={"PERSIMCHAT_WINDOW_SIZE": "6"}).judge_window == 6


@pytest.mark.filterwarnings("ignore::persimchat.state.setting.RenamedSetting")
def test_a_wrong_value_under_an_old_name_is_shown_where_it_stands(tmp_path: Path):
    file = tmp_path / "settings.yaml"
    file.write_text("seed: 1\nwindow_size: 0\n", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        load_settings(file, environment={})
    assert "judge_window should be greater than or equal to 1, not 0" in str(refused.value)
    assert f"{file}:2" in str(refused.value)
    file.write_text("window_size: 3\njudge_window: 4\n", encoding="utf-8")
    with pytest.raises(InputError, match="judge_window is given twice, also by an old name") as refused:
        load_settings(file, environment={})
    assert str(file) in str(refused.value)
    with pytest.raises(ValueError, match="judge_window is given twice"):
        Settings.model_validate({"window_size": 3, "judge_window": 4})


def test_a_scenario_has_current_names():
    people = [{"name": "A", "description": "x"}, {"name": "B", "description": "y"}]
    given = {"topic": "T", "participants": people, "settings": {"temperature": 2}}
    with pytest.warns(RenamedSetting):
        assert Scenario.model_validate(given).settings == {"selection_temperature": 2}


def test_current_names_give_no_hint():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_settings(environment={}, judge_window=3, selection_temperature=2).judge_window == 3
