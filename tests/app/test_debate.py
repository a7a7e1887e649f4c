"""`persimchat debate`, and what `run` has in common with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_files import run_json

from persimchat.app.commands.setting_options import choices_in
from persimchat.state.errors import InputError

Run = Callable[..., Any]


def test_a_debate_from_one_command(command: Run):
    done = command("debate", "Tea or coffee?", "-n", "2", "--max-messages", "4", "--model", "offline")
    assert done.code == 0, done.err
    ending = done.out.split("\n\n")[-1]
    assert ending.startswith(("# Consensus: ", "# No consensus. The majority's position: "))
    assert "held by" in ending


def test_its_options_are_settings(command: Run):
    done = command(
        "debate", "Where?", "-n", "2", "--answer-format", "choice", "--choices", "Brno, Lviv", "--judge", "persona",
        "--judge-window", "3", "--judge-every", "2", "--max-messages", "4", "--pattern", "round_robin",
        "--closing", "on", "--seed", "3", "--model", "offline", "--quiet",
    )  # fmt: skip
    assert done.code == 0, done.err
    kept = run_json(done.out.strip())
    wanted = {
        "mode": "debate", "answer_format": "choice", "choices": ["Brno", "Lviv"], "judge": "persona", "judge_window": 3,
        "judge_every": 2, "max_messages": 4, "pattern": "round_robin", "closing": "on", "seed": 3,
    }  # fmt: skip
    assert {key: kept["settings"][key] for key in wanted} == wanted
    assert kept["conclusion"]["answer"] in ("Brno", "Lviv")


def test_choices_alone_ask_for_one_of_them(command: Run):
    done = command("debate", "Where?", "-n", "2", "--choices", "Brno;Lviv, old town", "--max-messages", "2", "--quiet")
    assert run_json(done.out.strip())["settings"]["choices"] == ["Brno", "Lviv, old town"]
    assert run_json(done.out.strip())["settings"]["answer_format"] == "choice"


@pytest.mark.proof
def test_run_holds_a_debate_where_the_file_or_an_option_says_so(command: Run, write: Callable[..., Path]):
    file = write("d.yaml", "topic: Tea?\nparticipants: [Jarmila, Rowan]\nsettings: {mode: debate, max_messages: 2}\n")
    for arguments in (["--scenario", str(file)], ["Tea?", "-n", "2", "--mode", "debate", "--messages", "2"]):
        done = command("run", *arguments, "--model", "offline", "--quiet")
        assert done.code == 0, done.err
        assert run_json(done.out.strip())["conclusion"] is not None


def test_debate_holds_a_debate_whatever_the_file_says(command: Run, write: Callable[..., Path]):
    file = write("d.yaml", "topic: Tea?\nparticipants: [Jarmila, Rowan]\nsettings: {max_messages: 2}\n")
    done = command("debate", "--scenario", str(file), "--model", "offline", "--quiet")
    assert run_json(done.out.strip())["settings"]["mode"] == "debate"


def test_events_tell_verdicts_and_conclusion(command: Run):
    done = command(
        "debate", "Tea or coffee?", "-n", "2", "--messages", "3", "--analysis", "--model", "offline", "--json"
    )
    events = [json.loads(line) for line in done.out.splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds[0] == "started" and events[0]["mode"] == "debate" and kinds[-1] == "stopped"
    assert {"verdict", "analysis"} <= set(kinds)
    assert events[-1]["conclusion"]["by"] == "judge" and events[-1]["source"]


def test_choices_as_one_types_them():
    assert choices_in("A, B ,C") == ["A", "B", "C"]
    assert choices_in("A, a; B") == ["A, a", "B"]
    with pytest.raises(InputError, match="a choice is missing"):
        choices_in("A,")
