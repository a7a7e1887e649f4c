"""The documents are true to the code: generated parts are fresh, links lead somewhere, names exist."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from types import ModuleType
from typing import Any, get_args

import pytest
import yaml
from documents import (
    BLOCKS,
    COMMANDS,
    NOT_RUN,
    OUTPUT,
    SCRIPTS,
    STANDS_FOR,
    TESTED_ELSEWHERE,
    Block,
    blocks_in,
)
from offenders import check_each
from pydantic import TypeAdapter
from run_files import logged

import persimchat
from persimchat.app.cli import app
from persimchat.experiments import Experiment
from persimchat.experiments.plan import plan
from persimchat.graph import studio
from persimchat.personas.catalogue import load_persona, shipped
from persimchat.personas.conversion.mapping import load_mapping
from persimchat.personas.files import persona_text
from persimchat.personas.place_file import load_place
from persimchat.personas.quotas import load_quotas
from persimchat.personas.scenario import load_scenario, load_story
from persimchat.runs.events import EVENTS_VERSION, Event, GuideTold, Started, event_schema
from persimchat.runs.folder import lock
from persimchat.runs.folder import run_folder as folder
from persimchat.runs.folder.manifest import STATE_VERSION
from persimchat.runs.kinds import KINDS
from persimchat.runs.log import FORMAT
from persimchat.runs.run import branch
from persimchat.runs.run.resume import MAY_CHANGE
from persimchat.state.intervention import intervention
from persimchat.state.minds.pruning import Check, Pruned, PrunedItem, select
from persimchat.state.settings import BUDGETS, Settings

ROOT = Path(__file__).resolve().parents[2]


DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])


@pytest.fixture(scope="module")
def generator(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_docs", root / "tools/generate_docs.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("document", "part"),
    [
        ("architecture.md", "drawing"),
        ("settings.md", "settings"),
        ("events.md", "events"),
        ("stories.md", "story"),
        *(("companion.md", part) for part in ("companion", "costs")),
        *(("studio.md", part) for part in ("conversation", "hearing", "thinking", "mad")),
    ],
)
def test_generated_parts_are_fresh(generator: ModuleType, root: Path, document: str, part: str):
    written = (root / "docs" / document).read_text(encoding="utf-8")
    assert written == generator.renewed(document, part), "stale; run: make docs"


def test_the_table_names_every_setting(root: Path):
    table = (root / "docs/settings.md").read_text(encoding="utf-8")
    assert [name for name in Settings.model_fields if f"| `{name}" not in table] == []


def test_links_lead_somewhere() -> None:
    def check(path: Path) -> None:
        targets = re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", path.read_text(encoding="utf-8"))
        assert [target for target in targets if not (path.parent / target).exists()] == []

    check_each(DOCUMENTS, check)


def test_architecture_names_files_that_exist(root: Path):
    text = (root / "docs/architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+/[\w/.]+\.(?:py|jinja|yaml|md))`", text))
    assert len(named) > 20
    assert sorted(name for name in named if not (root / name).is_file()) == []


def test_the_document_on_runs_names_every_file_of_a_run(root: Path):
    text = (root / "docs/runs.md").read_text(encoding="utf-8")
    named = [folder.RUN, folder.READABLE, f"{folder.MEMORIES}/", lock.LOCK, lock.PID]
    assert [name for name in named if not re.search(rf"^\| .*`{re.escape(name)}`.* \|", text, re.MULTILINE)] == []


def test_the_document_on_runs_names_the_versions(root: Path):
    text = (root / "docs/runs.md").read_text(encoding="utf-8")
    assert f"`user_version`, now {FORMAT}," in text
    assert f"`state_version`, now {STATE_VERSION};" in text


def test_the_document_on_runs_names_every_table(root: Path):
    text = (root / "docs/runs.md").read_text(encoding="utf-8")
    tables = [kind.table for kind in KINDS.values()]
    assert [name for name in tables if not re.search(rf"^\| `{re.escape(name)}` \|", text, re.MULTILINE)] == []


def test_the_document_on_runs_says_what_may_change(root: Path):
    text = (root / "docs/runs.md").read_text(encoding="utf-8")
    resuming = text[text.index("**What may change**") : text.index("**Which ends")]
    assert [name for name in MAY_CHANGE - {*BUDGETS, "checkpoints"} if f"`{name}`" not in resuming] == []
    assert set(re.findall(r"`([a-z_]+)`", resuming)) <= MAY_CHANGE
    branching = text[text.index("Those on which the shared past depends") : text.index("A branch is a whole run")]
    assert set(re.findall(r"`([a-z_]+)`", branching)) == branch._STAYS


def test_the_readme_names_every_command(root: Path):
    text = (root / "README.md").read_text(encoding="utf-8")
    commands = [getattr(command.callback, "__name__", "") for command in app.registered_commands]
    groups = [group.name for group in app.registered_groups]
    assert {"resume", "replay"} <= set(commands)
    assert [name for name in (*commands, *groups) if f"persimchat {name}" not in text] == []


def test_environment_example_names_settings(root: Path):
    lines = (root / ".env.example").read_text(encoding="utf-8").splitlines()
    names = [line.lstrip("# ").partition("=")[0] for line in lines if re.match(r"#?\s?[A-Z_]+=", line)]
    own = [name.removeprefix("PERSIMCHAT_").lower() for name in names if name.startswith("PERSIMCHAT_")]
    assert "model" in own
    assert [name for name in own if name not in Settings.model_fields and name != "api_key"] == []


EVENTS_PAGE = (ROOT / "docs/events.md").read_text(encoding="utf-8")


EVENTS = {model.model_fields["event"].default: model for model in get_args(get_args(Event)[0])}


EVENT_BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", EVENTS_PAGE, re.MULTILINE | re.DOTALL)


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
    (block,) = (text for language, text in EVENT_BLOCKS if language == "text")
    return {name.strip(): rule.strip() for name, rule in (line.split("=") for line in block.splitlines())}


def order(name: str) -> str:
    """A rule as a regular expression over the names of events, each with a space behind it."""
    rules = grammar()
    if name not in rules:
        return f"(?:{name} )"
    parts = re.findall(r"[a-z_]+|[^a-z_\s]", rules[name])
    return f"(?:{''.join(order(part) if part.isidentifier() else part for part in parts)})"


def keeps_to(rule: str, names: list[str]) -> bool:
    return re.fullmatch(order(rule), "".join(f"{name} " for name in names)) is not None


def test_every_event_and_field_is_listed() -> None:
    listed = EVENTS_PAGE[EVENTS_PAGE.index("<!-- generated: events -->") :]
    for name, model in EVENTS.items():
        section = listed[listed.index(f"### `{name}`\n") :].partition("\n### ")[0]
        missing = [field for field in model.model_fields if f"| `{field}` |" not in section]
        assert missing == ["version", "event"] or missing == ["event", "version"], name


def test_the_version_is_told() -> None:
    assert f"`version`, which is {EVENTS_VERSION} " in EVENTS_PAGE
    assert f"event.version !== {EVENTS_VERSION})" in EVENTS_PAGE


def test_the_order_names_every_event() -> None:
    words = set(re.findall("[a-z_]+", " ".join(grammar().values()))) - grammar().keys()
    assert words | set(ANY_TIME) == EVENTS.keys()
    assert [name for name in ANY_TIME if f"`{name}`" not in EVENTS_PAGE.partition("## What you may")[0]] == []


@pytest.mark.parametrize(("rule", "settings"), RUNS.values(), ids=RUNS)
def test_runs_keep_to_the_order(rule: str, settings: dict[str, Any]) -> None:
    options: dict[str, Any] = {"model": "offline", "max_messages": 4, **settings}
    names = [event.event for event in persimchat.stream_events("Tea or coffee?", 3, **options)]
    assert keeps_to(rule, names), names


@pytest.mark.proof
@pytest.mark.parametrize("seed", [1, 2])
def test_stories_keep_to_the_order(seed: int) -> None:
    names = [event.event for event in persimchat.stream_events(load_story(), model="offline", seed=seed)]
    assert "happening" in names
    assert keeps_to("story", names), names
    assert not keeps_to("story", [names[0], *names[:0:-1]])


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


def printed_by(command: list[str], folder: Path, given: str = "") -> str:
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
    (script,) = (text for language, text in EVENT_BLOCKS if language == "javascript")
    (tmp_path / "follow.mjs").write_text(script, encoding="utf-8")
    events = list(persimchat.stream_events("Tea or\x1b[2J coffee?", 2, model="offline", max_messages=2))
    said = [f"{e.turn}. {e.speaker}: {e.text}" for e in events if e.event == "utterance"]
    printed = printed_by(
        [node, "follow.mjs"], tmp_path, "".join(e.model_dump_json() + "\n" for e in events)
    ).splitlines()
    assert "\x1b" not in printed[0]
    assert printed[1:3] == said
    assert printed[3].startswith("message_limit, ")


PRUNING = (Path(__file__).resolve().parents[2] / "docs/pruning.md").read_text(encoding="utf-8")


EXAMPLE = PRUNING.partition("### An example by hand")[2].partition("\n### ")[0]


PIECES = "ABC"


def rows(text: str, head: str) -> list[list[str]]:
    """The rows of the table under this heading."""
    lines = text[text.index(head) :].splitlines()[2:]
    end = next((n for n, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines[:end]]


def test_the_scores_of_the_example_are_those_of_its_attention() -> None:
    *heads, sums = rows(EXAMPLE, "| | token 1 |")
    read = [[float(cell) for cell in row[1:]] for row in heads]
    for row in read:
        assert (row[0] + row[1], row[2], row[3]) == pytest.approx(tuple(row[4:]))
    layers = [read[:2], read[2:]]
    scores = [sum(fmean(row[4 + place] for row in layer) for layer in layers) for place in range(3)]
    assert scores == pytest.approx([float(cell) for cell in sums[5:]])
    assert "sum to 1.05" in EXAMPLE
    assert sum(scores) == pytest.approx(1.05)


def test_what_is_left_out_in_the_example_is_what_the_program_leaves_out() -> None:
    scores = [float(cell) for cell in rows(EXAMPLE, "| | token 1 |")[-1][5:]]
    told = {float(row[0]): re.findall(r"\b[ABC]\b", row[3]) for row in rows(EXAMPLE, "| λ |")}
    assert told == {strength: [PIECES[n] for n in select(scores, strength)] for strength in (0.5, 0.6, 1.0)}


def test_every_field_of_the_record_is_explained() -> None:
    record = PRUNING.partition("### The record")[2].partition("\n### ")[0]
    names = [field.alias or name for model in (Pruned, PrunedItem, Check) for name, field in model.model_fields.items()]
    assert [name for name in names if f"`{name}`" not in record] == []


ARCHITECTURE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")


WALK = ARCHITECTURE[ARCHITECTURE.index("## A walk through the code") : ARCHITECTURE.index("## Where to add what")]


HOP = re.compile(r"\[`([\w.]+)`\s+in\s+`([\w/]+\.py)`\]\(\.\./([\w/]+\.py)\)")


LINK = re.compile(r"\]\(([^)]*)\)")


def defined(source: str) -> set[str]:
    """The functions and classes of a module; those of a class as `Class.name`."""
    found: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            inner = (part for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef))
            found |= {f"{node.name}.{part.name}" for part in inner}
    return found


def stale(walk: str, root: Path) -> list[str]:
    """The hops of a walk whose file is gone, is another one than the text says, or does not define the name."""
    wrong = []
    for name, shown, target in HOP.findall(walk):
        path = root / target
        if shown != target or not path.is_file() or name not in defined(path.read_text(encoding="utf-8")):
            wrong.append(f"{name} in {shown} ({target})")
    return wrong


def test_every_hop_is_in_the_code():
    assert stale(WALK, ROOT) == []


def test_every_link_is_a_hop():
    """A link of another form would not be looked at."""
    assert [link for link in LINK.findall(WALK) if link not in {f"../{hop[2]}" for hop in HOP.findall(WALK)}] == []
    assert len(LINK.findall(WALK)) == len(HOP.findall(WALK))


@pytest.mark.parametrize("part", ["### One utterance", "### One model call"])
def test_both_walks_are_there(part: str):
    hops = HOP.findall(WALK[WALK.index(part) :].partition("\n### ")[0])
    assert len(hops) >= 10


def test_an_utterance_passes_few_files():
    """At most twenty stops in at most twelve files."""
    hops = HOP.findall(WALK[WALK.index("### One utterance") : WALK.index("### One model call")])
    assert len(hops) <= 20 and len({hop[2] for hop in hops}) <= 12


TYPED = [(block, command) for block in BLOCKS if block.language in COMMANDS for command in block.commands]


def test_every_block_says_what_it_is():
    known = {*COMMANDS, *OUTPUT, *TESTED_ELSEWHERE, *SCRIPTS, "yaml", "json"}
    assert [f"{block.where}: {block.language!r}" for block in BLOCKS if block.language not in known] == []


def test_what_is_left_out_is_still_there():
    typed = {(block.document, command) for block, command in TYPED}
    typed |= {(block.document, block.first) for block in BLOCKS if block.language in SCRIPTS}
    assert [entry for entry in NOT_RUN if entry not in typed] == []


def test_what_is_replaced_is_still_there():
    words = {document: "".join(b.text for b in BLOCKS if b.document == document) for document, _ in STANDS_FOR}
    assert [entry for entry in STANDS_FOR if entry[1] not in words[entry[0]]] == []


def test_readme_shows_the_commands_that_matter():
    typed = [command for block, command in TYPED if block.document == "README.md"]
    assert "make run" in typed
    assert "make test" in typed


def test_make_targets_exist(root: Path):
    targets = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    used = {word for _, c in TYPED if c.startswith("make ") for word in c.split()[1:] if re.fullmatch("[a-z-]+", word)}
    assert used
    assert used - targets == set()


def test_what_pip_is_to_install_is_declared(root: Path):
    """An extra of ours, or a package that one of our extras needs."""
    extras = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    known = {f"persimchat[{name}]" for name in extras}
    known |= {re.split("[<>=]", package)[0] for packages in extras.values() for package in packages}
    wanted = [(b.where, c.removeprefix("pip install").strip(" '")) for b, c in TYPED if c.startswith("pip install")]
    assert wanted
    assert [entry for entry in wanted if entry[1] not in known] == []


@pytest.mark.proof
def test_the_conversation_shown_is_word_for_word(root: Path, tmp_path: Path):
    readme = (root / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^> \*\*(.+?):\*\* (.+)$", readme, re.MULTILINE)
    topic = "Should our town close its centre to cars?"
    held = persimchat.simulate(topic, 4, model="offline", max_messages=8, out=tmp_path)
    assert shown == [(said.speaker, said.text) for said in held.utterances]
    (mind,) = (json.loads(block.text) for block in blocks_in(readme) if block.language == "json")
    lines = logged(Path(held.folder), "mind")
    (real,) = (line for line in lines if (line["turn"], line["agent"]) == (mind["turn"], mind["agent"]))
    assert holds(real, mind)


HALF_A_HUNDREDTH = 0.005 + 1e-9


def holds(real: Any, shown: Any) -> bool:
    """Whether what is shown, shortened, is in what really is: entries may be missing, numbers be rounded."""
    if isinstance(shown, dict):
        return isinstance(real, dict) and all(key in real and holds(real[key], part) for key, part in shown.items())
    if isinstance(shown, list):
        return isinstance(real, list) and all(any(holds(entry, part) for entry in real) for part in shown)
    return bool(abs(real - shown) <= HALF_A_HUNDREDTH if isinstance(shown, float) else real == shown)


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
