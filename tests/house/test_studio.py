"""langgraph.json leads LangGraph's own tools to the graphs; each is what its name says, also without a server."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph.state import CompiledStateGraph
from offenders import check_each

from persimchat.graph import studio
from persimchat.state.settings import BASELINES, Settings

GIVEN = {"topic": "Tea or coffee?", "participants": ["Jarmila", "Inés"]}
SHORT = {"max_messages": 4}


def graphs(root: Path) -> dict[str, Any]:
    config = json.loads((root / "langgraph.json").read_text(encoding="utf-8"))
    assert config["dependencies"] == ["."]
    return dict(config["graphs"])


def test_langgraph_json_names_every_graph(root: Path):
    assert set(graphs(root)) == set(studio.PRESETS) == {"discussion", "debate", "story", "companion", *BASELINES}


@pytest.mark.proof
def test_langgraph_json_names_the_compiled_graph(root: Path) -> None:
    def check(name: str) -> None:
        path, _, attribute = graphs(root)[name]["path"].partition(":")
        spec = importlib.util.spec_from_file_location("studio_graph", root / path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        graph = getattr(module, attribute)
        assert isinstance(graph, CompiledStateGraph)
        assert ("messages" if name == "companion" else "topic") in graph.get_input_jsonschema()["properties"]
        assert graph.name == name

    check_each(studio.PRESETS, check)


@pytest.mark.parametrize("context", [None, {}, SHORT])
def test_a_debate_needs_no_setting_to_be_one(context: dict[str, Any] | None):
    ended = studio.debate.invoke(GIVEN, context=context)
    assert ended["verdicts"]
    assert ended["conclusion"]["by"] == "judge"


@pytest.mark.proof
def test_a_story_needs_no_input():
    ended = studio.story.invoke({}, context={"rounds": 1, "model": "offline"})
    assert ended["stop_reason"] == "settled"
    assert ended["outcome"]["winners"]


def test_a_baseline_needs_no_setting_to_be_one():
    assert studio.mad.invoke(GIVEN)["conclusion"]["by"] == "mad"


@pytest.mark.proof
def test_settings_as_such_count_as_they_are():
    ended = studio.debate.invoke(GIVEN, context=Settings(max_messages=2))
    assert (ended["turn"], ended["conclusion"]) == (2, None)


@pytest.mark.parametrize("name", ["discussion", "debate", "mad"])
def test_a_wrong_context_is_refused_in_plain_words(refused: Callable[..., str], name: str):
    graph = getattr(studio, name)
    refused(lambda: graph.invoke(GIVEN, context={"max_messages": 0}), "max_messages", "the context", "from 1 to 100000")
    refused(lambda: graph.invoke(GIVEN, context={"max_mesages": 9}), "'max_mesages'", "Did you mean 'max_messages'?")
    refused(lambda: graph.invoke(GIVEN, context={"weights": {"recency": "x"}}), "weights.recency", "a number")
    refused(lambda: graph.invoke(GIVEN, context={"baseline": "reconcile"}), "baseline=reconcile", name)


def test_a_mapping_from_the_graph_around_it_is_checked_too(refused: Callable[..., str]):
    """Where a graph names no class for its context, LangGraph hands the mapping on as it is."""
    graph = studio.discussion.copy({"context_schema": dict})
    assert graph.invoke(GIVEN, context={"max_messages": 2})["turn"] == 2
    refused(lambda: graph.invoke(GIVEN, context={"max_messages": 0}), "max_messages", "the context")
