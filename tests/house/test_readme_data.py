"""The data that the documents show is what PerSimChat reads and writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from documents import BLOCKS, Block

import persimchat
from persimchat.experiments import Experiment
from persimchat.experiments.plan import plan
from persimchat.graph import studio
from persimchat.personas.catalogue import shipped
from persimchat.personas.conversion.mapping import load_mapping
from persimchat.personas.files import load_persona
from persimchat.personas.generation.generated_files import persona_text
from persimchat.personas.generation.quotas import load_quotas
from persimchat.personas.place_file import load_place
from persimchat.personas.scenario import load_scenario
from persimchat.state.intervention import intervention


def of(language: str, document: str = "") -> list[Block]:
    return [block for block in BLOCKS if block.language == language and document in ("", block.document)]


def reader(text: str) -> Callable[[Path], object]:
    """What reads a file of this kind."""
    data = yaml.safe_load(text)
    if {"base", "grid"} <= data.keys():
        return lambda path: plan(Experiment.load(path)).cells
    if "agents" in data:
        return load_place
    if {"quotas", "cells"} & data.keys():
        return load_quotas
    if {"name", "memories"} <= data.keys():
        return load_persona
    if {"name", "description"} <= data.keys():
        return load_mapping
    assert "participants" in data, f"no reader for {sorted(data)}"
    return lambda path: load_scenario(path, topic=data.get("topic", "Tea or coffee?"))


@pytest.mark.parametrize("block", of("yaml"), ids=lambda block: block.where)
def test_yaml_is_read_by_its_own_reader(block: Block, tmp_path: Path):
    uncle = shipped()[-1].model_copy(update={"name": "Uncle Bo"})
    (tmp_path / "people").mkdir()
    (tmp_path / "people/uncle.yaml").write_text(persona_text(uncle), encoding="utf-8")
    path = tmp_path / "shown.yaml"
    path.write_text(block.text, encoding="utf-8")
    assert reader(block.text)(path)


def test_yaml_that_is_wrong_is_refused(tmp_path: Path, refused: Callable[..., str]):
    text = "participants: [Łukasz, Zeynep]\nsetings: {}\n"
    path = tmp_path / "shown.yaml"
    path.write_text(text, encoding="utf-8")
    refused(lambda: reader(text)(path), "setings")


@pytest.mark.parametrize("block", of("json"), ids=lambda block: block.where)
def test_json_is_json(block: Block):
    assert json.loads(block.text)


def test_the_question_to_a_person_has_these_fields():
    (shown,) = (data for b in of("json", "docs/studio.md") if "agent" in (data := json.loads(b.text)))
    ended = _asked()
    assert shown.keys() == ended.keys()
    assert (shown["agent"], shown["what"], shown["problem"]) == (ended["agent"], ended["what"], ended["problem"])


def _asked() -> dict[str, Any]:
    given = {"topic": "Tea?", "participants": ["Jarmila", {"name": "Petr", "human": True}]}
    settings = persimchat.Settings(model="offline", pattern="round_robin", max_messages=2)
    from langgraph.checkpoint.memory import InMemorySaver

    graph = persimchat.build_conversation(checkpointer=InMemorySaver(), settings=settings)
    config: Any = {"configurable": {"thread_id": "1"}}
    graph.invoke(given, config)
    return dict(graph.get_state(config).interrupts[0].value)


def test_the_interventions_are_some(root: Path):
    (shown,) = (data for b in of("json", "docs/studio.md") if "interventions" in (data := json.loads(b.text)))
    for one in shown["interventions"]:
        assert intervention(one, ["Inés Quiroga", "Jarmila Dvořáčková"])


def test_the_refusal_in_studio_is_word_for_word(refused: Callable[..., str]):
    (shown,) = of("text", "docs/studio.md")
    context = {"max_messages": 0}
    message = refused(lambda: studio.discussion.invoke({"topic": "Tea?"}, context=context))
    assert message == " ".join(shown.text.split())
