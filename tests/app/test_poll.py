"""`persimchat poll`: asked in private, after the run, and the run stays as it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asked_afterwards import RUNS, baseline, bytes_of
from loopback.scripted import prompt_of, task_of
from loopback.server import LoopbackServer
from run_folders import PEOPLE

from evaluation.judging import run_about
from persimchat.runs.folder.polls import POLLS, read_polls

Run = Callable[..., Any]
Serve = Callable[..., LoopbackServer]
CARS = ("--ask", "Should the centre close to cars?")


def data(command: Run, *arguments: str) -> dict[str, Any]:
    done = command("poll", *arguments, "--json")
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


class Answering:
    """A model that answers polls, and keeps what it was asked."""

    def __init__(self, answer: Callable[[str], Any] = lambda _: "yes") -> None:
        self.answer = answer
        self.prompts: list[str] = []

    def __call__(self, body: dict[str, Any]) -> Any:
        assert task_of(body) == "poll"
        self.prompts.append(prompt_of(body))
        answer = self.answer(self.prompts[-1])
        return answer if isinstance(answer, str) and answer == "nonsense" else {"reasoning": "I do.", "answer": answer}


def test_a_baseline_is_asked_with_what_each_has_heard(command: Run, serve: Serve) -> None:
    folder = baseline()
    model = Answering()
    before = bytes_of(folder, POLLS)
    found = data(command, str(folder), *CARS, "--at", "0,end", "--by", serve(model).model(), "--with-people")
    assert (found["asked"], found["already"], len(found["answers"])) == (4, 0, 4)
    assert [count["counts"] for count in found["counts"]["tea"]] == [{"yes": 2, "no": 0}] * 2
    assert not any(PEOPLE[2] in row["agent"] for row in found["answers"])
    by_who = {(("A baker" in prompt), ("So does the cold" in prompt)): prompt for prompt in model.prompts}
    assert "argue for coffee" in by_who[False, True]
    assert "argue for coffee" not in by_who[True, True]
    assert "Tea it is" not in by_who[True, False]
    assert bytes_of(folder, POLLS) == before
    again = data(command, str(folder), *CARS, "--by", serve(model).model(), "--with-people")
    assert again["poll"] != found["poll"]  # another address is another model


def test_what_is_there_is_not_asked_again_and_other_words_are_another_poll(command: Run) -> None:
    folder = baseline()
    first = data(command, str(folder), *CARS, "--repeats", "3")
    assert (first["asked"], first["already"]) == (12, 0)
    assert first["notes"] == ["These answers are drawn by lot: the offline model has no opinions of its own."]
    assert len({row["seed"] for row in first["answers"]}) == 12
    again = data(command, str(folder), *CARS, "--repeats", "4")
    assert (again["asked"], again["already"]) == (4, 12)
    of_first, of_again = (
        {(row["agent"], row["turn"], row["repeat"]): row["answer"] for row in found["answers"]}
        for found in (first, again)
    )
    assert of_first.items() <= of_again.items()
    tea = ("--id", "tea", "--ask", "Tea?")
    data(command, str(folder), *tea)
    data(command, str(folder), *tea, "--answer", "scale:1-5", "--at", "end")
    # What was asked first is stale.
    assert {row.answer for row in read_polls(folder) if row.poll == "tea"} <= set("12345")
    assert len([line for line in (folder / POLLS).read_text().splitlines() if '"poll":"tea"' in line]) == 6


def test_an_answer_of_no_use_is_asked_for_again_then_missing(command: Run, serve: Serve) -> None:
    folder = baseline()
    model = Answering(lambda prompt: "perhaps" if "A baker" in prompt else "no")
    found = data(command, str(folder), *CARS, "--at", "end", "--by", serve(model).model(), "--with-people")
    assert found["counts"]["tea"] == [{"turn": 4, "counts": {"yes": 0, "no": 1}, "missing": {"unparseable": 1}}]
    assert len(model.prompts) == 3
    (row,) = [row for row in found["answers"] if row["missing"]]
    assert (row["answer"], row["calls"]) == (None, 2)


def test_a_prompt_is_never_shortened(command: Run, serve: Serve) -> None:
    folder = baseline(more="It is cold. " * 300)
    model = Answering()
    small = ("--set", "context_tokens=600", "--by", serve(model).model(), "--with-people")
    found = data(command, str(folder), *CARS, "--at", "end", *small)
    assert {row["missing"] for row in found["answers"]} == {"too long"}
    assert model.prompts == []
    assert data(command, str(folder), *CARS, "--at", "end", *small[2:])["asked"] == 2  # such are looked for again


def test_a_budget_ends_it_and_the_same_command_goes_on(command: Run) -> None:
    folder = baseline()
    found = data(command, str(folder), *CARS, "--budget-calls", "3", "--set", "concurrent=false")
    assert len(found["answers"]) == 3
    assert "The budget of 3 calls is used up" in found["notes"][-1]
    assert data(command, str(folder), *CARS)["already"] == 3


def test_profiles_alone(command: Run, serve: Serve, tmp_path: Path) -> None:
    model = Answering(lambda prompt: 4 if "ferry" in prompt.lower() else 2)
    town = tmp_path / "town.yaml"
    people = "[{name: Ann, description: She runs the ferry.}, {name: Bea, description: She bakes.}]"
    town.write_text(f"topic: Cars?\nparticipants: {people}\n")
    asked = ("--config", str(town), "--ask", "How warm is it?", "--answer", "scale:1-5", "--by", serve(model).model())
    found = data(command, *asked, "--out", "res")
    assert {row["agent"]: row["answer"] for row in found["answers"]} == {"Ann": "4", "Bea": "2"}
    assert "<topic>" not in model.prompts[0]
    assert (Path("res") / POLLS).is_file()
    assert (Path("res") / "polls.csv").read_text().count("\n") == 3
    assert data(command, *asked, "--out", "res")["already"] == 2


def test_a_table_says_who_answered_what(command: Run) -> None:
    folder = baseline()
    done = command("poll", str(folder), "--ask", "How many?", "--answer", "number", "--id", "many")
    assert done.code == 0
    assert "How many? (one number, in digits; poll many)" in done.out
    assert "at turn 0  at turn 4" in done.out
    assert "median" in done.out
    assert "4 calls to offline" in done.err
    shown = command("evaluate", "stances", str(folder), "--source", "polls")
    assert "The poll “How many?”" in shown.out
    assert "not because of whom" in shown.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "there is nobody to poll"),
        (("tea",), "no question is asked"),
        (("tea", "--ask", "?", "--config", "x.yaml"), "contradict each other"),
        (("tea", "--ask", "?", "--answer", "maybe"), "answer should be yesno, choice, number"),
        (("tea", "--ask", "?", "--answer", "scale:5-1"), "from low to high"),
        (("tea", "--ask", "?", "--answer", "choice", "--options", "a"), "two or more different options"),
        (("tea", "--ask", "?", "--answer", "yesno", "--options", "a,b"), "options go with answer=choice"),
        (("tea", "--ask", " "), "question is empty"),
        (("tea", "--ask", "?", "--at", "begin"), "'begin' is no turn"),
        (("tea", "--ask", "?", "--at", ","), "no turn is named"),
        (("tea", "--ask", "?", "--at", "7"), "there is no turn 7"),
        (("tea", "tea", "--ask", "?"), "is given twice"),
        (("tea", "--ask", "?", "--by", "openai:gpt-4o"), "people took part"),
        (("tea", "--ask", "?", "--by", "no model", "--with-people"), "no model"),
        (("tea", "--ask", "?", "--settings", "x.yaml"), "--settings goes with --config"),
        (("gone", "--ask", "?"), "there is no run"),
        (("old", "--ask", "?"), "kept no checkpoints"),
    ],
)
def test_bad_input_is_one_line(command: Run, arguments: tuple[str, ...], words: str) -> None:
    folder = baseline()
    run_about(RUNS, name="old")
    done = command("poll", *arguments)
    assert done.code == 2
    assert words in done.err
    assert done.err.count("\n") == 1
    assert not (folder / POLLS).exists()


def test_where_no_states_are_kept_profiles_are_the_remedy(command: Run) -> None:
    run_about(RUNS, name="old")
    assert "persimchat poll --config SCENARIO" in command("poll", "old", "--ask", "?").error


@pytest.mark.proof
def test_minds_are_asked_as_they_were_and_nothing_changes(command: Run, serve: Serve) -> None:
    talk = ("run", "Tea or coffee?", "-n", "2", "--messages", "3", "--model", "offline", "--seed", "3", "--quiet")
    folder = Path(command(*talk).out.strip())
    before = bytes_of(folder, POLLS)
    model = Answering()
    found = data(command, "latest", *CARS, "--at", "start,2", "--by", serve(model).model())
    assert [row["turn"] for row in found["answers"]] == [0, 0, 2, 2]
    assert bytes_of(folder, POLLS) == before
    said = [json.loads(line)["text"] for line in (folder / "transcript.jsonl").read_text().splitlines()]
    start, later = min(model.prompts, key=len), max(model.prompts, key=len)  # in which order they come is chance
    assert all(words not in start for words in said)
    assert (said[1] in later, said[2] in later) == (True, False)
    assert "<memories>" in later
    assert "happiness:" in start


@pytest.mark.proof
def test_a_polled_run_is_replayed_and_branched_as_if_nobody_had_asked(command: Run) -> None:
    debate = ("debate", "Close the centre?", "--answer-format", "yesno", "-n", "3", "--messages", "5", "--seed", "3")
    folder = Path(command(*debate, "--model", "offline", "--quiet").out.strip())
    branch = ("branch", str(folder), "--at", "3", "--quiet")
    alone = Path(command(*branch).out.strip())
    before = bytes_of(folder, POLLS)
    assert data(command, str(folder), *CARS, "--at", "0,1,2,3,4,5", "--repeats", "2")["asked"] == 36
    assert bytes_of(folder, POLLS) == before
    assert command("replay", str(folder), "--out", "again").code == 0
    polled = Path(command(*branch).out.strip())
    for name in ("transcript.jsonl", "verdicts.jsonl"):
        assert (alone / name).read_bytes() == (polled / name).read_bytes()
    assert not (polled / POLLS).exists()
    assert command("show", str(folder)).out.count("Who moved, by poll") <= 1
