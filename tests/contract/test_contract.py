"""What users build on stays: commands, options, pages, routes, events, tables, settings, names in Python, extras.

`contract.yaml` beside this file lists all of it. What is gone or has changed its form must stand in `replaced.yaml`:
the entry (`*` stands for anything), and the sentence that CHANGELOG.md tells users: what takes its place, and what they
gain. What is new is taken up with

    python tests/contract/test_contract.py --write
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pytest
import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CONTRACT = HERE / "contract.yaml"
REPLACED: dict[str, dict[str, str]] = yaml.safe_load((HERE / "replaced.yaml").read_text("utf-8")) or {}


def commands() -> Iterator[str]:
    """Every command, and every argument and option of it: `run --messages`."""
    import typer

    from persimchat.app.cli import app

    def below(group: Any, path: str) -> Iterator[str]:
        for param in group.params:
            options = [option for option in (*param.opts, *param.secondary_opts) if option.startswith("-")]
            for name in options or [f"<{param.name}>"]:
                yield f"{path} {name}".strip()
        for name, command in getattr(group, "commands", {}).items():
            yield f"{path} {name}".strip()
            yield from below(command, f"{path} {name}".strip())

    yield from below(typer.main.get_command(app), "")


def addresses(folder: Path) -> Iterator[str]:
    """Every page; every route of the REST API and of `/v1`, with its parameters and the fields of its body."""
    pytest.importorskip("nicegui")
    from nicegui import app as pages
    from starlette.routing import Route

    from persimchat.app.web.addresses import register
    from persimchat.app.web.api.app import api_app
    from persimchat.app.web.serving import web_context
    from persimchat.app.web.v1.app import Manner, v1_app

    web = web_context(folder / "runs", folder / "personas", folder / "results")
    world: Any = SimpleNamespace(folder=folder)
    for api, mounted in ((api_app(web), ""), (v1_app(world, Manner()), "/v1")):
        described = api.openapi()
        for path, methods in described["paths"].items():
            for method, route in methods.items():
                address = f"{method.upper()} {mounted}{path}"
                yield address
                yield from (f"{address} ?{one['name']}" for one in route.get("parameters", ()) if one["in"] == "query")
                for content in route.get("requestBody", {}).get("content", {}).values():
                    model = content["schema"].get("$ref", "").rpartition("/")[2]
                    fields = described.get("components", {}).get("schemas", {}).get(model, {}).get("properties", {})
                    yield from (f"{address} {{{field}}}" for field in fields)
    register(web)
    for route in pages.routes:
        if isinstance(route, Route) and not re.match(r"/(_nicegui|static)", route.path):
            yield f"page {route.path}"


def python() -> Iterator[str]:
    """Every public name of the package, with its parameters; every name that documents and examples import.

    A name that they import from within a room is listed without its place, which a reader finds in the documents.
    """
    import persimchat

    for name in sorted({*persimchat.__all__, *_documented()}):
        module, _, last = name.rpartition(".")
        value = getattr(import_module(f"persimchat.{module}" if module else "persimchat"), last, None)
        shown = last if module.count(".") else name
        yield shown
        if inspect.isfunction(value):
            yield from (f"{shown}({parameter})" for parameter in inspect.signature(value).parameters)


def _documented() -> Iterator[str]:
    """What the documents, examples and notebooks import from the package: `state.settings.Settings`."""
    texts = [path.read_text("utf-8") for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))]
    blocks = [block for text in texts for block in re.findall(r"^```(?:python|py)\n(.*?)^```", text, re.M | re.S)]
    blocks += [path.read_text("utf-8") for path in sorted((ROOT / "examples").rglob("*.py"))]
    for path in sorted((ROOT / "examples").rglob("*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        blocks += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    for block in blocks:
        for line in re.findall(r"^ *(from persimchat[\w.]* import (?:\([^)]*\)|.*))$", block, re.M):
            found = ast.parse(line).body[0]
            assert isinstance(found, ast.ImportFrom)
            module = (found.module or "").removeprefix("persimchat").strip(".")
            yield from (f"{module}.{alias.name}".strip(".") for alias in found.names)


def events() -> Iterator[str]:
    """Every kind of event, and every field of it: `utterance.text`."""
    from persimchat.runs.events import Event

    for model in get_args(get_args(Event)[0]):
        kind = model.model_fields["event"].default
        yield kind
        yield from (f"{kind}.{field}" for field in model.model_fields if field != "event")


def tables() -> Iterator[str]:
    """Every table of an export, and every column of it: `utterances.text`."""
    from persimchat.reports.export_tables import TABLES

    for table, row in TABLES.items():
        yield table
        yield from (f"{table}.{column}" for column in row.model_fields)


def settings() -> Iterator[str]:
    """Every setting as users write it, and the words that it takes."""
    from persimchat.state.settings import Settings

    def words(annotation: Any) -> Iterator[str]:
        if type(annotation).__name__ == "_LiteralGenericAlias":
            yield from (str(word) for word in get_args(annotation) if word is not None)
        else:
            for part in get_args(annotation):
                yield from words(part)

    for name, field in Settings.model_fields.items():
        yield name
        yield from (f"{name}: {word}" for word in words(field.annotation))


def project() -> Iterator[str]:
    """Extras, scripts, and the graphs of LangGraph Studio."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    yield from (f"extra {name}" for name in pyproject["optional-dependencies"])
    yield from (f"script {name}" for name in pyproject["scripts"])
    yield from (f"graph {name}" for name in json.loads((ROOT / "langgraph.json").read_text("utf-8"))["graphs"])


