"""The scorer of pruning before a run: commands that need it are refused without it, and the doctor tries it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from tiny_model import tiny

from persimchat.graph.conversation import build_conversation
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings

Run = Callable[..., Any]
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


def test_it_is_not_needed_without_pruning_or_by_another_method(command: Run):
    for needed in ("pruning.method=length", "pruning.lambda=0"):
        done = command("run", "Tea?", "-n", "2", "--messages", "1", *FREELY, "--set", needed)
        assert done.code == 0, done


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
