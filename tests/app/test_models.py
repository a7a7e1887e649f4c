"""Commands on models: list, get, try, the doctor, scorers that are missing."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from loopback.answering import Fault, fitting, natural_answer, schema_of
from loopback.scripted import task_of
from loopback.server import LoopbackServer
from models.gguf_files import gguf
from run_folders import rewrite
from tiny_model import tiny

from persimchat.graph.conversation import build_conversation
from persimchat.models.local import files
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings

# `persimchat models`, and what is said where a model is missing


@pytest.fixture(autouse=True)
def folder(models_folder: Path) -> Path:
    return models_folder


def put(content: bytes = b"") -> None:
    with files.alone() as where:
        content = content or gguf()
        (where / "smollm2.gguf").write_bytes(content)
        known = {"size": len(content), "sha256": "0" * 64, "source": "test", "licence": "Apache-2.0"}
        files.keep(files.Stored(name="smollm2", file="smollm2.gguf", **known))


@pytest.mark.proof
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


@pytest.mark.proof
def test_a_run_does_not_go_on_with_a_model_that_is_missing_and_is_replayed_without_it(command, tmp_path: Path):
    assert command("run", "Tea?", "-n", "2", "--messages", "2", "--model", "offline", "--quiet").code == 0
    done = command("resume", "latest", "--model", "smollm2", "--messages", "3")
    assert done.code == 2
    assert "Get it with: persimchat models get smollm2" in done.error
    (folder,) = (tmp_path / "conversations").iterdir()
    rewrite(folder, "begun", lambda begun: {**begun, "settings": {**begun["settings"], "model": "smollm2"}})
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


# `persimchat doctor`: finds what is wrong, and says what to do


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


# The scorer of pruning before a run: commands that need it are refused without it, and the doctor tries it


FREELY = ("--model", "offline", "--set", "pruning.lambda=0.5")


GET = "the model 'smollm2' is not on this machine. Get it with: persimchat models get smollm2"


EXPERIMENT = """
name: freely
base: {topic: "Tea?", participants: [Jarmila, Zeynep], settings: {model: offline, pruning: {lambda: 0.5}}}
grid: {seed: [0, 1]}
"""


@pytest.fixture(autouse=True)
def no_models(models_folder: Path) -> Path:
    return models_folder


@pytest.mark.parametrize(
    "words",
    [
        ("run", "Tea?", "-n", "2"),
        ("run", "Tea?", "-n", "2", "--set", "mode=debate"),
        ("debate", "Tea?", "-n", "2"),
        ("story", "run", "{root}/personas/stories/tiny.yaml", "--set", "cognition=lean"),
    ],
)
def test_commands_are_refused_without_the_scorer(command: Run, words: tuple[str, ...], tmp_path: Path, root: Path):
    done = command(*(word.format(root=root) for word in words), *FREELY, "--out", str(tmp_path / "out"))
    assert (done.code, done.error) == (2, f"persimchat: error: {GET}"), done
    assert not (tmp_path / "out").exists()


@pytest.mark.proof
def test_it_is_not_needed_without_pruning_or_by_another_method(command: Run):
    for needed in ("pruning.method=length", "pruning.lambda=0"):
        done = command("run", "Tea?", "-n", "2", "--messages", "1", *FREELY, "--set", needed)
        assert done.code == 0, done


@pytest.mark.proof
def test_an_experiment_is_refused_before_its_first_cell(command: Run, tmp_path: Path):
    (tmp_path / "freely.yaml").write_text(EXPERIMENT)
    done = command("experiment", "run", str(tmp_path / "freely.yaml"))
    assert done.code == 2, done
    assert GET in done.error, done
    assert "cell (seed: 0) cannot be held" in done.error


async def test_the_input_of_the_graph_is_refused():
    graph = build_conversation()
    with pytest.raises(InputError, match="models get smollm2"):
        await graph.ainvoke(
            {"messages": [HumanMessage("Tea?")]},
            context=Settings(model="offline", max_messages=1, pruning={"lambda": 0.5}),
        )


@pytest.mark.proof
def test_the_doctor_loads_the_scorer(command: Run, no_models: Path, tmp_path: Path):
    done = command("doctor", *FREELY)
    assert done.code == 2
    assert f"problem  scorer     {GET}" in done.out
    no_models.mkdir()
    tiny(no_models / "smollm2.gguf")
    done = command("doctor", *FREELY)
    assert done.code == 0, done
    assert "ok       scorer     smollm2: reads up to 600 tokens; loaded in " in done.out
    broken = tiny(tmp_path / "a.gguf", **{"tokenizer.chat_template": "nothing"})
    done = command("doctor", *FREELY, "--set", f"pruning.scorer={broken}")
    assert "problem  scorer     the model file" in done.out
    assert "its chat template cannot be used" in done.out
    assert "scorer" not in command("doctor", "--model", "offline").out
