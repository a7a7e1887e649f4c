"""An utterance made once more, in other words, in a run that goes on from there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from run_files import read_words, run_json
from runs.test_branch import LI, contents, run

from persimchat.runs.run.branch import branch_run, regenerate_run
from persimchat.state.errors import InputError


async def regenerated(source: Path, turn: int, **more: Any) -> AsyncIterator[Any]:
    async for event in regenerate_run(source, turn, run="again", **more):
        yield event


@pytest.mark.proof
@pytest.mark.parametrize("turn", [1, 2, 4, 6])
async def test_an_utterance_is_made_again_in_other_words(turn: int, tmp_path: Path) -> None:
    source = await run(tmp_path)
    before = contents(source)
    events = [event async for event in regenerated(source, turn)]
    assert events[-1].event == "stopped"
    made = read_words(tmp_path / "again")
    assert made[: turn - 1] == read_words(source)[: turn - 1]
    assert made[turn - 1][0] == read_words(source)[turn - 1][0]
    assert made[turn - 1][1] != read_words(source)[turn - 1][1]
    assert len(made) == 6
    assert contents(source) == before
    assert run_json(tmp_path / "again")["branch"] == {
        "of": "source", "turn": turn - 1, "why": "regenerate", "changed": {},
    }  # fmt: skip


@pytest.mark.proof
@pytest.mark.parametrize(
    ("turn", "words"), [(3, f"{LI}'s own"), (0, "no utterance 0"), (7, "no utterance 7"), (-3, "no utterance -3")]
)
async def test_what_is_not_made_again(turn: int, words: str, tmp_path: Path) -> None:
    source = await run(tmp_path)
    there = set(tmp_path.iterdir())
    with pytest.raises(InputError) as caught:
        [event async for event in regenerated(source, turn)]
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert set(tmp_path.iterdir()) == there


async def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in ("empty", "nowhere"):
        for made in (regenerate_run(tmp_path / folder, 1), branch_run(tmp_path / folder, 0)):
            with pytest.raises(InputError) as caught:
                [event async for event in made]
            assert "\n" not in str(caught.value)
