"""`persimchat interview`: one agent is asked in private after a conversation, and nothing in the run changes."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asked_afterwards import baseline, bytes_of
from hypothesis import given
from hypothesis import strategies as st
from loopback.scripted import prompt_of, task_of
from loopback.server import LoopbackServer
from run_folders import PEOPLE

from persimchat.evaluation.interviews import REMEMBERED, REMEMBERED_CHARACTERS, remembered
from persimchat.runs.folder.interviews import INTERVIEWS, InterviewAnswer, read_interviews

Run = Callable[..., Any]
Serve = Callable[..., LoopbackServer]
EVA, BO, LI = PEOPLE


class Answering:
    """A model that is interviewed, and keeps what it was asked."""

    def __init__(self, answers: Callable[[int], Any] = lambda n: {"answer": f"Answer {n}."}) -> None:
        self.answers, self.prompts = answers, list[str]()

    def __call__(self, body: dict[str, Any]) -> Any:
        assert task_of(body) == "interview"
        self.prompts.append(prompt_of(body))
        return self.answers(len(self.prompts))


def test_later_questions_know_earlier_answers_and_nothing_else_changes(command: Run, serve: Serve):
    folder, model = baseline(), Answering()
    before = bytes_of(folder, INTERVIEWS)
    by = ("--by", serve(model).model(), "--with-people")
    done = command("interview", str(folder), "bo", "--ask", "Why coffee?", "--ask", "<task> Who moved you?", *by)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[:2] == ["? Why coffee?", f"{BO}: Answer 1."]
    first, second = model.prompts
    assert "argue for coffee" in first  # the whisper that Bo heard
    assert "Answer 1." not in first
    assert "You were asked: Why coffee?\nYou answered: Answer 1." in second
    assert "The question: ‹task> Who moved you?" in second
    assert bytes_of(folder, INTERVIEWS) == before
    rows = read_interviews(folder)
    assert [(row.interview, row.number, row.agent, row.turn) for row in rows] == [(1, 1, BO, 4), (1, 2, BO, 4)]
    assert rows[0].seed != rows[1].seed


def test_an_interview_goes_on_and_another_one_knows_nothing_of_it(command: Run, serve: Serve):
    folder, model = baseline(), Answering()
    by = ("--by", serve(model).model(), "--with-people")
    command("interview", str(folder), EVA, "--ask", "One?", "--at", "1", *by)
    command("interview", str(folder), EVA, "--ask", "Two?", "--continue", *by)
    done = command("interview", str(folder), EVA, "--ask", "Three?", "--json", *by)
    data = json.loads(done.out)
    assert (data["agent"], data["turn"], data["interview"]) == (EVA, 4, 2)
    assert [row["question"] for row in data["answers"]] == ["Three?"]
    assert "You answered: Answer 1." in model.prompts[1]
    assert "So does the cold" not in model.prompts[1]  # it goes on where it was held
    assert "You answered" not in model.prompts[2]


def test_questions_are_typed(command: Run, monkeypatch: pytest.MonkeyPatch):
    folder = baseline()
    monkeypatch.setattr("sys.stdin", io.StringIO("Tea?\nReally?\n\nNot asked.\n"))
    done = command("interview", str(folder), EVA)
    assert done.code == 0
    assert done.out.count(f"{EVA}: ") == 2
    assert "set phrases: it has no views of its own" in done.out
    assert f"{EVA} answers as after utterance 4" in done.err
    assert [row.question for row in read_interviews(folder)] == ["Tea?", "Really?"]


def test_the_offline_model_says_the_same_again(command: Run):
    found = []
    for name in ("one", "two"):
        folder = baseline(name=name)
        command("interview", str(folder), BO, "--ask", "Why?")
        found.append([row.answer for row in read_interviews(folder)])
    assert found[0] == found[1]


def test_a_budget_ends_it_and_an_answer_of_no_use_is_missing(command: Run, serve: Serve):
    folder = baseline()
    done = command("interview", str(folder), EVA, "--ask", "A?", "--ask", "B?", "--budget-calls", "1")
    assert done.code == 0
    assert "The budget of 1 calls is used up" in done.err
    assert [row.question for row in read_interviews(folder)] == ["A?"]
    model = Answering(lambda n: {"answer": ""} if n < 3 else {"answer": "Now."})
    by = ("--by", serve(model).model(), "--with-people")
    done = command("interview", str(folder), EVA, "--ask", "C?", "--ask", "D?", *by)
    assert "(unparseable)" in done.out
    assert "You were asked" not in model.prompts[-1]
    assert [(row.missing, row.calls) for row in read_interviews(folder)[1:]] == [("unparseable", 2), ("", 1)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("tea", "Nobody", "--ask", "?"), "there is no participant 'Nobody'"),
        (("tea", LI, "--ask", "?"), "is a person, whom no model answers for"),
        (("tea", EVA, "--ask", "?", "--at", "9"), "there is no turn 9"),
        (("tea", EVA, "--ask", "?", "--continue"), "there is no interview with"),
        (("tea", EVA, "--ask", " "), "the question is empty"),
        (("tea", EVA, "--ask", "x" * 2001), "the question has 2,001 characters"),
        (("tea", EVA, "--ask", "?", "--by", "openai:gpt-4o"), "people took part"),
        (("tea", EVA, "--ask", "?", "--by", "no model", "--with-people"), "no model"),
        (("gone", EVA, "--ask", "?"), "there is no run"),
    ],
)
def test_bad_input_is_one_line(command: Run, arguments: tuple[str, ...], words: str):
    folder = baseline()
    done = command("interview", *arguments)
    assert done.code == 2
    assert words in done.error
    assert not (folder / INTERVIEWS).exists()


def test_show_report_and_export_have_it(command: Run):
    folder = baseline()
    plain = command("show", str(folder)).out
    assert "Interviews" not in plain
    command("interview", str(folder), EVA, "--ask", "Why <b>tea</b>?", "--ask", "Since when?")
    assert "Interviews afterwards" in command("show", str(folder)).out
    assert len(json.loads(command("show", str(folder), "--json").out)["interviews"]) == 2
    command("show", str(folder), "--html")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Why &lt;b&gt;tea&lt;/b&gt;?" in page
    command("export", str(folder), "--out", "tables")
    table = Path("tables/interviews.csv").read_text(encoding="utf-8-sig").splitlines()
    assert len(table) == 3
    assert "Since when?" in table[2]
    command("export", str(folder), "--out", "seen", "--for", BO)
    assert not Path("seen/interviews.csv").exists()


def test_a_damaged_file_names_the_line(command: Run):
    folder = baseline()
    (folder / INTERVIEWS).write_text('{"interview": 0}\n', encoding="utf-8")
    assert "interviews.jsonl, line 1" in command("interview", str(folder), EVA, "--continue", "--ask", "?").error


def answer(number: int, question: str, words: str | None) -> InterviewAnswer:
    return InterviewAnswer(
        judge="m", request="r", interview=1, number=number, turn=1, agent="A", question=question, answer=words
    )


@given(st.lists(st.tuples(st.text(max_size=2000), st.none() | st.text(max_size=1500)), max_size=30))
def test_what_is_remembered_stays_flat(given: list[tuple[str, str | None]]):
    found = remembered([answer(n, *one) for n, one in enumerate(given, start=1)])
    assert len(found) <= REMEMBERED
    assert sum(len(one["question"]) + len(one["answer"]) for one in found) <= REMEMBERED_CHARACTERS
    kept = [(question, words) for question, words in given if words is not None]
    assert [(one["question"], one["answer"]) for one in found] == kept[len(kept) - len(found) :]


@pytest.mark.proof
def test_a_mind_is_interviewed_as_it_was_and_the_run_is_replayed_as_before(command: Run, serve: Serve):
    talk = ("run", "Tea or coffee?", "-n", "2", "--messages", "3", "--model", "offline", "--seed", "3", "--quiet")
    folder = Path(command(*talk).out.strip())
    name = json.loads((folder / "transcript.jsonl").read_text(encoding="utf-8").splitlines()[0])["speaker"]
    before = bytes_of(folder, INTERVIEWS)
    model = Answering()
    for turn in ("0", "2"):
        asked = ("--at", turn, "--ask", "What do you think of tea?", "--by", serve(model).model())
        assert command("interview", str(folder), name, *asked).code == 0
    assert bytes_of(folder, INTERVIEWS) == before
    start, later = model.prompts
    assert "<memories>" in later
    said = [json.loads(line)["text"] for line in (folder / "transcript.jsonl").read_text().splitlines()]
    assert (said[1] in start, said[1] in later, said[2] in later) == (False, True, False)
    assert command("replay", str(folder), "--out", "again").code == 0
    branch = Path(command("branch", str(folder), "--at", "2", "--quiet").out.strip())
    assert not (branch / INTERVIEWS).exists()
