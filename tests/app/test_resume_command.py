"""Going on with a run: resume, branch, regenerate, replay."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
OFFLINE = ("run", "Tea?", "-n", "2", "--model", "offline")


def utterances(out: str) -> list[str]:
    return [line for line in out.splitlines() if line and not line.startswith("#")]


@pytest.fixture
def spent(command: Run) -> Any:
    """A run whose budget ended it."""
    done = command(*OFFLINE, "--messages", "3", "--budget-calls", "25")
    assert done.code == 0, done.err
    assert "# Ended: the budget was used up, after" in done.out
    assert "# Continue with a greater budget: persimchat resume 20" in done.out.splitlines()[-1]
    return done


def test_a_budget_ends_a_run_and_a_higher_one_goes_on(spent: Any, command: Run):
    refused = command("resume", "latest")
    assert refused.code == 2
    assert "--budget-calls" in refused.error
    done = command("resume", "latest", "--budget-calls", "5000")
    assert done.code == 0, done.err
    assert "after 3 utterances" in done.out
    assert utterances(done.out)[: len(utterances(spent.out))] == utterances(spent.out)


@pytest.mark.proof
def test_branch_regenerate_and_replay(command: Run):
    first = command(*OFFLINE, "--messages", "3")
    assert first.code == 0, first.err
    run = first.out.splitlines()[-1].rpartition("/")[2]
    replayed = command("replay", run)
    assert replayed.code == 0, replayed.err
    assert replayed.out.splitlines()[-1].startswith("The same, byte for byte: 3 utterances, ")
    assert utterances(replayed.out)[:-1] == utterances(first.out)
    branched = command("branch", run, "--at", "2", "--say", "Moderator: Cocoa?", "--json")
    assert branched.code == 0, branched.err
    events = [json.loads(line) for line in branched.out.splitlines()]
    said = [(event["speaker"], event["text"]) for event in events if event["event"] == "utterance"]
    assert events[0]["turn"] == 2
    assert said[2] == ("Moderator", "Cocoa?")
    again = command("regenerate", run, "--turn", "2")
    assert again.code == 0, again.err
    told = again.out.splitlines()
    assert f"# Branch of {run} after utterance 1: utterance 2 is worded again" in told[:5]
    assert told[told.index("# New from here on.") - 1] == utterances(first.out)[0]
    assert "it was worded again (regenerate)" in command("diff", run, again.out.splitlines()[-1].split()[-1]).out
    assert utterances(again.out)[0] == utterances(first.out)[0]
    assert utterances(again.out)[1] != utterances(first.out)[1]


def test_a_resumed_run_says_where_it_goes_on(command: Run):
    first = command(*OFFLINE, "--messages", "2")
    assert "The run continues here" not in first.out
    told = command("resume", "latest", "--messages", "3").out.splitlines()
    place = told.index("# The run continues here.")
    assert told[place - 1] == utterances(first.out)[-1]
    assert told[place + 1] == utterances("\n".join(told))[2]


@pytest.mark.proof
def test_a_replay_that_differs_is_told_by_its_exit_code(command: Run, tmp_path: Path):
    assert command(*OFFLINE, "--messages", "2", "--quiet").code == 0
    (run,) = (tmp_path / "conversations").iterdir()
    assert command("replay", "latest", "--keep", str(run / "in")).error.endswith("Choose a folder outside of it.")
    assert "exists already" in command("replay", "latest", "--keep", "conversations").error
    same = command("replay", "latest", "--json")
    found = json.loads(same.out.splitlines()[-1])
    assert (same.code, same.err, found["event"], found["same"]) == (0, "", "comparison", True)
    transcript = run / "transcript.jsonl"
    transcript.write_bytes(transcript.read_bytes().replace(b'"turn": 2', b'"turn": 2, "odd\\u001b[2J": 1', 1))
    differs = command("replay", "latest", "--json")
    found = json.loads(differs.out.splitlines()[-1])
    assert (differs.code, differs.err, found["same"]) == (1, "", False)
    assert found["parts"][0].startswith("transcript.jsonl, line 2")
    shown = command("replay", "latest")
    assert shown.code == 1
    assert "It differs from the run:\n  transcript.jsonl, line 2" in shown.out
    assert "\x1b" not in shown.out


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("resume", "nowhere"), "there is no run 'nowhere'"),
        (("resume", "x", "--set", "nothing=1"), "'nothing'"),
        (("resume", "x", "--messages", "3", "--set", "max_messages=4"), "max_messages is given twice"),
        (("resume", "x", "--json", "--quiet"), "contradict each other"),
        (("branch", "x", "--at", "x"), "'x' is not a whole number (--at). Give a whole number. See: "),
        (("branch", "x", "--at", "1", "--say", "Jan: "), "there are no words after the colon (--say)"),
        (("branch", "x"), "there is no run"),
        (("branch", "x", "--at", "-1"), "'-1' is too small (--at). Give 0 or more. See: persimchat branch"),
        (("branch", "x", "--at", "1", "--say", "no colon"), "the speaker or the words are missing (--say)"),
        (("regenerate", "x", "--turn", "0"), "'0' is too small (--turn). Give 1 or more."),
        (("replay", "nowhere"), "there is no run 'nowhere'"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...], what: str, command: Run):
    done = command(*arguments)
    assert done.code == 2
    assert what in done.error
