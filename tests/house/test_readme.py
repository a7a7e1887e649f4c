"""What the README and some of the other documents tell a reader to type works.

Fenced blocks of `sh`, `bash` or `console` are commands; those that begin with `persimchat` are run: a block's one after
the other in one folder, with a run in it where the first of them needs one. `make` targets must exist. Blocks of
`python` are run as scripts. A block that cannot run here (a key, a server, a display) has a comment in front of it:
`<!-- not run: why -->`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import persimchat

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(<!-- not run: [^>]+-->\s*)?^```(sh|bash|console|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    runs: bool

    @property
    def commands(self) -> list[str]:
        """The block's commands, without comments, continued lines joined; where there are prompts, without output."""
        lines = self.text.replace("\\\n", " ").splitlines()
        if any(line.startswith("$ ") for line in lines):
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def blocks(text: str) -> list[Block]:
    return [Block(language, body, not skipped) for skipped, language, body in BLOCK.findall(text)]


DOCUMENTS = (
    "README.md",
    "docs/runs.md",
    "docs/people.md",
    "docs/cost.md",
    "docs/debates.md",
    "docs/baselines.md",
    "docs/embedding.md",
    "docs/concepts.md",
)
FOUND = [(name, b) for name in DOCUMENTS for b in blocks((ROOT / name).read_text(encoding="utf-8"))]
COMMANDS = [c for _, b in FOUND if b.language != "python" for c in b.commands]
RUN = [
    pytest.param(commands, id=f"{name}: {commands[0]}")
    for name, b in FOUND
    if b.language != "python" and b.runs and (commands := [c for c in b.commands if c.startswith("persimchat ")])
]
SCRIPTS = [pytest.param(b.text, id=name) for name, b in FOUND if b.language == "python" and b.runs]

LOOKS_BACK = ("show", "runs", "export", "resume", "branch", "regenerate", "replay", "diff")
"""Commands that need a run."""
PREPARED = "persimchat run 'Tea or coffee?' -n 3 --messages 6 --quiet"


def environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def folder_with_examples(tmp_path: Path) -> Path:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


def test_readme_shows_the_commands_that_matter():
    assert "make run" in COMMANDS
    assert "make test" in COMMANDS
    assert RUN


def test_make_targets_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    used = {word for c in COMMANDS if c.startswith("make ") for word in c.split()[1:] if re.fullmatch("[a-z-]+", word)}
    assert used - targets == set()


@pytest.mark.slow
@pytest.mark.parametrize("commands", RUN)
def test_commands_run(commands: list[str], tmp_path: Path):
    prepared = [PREPARED] if commands[0].split()[1] in LOOKS_BACK else []
    folder = folder_with_examples(tmp_path)
    for command in [*prepared, *commands]:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=environment(),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_run(script: str, tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder_with_examples(tmp_path),
        env=environment(),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_conversation_shown_is_word_for_word():
    shown = re.findall(r"^> \*\*(.+?):\*\* (.+)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    held = persimchat.simulate("Should our town close its centre to cars?", 4, model="offline", max_messages=8)
    assert shown == [(said.speaker, said.text) for said in held.utterances]


def test_blocks_are_read_rightly():
    text = (
        "```sh\n# set up\nmake run\npersimchat run \\\n  x\n```\n<!-- not run: key -->\n```console\n$ a b\nout\n```\n"
    )
    first, second = blocks(text)
    assert first.commands == ["make run", "persimchat run    x"]
    assert (first.runs, second.runs) == (True, False)
    assert second.commands == ["a b"]
