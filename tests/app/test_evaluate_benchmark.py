"""`persimchat evaluate benchmark`: models on loopback answer as planned, alone and in debates."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import scipy.stats  # noqa: F401  loaded here, so that no test pays for it
from loopback.answering import Fault, Reply
from loopback.scripted import Scripted, prompt_of
from loopback.server import LoopbackServer

from persimchat.app.cli import main
from persimchat.evaluation.benchmarks.formats import Item, drawn, own_items

Run = Callable[..., Any]
Serve = Callable[..., LoopbackServer]
MINE = own_items()
ASKED = [MINE[place] for place in drawn("own", 0, len(MINE), 30, 1)[0]]
"""The thirty items of the first round."""


def item_in(body: Mapping[str, Any]) -> Item:
    """The item that a request asks about."""
    found = re.search(r"<topic>\n(.*?)\n</topic>", prompt_of(dict(body)), re.DOTALL)
    assert found
    return next(item for item in MINE if item.question.split() == found.group(1).split())


def wrong(item: Item) -> str:
    """An answer in the item's form that is not the right one."""
    if item.form == "choice":
        return next(choice for choice in item.choices if choice != item.answer)
    return {"yes": "no", "no": "yes"}.get(item.answer, "1000000")


def planned(states: Mapping[str, str]) -> Callable[[dict[str, Any]], Any]:
    """An answerer: right, or as planned for an item's id."""

    def answer(body: dict[str, Any]) -> Any:
        item = item_in(body)
        reasons = {"reasoning": "I have thought about it."}
        match states.get(item.id, "right"):
            case "right":
                return {**reasons, "answer": item.answer}
            case "wrong":
                return {**reasons, "answer": wrong(item)}
            case "unparseable":
                return {**reasons, "answer": "it depends"}
            case "refused":
                return Reply(None, refusal="I will not.")
            case _:
                return Fault(401, {"error": {"message": "no"}})

    return answer


def is_reasoned(body: Mapping[str, Any]) -> bool:
    return "step by step" in prompt_of(dict(body))


