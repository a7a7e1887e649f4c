"""What utterances were worded without, on the command line: show, diff, and a line while a run goes on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pruned_lines import PIECES, pruned
from run_files import read_records
from run_folders import PEOPLE, mind, utterance, write_run

from persimchat.app.views.past_banner import Lead
from persimchat.app.views.plain_view import PlainView
from persimchat.app.views.telling import status_line
from persimchat.runs.events import MindChanged, Started
from persimchat.runs.folder.mind_record import MindRecord

Run = Callable[..., Any]
EVA, BO, LI = PEOPLE


def minds(records: dict[tuple[int, str], dict[str, Any]], turns: int = 4) -> list[dict[str, Any]]:
    own = {key: {"pruned": record} for key, record in records.items()}
    return [mind(turn, name, **own.get((turn, name), {})) for turn in range(turns) for name in PEOPLE]


def heavy(turn: int) -> dict[str, Any]:
    first, *others = PIECES
    return pruned(turn, 0.6, [(*first[:5], 9.3), *((*piece[:5], 0.175) for piece in others)])


def test_show_has_means_and_what_was_left_out_most_often(command: Run, out: Path) -> None:
    write_run(out, None, minds({(1, EVA): pruned(1), (2, BO): pruned(2, 1.0), (3, EVA): pruned(3, 0.2)}))
    text = command("show", "latest").out
    assert "left out       λ 0.6, 1, 0.2, embedding: 3.3 of 5.0 pieces of information, 13.7 of 22.0 words" in text
    _, _, below = text.partition("Worded without, an utterance on average\n")
    lines = below.split("\n")
    often = "Trait: patient (2 of 2); Description: A keeper of bees. (1 of 2); Memory 2: =SUM(A1:A9) (1 of 2)"
    assert re.split(" {2,}", lines[1]) == [EVA, "2", "40 %", "2.5 of 5.0", "9.5 of 22.0", often]
    assert lines[2].startswith(BO)
    assert not lines[3]
    data = json.loads(command("show", "latest", "--json").out)
    assert data["pruned"]["mean_words_removed"] == pytest.approx(41 / 3)
    assert [one["agent"] for one in data["pruned_by_agent"]] == [EVA, BO]


def test_show_says_nothing_of_it_without_pruning(command: Run, out: Path) -> None:
    write_run(out)
    text = command("show", "latest").out
    assert "left out" not in text
    assert "Worded without" not in text
    assert not {"pruned", "pruned_by_agent"} & json.loads(command("show", "latest", "--json").out).keys()


def test_show_warns_of_one_piece_that_holds_nearly_all(command: Run, out: Path) -> None:
    write_run(out, None, minds({(1, EVA): heavy(1), (3, EVA): heavy(3)}))
    text = command("show", "latest").out
    warning = f"{EVA}: one item (description) holds 93 % of the score; split the description into traits"
    assert text.count(warning) == 1


def test_show_has_the_checks_of_revision(command: Run, out: Path) -> None:
    checks = [{"scores": [7, 8, 6], "taken": False}, {"scores": [2, 3, 2], "taken": True}]
    write_run(out, None, minds({(1, EVA): pruned(1, checks=checks), (2, BO): pruned(2)}))
    text = command("show", "latest").out
    assert "contradiction" in text
    assert [line.split()[11] for line in text.splitlines() if line.startswith((EVA, BO)) and " %" in line] == [
        "2.3",
        "–",
    ]


@pytest.mark.parametrize(
    ("record", "field"), [("x", "pruned"), ({**pruned(1), "items": [7]}, "pruned.items.0"), ({}, "pruned.turn")]
)
def test_a_damaged_record_is_one_line(command: Run, out: Path, record: Any, field: str) -> None:
    write_run(out, None, minds({(1, EVA): record}))
    for arguments in (
        ("show", "latest"),
        ("show", "latest", "--html"),
        ("export", "latest"),
        ("diff", "latest", "latest"),
    ):
        done = command(*arguments)
        assert done.code == 2
        assert "minds.jsonl, line 4" in done.err
        assert field in done.err
        assert "Traceback" not in done.err


def event(turn: int, name: str, record: dict[str, Any] | None) -> MindChanged:
    return MindChanged(record=MindRecord.model_validate(mind(turn, name, pruned=record)))


def test_one_line_while_a_run_goes_on() -> None:
    assert status_line(event(1, EVA, pruned(1))) == f"{EVA} spoke without 2 of 5 pieces of information."
    assert status_line(event(1, "Bo\x1b[2J\nRed", pruned(1))).startswith("Bo Red spoke without")
    assert status_line(event(1, BO, None)) == ""


def printed(view: PlainView, told: Sequence[MindChanged], capsys: pytest.CaptureFixture[str]) -> list[str]:
    view.show(Started(run="r", topic="Tea?", participants=[EVA], models={EVA: "m"}, max_messages=20, turn=10))
    capsys.readouterr()
    for one in told:
        view.show(one)
    return capsys.readouterr().out.splitlines()


def test_the_hidden_past_stays_hidden(capsys: pytest.CaptureFixture[str]) -> None:
    told = [event(turn, EVA, pruned(turn)) for turn in (1, 6, 7, 10, 11)]
    assert len(printed(PlainView(Lead(heading="", mark="new")), told, capsys)) == 3


@pytest.mark.proof
def test_a_run_says_it_after_each_utterance(command: Run, out: Path) -> None:
    done = command(
        "run", "Tea or coffee?", "-n", "2", "--messages", "2", "--model", "offline", "--set", "closing=off",
        "--set", "pruning.lambda=0.6", "--set", "pruning.method=embedding",
    )  # fmt: skip
    assert done.code == 0
    (folder,) = out.iterdir()
    speakers = [line["speaker"] for line in read_records(folder / "transcript.jsonl")]
    said = [line for line in done.out.splitlines() if "pieces of information" in line]
    assert [line.partition(" spoke without ")[0] for line in said] == [f"# {name}" for name in speakers]
    shown = command("show", "latest").out
    assert "left out" in shown
    assert len(shown.partition("Worded without")[2].split("\n\n")[0].splitlines()) == 2 + len(set(speakers))
    exported = command("export", "latest", "--tables", "pruning")
    assert exported.code == 0


def two_runs(out: Path, then: dict[Any, Any], now: dict[Any, Any]) -> tuple[str, str]:
    names = "20260101-120000-tea-0001", "20260101-130000-tea-0002"
    for run, records in zip(names, (then, now), strict=True):
        write_run(out, None, minds(records), run=run)
    return names


def test_diff_has_it_side_by_side_where_it_differs(command: Run, out: Path) -> None:
    same = {(1, EVA): pruned(1)}
    runs = two_runs(out, {**same, (2, BO): pruned(2)}, {**same, (2, BO): pruned(2, 1.0), (3, LI): pruned(3)})
    text = command("diff", *runs).out
    table = text.partition("Worded without\n")[2].split("\n")
    assert [re.split(" {2,}", line.strip()) for line in table[1:3]] == [
        ["2", "0.6", "1", "2 of 5", "5 of 5", "8 of 22", "22 of 22"],
        ["3", "–", "0.6", "–", "2 of 5", "–", "8 of 22"],
    ]
    data = json.loads(command("diff", *runs, "--json").out)["pruned"]
    assert [(one["turn"], one["a"] and one["a"]["lambda"], one["b"]["lambda"]) for one in data] == [
        (2, 0.6, 1.0),
        (3, None, 0.6),
    ]
    assert data[0]["b"] == {
        "agent": BO, "lambda": 1.0, "units": 5, "removed": 5, "words": 22, "words_removed": 22, "share": 1.0
    }  # fmt: skip


def test_diff_says_nothing_of_it_where_it_is_the_same(command: Run, out: Path) -> None:
    for records in ({}, {(1, EVA): pruned(1)}):
        runs = two_runs(out / str(len(records)), records, records)
        done = command("diff", *runs, "--out", str(out / str(len(records))))
        assert done.code == 0
        assert "Worded without" not in done.out
        assert "pruned" not in json.loads(command("diff", *runs, "--out", str(out / str(len(records))), "--json").out)


def test_diff_of_many_differences_is_cut(command: Run, out: Path) -> None:
    turns = range(1, 31)
    said = [utterance(turn, EVA) for turn in turns]
    for run, strength in (("20260101-120000-tea-0001", 0.2), ("20260101-130000-tea-0002", 1.0)):
        told = [mind(turn, EVA, pruned=pruned(turn, strength)) for turn in turns]
        write_run(out, said, told, run=run)
    text = command("diff", "20260101-120000-tea-0001", "20260101-130000-tea-0002").out
    assert "Worded without, the first 20 of 30" in text
    assert len(text.partition("Worded without")[2].rstrip().splitlines()) == 2 + 20
