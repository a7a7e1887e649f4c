"""`persimchat evaluate people`: answers to a poll beside people's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_folders import lines, write_run

from persimchat.evaluation.people import likeness, read_people, together
from persimchat.runs.folder.polls import PollAnswer
from persimchat.state.poll import Poll

Run = Callable[..., Any]
RUNS = Path("conversations")
CARS = Poll(ask="Close it?", named="cars")
WARM = Poll(ask="How warm?", answer="scale:1-3", named="warm")


def answered(poll: Poll, answers: list[str | None], turn: int = 5, repeat: int = 1) -> list[PollAnswer]:
    """Answers of as many agents."""
    return [
        PollAnswer(
            poll=poll.id, question=poll, turn=turn, agent=f"A{n}", judge="offline", request=f"r{n}", repeat=repeat,
            answer=answer, missing="" if answer else "refused",
        )
        for n, answer in enumerate(answers)
    ]  # fmt: skip


def run_with(name: str, *answers: list[PollAnswer]) -> Path:
    """A run's folder with answers to polls."""
    folder = write_run(RUNS, run=name)
    rows = [row.model_dump(mode="json") for own in answers for row in own]
    (folder / "polls.jsonl").write_text(lines(rows), encoding="utf-8")
    return folder


def survey(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "survey.csv"
    path.write_text(text, encoding="utf-8")
    return path


def data(command: Run, *arguments: str) -> dict[str, Any]:
    done = command("evaluate", "people", *arguments, "--json")
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_distances_with_their_floors(command: Run, tmp_path: Path) -> None:
    folder = run_with("one", answered(WARM, [*["1"] * 5, *["2"] * 3, *["3"] * 2]))
    human = survey(tmp_path, "option,share,n\n1,0.2,50\n2,0.3,50\n3,0.5,50\n")
    (one,) = data(command, str(folder), "--poll", "warm", "--human", str(human))["questions"]
    value = {distance["name"]: distance["value"] for distance in one["distances"]}
    assert value == pytest.approx({"total variation": 0.3, "Jensen-Shannon": 0.3095, "Wasserstein": 0.3}, abs=5e-5)
    assert (one["n"], one["people_n"], one["simulated"]) == (10, 50, [5, 3, 2])
    assert one["mean_difference"] == pytest.approx(-0.6)
    assert one["variance_ratio"] == pytest.approx(1.0)
    assert all(distance["floor"]["n"] == 10 for distance in one["distances"])
    assert one["distances"][0]["note"] == "fewer than 6 runs have no interval"


def test_the_floor_hides_what_chance_can_do(command: Run, tmp_path: Path) -> None:
    folder = run_with("one", answered(CARS, [*["yes"] * 6, *["no"] * 4]))
    human = survey(tmp_path, "option,count\nYes,50\nNo,50\n")
    found = data(command, str(folder), "--poll", "cars", "--human", str(human))
    (one,), over = found["questions"], found["together"]
    (total, _) = one["distances"]
    assert total["floor"]["mean"] == pytest.approx(0.1230, abs=0.01)
    assert (total["hidden"], one["variance_ratio"], over) == (True, None, None)
    done = command("evaluate", "people", str(folder), "--poll", "cars", "--human", str(human))
    assert "no evidence of likeness" in " ".join(done.out.split())


def test_missing_answers_are_left_out_or_counted_as_one(command: Run, tmp_path: Path) -> None:
    folder = run_with("one", answered(CARS, ["yes", "yes", None, "no"]))
    asked = (str(folder), "--poll", "cars", "--human", str(survey(tmp_path, "option,count\nyes,1\nno,1\n")))
    (one,) = data(command, *asked)["questions"]
    assert (one["simulated"], one["n"], one["missing"]) == ([2, 1], 3, {"refused": 1})
    (one,) = data(command, *asked, "--missing-as", "no")["questions"]
    assert (one["simulated"], one["n"], one["missing"]) == ([2, 2], 4, {"refused": 1})
    assert "neither yes nor no" in command("evaluate", "people", *asked, "--missing-as", "perhaps").error


def test_whole_runs_are_drawn_anew(tmp_path: Path) -> None:
    human = read_people(survey(tmp_path, "option,count\nyes,500\nno,500\n"), [CARS])[0]
    alike = [answered(CARS, ["yes"] * 3) if n % 2 else answered(CARS, ["no"] * 3) for n in range(8)]
    mixed = [answered(CARS, ["yes", "no", "yes", "no"]) for n in range(8)]
    wide, narrow = (likeness(human, clusters, draws=400).apart[0].estimate for clusters in (alike, mixed))
    assert (wide.value, narrow.value) == (0, 0)
    assert wide.high is not None and narrow.high is not None
    assert wide.high > 0.2 > 0.05 > narrow.high
    assert likeness(human, alike, draws=400).apart[0].estimate == wide


def test_shares_without_n_are_fixed_and_near_sums_are_scaled(tmp_path: Path) -> None:
    (people,) = read_people(survey(tmp_path, "option,share\nyes,0.334\nno,0.67\n"), [CARS])
    assert sum(people.shares.values()) == pytest.approx(1)
    notes = likeness(people, [answered(CARS, ["yes"]), answered(CARS, ["no"], repeat=2)]).notes
    assert [any(word in note for note in notes) for word in ("fixed", "scaled", "no intervals", "Repeated")] == [
        True
    ] * 4


@pytest.mark.proof
def test_several_questions_and_groups(command: Run, tmp_path: Path) -> None:
    polled = [answered(CARS, ["yes", "yes", "no"]), answered(WARM, ["1", "2", "2"]), answered(CARS, ["no"], 0)]
    folders = [str(run_with(f"r{n}", *polled)) for n in range(2)]
    text = "question,group,option,count\ncars,young,yes,8\ncars,young,no,2\ncars,old,yes,1\ncars,old,no,9\n"
    human = survey(tmp_path, f"{text}warm,,1,3\nwarm,,2,3\nwarm,,3,4\nother,,whatever,1\n")
    asked = (*folders, "--poll", "cars", "--poll", "warm", "--human", str(human))
    found = data(command, *asked)
    assert [(one["poll"], one["group"], one["runs"]) for one in found["questions"]] == [
        ("cars", "young", 2), ("cars", "old", 2), ("warm", "", 2),
    ]  # fmt: skip
    assert found["together"]["questions"] == 3
    assert found["together"]["ranks"]["n"] == 7
    assert "rank correlation" in command("evaluate", "people", *asked).out
    one = survey(tmp_path, "option,count\nyes,1\nno,1\n")
    (start,) = data(command, *folders, "--poll", "cars", "--human", str(one), "--at", "start")["questions"]
    assert start["simulated"] == [0, 2]


def test_numbers_are_compared_over_all_that_were_given(tmp_path: Path) -> None:
    many = Poll(ask="How many?", answer="number", named="many")
    (people,) = read_people(survey(tmp_path, 'option,count\n10,1\n"1,200",1\n2.5,2\n'), [many])
    found = likeness(people, [answered(many, ["2.5", "30"])])
    assert found.options == ("2.5", "10", "30", "1200")
    assert found.mean_difference == pytest.approx(16.25 - 303.75)


def test_nothing_is_said_of_no_answers(tmp_path: Path) -> None:
    (people,) = read_people(survey(tmp_path, "option,count\nyes,1\nno,1\n"), [CARS])
    found = likeness(people, [answered(CARS, [None])])
    assert (found.n, found.simulated, found.apart[0].estimate.value) == (0, (None, None), None)
    assert together([found, found]).mean is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("answer,count\nyes,1\n", "line 1"),
        ("option\nyes\n", "either the column count or the column share"),
        ("option,count,share\nyes,1,1\n", "either the column count"),
        ("option,count\nyes,1\nno,-3\n", "line 3"),
        ("option,count\nyes,1\nno,two\n", "line 3"),
        ("option,count\nyes,0\nno,0\n", "nobody answered"),
        ("option,count\nyes,1\nYes.,2\n", "line 3"),
        ("option,count\nyes,1\nperhaps,2\n", "line 3"),
        ("option,share\nyes,0.5\nno,0.6\n", "sum to 1.1"),
        ("option,share\nyes,1.5\nno,-0.5\n", "line 2"),
        ("option,share,n\nyes,0.5,10\nno,0.5,20\n", "line 3"),
        ("question,option,count\nother,yes,3\n", "no line is about the poll cars"),
        ("", "line 1"),
        ("option,count\n", "no answers of people"),
    ],
)
def test_a_bad_file_names_the_line(command: Run, tmp_path: Path, text: str, words: str) -> None:
    folder = run_with("one", answered(CARS, ["yes"]))
    done = command("evaluate", "people", str(folder), "--poll", "cars", "--human", str(survey(tmp_path, text)))
    assert done.code == 2
    assert words in done.error
    assert "survey.csv" in done.error


def test_bad_input_is_one_line(command: Run, tmp_path: Path) -> None:
    folder, human = str(run_with("one", answered(CARS, ["yes"]))), str(survey(tmp_path, "option,count\nyes,1\n"))
    other = str(run_with("two", answered(Poll(ask="Another?", named="cars"), ["yes"])))
    for arguments, words in (
        ((folder, "--poll", "tea", "--human", human), "Its polls: cars"),
        ((folder, folder, "--poll", "cars", "--human", human), "given twice"),
        ((folder, "--poll", "cars", "--human", "gone.csv"), "gone.csv"),
        ((folder, "--poll", "cars", "--human", human, "--at", "begin"), "'begin' is no turn"),
        ((folder, "--poll", "cars", "--human", human, "--at", "3"), "at turn 3"),
        ((folder, other, "--poll", "cars", "--human", human), "asks something else"),
    ):
        done = command("evaluate", "people", *arguments)
        assert done.code == 2
        assert words in done.error