def everything(folder: Path) -> dict[str, list[str]]:
    """All that users build on, sorted, by part."""
    parts = {
        "commands": commands(),
        "addresses": addresses(folder),
        "python": python(),
        "events": events(),
        "tables": tables(),
        "settings": settings(),
        "project": project(),
    }
    return {part: sorted(set(found)) for part, found in parts.items()}


@pytest.fixture(scope="module")
def now(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    return everything(tmp_path_factory.mktemp("contract"))


def replacing(part: str, entry: str) -> list[str]:
    """The entries of replaced.yaml that an entry of the contract matches."""
    return [pattern for pattern in REPLACED.get(part, {}) if fnmatchcase(entry, pattern)]


@pytest.mark.parametrize("part", ["commands", "addresses", "python", "events", "tables", "settings", "project"])
def test_nothing_vanishes(part: str, now: dict[str, list[str]]):
    before = yaml.safe_load(CONTRACT.read_text("utf-8"))[part]
    assert len(before) > 5, "the list itself is whole"
    gone = [one for one in before if one not in now[part] and not replacing(part, one)]
    assert gone == [], "say in replaced.yaml what takes its place, and what users gain"


def test_what_is_replaced_is_told():
    changelog = " ".join((ROOT / "CHANGELOG.md").read_text("utf-8").split())
    untold = [told for part in REPLACED.values() for told in part.values() if " ".join(told.split()) not in changelog]
    assert untold == [], "CHANGELOG.md says it in these words"


def test_every_replacement_is_of_something(now: dict[str, list[str]]):
    before = yaml.safe_load(CONTRACT.read_text("utf-8"))
    for part, entries in REPLACED.items():
        used = {pattern for one in before[part] if one not in now[part] for pattern in replacing(part, one)}
        assert set(entries) - used == set()


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    import tempfile

    kept = yaml.safe_load(CONTRACT.read_text("utf-8")) if CONTRACT.exists() else {}
    with tempfile.TemporaryDirectory() as made:
        found = everything(Path(made))
    whole = {part: sorted({*found[part], *kept.get(part, [])}) for part in found}
    CONTRACT.write_text(yaml.safe_dump(whole, sort_keys=False, width=200, allow_unicode=True), "utf-8")