def data(command: Run, *arguments: str) -> dict[str, Any]:
    """What the command says with --json."""
    done = command("evaluate", "benchmark", *arguments, "--json", "--yes")
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def rows() -> list[dict[str, str]]:
    with Path("results/own/tables/items.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.proof
def test_thirty_items(command: Run, serve: Serve) -> None:
    """Twenty-five right, three wrong, two unparseable; against zero_shot, eight and two (design, acceptance 12)."""
    ids = [item.id for item in ASKED]
    cot = planned(dict.fromkeys(ids[:3], "wrong") | dict.fromkeys(ids[3:5], "unparseable"))
    zero = planned(dict.fromkeys(ids[2:13], "wrong"))
    script = Scripted(solving=lambda body: (cot if is_reasoned(body) else zero)(body))
    asked = ("own", "--methods", "zero_shot,cot", "--rounds", "1", "--model", serve(script).model())
    found = data(command, *asked)
    shot, thought = found["methods"]
    assert [thought[state] for state in ("right", "wrong", "unparseable", "refused", "failed")] == [25, 3, 2, 0, 0]
    accuracy = thought["accuracy"]
    assert [round(accuracy[name], 4) for name in ("value", "low", "high")] == [0.8333, 0.6644, 0.9266]
    assert (shot["right"], thought["against"]["only_first"], thought["against"]["only_second"]) == (19, 8, 2)
    assert round(thought["against"]["test"]["p"], 4) == 0.1094
    assert thought["calls"] == 32, "an answer of no use is asked for once more"
    assert len(script.asked) == 62
    assert len(rows()) == 60 and {row["state"] for row in rows()} == {"right", "wrong", "unparseable"}
    assert data(command, *asked)["methods"] == found["methods"]
    assert len(script.asked) == 62, "what has an answer is not asked again"


def test_a_budget_ends_it_and_the_same_command_goes_on(command: Run, serve: Serve) -> None:
    script = Scripted(solving=planned({}))
    asked = ("own", "--methods", "cot", "--items", "6", "--rounds", "1", "--model", serve(script).model())
    found = data(command, *asked, "--budget-calls", "4")
    assert (found["methods"][0]["right"], found["methods"][0]["failed"]) == (4, 2)
    assert "budget" in found["stopped"]
    assert data(command, *asked, "--budget-calls", "6")["methods"][0]["right"] == 6
    assert len(script.asked) == 6


@pytest.mark.proof
def test_debates_are_held_as_an_experiments_conversations(command: Run, serve: Serve) -> None:
    """Right, wrong, and a debate that no answer of use came of, which is not held again."""
    items = [MINE[place] for place in drawn("own", 0, len(MINE), 3, 1)[0]]
    states = {items[1].id: "wrong", items[2].id: "unparseable"}
    script = Scripted(answering=planned(states), solving=planned({}))
    asked = ("own", "--methods", "cot,mad", "--items", "3", "--rounds", "1", "--set", "rounds=1")
    server = serve(script)
    done = command("evaluate", "benchmark", *asked, "--model", server.model(), "--yes")
    assert done.code == 1, done.err
    assert "cot" in done.out and "mad" in done.out and "McNemar" in done.out
    states_of = {(row["method"], row["item"]): row for row in rows()}
    found = [states_of["mad", item.id] for item in items]
    assert [row["state"] for row in found] == ["right", "wrong", "unparseable"]
    assert [row["consensus"] for row in found] == ["true", "true", ""]
    assert "wrong answer twice" in found[2]["why"]
    report = Path("results/own/report.html").read_text(encoding="utf-8")
    assert "Right answers" in report and "tables/items.csv" in report
    before = len(script.asked)
    assert data(command, *asked, "--model", server.model())["methods"][1]["unparseable"] == 1
    assert len(script.asked) == before
    for again in (("report", "results/own"), ("run", "results/own/experiment.yaml", "--yes")):
        refused = command("experiment", *again)
        assert refused.code == 2 and "evaluate benchmark" in refused.err
    assert Path("results/own/report.html").read_text(encoding="utf-8") == report


@pytest.mark.proof
def test_one_budget_for_answers_and_debates(command: Run, serve: Serve) -> None:
    script = Scripted(answering=planned({}), solving=planned({}))
    asked = ("own", "--methods", "cot,mad", "--items", "6", "--rounds", "1", "--set", "rounds=1")
    model = serve(script).model()
    found = data(command, *asked, "--model", model, "--budget-calls", "15")
    assert len(script.asked) <= 15 and found["stopped"]
    assert sum(method["calls"] for method in found["methods"]) == len(script.asked)
    assert found["methods"][0]["right"] == 6 and 0 < found["methods"][1]["right"] < 6
    found = data(command, *asked, "--model", model)
    assert [method["right"] for method in found["methods"]] == [6, 6]
    assert len(script.asked) == 6 + 18


def test_a_refusal_is_not_right_and_a_failing_model_ends_it(command: Run, serve: Serve) -> None:
    first, second = (MINE[place] for place in drawn("own", 0, len(MINE), 2, 1)[0])
    states = {first.id: "refused", second.id: "failing"}
    script = Scripted(solving=lambda body: planned(states)(body))
    asked = ("own", "--methods", "cot", "--items", "2", "--rounds", "1", "--model", serve(script).model())
    done = command("evaluate", "benchmark", *asked, "--yes", "--set", "concurrent=false")
    assert done.code == 3
    assert "does not accept the key" in done.err
    del states[second.id]
    (cot,) = data(command, *asked)["methods"]
    assert (cot["refused"], cot["right"], cot["accuracy"]["value"]) == (1, 1, 0.5)


def test_the_offline_model_guesses_and_says_so(command: Run) -> None:
    asked = ("own", "--methods", "zero_shot,cot", "--items", "16", "--model", "offline")
    done = command("evaluate", "benchmark", *asked)
    assert done.code == 0
    assert "its results mean nothing" in done.err
    assert "no benchmark" in done.out
    assert "48 draws are of 32 items" in done.out
    assert {row["state"] for row in rows()} == {"right", "wrong"}


def test_the_published_numbers_stand_beside(command: Run, write: Callable[..., Path]) -> None:
    lines = [json.dumps({"question": f"How many are {n} and 2?", "answer": f"#### {n + 2}"}) for n in range(4)]
    asked = ("--data", str(write("test.jsonl", "\n".join(lines))), "--model", "offline", "--methods", "cot")
    done = command("evaluate", "benchmark", "gsm8k", *asked, "--items", "2", "--rounds", "2")
    assert "0.900 ± 0.067" in done.out
    assert "gpt-4o-2024-08-06" in done.out and "table 6.11" in done.out


def test_nobody_is_asked_without_a_terminal(command: Run, serve: Serve) -> None:
    script = Scripted(solving=planned({}))
    done = command("evaluate", "benchmark", "own", "--methods", "cot", "--model", serve(script).model())
    assert done.code == 2 and "--yes" in done.err
    assert "Still to ask" in done.out
    assert script.asked == [] and not Path("results").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("gms8k",), ("'gms8k'", "'gsm8k'")),
        (("gsm8k",), ("not shipped", "--data", "docs/benchmarks.md")),
        (("gsm8k", "--data", "no.jsonl"), ("no such file", "no.jsonl")),
        (("own", "--data", "no.jsonl"), ("--data",)),
        (("own", "--methods", "cot,mda"), ("'mda'", "'mad'")),
        (("own", "--methods", "single_agent"), ("no answer", "--methods")),
        (("own", "--methods", "cot,cot"), ("twice",)),
        (("own", "--methods", "cot,"), ("--methods",)),
        (("own", "--methods", "cot", "--reference", "mad"), ("--reference", "'mad'")),
        (("own", "--items", "33"), ("33", "32", "--items")),
        (("own", "--rounds", "0"), ("--rounds",)),
        (("own", "--set", "baseline=mad"), ("baseline", "--methods")),
        (("own", "--methods", "mad", "--participants", "Nobody Known,Jarmila"), ("Nobody Known",)),
        (("own", "--methods", "mad", "--budget-calls", "2"), ("budget_calls=2",)),
        (("own", "--model", "m@http://127.0.0.1:9/v1", "--budget-usd", "1"), ("price", "not known")),
    ],
)
def test_bad_input(arguments: tuple[str, ...], words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "benchmark", *arguments, "--yes"]) == 2
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert [word for word in words if word not in last] == [], last
    assert not Path("results").exists()
