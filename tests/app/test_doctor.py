"""`persimchat doctor`: finds what is wrong, and says what to do."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback.answering import Fault, fitting, schema_of
from loopback.server import LoopbackServer

Run = Callable[..., Any]
Serve = Callable[..., LoopbackServer]


def fits(body: dict[str, Any]) -> Any:
    """Any answer that fits what is asked."""
    return fitting(schema_of(body), random.Random(0))


def words(line: str) -> tuple[str, str]:
    return line.split()[0], line.split()[1]


def test_all_is_well(command: Run, serve: Serve, tmp_path: Path):
    model = serve(fits).model()
    done = command("doctor", "--model", model, "--embedding", model, "--set", "store=kept")
    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, ""), done
    assert [words(line) for line in lines[:-1]] == [
        ("ok", "python"), ("ok", "model"), ("ok", "embedding"), ("ok", "memory"),
    ]  # fmt: skip
    assert "64 dimensions" in done.out
    assert "wrote, read and deleted" in done.out
    assert lines[-1] == "All is well."
    assert (tmp_path / "kept").is_dir()


def test_offline_it_asks_nobody(command: Run):
    done = command("doctor")
    assert done.code == 0, done
    assert "note     model      No model was chosen" in done.out
    assert "offline: built in" in done.out
    assert "lexical" in done.out


def test_a_model_that_does_not_answer(command: Run, serve: Serve):
    server = serve(lambda _: Fault(401, {"error": {"message": "bad key"}}))
    done = command("doctor", "--model", server.model())
    assert done.code == 3
    assert "problem  model      the server" in done.out
    assert "PERSIMCHAT_API_KEY" in done.out
    assert "ok       embedding  lexical" in done.out
    assert done.out.endswith("1 problem found.\n")


def test_an_embedding_that_does_not_answer(command: Run, serve: Serve):
    done = command("doctor", "--model", serve(fits).model(), "--embedding", "any@http://127.0.0.1:1/v1")
    assert done.code == 3
    assert "problem  embedding" in done.out
    assert "ok       memory" in done.out


def test_a_store_that_cannot_be_opened(command: Run, serve: Serve):
    done = command("doctor", "--model", serve(fits).model(), "--set", "store=/proc/nowhere")
    assert done.code == 2
    assert "problem  memory" in done.out
    assert "Choose a folder that you may write to." in done.out


def test_a_key_that_is_missing(command: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = command("doctor", "--model", "openai:gpt-4o-mini")
    assert done.code == 2
    assert "problem  model" in done.out
    assert "OPENAI_API_KEY" in done.out


def test_models_of_single_agents_are_checked_too(command: Run, serve: Serve):
    done = command("doctor", "--model", serve(fits).model(), "--set", "module_models={planning: ofline}")
    assert done.code == 2
    assert "unknown model 'ofline'" in done.out


def test_a_story_is_checked_and_who_has_no_part_in_it_is_told(command: Run, serve: Serve, write: Callable[..., Path]):
    people = "".join(f"  - {{name: {name}, description: Somebody.}}\n" for name in ("Ann Lind", "Bo Vik", "Cy Dahl"))
    story = "story:\n  characters:\n    Ann: {main: true}\n    Bo: {main: true}\n"
    file = write("mill.yaml", f"topic: Who gets the mill?\nparticipants:\n{people}{story}")
    done = command("doctor", "--scenario", str(file), "--model", serve(fits).model())
    assert done.code == 0, done
    assert "mill.yaml: 3 participants" in done.out
    assert "note     scenario   Without a part under story.characters" in done.out
    assert "without beliefs: Cy Dahl." in done.out
    wrong = command("doctor", "--scenario", "nothing.yaml")
    assert (wrong.code, wrong.err.count("\n")) == (2, 1)
