"""The options of commands, as they are made from the settings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from run_files import run_json
from typer.testing import CliRunner

from persimchat.app.cli import app
from persimchat.app.commands.setting_options import default_in_words, offered, option_name, with_options
from persimchat.app.commands.wanted import Shown, Wanted, WantedAgain
from persimchat.state.settings import ABOUT, FORMER_NAMES, Settings

Run = Callable[..., Any]


def options_of(command: str) -> set[str]:
    """The options that a command's help names."""
    shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"})
    assert shown.exit_code == 0
    return set(re.findall(r"^│ [ *]*(--[a-z-]+)", shown.output, re.MULTILINE)) | set(
        re.findall(r",(--[a-z-]+)", shown.output)
    )


def settings_in(names: set[str]) -> set[str]:
    return {setting for setting in ABOUT if option_name(setting) in names}


def test_commands_offer_the_settings_that_have_an_option():
    every = {name for name, about in ABOUT.items() if about.option is not None}
    assert len(every) > 20
    assert settings_in(options_of("run")) == settings_in(options_of("estimate")) == every
    assert settings_in(options_of("debate")) == every - {"mode"}
    branched = {name for name in every if ABOUT[name].changes != "never"}
    assert settings_in(options_of("branch")) == settings_in(options_of("regenerate")) == branched
    resumed = {name for name in every if ABOUT[name].changes == "resume"}
    assert settings_in(options_of("resume")) == resumed
    assert resumed < branched < every


def test_help_is_read_from_the_field():
    def held(wanted: Wanted) -> None:
        """Hold it."""

    made = inspect.signature(with_options(held, offered(None))).parameters
    for name in offered(None):
        annotation, option = get_args(made[name].annotation)
        assert made[name].default is None
        assert default_in_words(name) in option.help, name
        assert (ABOUT[name].help or Settings.model_fields[name].description or "!")[1:] in option.help
        for value in get_args(get_args(annotation)[0]):
            assert str(value) in option.help
    again = inspect.signature(with_options(held, offered("resume"), later=True)).parameters
    assert "default: the run's own" in get_args(again["max_messages"].annotation)[1].help


def test_a_command_is_given_what_was_typed():
    seen: list[Any] = []

    def held(wanted: WantedAgain, shown: Shown, at: int = 3) -> None:
        seen.extend([wanted, shown, at])

    made = with_options(held, ["seed", "choices", "answer_format"])
    typed = dict.fromkeys(inspect.signature(made).parameters)
    made(**{**typed, "run": "latest", "seed": 4, "choices": "A,B", "out": Path("x"), "at": 7})
    wanted, shown, at = seen
    assert wanted.run == "latest"
    assert wanted.arguments == {"seed": 4, "choices": ["A", "B"], "answer_format": "choice"}
    assert (shown.out, at) == (Path("x"), 7)


@pytest.mark.parametrize(
    ("old", "new", "setting", "value"),
    [
        (["--window", "3"], "--judge-window", "judge_window", 3),
        (["--window-size", "3"], "--judge-window", "judge_window", 3),
        (["--temperature", "2"], "--selection-temperature", "selection_temperature", 2.0),
        (["--allow-repetition"], "--allow-repeated-speaker", "allow_repeated_speaker", True),
        (["--answer", "number"], "--answer-format", "answer_format", "number"),
        (["--scenario", "debate"], "--mode debate", "mode", "debate"),
        (["--set", "window_size=3"], "judge_window", "judge_window", 3),
    ],
)
def test_old_options_are_understood_with_a_hint(
    old: list[str], new: str, setting: str, value: Any, command: Run
) -> None:
    mode = [] if setting == "mode" else ["--mode", "debate"]
    done = command("run", "Tea?", "-n", "2", *mode, "--messages", "1", "--model", "offline", "--quiet", *old)
    assert done.code == 0, done.err
    assert done.err.count("\n") == 1
    assert f" is called {new} now" in done.err
    kept = run_json(Path(done.out.strip()))["settings"]
    assert kept[setting] == value


def test_the_scenario_s_old_option_and_old_names_in_its_file(command: Run, tmp_path: Path) -> None:
    file = tmp_path / "old.yaml"
    file.write_text(
        "topic: T\nparticipants: [Jarmila, Rowan]\nsettings: {temperature: 2, max_messages: 1}\n", encoding="utf-8"
    )
    done = command("run", "--config", str(file), "--model", "offline", "--quiet")
    assert done.code == 0, done.err
    assert sorted(done.err.splitlines()) == [
        "persimchat: --config is called --scenario now; the old name will go",
        "persimchat: temperature is called selection_temperature now; the old name will go",
    ]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--window", "3", "--judge-window", "4"], "--judge-window is given twice, also as --window"),
        (["--scenario", "a.yaml", "--config", "b.yaml"], "--scenario is given twice, also as --config"),
        (["--scenario", "debate", "--mode", "discussion"], "--mode is given twice, also as --scenario"),
    ],
)
def test_old_and_new_together(arguments: list[str], what: str, command: Run) -> None:
    done = command("run", "T", *arguments)
    assert done.code == 2
    assert what in done.error


def test_no_help_names_an_old_option():
    old = {option_name(name) for name in FORMER_NAMES} | {"--config"}
    for name in ("run", "debate", "estimate", "resume", "branch"):
        assert not options_of(name) & old
