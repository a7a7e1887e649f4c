"""PerSimChat: simulated conversations between personas with memory, emotions, plans and relationships.

The public API is small:

- `simulate()` and `asimulate()` run a conversation and return a `Result`;
- `astream_events()` and `stream_events()` yield its events as they happen; a `Control` lets people take part;
- `resume()` and `branch()` (and `aresume()`, `abranch()`) continue a run that was kept;
- `companion()` (and `acompanion()`) opens a talk with one agent who remembers;
- `build_conversation()` returns the LangGraph graph, to embed it in another one, and `conversation_node()` a node that
  adapts it to the state of that graph; `as_tool()` lets an agent ask a focus group;
- `register()` gives minds an `OwnModule`, conversations a rule of who speaks next, and experiments a measure;
- `Settings`, `Persona`, `Scenario`, `load_scenario()`; errors derive from `PerSimChatError`.

Simulated people are not people: their words are no evidence of what real people would say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .state.public_names import loader

if TYPE_CHECKING:
    from .graph.conversation import build_conversation
    from .graph.subgraph_node import conversation_node
    from .personas.scenario import load_scenario
    from .runs.api import (
        Result,
        abranch,
        aresume,
        asimulate,
        astream_events,
        branch,
        resume,
        simulate,
        stream_events,
    )
    from .runs.companion.api import acompanion, companion
    from .runs.control import Control
    from .runs.tool import as_tool
    from .state.errors import InputError, MachineError, ModelError, PerSimChatError
    from .state.minds.judgement import OwnModule
    from .state.packages import register
    from .state.persona import Persona
    from .state.scenario import Scenario
    from .state.settings import Settings

__version__ = "0.1.0"

__all__ = [
    "Control",
    "InputError",
    "MachineError",
    "ModelError",
    "OwnModule",
    "PerSimChatError",
    "Persona",
    "Result",
    "Scenario",
    "Settings",
    "abranch",
    "acompanion",
    "aresume",
    "as_tool",
    "asimulate",
    "astream_events",
    "branch",
    "build_conversation",
    "companion",
    "conversation_node",
    "load_scenario",
    "register",
    "resume",
    "simulate",
    "stream_events",
]

__getattr__ = loader(
    __name__,
    {
        "Control": "runs.control",
        "InputError": "state.errors",
        "MachineError": "state.errors",
        "ModelError": "state.errors",
        "OwnModule": "state.minds.judgement",
        "PerSimChatError": "state.errors",
        "Persona": "state.persona",
        "Result": "runs.api",
        "Scenario": "state.scenario",
        "Settings": "state.settings",
        "abranch": "runs.api",
        "acompanion": "runs.companion.api",
        "aresume": "runs.api",
        "as_tool": "runs.tool",
        "asimulate": "runs.api",
        "astream_events": "runs.api",
        "branch": "runs.api",
        "build_conversation": "graph.conversation",
        "companion": "runs.companion.api",
        "conversation_node": "graph.subgraph_node",
        "load_scenario": "personas.scenario",
        "register": "state.packages",
        "resume": "runs.api",
        "simulate": "runs.api",
        "stream_events": "runs.api",
    },
)
