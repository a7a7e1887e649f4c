"""What the README, and the documents on debates and baselines, tell a reader to type works.

Fenced blocks of `sh`, `bash` or `console` are commands; those that begin with `persimchat` are run, `make` targets must
exist. Blocks of `python` are run as scripts. A block that cannot run here (a key, a server, a display) has a comment
in front of it: `<!-- not run: why -->`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

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


DOCUMENTS = ("README.md", "docs/debates.md", "docs/baselines.md")
README = [b for name in DOCUMENTS for b in blocks((ROOT / name).read_text(encoding="utf-8"))]
COMMANDS = [c for b in README if b.language != "python" for c in b.commands]
RUN = [c for b in README if b.language != "python" and b.runs for c in b.commands if c.startswith("persimchat ")]
SCRIPTS = [b.text for b in README if b.language == "python" and b.runs]


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
@pytest.mark.parametrize("command", RUN)
def test_commands_run(command: str, tmp_path: Path):
    if command.startswith("persimchat show"):  # shows the last run, so there has to be one
        command = f"persimchat run 'Tea or coffee?' -n 2 --messages 2 --quiet && {command}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder_with_examples(tmp_path),
        env=environment(),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr


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


def test_blocks_are_read_rightly():
    text = (
        "```sh\n# set up\nmake run\npersimchat run \\\n  x\n```\n<!-- not run: key -->\n```console\n$ a b\nout\n```\n"
    )
    first, second = blocks(text)
    assert first.commands == ["make run", "persimchat run    x"]
    assert (first.runs, second.runs) == (True, False)
    assert second.commands == ["a b"]
