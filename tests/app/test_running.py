"""Runs from the command line: debates, estimates, repeating, going on, interrupting."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback.server import LoopbackServer
from run_files import logged, run_json
from run_folders import rewrite

from persimchat.app.commands.setting_command import choices_in
from persimchat.state.errors import InputError

# `persimchat debate`, and what `run` has in common with it


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


# `persimchat estimate`: what it says, and what it refuses


TOPIC = "Tea or coffee?"


def test_it_says_calls_tokens_and_cost_by_module_and_in_all(command: Run, tmp_path: Path) -> None:
    done = command("estimate", TOPIC, "-n", "3", "--messages", "6", "--model", "openai:gpt-4o-mini")
    assert (done.code, done.err) == (0, "")
    rows = {line.split("  ")[0]: line.split() for line in done.out.splitlines()}
    assert "3 participants, 6 utterances; model: openai:gpt-4o-mini" in done.out
    assert rows["perception"][1] == "18"
    total = rows["in all"]
    assert total[2] == "112"
    assert total[-1].startswith("$0.0")
    assert "if it ends after 3" in done.out
    assert "List prices as of " in done.out
    assert not list(tmp_path.iterdir())


@pytest.mark.proof
def test_a_debate_takes_so_much_at_most(command: Run) -> None:
    done = command("estimate", TOPIC, "--mode", "debate", "--choices", "tea,coffee", "--judge", "persona")
    assert done.code == 0, done.err
    assert "4 participants, at most 60 utterances" in done.out
    assert "openness" in done.out


def test_an_unknown_price_is_said_and_tokens_are_given(command: Run) -> None:
    done = command("estimate", TOPIC, "--messages", "2", "--model", "acme@http://127.0.0.1:9/v1")
    assert done.code == 0
    assert "No price is known for acme@http://127.0.0.1:9/v1: tokens only." in done.out
    assert "$" not in done.out


def test_own_prices_go_first(command: Run) -> None:
    prices = 'prices={"acme": [1000000, 0]}'
    done = command(
        "estimate", TOPIC, "--messages", "2", "--model", "acme@http://127.0.0.1:9/v1", "--set", prices, "--json"
    )
    total = json.loads(done.out)["at_most"]["total"]
    assert total["cost_usd"] == pytest.approx(total["input_tokens"], rel=1e-3)


def test_json_has_everything(command: Run) -> None:
    done = command("estimate", TOPIC, "--messages", "4", "--set", "budget_calls=5", "--model", "offline", "--json")
    found = json.loads(done.out)
    assert (found["at_most"]["utterances"], found["half"]["utterances"]) == (4, 2)
    assert found["reaches"] == ["budget_calls"]
    assert found["price_unknown"] == []
    assert found["at_most"]["module"].keys() >= {"perception", "natural_language", "emotion"}
    assert json.loads(command("estimate", TOPIC, "--messages", "1", "--model", "offline", "--json").out)["half"] is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no topic"),
        ((TOPIC, "--model", "nonsense"), "unknown model"),
        ((TOPIC, "--messages", "0"), "max_messages"),
        ((TOPIC, "--choices", "tea,,coffee"), "a choice is missing"),
        ((TOPIC, "--mode", "debate", "--baseline", "mad", "--messages", "2"), "no room"),
        ((TOPIC, "--participants", "Jarmila,Nobody At All"), "Nobody At All"),
        ((TOPIC, "--set", "nonsense=1"), "nonsense"),
    ],
)
def test_bad_input_is_one_line(command: Run, arguments: tuple[str, ...], said: str) -> None:
    done = command("estimate", *arguments)
    assert done.code == 2
    assert said in done.error


# The same seed gives the same conversation, byte for byte; another seed gives another one


ARGUMENTS = ("run", "Should our town close its centre to cars?", "-n", "4", "--messages", "4", "--model", "offline")


@pytest.mark.proof
def test_seeds(command: Run, only_run: Callable[[Path], Path], tmp_path: Path):
    kept = {}
    for name, seed in (("first", "5"), ("again", "5"), ("other", "6")):
        done = command(*ARGUMENTS, "--seed", seed, "--selection", "softmax", "--out", name, "--quiet")
        assert done.code == 0, done.err
        run = only_run(tmp_path / name)
        kept[name] = [logged(run, kind) for kind in ("utterance", "mind")]
    assert kept["first"] == kept["again"]
    assert kept["first"][0] != kept["other"][0]
    assert kept["first"][1] != kept["other"][1]


# Going on with a run: resume, branch, regenerate, replay


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
    assert "after 3 messages" in done.out
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
    rewrite(run, "utterance", lambda said: {**said, "odd\x1b[2J": 1} if said["turn"] == 2 else said)
    differs = command("replay", "latest", "--json")
    found = json.loads(differs.out.splitlines()[-1])
    assert (differs.code, differs.err, found["same"]) == (1, "", False)
    assert found["parts"][0].startswith("utterance, event 2")
    shown = command("replay", "latest")
    assert shown.code == 1
    assert "It differs from the run:\n  utterance, event 2" in shown.out
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
def test_bad_input_to_resume_is_one_line(arguments: tuple[str, ...], what: str, command: Run):
    done = command(*arguments)
    assert done.code == 2
    assert what in done.error


# Ctrl-C, signals and readers that go away: the run stops in good order


pytestmark = pytest.mark.proof


Serve = Callable[..., LoopbackServer]


LONG = ("run", "Tea?", "-n", "3", "--messages", "500", "--out", "o")


def stopped_run(run: Path) -> int:
    """Check that a run was stopped in good order; the number of its utterances."""
    manifest = run_json(run)
    assert manifest["stop_reason"] == "stopped"
    assert manifest["ended"]
    turns = [said["turn"] for said in logged(run, "utterance")]
    assert turns == list(range(1, len(turns) + 1))
    assert manifest["turn"] == len(turns)
    assert "stopped before its end" in (run / "transcript.md").read_text(encoding="utf-8")
    assert all(logged(run, "mind"))
    return len(turns)


@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_in_the_middle(
    number: signal.Signals, process: Callable[..., Any], serve: Serve, only_run: Callable[[Path], Path], tmp_path: Path
):
    child = process(*LONG, "--model", serve(delay_s=0.02, token_delay_s=0.02).model())
    while not (line := child.stdout.readline()).startswith(("Jarmila", "Ad", "In")):
        assert line, child.stderr.read()
    child.send_signal(number)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert err == "persimchat: interrupted\n"
    assert "# Ended: it was stopped before its end, after " in out
    assert stopped_run(only_run(tmp_path / "o")) >= 1


def test_json_ends_with_stopped(
    process: Callable[..., Any], serve: Serve, only_run: Callable[[Path], Path], tmp_path: Path
):
    child = process(*LONG, "--json", "--model", serve(delay_s=0.02).model())
    while '"event": "turn_ended"' not in (line := child.stdout.readline()):
        assert line, child.stderr.read()
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 130
    last = json.loads(out.splitlines()[-1])
    assert (last["event"], last["reason"]) == ("stopped", "stopped")
    assert last["totals"]["calls"] > 0
    assert stopped_run(only_run(tmp_path / "o")) == last["turn"]


def test_a_reader_that_goes_away(
    process: Callable[..., Any], serve: Serve, only_run: Callable[[Path], Path], tmp_path: Path
):
    child = process(*LONG, "--model", serve().model())
    assert child.stdout.readline() == "# Topic: Tea?\n"
    child.stdout.close()
    child.stdout = None
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert err == ""
    stopped_run(only_run(tmp_path / "o"))


@pytest.mark.parametrize("arguments", [("--help",), ("run", "--help"), ("personas", "list"), ("graph",)])
def test_output_that_nobody_reads(arguments: tuple[str, ...], process: Callable[..., Any]):
    reader, writer = os.pipe()
    os.close(reader)
    child = process(*arguments, stdout=writer)
    os.close(writer)
    _, err = child.communicate(timeout=60)
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    assert child.returncode == 130


def test_a_full_disk_is_no_traceback(finished: Callable[..., Any], serve: Serve):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with Path("/dev/full").open("w") as full:
        done = finished("run", "Tea?", "-n", "2", "--messages", "1", "--model", serve().model(), stdout=full)
    assert done.code == 4
    assert "No space left on device" in done.error
