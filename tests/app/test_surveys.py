"""Surveys, positions and interviews of runs that are over, on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fixtures import Run
from run_files import read_records, read_table
from run_folders import PEOPLE, put, utterance, verdict, write_run

from persimchat.evaluation.people import likeness, read_people, together
from persimchat.runs.folder.answers import PollAnswer
from persimchat.state.errors import InputError
from persimchat.state.poll import Poll

EVA, BO, LI = PEOPLE


BOTH_RUNS = Path("conversations")


BANS = Poll(ask="Close it?", named="cars")


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
    folder = write_run(BOTH_RUNS, run=name)
    rows = [row.model_dump(mode="json") for own in answers for row in own]
    put(folder, "poll_answer", rows)
    return folder


def survey(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "survey.csv"
    path.write_text(text, encoding="utf-8")
    return path


def as_json(command: Run, *arguments: str) -> dict[str, Any]:
    return command("evaluate", "people", *arguments, "--json").data


def test_distances_with_their_floors(command: Run, tmp_path: Path) -> None:
    folder = run_with("one", answered(WARM, [*["1"] * 5, *["2"] * 3, *["3"] * 2]))
    human = survey(tmp_path, "option,share,n\n1,0.2,50\n2,0.3,50\n3,0.5,50\n")
    (one,) = as_json(command, str(folder), "--poll", "warm", "--human", str(human))["questions"]
    value = {distance["name"]: distance["value"] for distance in one["distances"]}
    assert value == pytest.approx({"total variation": 0.3, "Jensen-Shannon": 0.3095, "Wasserstein": 0.3}, abs=5e-5)
    assert (one["n"], one["people_n"], one["simulated"]) == (10, 50, [5, 3, 2])
    assert one["mean_difference"] == pytest.approx(-0.6)
    assert one["variance_ratio"] == pytest.approx(10 / 9 / (50 / 49))  # n − 1
    assert all(distance["floor"]["n"] == 1 for distance in one["distances"])
    assert one["distances"][0]["hidden"] and "a run" in one["notes"][0]  # one run is one answer


@pytest.mark.proof
def test_the_floor_hides_what_chance_can_do(command: Run, tmp_path: Path) -> None:
    folders = [str(run_with(f"r{n}", answered(BANS, ["no" if n < 4 else "yes"]))) for n in range(10)]
    human = survey(tmp_path, "option,count\nYes,50\nNo,50\n")
    found = as_json(command, *folders, "--poll", "cars", "--human", str(human))
    (one,), over = found["questions"], found["together"]
    (total, _) = one["distances"]
    assert total["floor"]["mean"] == pytest.approx(0.13, abs=0.02)
    assert (total["floor"]["n"], total["floor"]["people"]) == (10, 100) and total["floor"]["p_holm"] > 0.5
    assert (total["hidden"], one["variance_ratio"], over) == (True, None, None)
    done = command("evaluate", "people", *folders, "--poll", "cars", "--human", str(human))
    assert "no evidence of likeness" in " ".join(done.out.split())


def test_missing_answers_are_left_out_or_counted_as_one(command: Run, tmp_path: Path) -> None:
    folder = run_with("one", answered(BANS, ["yes", "yes", None, "no"]))
    asked = (str(folder), "--poll", "cars", "--human", str(survey(tmp_path, "option,count\nyes,1\nno,1\n")))
    (one,) = as_json(command, *asked)["questions"]
    assert (one["simulated"], one["n"], one["missing"]) == ([2, 1], 3, {"refused": 1})
    (one,) = as_json(command, *asked, "--missing-as", "no")["questions"]
    assert (one["simulated"], one["n"], one["missing"]) == ([2, 2], 4, {"refused": 1})
    assert "neither yes nor no" in command("evaluate", "people", *asked, "--missing-as", "perhaps").error


def test_a_run_counts_as_one_answer(tmp_path: Path) -> None:
    human = read_people(survey(tmp_path, "option,count\nyes,500\nno,500\n"), [BANS])[0]
    together_ = likeness(human, [answered(BANS, ["yes"] * 40)]).apart[0]
    alone = likeness(human, [answered(BANS, ["yes"]) for _ in range(40)]).apart[0]
    assert (together_.value, alone.value) == (0.5, 0.5)
    assert together_.floor is not None and together_.floor.n == 1 and together_.hidden
    assert alone.floor is not None and alone.floor.n == 40 and not alone.hidden


def test_numbers_have_their_unit_and_one_too_great_is_refused(tmp_path: Path) -> None:
    poll = Poll(ask="How many?", answer="number", named="many")
    (human,) = read_people(survey(tmp_path, "option,count\n1,1\n1000,3\n"), [poll])
    far = likeness(human, [answered(poll, ["1"]), answered(poll, ["1000"])], draws=99).apart[2]
    assert (far.name, far.value) == ("Wasserstein, in the answer's unit", pytest.approx(0.25 * 999))
    with pytest.raises(InputError, match="the poll many"):
        likeness(human, [answered(poll, ["1" + "0" * 308])])


def test_shares_without_n_are_fixed_and_near_sums_are_scaled(tmp_path: Path) -> None:
    (people,) = read_people(survey(tmp_path, "option,share\nyes,0.334\nno,0.67\n"), [BANS])
    assert sum(people.shares.values()) == pytest.approx(1)
    notes = likeness(people, [answered(BANS, ["yes"]), answered(BANS, ["no"], repeat=2)]).notes
    assert [any(word in note for note in notes) for word in ("fixed", "scaled")] == [True] * 2


@pytest.mark.proof
def test_several_questions_and_groups(command: Run, tmp_path: Path) -> None:
    polled = [answered(BANS, ["yes", "yes", "no"]), answered(WARM, ["1", "2", "2"]), answered(BANS, ["no"], 0)]
    folders = [str(run_with(f"r{n}", *polled)) for n in range(2)]
    text = "question,group,option,count\ncars,young,yes,8\ncars,young,no,2\ncars,old,yes,1\ncars,old,no,9\n"
    human = survey(tmp_path, f"{text}warm,,1,3\nwarm,,2,3\nwarm,,3,4\nother,,whatever,1\n")
    asked = (*folders, "--poll", "cars", "--poll", "warm", "--human", str(human))
    found = as_json(command, *asked)
    assert [(one["poll"], one["group"], one["runs"]) for one in found["questions"]] == [
        ("cars", "young", 2), ("cars", "old", 2), ("warm", "", 2),
    ]  # fmt: skip
    assert found["together"]["questions"] == 3
    assert found["together"]["ranks"]["n"] == 7
    assert "rank correlation" in command("evaluate", "people", *asked).out
    one = survey(tmp_path, "option,count\nyes,1\nno,1\n")
    (start,) = as_json(command, *folders, "--poll", "cars", "--human", str(one), "--at", "start")["questions"]
    assert start["simulated"] == [0, 2]


def test_numbers_are_compared_over_all_that_were_given(tmp_path: Path) -> None:
    many = Poll(ask="How many?", answer="number", named="many")
    (people,) = read_people(survey(tmp_path, 'option,count\n10,1\n"1,200",1\n2.5,2\n'), [many])
    found = likeness(people, [answered(many, ["2.5", "30"])])
    assert found.options == ("2.5", "10", "30", "1200")
    assert found.mean_difference == pytest.approx(16.25 - 303.75)


def test_nothing_is_said_of_no_answers(tmp_path: Path) -> None:
    (people,) = read_people(survey(tmp_path, "option,count\nyes,1\nno,1\n"), [BANS])
    found = likeness(people, [answered(BANS, [None])])
    assert (found.n, found.simulated, found.apart[0].value) == (0, (None, None), None)
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
    folder = run_with("one", answered(BANS, ["yes"]))
    done = command("evaluate", "people", str(folder), "--poll", "cars", "--human", str(survey(tmp_path, text)))
    assert done.code == 2
    assert words in done.error
    assert "survey.csv" in done.error


@pytest.mark.proof
def test_bad_input_to_people_is_one_line(command: Run, tmp_path: Path) -> None:
    folder = str(run_with("one", answered(BANS, ["yes"])))
    human = str(survey(tmp_path, "option,count\nyes,1\n"))
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


# `persimchat evaluate stances`, and where else a run's moves are shown


def debate(name: str = "cars", *, yes: str = "yes", no: str = "no", **about: Any) -> Path:
    """A debate in which Bo comes round after Eva."""
    said = [utterance(turn, speaker) for turn, speaker in enumerate((EVA, BO, EVA, BO), start=1)]
    held = {turn: {EVA: yes, BO: yes if turn == 4 else no} for turn in range(1, 5)}
    verdicts = [
        verdict(turn, positions=[{"agent": n, "position": "So.", "answer": a, "agrees": False} for n, a in own.items()])
        for turn, own in held.items()
    ]
    settings = {"mode": "debate", "answer_format": "choice", "choices": [yes, no], "model": "offline"}
    return write_run(BOTH_RUNS, said, None, verdicts=verdicts, run=name, settings=settings, turn=4, **about)


def test_who_moved_after_whom(command: Run) -> None:
    folder = debate()
    found = command("evaluate", "stances", str(folder), "--json").data
    (one,) = found["runs"]["cars"]
    assert {holder["agent"]: (holder["first"], holder["last"], holder["credit"]) for holder in one["holders"]} == {
        EVA: ("yes", "yes", 1.0), BO: ("no", "yes", 0.0),
    }  # fmt: skip
    assert one["values"]["moves"] == 1
    (move,) = [row for row in found["ledger"] if row["moved"]]
    assert (move["agent"], move["turn"], move["candidates"], move["credit"]) == (BO, 4, [3], {EVA: 1.0})
    done = command("evaluate", "stances", str(folder), "--source", "verdicts", "--out", "res")
    assert "1 move, 1 to the majority of the time; the first position of 1 of 2 was their last." in done.out
    assert "after whom somebody moved, not because of whom" in done.out
    rows = read_table("res/stances.csv")
    assert [(row["run"], row["turn"], row["moved"]) for row in rows][-1] == ("cars", "4", "true")


def test_several_runs_are_summed_up(command: Run) -> None:
    folders = [str(debate(name)) for name in ("one", "two")]
    done = command("evaluate", "stances", *folders)
    assert "one: verdicts" in done.out
    assert "Altogether, the first position of 2 of 4 was their last." in done.out
    plain = write_run(BOTH_RUNS, run="plain")
    assert "plain: no position is known" in command("evaluate", "stances", str(plain)).out


@pytest.mark.proof
def test_show_report_and_export_have_the_moves(command: Run) -> None:
    folder = debate()
    done = command("show", str(folder))
    assert "Who moved, by verdicts" in done.out
    assert command("show", str(folder), "--json").data["stances"][0]["source"] == "verdicts"
    assert command("show", str(folder), "--html").code == 0
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "Who moved, by verdicts" in report
    assert f"<bdi>{EVA}</bdi> (3)" in report
    assert command("export", str(folder), "--format", "jsonl").code == 0
    assert [row["candidates"] for row in read_records("export/stances.jsonl")] == [[], [], [], [3]]
    assert "## stances" in Path("export/codebook.md").read_text(encoding="utf-8")
    assert command("export", str(folder), "--for", EVA, "--out", "eyes").code == 0
    assert not list(Path("eyes").glob("stances*"))


def test_a_run_in_which_nobody_moved_says_no_more_than_before(command: Run) -> None:
    folder = write_run(BOTH_RUNS, run="plain")
    assert "Who moved" not in command("show", str(folder)).out
    assert "stances" not in command("show", str(folder), "--json").data
    command("show", str(folder), "--html")
    assert "Who moved" not in (folder / "report.html").read_text(encoding="utf-8")


def test_texts_are_data(command: Run) -> None:
    folder = debate(yes="=1+1", no="<b>no</b>")
    command("evaluate", "stances", str(folder), "--out", "res")
    assert "'=1+1" in (Path("res") / "stances.csv").read_text(encoding="utf-8")
    command("show", str(folder), "--html")
    assert "<b>no</b>" not in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("cars", "--source", "verdict"), "Did you mean 'verdicts'?"),
        (("cars", "cars"), "is given twice"),
        (("gone",), "there is no run"),
    ],
)
def test_bad_input_to_stances_is_one_line(command: Run, arguments: tuple[str, ...], words: str) -> None:
    debate()
    done = command("evaluate", "stances", *arguments)
    assert done.code == 2
    assert words in done.error


def test_a_damaged_answer_to_a_poll_is_named(command: Run) -> None:
    folder = debate()
    put(folder, "poll_answer", [{"poll": 3}])
    assert "run.sqlite, event" in command("evaluate", "stances", str(folder)).error
