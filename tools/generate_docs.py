"""Renews the generated parts of the documents in docs/: the graph, the settings, the events.

A generated part stands between two comments, `<!-- generated: NAME -->` and `<!-- end of NAME -->`.

    python tools/generate_docs.py            writes the changes
    python tools/generate_docs.py --check    changes nothing; exit code 1 if a part is stale
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, get_args

from langgraph.graph.state import CompiledStateGraph
from pydantic import BaseModel

from persimchat.app.commands.setting_command import condition_in_words, default_in_words, option_name
from persimchat.graph import build_conversation
from persimchat.graph.baselines.rounds import build_mad
from persimchat.graph.companion.calls import calls
from persimchat.graph.companion.companion import studio_graph
from persimchat.graph.companion.consolidating import LONG_TALK
from persimchat.graph.minds.building import build_hearing, build_thinking
from persimchat.graph.stories.story import build_story
from persimchat.runs.events import Concluded, Event, MindRecord, Position, RecalledMemory, StoryOutcome, Totals
from persimchat.runs.folder.parts import StoryStanding
from persimchat.state.kinds import Companion, conversations
from persimchat.state.kinds.companion import CompanionSettings
from persimchat.state.minds.pruning import Check, Pruned, PrunedItem, Pruning
from persimchat.state.setting import GROUPS
from persimchat.state.settings import ABOUT, RetrievalWeights, Settings

DOCS = Path(__file__).resolve().parents[1] / "docs"
CHANGES = {"resume": "resume, branch", "branch": "branch", "never": "no"}
BOUNDS = {"minimum": "≥ {}", "exclusiveMinimum": "> {}", "maximum": "≤ {}", "exclusiveMaximum": "< {}"}


def drawing(build: Callable[[], CompiledStateGraph[Any, Any, Any, Any]] = build_conversation, *, xray: int = 1) -> str:
    """A graph as a Mermaid block, by default the conversation's, with its inner graphs if `xray` is 1."""
    return f"```mermaid\n{build().get_graph(xray=xray).draw_mermaid().strip()}\n```"


def companion_costs() -> str:
    """The calls of a companion as a table, by cognition."""
    asked: dict[str, dict[str, Any]] = {
        "an exchange": {"exchanges": 1},
        "the end of a talk": {"ended": [1]},
        f"the end of a talk of {LONG_TALK} exchanges or more": {"ended": [LONG_TALK]},
        "a batch of new events": {"batches": 1},
        "and it may react to one": {"batches": 1, "reactions": 1},
        "and it speaks unasked": {"batches": 1, "reactions": 1, "unasked": 1},
        "a day that is planned": {"days": 1},
        "an entry of it that begins": {"entries": 1},
    }
    modes = ("full", "compact", "lean")
    rows = [f"| what | {' | '.join(modes)} |", f"| --- |{' ---: |' * len(modes)}"]
    for what, given in asked.items():
        found = [sum(calls(Settings(cognition=mode), **given).values()) for mode in modes]
        rows.append(f"| {what} | {' | '.join(map(str, found))} |")
    return "\n".join(rows)


def kinds_table() -> str:
    """The kinds of conversation as a table: how each is chosen, and the settings that only some kinds heed."""
    kinds = (*conversations(), Companion)
    common = set.intersection(*(set(kind.model_fields) for kind in kinds))
    rows = ["| kind | chosen by | what it is | settings that only some kinds have |", "| --- | --- | --- | --- |"]
    for kind in kinds:
        name = kind.TITLE or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.__name__)
        chosen = ", ".join(f"`{one}: {value}`" for one, value in kind.CHOSEN.items()) or "nothing"
        own = ", ".join(f"`{one}`" for one in ABOUT if one in kind.model_fields and one not in common)
        rows.append(f"| {name} | {chosen} | {(kind.__doc__ or '').strip().partition(chr(10))[0]} | {own} |")
    return "\n".join(rows)


def settings_tables() -> str:
    """All settings as Markdown, a table a group: name, option, values, default, meaning, when it may change."""
    properties = Settings.model_json_schema()["properties"]
    tables = []
    for group, title in GROUPS.items():
        names = [name for name, about in ABOUT.items() if about.group == group]
        rows = [row for name in names for row in _rows(name, properties[name])]
        head = ["| setting | values | default | meaning | may change |", "| --- | --- | --- | --- | --- |"]
        tables.append("\n".join([f"## {title}", "", *head, *rows]))
    return "\n\n".join(tables)


def _rows(name: str, schema: dict[str, Any]) -> list[str]:
    """A setting's row, or one for each of its parts."""
    about, field = ABOUT[name], Settings.model_fields[name]
    if field.annotation is RetrievalWeights:
        return [
            f"| `{name}.{part}` | {_values(inside)} | `{inside['default']}` "
            f"| weight of {part.replace('_', ' ')} in the retrieval score | {CHANGES[about.changes]} |"
            for part, inside in RetrievalWeights.model_json_schema()["properties"].items()
        ]
    if field.annotation in (Pruning, CompanionSettings):
        group: type[BaseModel] = field.annotation
        return [
            f"| `{name}.{part}` | {_values(inside)} | {_default(inside.get('default'))} "
            f"| {_escaped(inside['description'])} | {CHANGES[about.changes]} |"
            for part, inside in group.model_json_schema()["properties"].items()
        ]
    options = [option_name(name), *about.also] if about.option is not None else []
    shown = "<br>".join(f"`{one}`" for one in (name, *options))
    condition = condition_in_words(name)
    meaning = f"{field.description}{f'; only with {condition}' if condition else ''}"
    default = _escaped(default_in_words(name))
    return [f"| {shown} | {_values(schema)} | {default} | {_escaped(meaning)} | {CHANGES[about.changes]} |"]


