"""The documents are true to the code: generated parts are fresh, links lead somewhere, names exist."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from offenders import check_each

from persimchat.app.cli import app
from persimchat.runs.folder import calls, checkpoints, lock
from persimchat.runs.folder import run_folder as folder
from persimchat.runs.folder.manifest import RUN_FORMAT, STATE_VERSION
from persimchat.runs.run import branch
from persimchat.runs.run.resume import MAY_CHANGE
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
    data = [folder.MANIFEST, folder.TRANSCRIPT, folder.MINDS, folder.READABLE, folder.VERDICTS, folder.JUDGE_MIND]
    data += [
        folder.ANALYSIS,
        folder.SILENCES,
        folder.CONTROL,
        folder.STORY,
        f"{folder.MEMORIES}/",
        calls.CALLS,
        calls.EMBEDDINGS,
    ]
    named = [*data, checkpoints.CHECKPOINTS, lock.LOCK, lock.PID]
    assert [name for name in named if not re.search(rf"^\| .*`{re.escape(name)}`.* \|", text, re.MULTILINE)] == []


def test_the_document_on_runs_names_the_versions(root: Path):
    text = (root / "docs/runs.md").read_text(encoding="utf-8")
    assert f"`format`, now {RUN_FORMAT}," in text
    assert f"`state_version`, now {STATE_VERSION};" in text


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
