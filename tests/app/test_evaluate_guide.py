"""`persimchat evaluate guide`: positions of everybody, themes that a model on loopback finds, and tables."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from group_runs import LIKELY, WORDS, write_group
from loopback.scripted import prompt_of
from loopback.server import LoopbackServer
from run_files import read_records, run_json
from run_folders import PEOPLE

from persimchat.runs.folder.reading import read_run
from persimchat.runs.folder.themes import THEMES
from persimchat.runs.reports.guide import positions
from persimchat.runs.reports.guide_summary import summary_of

Run = Callable[..., Any]
Serve = Callable[..., LoopbackServer]
RUNS = Path("conversations")


def finding(body: dict[str, Any]) -> dict[str, Any]:
    """Themes of the second question; of the others, one that nobody spoke of."""
    if "What would keep you" in prompt_of(body).split("<answers>")[0]:
        quotes = [{"line": 6, "words": "the deposit"}, {"line": 7, "words": "I dislike a deposit"}]
        more = {"name": "Trust", "about": "Some trust.", "quotes": [{"line": 6, "words": "I trust nobody"}]}
        return {"themes": [{"name": "The deposit", "about": "It keeps them away.", "quotes": quotes}, more]}
    return {"themes": []}


def test_the_command_asks_once_for_each_question_and_keeps_what_it_found(command: Run, serve: Serve) -> None:
    folder = write_group(RUNS)
    server = serve(finding)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    done = command("evaluate", "guide", str(folder), "--by", server.model(), "--no-positions", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    by_number = {one["question"]: one for one in found["questions"]}
    assert [theme["name"] for theme in by_number[2]["themes"]] == ["The deposit"]
    assert [quote["words"] for quote in by_number[2]["themes"][0]["quotes"]] == ["The deposit", "I dislike a deposit"]
    assert (by_number[1]["themes"], found["invented_quotes"]) == ([], 1)
    assert found["not_put"] == ["What would you change first?"]
    assert [row["question"] for row in sorted(read_records(folder / THEMES), key=lambda row: row["question"])] == [
        0,
        1,
        2,
    ]
    assert {name: (folder / name).read_bytes() for name in before} == before
    again = command("evaluate", "guide", str(folder), "--by", server.model(), "--no-positions")
    assert "Nothing is asked" in again.err
    assert "The deposit" in again.out


def test_themes_of_a_conversation_that_went_on_are_not_shown(command: Run, serve: Serve) -> None:
    folder = write_group(RUNS)
    assert command("evaluate", "guide", str(folder), "--by", serve(finding).model(), "--no-positions").code == 0
    assert summary_of(read_run(folder)).judges
    with (folder / "transcript.jsonl").open("a", encoding="utf-8") as file:
        line = {**read_records(folder / "transcript.jsonl")[-1], "turn": len(WORDS) + 1, "text": "One more."}
        file.write(json.dumps(line) + "\n")
    went_on = summary_of(read_run(folder))
    assert [one.section.number for one in went_on.answers if one.found] == [0, 1]


def test_an_unusable_answer_is_missing_and_nothing_is_made_up(command: Run, serve: Serve) -> None:
    folder = write_group(RUNS)
    done = command("evaluate", "guide", str(folder), "--by", serve(lambda _: {"themes": 7}).model(), "--no-positions")
    assert done.code == 0, done.err
    assert {row["missing"] for row in read_records(folder / THEMES)} == {"unparseable"}
    assert "No model was asked for themes" in done.out


def test_the_offline_model_finds_no_themes(command: Run) -> None:
    done = command("evaluate", "guide", str(write_group(RUNS)), "--by", "offline")
    assert (done.code, "cannot judge" in done.err) == (2, True)


def test_positions_before_and_after(command: Run) -> None:
    folder = write_group(RUNS)
    answers = {(PEOPLE[0], 0): "2", (PEOPLE[0], 8): "4", (PEOPLE[1], 0): "5", (PEOPLE[1], 8): "5", (PEOPLE[2], 8): None}
    lines = [
        {"poll": "likely", "question": LIKELY, "turn": turn, "agent": name, "judge": "offline", "request": "r"}
        | ({"answer": answer} if answer else {"missing": "unparseable"})
        for (name, turn), answer in answers.items()
    ]
    (folder / "polls.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (one,) = positions(read_run(folder))
    assert [(stand.before, stand.after, stand.moved) for stand in one.stands] == [
        ("2", "4", True), ("5", "5", False), (None, None, False),
    ]  # fmt: skip
    assert (one.moved, one.means()) == (1, (3.5, 4.5))
    shown = command("evaluate", "guide", str(folder), "--no-positions")
    assert "Mean 3.5 before, 4.5 after." in shown.out


def test_the_tables_have_questions_and_no_whisper(command: Run) -> None:
    folder = write_group(RUNS)
    assert command("export", str(folder), "--out", "tables").code == 0
    with Path("tables/questions.csv").open(encoding="utf-8", newline="") as file:
        rows = [(row["question"], row["agent"], row["utterances"]) for row in csv.DictReader(file)]
    assert rows[-3:] == [("2", PEOPLE[0], "1"), ("2", PEOPLE[1], "2"), ("2", PEOPLE[2], "0")]
    assert not Path("tables/themes.csv").exists()
    assert "how much they said about it" in Path("tables/codebook.md").read_text(encoding="utf-8")


def test_asking_for_positions_changes_nothing_else(command: Run, tmp_path: Path) -> None:
    scenario = tmp_path / "group.yaml"
    guide = {"moderator": "Eva", "questions": [{"ask": "Tea?"}, {"ask": "Why?"}], "positions": [{"ask": "Tea?"}]}
    people = [{"name": name, "description": "Somebody."} for name in ("Eva", "Bo", "Ada")]
    content = {"topic": "Tea", "participants": people, "guide": guide, "settings": {"max_messages": 4}}
    scenario.write_text(json.dumps(content), encoding="utf-8")
    assert command("run", str(scenario)).code == 0
    (folder,) = Path("conversations").iterdir()
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    done = command("evaluate", "guide", "latest", "--json")
    assert done.code == 0, done.err
    stands = json.loads(done.out)["positions"][0]["stands"]
    assert [stand["name"] for stand in stands] == ["Bo", "Ada"]  # the moderator takes no stand
    assert all(stand["before"] in ("yes", "no") and stand["after"] in ("yes", "no") for stand in stands)
    after = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert after.keys() - before.keys() == {"polls.jsonl"}
    assert {name: after[name] for name in before} == before
    assert run_json(folder)["scenario"]["guide"]["moderator"] == "Eva"


def test_a_branch_is_refused_with_the_remedy(command: Run) -> None:
    branch = {"of": "20260101-110000-tea-0000", "turn": 2, "why": "branch"}
    folder = write_group(RUNS, branch=branch)
    refused = command("evaluate", "guide", str(folder))
    assert refused.code == 2
    assert "--no-positions" in refused.err and branch["of"] in refused.err
    done = command("evaluate", "guide", str(folder), "--no-positions")
    assert (done.code, "What would keep you from the app?" in done.out) == (0, True)
