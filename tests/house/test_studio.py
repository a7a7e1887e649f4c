"""langgraph.json leads LangGraph's own tools to the conversation."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

from langgraph.graph.state import CompiledStateGraph


def test_langgraph_json_names_the_compiled_graph(root: Path):
    config = json.loads((root / "langgraph.json").read_text(encoding="utf-8"))
    assert config["dependencies"] == ["."]
    path, _, attribute = config["graphs"]["discussion"].partition(":")
    spec = importlib.util.spec_from_file_location("studio_graph", root / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    graph = getattr(module, attribute)
    assert isinstance(graph, CompiledStateGraph)
    assert "topic" in graph.get_input_jsonschema()["properties"]
