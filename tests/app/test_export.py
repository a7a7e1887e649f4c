"""`persimchat export`: which runs, where to, what it refuses."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_folders import MARKER, write_debate, write_run, write_steered

Run = Callable[..., Any]


@pytest.mark.proof
def test_from_conversation_to_table(command: Run, out: Path) -> None:
    for seed in ("1", "2"):
        done = command(
            "run", "Tea or coffee?", "-n", "3", "--messages", "3", "--seed", seed, "--model", "offline", "--quiet"
        )
        assert done.code == 0, done.err
    done = command("export", *(str(path) for path in sorted(out.iterdir())), "--format", "csv", "--out", "tables")
    assert (done.code, done.err) == (0, "")
    assert "tables/utterances.csv  6 rows\n" in done.out
    assert done.out.endswith("tables/codebook.md\n")
    with Path("tables/utterances.csv").open(encoding="utf-8", newline="") as file:
        assert {row["seed"] for row in csv.DictReader(file)} == {"1", "2"}


def test_runs_are_found_as_everywhere(command: Run, out: Path) -> None:
    write_run(out, run="20260101-tea")
    write_debate(out, 3, run="20260202-ale", started="2026-03-01T00:00:00+00:00")
    assert command("export", "20260101", "latest").code == 0
    assert sorted(path.name for path in Path("export").iterdir())[0] == "calls.csv"
    assert command("export", "20260101", "--runs", str(out), "--out", "b", "--format", "jsonl").code == 0
    assert len(Path("b/utterances.jsonl").read_text(encoding="utf-8").splitlines()) == 3


def test_what_is_missing_is_said(command: Run, out: Path) -> None:
    write_run(out, stop_reason=None, ended=None, usage={})
    done = command("export", "latest")
    assert done.code == 0
    assert "No ending is recorded" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nobody",), "there is no run"),
        (("latest", "latest"), "given twice"),
        (("latest", "--bom", "--format", "md"), "--bom needs --format csv"),
        (("latest", "--format", "xlsx"), "xlsx"),
        ((), "RUN"),
        (("latest", "--out", "file"), "Choose a folder with --out"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    command: Run, out: Path, arguments: tuple[str, ...], said: str
) -> None:
    write_run(out)
    Path("file").write_text("")
    done = command("export", *arguments)
    assert done.code == 2
    assert said in done.error
    assert sorted(path.name for path in Path().iterdir()) == ["conversations", "file"]


def test_tables_that_are_there_stay(command: Run, out: Path) -> None:
    write_run(out)
    assert command("export", "latest").code == 0
    again = command("export", "latest")
    assert again.code == 2
    assert "--force" in again.error
    assert command("export", "latest", "--force", "--bom").code == 0
    assert Path("export/minds.csv").read_bytes().startswith(b"\xef\xbb\xbfrun,")


def test_for_one_participants_eyes(command: Run, out: Path) -> None:
    write_steered(out)
    done = command("export", "latest", "--for", "Eva", "--format", "md")
    assert (done.code, done.err) == (0, "")
    names = ["codebook.md", "interventions.md", "memories.md", "minds.md", "runs.md", "utterances.md"]
    assert sorted(path.name for path in Path("export").iterdir()) == names
    assert [path for path in Path("export").iterdir() if MARKER in path.read_text(encoding="utf-8")] == []
    assert "only what Eva may have seen" in Path("export/codebook.md").read_text(encoding="utf-8").replace("\n", " ")
    refused = command("export", "latest", "--for", "Moderator", "--out", "b")
    assert refused.code == 2
    assert "there is no participant 'Moderator'" in refused.error