def _default(value: Any) -> str:
    """A default of a group's part; an empty list has none in the schema."""
    return f"`{value}`" if value is not None else "none"


def _escaped(meaning: str | None) -> str:
    return (meaning or "").replace("|", "\\|").replace("<", "&lt;").replace(">", "&gt;")


def _values(schema: dict[str, Any]) -> str:
    """The values of a setting: its choices, or its type and bounds."""
    options = [option for option in schema.get("anyOf", [schema]) if option.get("type") != "null"]
    if choices := options[0].get("enum"):
        return " · ".join(f"`{choice}`" for choice in choices)
    kinds = {
        "object": "mapping",
        "array": "list of texts",
        "string": "text",
        "number": "number",
        "integer": "integer",
        "boolean": "yes or no",
    }
    named = [f"`{option['const']}`" for option in options if "const" in option]
    bounds = [words.format(_number(options[0][key])) for key, words in BOUNDS.items() if key in options[0]]
    return " · ".join([*named, ", ".join([kinds[options[0]["type"]], *bounds])])


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def events_list() -> str:
    """All events and their parts: name, meaning, and a table of fields, types and meanings."""
    events, _ = get_args(Event)
    sections = [_fields(f"`{event.model_fields['event'].default}`", event) for event in get_args(events)]
    inner = (
        Totals,
        MindRecord,
        RecalledMemory,
        Pruned,
        PrunedItem,
        Check,
        StoryStanding,
        Position,
        Concluded,
        StoryOutcome,
    )
    parts = [_fields(part.__name__, part) for part in inner]
    return "\n\n".join([*sections, "## Parts of events", *parts])


def _fields(title: str, model: type[BaseModel]) -> str:
    rows = [f"### {title}", "", (model.__doc__ or "").strip(), "", "| field | type | meaning |", "| --- | --- | --- |"]
    properties = model.model_json_schema(mode="serialization")["properties"]
    for attribute, field in model.model_fields.items():
        name = field.alias or attribute
        if name not in ("event", "version"):
            rows.append(f"| `{name}` | {_type(properties[name])} | {_escaped(field.description)} |")
    return "\n".join(rows)


def _type(schema: dict[str, Any]) -> str:
    """A field's type in words."""
    if options := schema.get("anyOf"):
        return " or ".join(_type(option) for option in options)
    if choices := schema.get("enum"):
        return " · ".join(f"`{choice}`" for choice in choices)
    if reference := schema.get("$ref"):
        return str(reference).rpartition("/")[2]
    if schema["type"] == "array":
        return f"list of {_type(schema['items'])}"
    if schema["type"] == "object":
        values = schema.get("additionalProperties")
        return f"mapping to {_type(values)}" if isinstance(values, dict) else "mapping"
    return {"string": "text", "boolean": "yes or no"}.get(schema["type"], schema["type"])


PARTS = {
    ("architecture.md", "drawing"): drawing,
    ("settings.md", "kinds"): kinds_table,
    ("settings.md", "settings"): settings_tables,
    ("events.md", "events"): events_list,
    ("studio.md", "conversation"): partial(drawing, xray=0),
    ("studio.md", "hearing"): partial(drawing, build_hearing),
    ("studio.md", "thinking"): partial(drawing, build_thinking),
    ("studio.md", "mad"): partial(drawing, build_mad),
    ("stories.md", "story"): partial(drawing, build_story, xray=0),
    ("companion.md", "companion"): partial(drawing, studio_graph, xray=0),
    ("companion.md", "costs"): companion_costs,
}
"""Document and generated part: the function that makes it."""


def renewed(document: str, part: str) -> str:
    """A document's text with one generated part made anew.

    Raises:
        ValueError: the document lacks the part's two comments.
    """
    text = (DOCS / document).read_text(encoding="utf-8")
    begin, end = f"<!-- generated: {part} -->", f"<!-- end of {part} -->"
    made = PARTS[document, part]()
    result, found = re.subn(
        f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: f"{begin}\n{made}\n{end}", text, flags=re.DOTALL
    )
    if found != 1:
        raise ValueError(f"docs/{document} needs the comments {begin} and {end}, once each")
    return result


def main() -> int:
    """Write or check; see the module's docstring."""
    parser = argparse.ArgumentParser(description="Renew the generated parts of docs/.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if a part is stale")
    check = parser.parse_args().check
    stale = False
    for document, part in PARTS:
        path, text = DOCS / document, renewed(document, part)
        if text == path.read_text(encoding="utf-8"):
            continue
        stale = True
        print(f"docs/{document}: {part} {'is stale; run: make docs' if check else 'renewed'}")
        if not check:
            path.write_text(text, encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
