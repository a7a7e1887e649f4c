"""docs/events.md is true: its list is fresh, its order is the order, and what it shows works."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter

import persimchat
from persimchat.personas.scenario import load_story
from persimchat.runs.events import EVENTS_VERSION, Event, GuideTold, Started, event_schema

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/events.md").read_text(encoding="utf-8")
EVENTS = {model.model_fields["event"].default: model for model in get_args(get_args(Event)[0])}
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
ANY_TIME = ("asked", "hand", "topic", "paused", "continued", "waiting", "shortened")

RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "discussion": ("run", {"analysis": True}),
    "debate": ("run", {"mode": "debate", "judge": "persona"}),
    "single_agent": ("baseline", {"baseline": "single_agent", "analysis": True}),
    "group_chat": ("baseline", {"baseline": "group_chat", "analysis": True}),
    "group_chat that debates": ("baseline", {"mode": "debate", "baseline": "group_chat", "max_messages": 6}),
    "mad": ("baseline", {"mode": "debate", "baseline": "mad", "rounds": 2, "max_messages": 6, "analysis": True}),
    "mad_judge": ("baseline", {"mode": "debate", "baseline": "mad_judge", "max_messages": 6, "analysis": True}),
    "reconcile": ("baseline", {"mode": "debate", "baseline": "reconcile", "max_messages": 6}),
}


def grammar() -> dict[str, str]:
    """The document's rules: name, and what it stands for."""
    (block,) = (text for language, text in BLOCKS if language == "text")
    return {name.strip(): rule.strip() for name, rule in (line.split("=") for line in block.splitlines())}


def pattern(name: str) -> str:
    """A rule as a regular expression over the names of events, each with a space behind it."""
    rules = grammar()
    if name not in rules:
        return f"(?:{name} )"
    parts = re.findall(r"[a-z_]+|[^a-z_\s]", rules[name])
    return f"(?:{''.join(pattern(part) if part.isidentifier() else part for part in parts)})"


def keeps_to(rule: str, names: list[str]) -> bool:
    return re.fullmatch(pattern(rule), "".join(f"{name} " for name in names)) is not None


def test_the_list_is_fresh(root: Path) -> None:
    spec = importlib.util.spec_from_file_location("generate_docs", root / "tools/generate_docs.py")
    assert spec is not None and spec.loader is not None
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    assert generator.renewed("events.md", "events") == TEXT, "stale; run: make docs"


def test_every_event_and_field_is_listed() -> None:
    listed = TEXT[TEXT.index("<!-- generated: events -->") :]
    for name, model in EVENTS.items():
        section = listed[listed.index(f"### `{name}`\n") :].partition("\n### ")[0]
        missing = [field for field in model.model_fields if f"| `{field}` |" not in section]
        assert missing == ["version", "event"] or missing == ["event", "version"], name


def test_the_version_is_told() -> None:
    assert f"`version`, which is {EVENTS_VERSION} " in TEXT
    assert f"event.version !== {EVENTS_VERSION})" in TEXT


def test_the_order_names_every_event() -> None:
    words = set(re.findall("[a-z_]+", " ".join(grammar().values()))) - grammar().keys()
    assert words | set(ANY_TIME) == EVENTS.keys()
    assert [name for name in ANY_TIME if f"`{name}`" not in TEXT.partition("## What you may")[0]] == []


@pytest.mark.parametrize(("rule", "settings"), RUNS.values(), ids=RUNS)
def test_runs_keep_to_the_order(rule: str, settings: dict[str, Any]) -> None:
    options: dict[str, Any] = {"model": "offline", "max_messages": 4, **settings}
    names = [event.event for event in persimchat.stream_events("Tea or coffee?", 3, **options)]
    assert keeps_to(rule, names), names


@pytest.mark.parametrize("seed", [1, 2])
def test_stories_keep_to_the_order(seed: int) -> None:
    names = [event.event for event in persimchat.stream_events(load_story(), model="offline", seed=seed)]
    assert "happening" in names
    assert keeps_to("story", names), names
    assert not keeps_to("story", [names[0], *names[:0:-1]])


def test_the_order_can_be_broken() -> None:
    names = [event.event for event in persimchat.stream_events("Tea?", 2, model="offline", max_messages=1)]
    assert keeps_to("run", names)
    for wrong in (names[1:], names[:-1], [*names, "stopped"], [*names[:-2], "stopped"], [names[0], *names[:0:-1]]):
        assert not keeps_to("run", wrong)


def test_a_silenced_speaker_is_in_order() -> None:
    assert keeps_to("turn", ["speaking", "silenced", "speaking", "token", "utterance", "silenced", "turn_ended"])


def test_the_schema_is_that_of_what_is_printed() -> None:
    schema = event_schema()
    assert set(schema["discriminator"]["mapping"]) == EVENTS.keys()
    guide = GuideTold(moderator="m", questions=["q"])
    started = Started(run="r", topic="t", participants=[], models={}, max_messages=1, guide=guide)
    written = started.model_dump(mode="json")
    assert set(schema["$defs"]["Started"]["properties"]) == set(written)
    assert [name for name, part in schema["$defs"].items() if part.get("additionalProperties") is False] == []


def test_fields_that_are_not_known_are_ignored() -> None:
    written = Started(run="r", topic="t", participants=[], models={}, max_messages=1)
    adapter: TypeAdapter[Event] = TypeAdapter(Event)
    assert adapter.validate_json(json.dumps({**written.model_dump(mode="json"), "mood": "blue"})) == written


def run(command: list[str], folder: Path, given: str = "") -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, input=given, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.proof
def test_the_consumer_in_javascript(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed")
    (script,) = (text for language, text in BLOCKS if language == "javascript")
    (tmp_path / "follow.mjs").write_text(script, encoding="utf-8")
    events = list(persimchat.stream_events("Tea or\x1b[2J coffee?", 2, model="offline", max_messages=2))
    said = [f"{e.turn}. {e.speaker}: {e.text}" for e in events if e.event == "utterance"]
    printed = run([node, "follow.mjs"], tmp_path, "".join(e.model_dump_json() + "\n" for e in events)).splitlines()
    assert "\x1b" not in printed[0]
    assert printed[1:3] == said
    assert printed[3].startswith("message_limit, ")
