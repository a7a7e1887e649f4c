"""Going on with a run: resume, branch, regenerate, replay."""

from __future__ import annotations

import json
from collections.abc import Callable
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
    assert "# Go on with: persimchat resume 20" in done.out.splitlines()[-1]
    return done


def test_a_budget_ends_a_run_and_a_higher_one_goes_on(spent: Any, command: Run):
    refused = command("resume", "latest")
    assert refused.code == 2
    assert "--budget-calls" in refused.error
    done = command("resume", "latest", "--budget-calls", "5000")
    assert done.code == 0, done.err
    assert "after 3 utterances" in done.out
    assert utterances(done.out)[: len(utterances(spent.out))] == utterances(spent.out)


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
    assert utterances(again.out)[0] == utterances(first.out)[0]
    assert utterances(again.out)[1] != utterances(first.out)[1]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("resume", "nowhere"), "there is no run 'nowhere'"),
        (("resume", "x", "--set", "nothing=1"), "'nothing'"),
        (("resume", "x", "--messages", "3", "--set", "max_messages=4"), "max_messages is given twice"),
        (("resume", "x", "--json", "--quiet"), "contradict each other"),
        (("branch", "x"), "missing option '--at'"),
        (("branch", "x", "--at", "-1"), "'--at'"),
        (("branch", "x", "--at", "1", "--say", "no colon"), "not clear who says what (--say)"),
        (("regenerate", "x", "--turn", "0"), "'--turn'"),
        (("replay", "nowhere"), "there is no run 'nowhere'"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...], what: str, command: Run):
    done = command(*arguments)
    assert done.code == 2
    assert what in done.error
