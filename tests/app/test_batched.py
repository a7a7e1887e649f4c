"""`persimchat evaluate … --batch`: judges asked through OpenAI's Batch API (models/batches.py), on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from evaluation.judging import Planned, dimension_in, run_about, topic_in
from loopback.batches import Batches as Kept
from loopback.server import LoopbackServer

from persimchat.models.batches import Batches

Run = Callable[..., Any]
Serve = Callable[..., LoopbackServer]
RUNS = Path("conversations")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = partial(Batches, path=tmp_path / "cache/batches.jsonl", quiet_s=0.5, poll_s=0.05)
    monkeypatch.setattr("persimchat.models.batches.Batches", made)


def scored(command: Run, *arguments: str) -> dict[str, Any]:
    done = command("evaluate", "dimensions", *arguments, "--json")
    assert done.code == 0, done.err
    return {"said": done.err, **json.loads(done.out)}


@pytest.mark.proof
def test_all_runs_in_one_batch_and_what_was_wrong_in_another(command: Run, serve: Serve) -> None:
    folders = [str(run_about(RUNS, topic)) for topic in ("Tea?", "Coffee?", "Cocoa?")]
    first = {"now": True}

    def score(body: dict[str, Any]) -> int:
        wrong = first["now"] and topic_in(body) == "Tea?" and dimension_in(body) == "believability"
        first["now"] = first["now"] and not wrong
        return 99 if wrong else 7

    server = serve(Planned(score), batches=Kept())
    asked = (*folders, "--by", server.model(), "--only", "BEL,CRE")
    found = scored(command, *asked, "--batch")
    assert [row["mean"] for row in found["dimensions"]] == [7, 7]
    assert server.batches is not None and not server.bodies()
    assert [len(server.batches.requests(id_)) for id_ in server.batches.made] == [6, 1]
    assert "batch_0: 6 requests; its answers come within 24 hours" in found["said"]
    again = scored(command, *asked)
    assert (again["asked"], again["already"]) == (0, 6)


@pytest.mark.proof
def test_what_a_batch_did_not_answer_is_asked_by_the_same_command(command: Run, serve: Serve) -> None:
    folder = run_about(RUNS)
    server = serve(Planned(), batches=Kept(ends_as="failed", lost=2))
    asked = ("evaluate", "dimensions", str(folder), "--by", server.model(), "--only", "BEL,CRE", "--batch")
    done = command(*asked)
    assert done.code == 3
    assert "ended as failed" in done.err
    server.batches = Kept()
    assert command(*asked).code == 0


def test_who_has_no_batches(command: Run, serve: Serve) -> None:
    folder = run_about(RUNS)
    asked = ("evaluate", "dimensions", str(folder), "--batch", "--only", "BEL")
    done = command(*asked, "--by", "ollama:llama3.2")
    assert done.code == 2
    assert "'ollama:llama3.2' cannot be asked in batches (--batch). Name a model of OpenAI" in done.err
    done = command(*asked, "--by", serve(Planned()).model())
    assert done.code == 3
    assert "the server did not take the file of a batch (HTTP 404)" in done.err
