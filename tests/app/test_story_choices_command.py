"""`persimchat branch --choose`: from a story to its branch, their difference, and what is refused in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.mark.proof
def test_a_branch_chooses_and_the_difference_is_shown(command: Run, root: Path) -> None:
    tiny = str(root / "personas" / "stories" / "tiny.yaml")
    assert command("run", tiny, "--model", "offline", "--seed", "1", "--quiet").code == 0
    (run,) = (path.name for path in Path("conversations").iterdir())
    made = command("branch", run, "--at", "0", "--choose", "Tuuli=nobody")
    assert made.code == 0, made.err
    assert f"# Branch of {run} after utterance 2" in made.out
    assert "Tuuli Koskela is to talk to nobody: chosen by the branch." in made.out
    told = command("diff", run, "latest").out
    assert "a branch chose whom a host talks to" in told
    assert "Where they stand before the first round, the same in both" in told
    assert "Where they stand at the end" in told
    assert "Ballots" in told
    refused = command("branch", run, "--at", "0", "--choose", "Tuuli=Tuuli")
    assert refused.code == 2
    told = "may not choose Tuuli Koskela after utterance 2 (round 1, private) (--choose). Choose one of:"
    assert told in refused.error
    assert "the turn at which the branch begins is missing (--at)" in command("branch", run).error
    found = command("evaluate", "stances", run)
    assert found.code == 0
    assert "Supports" in found.out
    assert command("export", run, "--tables", "rooms,standings", "--out", "story").code == 0
    assert sorted(path.name for path in Path("story").iterdir()) == ["codebook.md", "rooms.csv", "standings.csv"]


@pytest.mark.parametrize("given", ["Tuuli", "Tuuli=", "=Olle", "Tuuli: Olle"])
def test_a_choice_in_the_wrong_form_is_refused(command: Run, given: str) -> None:
    done = command("branch", "x", "--at", "0", "--choose", given)
    assert done.code == 2
    assert "the host or the partner is missing (--choose)" in done.error
    assert "--choose Tuuli=Olle" in done.error


def test_an_unknown_table_is_refused(command: Run, out: Path) -> None:
    from run_folders import write_run

    write_run(out, run="20260101-tea")
    done = command("export", "latest", "--tables", "roms")
    assert (done.code, "there is no table 'roms' (--tables)" in done.error) == (2, True)
