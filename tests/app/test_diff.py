"""`persimchat diff`: what it prints, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_files import run_json
from run_folders import HOSTILE, PEOPLE, lines, utterance, write_debate, write_run, write_steered

Run = Callable[..., Any]
Plain = Callable[[str], str]


@pytest.mark.proof
def test_two_seeds_of_one_conversation(command: Run, out: Path) -> None:
    for seed in ("1", "2", "1"):
        given = ("-n", "3", "--messages", "3", "--seed", seed, "--model", "offline", "--quiet")
        assert command("run", "Tea or coffee?", *given).code == 0
    runs = {}
    for folder in out.iterdir():
        runs.setdefault(run_json(folder)["seed"], []).append(folder.name)
    same = command("diff", *runs[1])
    assert (same.code, same.err) == (0, "")
    assert "The two runs are equal" in same.out
    other = command("diff", runs[1][0], runs[2][0])
    assert other.code == 0
    assert "they part at  utterance 1: " in other.out
    assert "Setup\nwhat  in a  in b\nseed  1     2\n" in other.out


def test_what_people_did_is_in_words(command: Run, out: Path) -> None:
    write_run(out, [utterance(1, PEOPLE[0])], [], run="one")
    other = write_run(out, [utterance(1, PEOPLE[0], "Wine.")], [], run="two")
    deeds: list[dict[str, Any]] = [
        {"do": "say", "text": "Order!", "speaker": "", "heard_by": None},
        {"do": "say", "text": "No.", "speaker": "Bo", "heard_by": ["Eva", "Jan"]},
        {"do": "topic", "topic": "Wine"},
        {"do": "hand", "agent": "Petr", "raised": True},
        {"do": "hand", "agent": "Petr", "raised": False},
        {"do": "floor", "agent": "Eva", "avoid": ["Tea."]},
        {"do": "answer", "agent": "Petr", "what": "utterance", "passes": True},
        {"do": "answer", "agent": "Petr", "what": "need_to_talk", "need_to_talk": 7},
        {"do": "answer", "agent": "Petr", "what": "utterance", "text": "Yes."},
        {"do": "dance", "with": "Eva"},
    ]
    (other / "control.jsonl").write_text(lines({"turn": 0, **deed} for deed in deeds), encoding="utf-8")
    said = command("diff", "one", "two").out.splitlines()
    assert [line.removeprefix("people in b").strip() for line in said if line.startswith("people in b")] == [
        'the moderator said "Order!"',
        'Bo was given the words "No.", for Eva, Jan only',
        "new topic: Wine",
        "Petr raised a hand",
        "Petr lowered a hand",
        "the floor was given to Eva",
        "Petr passed",
        "Petr gave a need to talk of 7",
        'Petr answered "Yes."',
        "dance: with Eva",
    ]


def test_as_json(command: Run, out: Path) -> None:
    write_run(out, run="one")
    write_steered(out, run="two", branch={"of": "one", "turn": 1, "why": "branch", "changed": {}})
    found = json.loads(command("diff", "one", "two", "--json").out)
    assert (found["a"], found["b"], found["shared"], found["parting"]["turn"]) == ("one", "two", 0, 1)
    assert found["lineage"] == ["b is a branch of a at turn 1"]


@pytest.mark.proof
def test_on_a_terminal_of_forty_columns(terminal: Callable[..., tuple[int, str]], out: Path, plain: Plain) -> None:
    write_debate(out, 9, run="one")
    write_steered(out, run="two")
    code, said = terminal("diff", "one", "two", columns=40)
    assert code == 0
    lines = [line.rstrip() for line in plain(said).replace("\r", "").split("\n")]
    assert max(map(len, lines)) <= 40
    assert [name for name in PEOPLE if not any(name in line for line in lines)] == []


def test_hostile_text_steers_nothing(command: Run, out: Path) -> None:
    write_run(out, [utterance(1, HOSTILE, HOSTILE)], [], run="one", scenario={"topic": HOSTILE, "participants": []})
    write_run(out, [utterance(1, "[red]B", f"[bold]{HOSTILE}")], [], run="two", settings={HOSTILE: HOSTILE})
    done = command("diff", "one", "two")
    assert done.code == 0
    assert not {"\x1b", "\u202e"} & set(done.out)
    assert "[red]B: [bold]</script>" in done.out


@pytest.mark.parametrize("arguments", [("one",), ("one", "none"), ("one", "broken")])
def test_bad_input_is_one_line(command: Run, out: Path, arguments: tuple[str, ...]) -> None:
    write_run(out, run="one")
    broken = write_run(out, run="broken")
    (broken / "minds.jsonl").write_text("5\n", encoding="utf-8")
    done = command("diff", *arguments)
    assert done.code == 2
    assert done.out == ""
    assert done.error


@pytest.mark.proof
def test_without_unicode_its_own_signs_are_plain(finished: Run, out: Path) -> None:
    write_run(out, run="one")
    write_run(out, [utterance(1, PEOPLE[0], "Tea!")], [], run="two")
    assert finished("diff", "one", "two", env={"PYTHONIOENCODING": "ascii"}).code == 0
