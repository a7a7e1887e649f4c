"""What is asked and reckoned after a run: polls, interviews, people's answers, stances."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asked_afterwards import RUNS, baseline, besides
from evaluation.judging import run_about
from fixtures import Run, Serve
from hypothesis import given
from hypothesis import strategies as st
from loopback.scripted import prompt_of, task_of
from run_files import conversation, logged
from run_folders import PEOPLE, write_events

from persimchat.evaluation.interviews import REMEMBERED, REMEMBERED_CHARACTERS, remembered
from persimchat.runs.folder.answers import InterviewAnswer
from persimchat.runs.folder.reading import read_interviews, read_polls

# `persimchat poll`: asked in private, after the run, and the run stays as it is


CARS = ("--ask", "Should the centre close to cars?")


def data(command: Run, *arguments: str) -> dict[str, Any]:
    return command("poll", *arguments, "--json").data


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


@pytest.mark.proof
def test_a_baseline_is_asked_with_what_each_has_heard(command: Run, serve: Serve) -> None:
    folder = baseline()
    model = Answering()
    before = besides(folder, "poll_answer")
    found = data(command, str(folder), *CARS, "--at", "0,end", "--by", serve(model).model(), "--with-people")
    assert (found["asked"], found["already"], len(found["answers"])) == (4, 0, 4)
    assert [count["counts"] for count in found["counts"]["tea"]] == [{"yes": 2, "no": 0}] * 2
    assert not any(PEOPLE[2] in row["agent"] for row in found["answers"])
    by_who = {(("A baker" in prompt), ("So does the cold" in prompt)): prompt for prompt in model.prompts}
    assert "argue for coffee" in by_who[False, True]
    assert "argue for coffee" not in by_who[True, True]
    assert "Tea it is" not in by_who[True, False]
    assert besides(folder, "poll_answer") == before
    again = data(command, str(folder), *CARS, "--by", serve(model).model(), "--with-people")
    assert again["poll"] != found["poll"]  # another address is another model


@pytest.mark.proof
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
    assert len([row for row in logged(folder, "poll_answer") if row["poll"] == "tea"]) == 6


def test_an_answer_of_no_use_is_asked_for_again_then_missing(command: Run, serve: Serve) -> None:
    folder = baseline()
    model = Answering(lambda prompt: "perhaps" if "A baker" in prompt else "no")
    found = data(command, str(folder), *CARS, "--at", "end", "--by", serve(model).model(), "--with-people")
    assert found["counts"]["tea"] == [{"turn": 4, "counts": {"yes": 0, "no": 1}, "missing": {"unparseable": 1}}]
    assert len(model.prompts) == 3
    (row,) = [row for row in found["answers"] if row["missing"]]
    assert (row["answer"], row["calls"]) == (None, 2)


@pytest.mark.proof
def test_a_prompt_is_never_shortened(command: Run, serve: Serve) -> None:
    folder = baseline(more="It is cold. " * 300)
    model = Answering()
    small = ("--set", "context_tokens=600", "--by", serve(model).model(), "--with-people")
    found = data(command, str(folder), *CARS, "--at", "end", *small)
    assert {row["missing"] for row in found["answers"]} == {"too long"}
    assert model.prompts == []
    assert data(command, str(folder), *CARS, "--at", "end", *small[2:])["asked"] == 2  # such are looked for again


@pytest.mark.proof
def test_a_budget_ends_it_and_the_same_command_goes_on(command: Run) -> None:
    folder = baseline()
    found = data(command, str(folder), *CARS, "--budget-calls", "3", "--set", "concurrent=false")
    assert len(found["answers"]) == 3
    assert "The budget of 3 calls is used up" in found["notes"][-1]
    assert data(command, str(folder), *CARS)["already"] == 3


@pytest.mark.proof
def test_profiles_alone(command: Run, serve: Serve, tmp_path: Path) -> None:
    model = Answering(lambda prompt: 4 if "ferry" in prompt.lower() else 2)
    town = tmp_path / "town.yaml"
    people = "[{name: Ann, description: She runs the ferry.}, {name: Bea, description: She bakes.}]"
    town.write_text(f"topic: Cars?\nparticipants: {people}\n")
    asked = ("--config", str(town), "--ask", "How warm is it?", "--answer", "scale:1-5", "--by", serve(model).model())
    found = data(command, *asked, "--out", "res")
    assert {row["agent"]: row["answer"] for row in found["answers"]} == {"Ann": "4", "Bea": "2"}
    assert "<topic>" not in model.prompts[0]
    assert (Path("res") / "polls.sqlite").is_file()
    assert (Path("res") / "polls.csv").read_text().count("\n") == 3
    assert data(command, *asked, "--out", "res")["already"] == 2


@pytest.mark.proof
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
    assert logged(folder, "poll_answer") == []


def test_where_no_states_are_kept_profiles_are_the_remedy(command: Run) -> None:
    run_about(RUNS, name="old")
    assert "persimchat poll --config SCENARIO" in command("poll", "old", "--ask", "?").error


@pytest.mark.proof
def test_minds_are_asked_as_they_were_and_nothing_changes(command: Run, serve: Serve) -> None:
    talk = ("run", "Tea or coffee?", "-n", "2", "--messages", "3", "--model", "offline", "--seed", "3", "--quiet")
    folder = Path(command(*talk).out.strip())
    before = besides(folder, "poll_answer")
    model = Answering()
    found = data(command, "latest", *CARS, "--at", "start,2", "--by", serve(model).model())
    assert [row["turn"] for row in found["answers"]] == [0, 0, 2, 2]
    assert besides(folder, "poll_answer") == before
    said = [line["text"] for line in logged(folder, "utterance")]
    start, later = min(model.prompts, key=len), max(model.prompts, key=len)  # in which order they come is chance
    assert all(words not in start for words in said)
    assert (said[1] in later, said[2] in later) == (True, False)
    assert "<memories>" in later
    assert "happiness:" in start


@pytest.mark.long
@pytest.mark.proof
def test_a_polled_run_is_replayed_and_branched_as_if_nobody_had_asked(command: Run) -> None:
    debate = ("debate", "Close the centre?", "--answer-format", "yesno", "-n", "3", "--messages", "5", "--seed", "3")
    folder = Path(command(*debate, "--model", "offline", "--quiet").out.strip())
    branch = ("branch", str(folder), "--at", "3", "--quiet")
    alone = Path(command(*branch).out.strip())
    before = besides(folder, "poll_answer")
    assert data(command, str(folder), *CARS, "--at", "0,1,2,3,4,5", "--repeats", "2")["asked"] == 36
    assert besides(folder, "poll_answer") == before
    assert command("replay", str(folder), "--out", "again").code == 0
    polled = Path(command(*branch).out.strip())
    assert conversation(alone) == conversation(polled)
    assert logged(polled, "poll_answer") == []
    assert command("show", str(folder)).out.count("Who moved, by poll") <= 1


# `persimchat interview`: one agent is asked in private after a conversation, and nothing in the run changes


EVA, BO, LI = PEOPLE


class Interviewed:
    """A model that is interviewed, and keeps what it was asked."""

    def __init__(self, answers: Callable[[int], Any] = lambda n: {"answer": f"Answer {n}."}) -> None:
        self.answers, self.prompts = answers, list[str]()

    def __call__(self, body: dict[str, Any]) -> Any:
        assert task_of(body) == "interview"
        self.prompts.append(prompt_of(body))
        return self.answers(len(self.prompts))


def test_later_questions_know_earlier_answers_and_nothing_else_changes(command: Run, serve: Serve):
    folder, model = baseline(), Interviewed()
    before = besides(folder, "interview_answer")
    by = ("--by", serve(model).model(), "--with-people")
    done = command("interview", str(folder), "bo", "--ask", "Why coffee?", "--ask", "<task> Who moved you?", *by)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[:2] == ["? Why coffee?", f"{BO}: Answer 1."]
    first, second = model.prompts
    assert "argue for coffee" in first  # the whisper that Bo heard
    assert "Answer 1." not in first
    assert "You were asked: Why coffee?\nYou answered: Answer 1." in second
    assert "The question: ‹task> Who moved you?" in second
    assert besides(folder, "interview_answer") == before
    rows = read_interviews(folder)
    assert [(row.interview, row.number, row.agent, row.turn) for row in rows] == [(1, 1, BO, 4), (1, 2, BO, 4)]
    assert rows[0].seed != rows[1].seed


@pytest.mark.proof
def test_an_interview_goes_on_and_another_one_knows_nothing_of_it(command: Run, serve: Serve):
    folder, model = baseline(), Interviewed()
    by = ("--by", serve(model).model(), "--with-people")
    command("interview", str(folder), EVA, "--ask", "One?", "--at", "1", *by)
    command("interview", str(folder), EVA, "--ask", "Two?", "--continue", *by)
    data = command("interview", str(folder), EVA, "--ask", "Three?", "--json", *by).data
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


@pytest.mark.proof
def test_the_offline_model_says_the_same_again(command: Run):
    found = []
    for name in ("one", "two"):
        folder = baseline(name=name)
        command("interview", str(folder), BO, "--ask", "Why?")
        found.append([row.answer for row in read_interviews(folder)])
    assert found[0] == found[1]


@pytest.mark.proof
def test_a_budget_ends_it_and_an_answer_of_no_use_is_missing(command: Run, serve: Serve):
    folder = baseline()
    done = command("interview", str(folder), EVA, "--ask", "A?", "--ask", "B?", "--budget-calls", "1")
    assert done.code == 0
    assert "The budget of 1 calls is used up" in done.err
    assert [row.question for row in read_interviews(folder)] == ["A?"]
    model = Interviewed(lambda n: {"answer": ""} if n < 3 else {"answer": "Now."})
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
def test_bad_input_to_interviews_is_one_line(command: Run, arguments: tuple[str, ...], words: str):
    folder = baseline()
    done = command("interview", *arguments)
    assert done.code == 2
    assert words in done.error
    assert logged(folder, "interview_answer") == []


@pytest.mark.proof
def test_show_report_and_export_have_it(command: Run):
    folder = baseline()
    plain = command("show", str(folder)).out
    assert "Interviews" not in plain
    command("interview", str(folder), EVA, "--ask", "Why <b>tea</b>?", "--ask", "Since when?")
    assert "Interviews afterwards" in command("show", str(folder)).out
    assert len(command("show", str(folder), "--json").data["interviews"]) == 2
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
    write_events(folder, [("interview_answer", {"interview": 0})])
    assert "run.sqlite, event" in command("interview", str(folder), EVA, "--continue", "--ask", "?").error


def answer(number: int, question: str, words: str | None) -> InterviewAnswer:
    return InterviewAnswer(
        judge="m", request="r", interview=1, number=number, turn=1, agent="A", question=question, answer=words
    )


@pytest.mark.proof
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
    name = logged(folder, "utterance")[0]["speaker"]
    before = besides(folder, "interview_answer")
    model = Interviewed()
    for turn in ("0", "2"):
        asked = ("--at", turn, "--ask", "What do you think of tea?", "--by", serve(model).model())
        assert command("interview", str(folder), name, *asked).code == 0
    assert besides(folder, "interview_answer") == before
    start, later = model.prompts
    assert "<memories>" in later
    said = [line["text"] for line in logged(folder, "utterance")]
    assert (said[1] in start, said[1] in later, said[2] in later) == (False, True, False)
    assert command("replay", str(folder), "--out", "again").code == 0
    branch = Path(command("branch", str(folder), "--at", "2", "--quiet").out.strip())
    assert logged(branch, "interview_answer") == []
