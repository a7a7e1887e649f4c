"""`persimchat models`, and what is said where a model is missing."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from loopback.answering import natural_answer
from loopback.scripted import task_of
from loopback.server import LoopbackServer
from models.gguf_files import gguf

from persimchat.models.local import files


@pytest.fixture(autouse=True)
def folder(models_folder: Path) -> Path:
    return models_folder


def put(content: bytes = b"") -> None:
    with files.alone() as where:
        content = content or gguf()
        (where / "smollm2.gguf").write_bytes(content)
        known = {"size": len(content), "sha256": "0" * 64, "source": "test", "licence": "Apache-2.0"}
        files.keep(files.Stored(name="smollm2", file="smollm2.gguf", **known))


def test_what_is_there(command, folder: Path):
    assert "No models in" in command("models").out
    put()
    assert command("models").out == command("models", "list").out
    assert "smollm2" in command("models").out
    (entry,) = json.loads(command("models", "list", "--json").out)
    assert (entry["name"], entry["path"]) == ("smollm2", str(folder / "smollm2.gguf"))
    assert command("models", "remove", "smollm2").code == 0
    assert not (folder / "smollm2.gguf").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["models", "get", "smolm"], "is not the name of a model file on the Hugging Face hub"),
        (["models", "get", "llamacpp:x.gguf"], "is not the name of a model file"),
        (["models", "remove", "smollm2"], "List the models with: persimchat models"),
        (["models", "try", "smollm2"], "Get it with: persimchat models get smollm2"),
        (["run", "Tea?", "--model", "smollm2"], "Get it with: persimchat models get smollm2"),
        (["run", "Tea?", "--model", "hf:a/b/c.gguf"], "Get it with: persimchat models get hf:a/b/c.gguf"),
        (["doctor", "--model", "smollm"], "Did you mean 'smollm2'?"),
    ],
)
def test_what_is_wrong_is_one_line(command, tmp_path: Path, arguments: list[str], words: str):
    done = command(*arguments)
    assert done.code == 2
    assert words in (done.out if arguments[0] == "doctor" else done.error)
    assert not list(tmp_path.glob("conversations/*"))


def test_a_run_does_not_go_on_with_a_model_that_is_missing_and_is_replayed_without_it(command, tmp_path: Path):
    assert command("run", "Tea?", "-n", "2", "--messages", "2", "--model", "offline", "--quiet").code == 0
    done = command("resume", "latest", "--model", "smollm2", "--messages", "3")
    assert done.code == 2
    assert "Get it with: persimchat models get smollm2" in done.error
    (manifest,) = tmp_path.glob("conversations/*/run.json")
    manifest.write_text(manifest.read_text().replace('"model": "offline"', '"model": "smollm2"'))
    assert "smollm2" not in command("replay", "latest").err


@pytest.mark.proof
def test_trying_a_model(command):
    done = command("models", "try", "offline", "--questions", "1")
    assert done.code == 0, done
    assert "100% valid at first try, 100% in range" in done.out
    assert "Good for conversations" in done.out
    trial = json.loads(command("models", "try", "offline", "--questions", "1", "--json").out)
    modules = {row["module"] for row in trial["rows"]}
    assert {"perception", "emotion", "need_to_talk", "openness", "natural_language"} <= modules
    assert all(row["valid"] == row["asked"] == 1 for row in trial["rows"])


@pytest.mark.proof
def test_answers_that_were_asked_for_again_or_put_right_are_counted(command):
    asked: Counter[str] = Counter()

    def answer(body: dict[str, Any]) -> Any:
        task = task_of(body)
        asked[task] += 1
        right = natural_answer(body)
        if task == "need_to_talk":
            return {**right, "need_to_talk": "12/10"}
        if task == "perception":
            return {**right, "importance": "much"}
        return "Well, I think so!" if task == "action" and asked[task] == 1 else right

    with LoopbackServer(answer=answer) as server:
        trial = json.loads(command("models", "try", server.model(), "--questions", "1", "--json").out)
        shown = command("models", "try", server.model(), "--questions", "1").out
    rows = {row["module"]: [row[name] for name in ("asked", "valid", "again", "corrected")] for row in trial["rows"]}
    assert rows["need_to_talk"] == [1, 0, 0, 1]
    assert rows["perception"] == [1, 0, 0, 0]
    assert rows["action"] == [1, 0, 1, 0]
    assert rows["emotion"] == rows["natural_language"] == [1, 1, 0, 0]
    assert asked["perception"] == 4
    assert "corrected" in shown.splitlines()[0]
    assert "% corrected, " in shown
