"""Who stands where, what they feel and who moves whom, up to a turn and not beyond it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from run_folders import EMOTIONS, PEOPLE, manifest, mind, utterance, verdict, write_run

from persimchat.app.web.board import board_of
from persimchat.app.web.insights.moves import Stand, Stirring, felt, stands, stirred, turned
from persimchat.runs.folder.reading import read_manifest

EVA, BO, LI = PEOPLE


def feels(**levels: int) -> dict[str, int]:
    return dict.fromkeys(EMOTIONS, 0) | levels


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Bo hears Eva and grows angry; Li whispers to Bo alone, who turns from no to yes."""
    said = [
        utterance(1, EVA, "Yes."),
        utterance(2, BO, "No."),
        utterance(3, LI, "Come, Bo.", heard_by=[BO]),
        utterance(4, EVA, "Yes, I say."),
        utterance(5, BO, "Well, yes."),
    ]
    angry = {0: 0, 1: 4, 2: 4, 3: 4, 4: 6, 5: 6}
    minds = [mind(turn, BO, emotion=feels(anger=level, happiness=1)) for turn, level in angry.items()]
    minds += [mind(turn, EVA, emotion=feels(happiness=2)) for turn in range(6)]

    def places(of_bo: str, words: str) -> list[dict[str, Any]]:
        eva = {"agent": EVA, "position": "For it.", "answer": "yes", "agrees": True}
        return [eva, {"agent": BO, "position": words, "answer": of_bo, "agrees": of_bo == "yes"}]

    verdicts = [verdict(2, positions=places("no", "Against it.")), verdict(5, positions=places("yes", "Came round."))]
    settings = manifest()["settings"] | {"mode": "debate", "answer_format": "yesno"}
    return write_run(tmp_path, said, minds, verdicts=verdicts, settings=settings)


def test_positions_are_those_of_the_last_verdict(folder: Path):
    board = board_of(folder)
    assert stands(board, 1) == {}
    assert stands(board, 4)[BO] == Stand("Against it.", "no")
    assert stands(board, 5)[BO] == Stand("Came round.", "yes")


def test_who_changed_sides_and_after_whom(folder: Path):
    board, set_up = board_of(folder), read_manifest(folder)
    assert turned(board, folder, set_up, 4) == []
    (row,) = turned(board, folder, set_up, 5)
    assert (row.agent, row.turn, row.before, row.stance, dict(row.credit)) == (BO, 5, "no", "yes", {EVA: 1.0})


def test_the_strongest_feeling_comes_first_with_its_change(folder: Path):
    board = board_of(folder)
    assert felt(board, BO, 1) == [("anger", 4, 4), ("happiness", 1, 0)]
    assert felt(board, BO, 0) == [("happiness", 1, 0)]
    assert felt(board, LI, 5) == []


def test_feelings_change_after_words_that_were_heard(folder: Path):
    board = board_of(folder)
    assert stirred(board, 0) == []
    assert stirred(board, 1) == [Stirring(EVA, BO, 4.0, 1)]
    assert stirred(board, 5) == [Stirring(EVA, BO, 3.0, 2)]  # 4 and 2 points; his own words and a whisper move nobody
