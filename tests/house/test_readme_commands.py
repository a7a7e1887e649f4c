"""What the documents tell a reader to type works: every command and every script, a document's in one folder, in order.

A command runs in this process, which is faster; a block that sets variables, or a command with a pipe, in a shell.
Models that are named are on loopback. What is not run, and what is replaced, stands in tests/documents.py.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import langsmith
import pytest
import typer
import yaml
from documents import BLOCKS, COMMANDS, GOES_ON, NOT_RUN, SCRIPTS, STANDS_FOR, Block
from langsmith.run_helpers import tracing_context
from langsmith.schemas import Example
from langsmith.utils import get_env_var
from loopback.batches import Batches
from loopback.langsmith import LangSmithServer
from loopback.scripted import Scripted
from loopback.server import Fault, LoopbackServer, natural_answer

from persimchat.app.cli import app, main
from persimchat.runs.folder.reading import read_manifest

SHELL = re.compile(r"[|<>;&$]|^export |^[A-Z_]+=")
"""What only a shell understands."""
QUIETENED = ("OTEL_", "LANGCHAIN_", "LANGSMITH_")
"""What tests switch off, and a reader of the document on traces on."""
SHORT = ("PERSIMCHAT_MAX_MESSAGES", "3")
OF_STORIES = ("stories/", "winners.yaml", "ablations.yaml", "attitude.yaml")
"""How long a conversation is where a command does not say it: shorter than a reader's."""
ENDLESS = ("serve", "companion serve")
"""Commands that do not end by themselves: their options are read, no more."""
LOOKS_BACK = (
    "show",
    "runs",
    "export",
    "resume",
    "branch",
    "regenerate",
    "replay",
    "diff",
    "evaluate",
    "poll",
    "interview",
)
"""Commands that need a run."""
PREPARED = (
    "run Cocoa? -n 2 --messages 1 --quiet",
    "run Milk? -n 2 --messages 1 --quiet",
    "run 'Tea or coffee?' -n 3 --messages 6 --quiet",
)

ANA = {"name": "Ana Mora", "description": "Ana Mora bakes bread.", "speaking_style": ""}
READ = {"people": [{**ANA, "characteristics": [], "traits": [], "social_goals": []}]}
TINY = {
    "type": "TinyPerson",
    "persona": {"name": "Lena Vogt", "occupation": {"title": "Baker", "description": "Bread."}},
}
SURVEY = (
    "participant,about_me,why I came,years,job,profession,city,country,character,goal_1,goal_2,id,submitted_at\n"
    'Ana Mora,I bake.,Curious.,34,baker,,Porto,Portugal,"shy, exact",Be heard.,,7,May\n'
)
QUESTIONS = "".join(
    json.dumps({"question": f"Ana bakes {n} rolls and eats two. How many are left?", "answer": f"#### {n - 2}"}) + "\n"
    for n in (5, 9)
)
GIVEN = {
    "docs/benchmarks.md": {"test.jsonl": QUESTIONS},
    "docs/personas.md": {
        "people.csv": "name,description,age\nBo Říha,Repairs clocks and doubts everybody.,58\n",
        "answers.csv": "Respondent,Why I came,About me,E-mail\nAna Mora,Curious.,Bakes.,ana@example.org\n",
        "survey.csv": SURVEY,
        "agents/lena.agent.json": json.dumps(TINY),
        "interview.txt": "Ana Mora bakes bread.\n",
    },
    "docs/positions.md": {
        "town.yaml": "topic: Cars?\nparticipants: [Jarmila Dvořáčková, Inés Quiroga]\n",
        "survey.csv": "option,count\ntrams,41\nbuses,35\nbicycles,24\n",
        "cycling.csv": "option,share\nyes,0.31\nno,0.69\n",
    },
}
"""Files that a document takes for granted."""

LARGE = {block.document for block in BLOCKS if "persimchat experiment run " in block.text}
"""Their experiments have fewer seeds in `make proof`."""
SLOWEST = {f"docs/{name}.md" for name in ("companion", "cost", "debates", "embedding", "evaluation", "experiments")}
SLOWEST |= {
    f"docs/{name}.md"
    for name in ("focus_groups", "langsmith", "people", "pruning", "runs", "stories", "study", "survey")
}
"""What they say takes a quarter of a minute to two minutes each: `make long`."""
PLAYED = sorted({block.document for block in BLOCKS if block.language in (*COMMANDS, *SCRIPTS)})


def answered(body: dict[str, Any]) -> Any:
    """What the model on loopback says: also who is described in a text, which the offline model does not read."""
    scripted = '<task name="persona_conversion">' in str(body.get("messages"))
    return Scripted(persona_conversion=READ)(body) if scripted else natural_answer(body)


@pytest.fixture(scope="module")
def model() -> Iterator[LoopbackServer]:
    tells = {"/v1/models": Fault(404)}  # it has any model
    with LoopbackServer(answer=answered, tells=tells, batches=Batches()) as server:
        yield server


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three runs, the last of them long enough to be branched."""
    out = tmp_path_factory.mktemp("prepared") / "conversations"
    for command in PREPARED:
        assert main([*shlex.split(command), "--out", str(out)]) == 0
    return out


@pytest.fixture
def nobody() -> Iterator[TextIO]:
    """A standard input on which nobody types."""
    with Path(os.devnull).open(encoding="utf-8") as empty:
        yield empty


class Reader:
    """Somebody who types what a document says, block by block, in a folder of their own."""

    def __init__(self, receiver: LangSmithServer, capsys: pytest.CaptureFixture[str]) -> None:
        self.receiver = receiver
        self.capsys = capsys
        self.names: dict[str, Any] = {}

    def play(self, block: Block) -> None:
        """Type a block."""
        if block.language in SCRIPTS:
            self._script(block)
        elif any(command.startswith("export ") for command in block.commands):
            for command in block.commands:
                assert command.startswith(("export ", "pip install ", "persimchat ")), f"{block.where}: {command}"
            self._shell(block, "\n".join(c for c in block.commands if not c.startswith("pip ")))
        else:
            for command in block.commands:
                self._command(block, command)

    def _replaced(self, block: Block, text: str) -> str:
        runs = sorted(Path("conversations").glob("*/run.sqlite"), key=lambda p: read_manifest(p.parent).started)
        things = {
            "run": [path.parent.name for path in runs],
            "town": sorted(map(str, Path("town").glob("*.yaml"))),
            "receiver": self.receiver.url,
        }
        for (document, words), instead in STANDS_FOR.items():
            if document == block.document and words in text:
                text = text.replace(words, instead.format_map(things))
        return text

    def _command(self, block: Block, command: str) -> None:
        if (block.document, command) in NOT_RUN or command.startswith(("make ", "pip install ", ". ")):
            return
        if command.startswith("sqlite3 "):  # as that program, which need not be installed, would
            _, pattern, query = shlex.split(command)
            for log in Path().glob(pattern):
                with sqlite3.connect(log) as database:
                    assert database.execute(query).fetchall(), f"{block.where}: {command}"
            return
        assert command.startswith(("persimchat ", "echo '")), (
            f"{block.where}: what is {command!r}? See tests/documents.py"
        )
        written = self._replaced(block, command)
        if SHELL.search(written):
            self._shell(block, written)
            return
        arguments = [found for word in shlex.split(written)[1:] for found in _expanded(word)]
        if {arguments[0], " ".join(arguments[:2])} & {*ENDLESS}:
            _options_are_known(arguments)
            return
        self.capsys.readouterr()
        code = main(arguments)
        said = self.capsys.readouterr()
        assert code == 0, f"{block.where}: {written}: {said.err}"
        _looks_like(block, command, said.out)

    def _shell(self, block: Block, commands: str) -> None:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {name: value for name, value in os.environ.items() if not name.startswith(QUIETENED)}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self._replaced(block, commands)],
            env={**environment, "PATH": path, "LANGSMITH_ENDPOINT": self.receiver.url},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=120,
        )
        assert done.returncode == 0, f"{block.where}: {commands}: {done.stderr}"

    def _script(self, block: Block) -> None:
        if block.left_out:
            return
        if block.document not in GOES_ON:
            self.names = {}
        client = langsmith.Client(api_url=self.receiver.url, api_key="lsv2_pt_loopback")
        self.names |= {"__name__": "__main__", "examples": [_example()], "client": client}
        before = set(self.names)
        with tracing_context(enabled=False):
            exec(compile(self._replaced(block, block.text), block.where, "exec"), self.names)
            for name in set(self.names) - before:
                if name.startswith("test_"):
                    self.names[name]()
        client.cleanup(timeout=60)


def _expanded(word: str) -> list[str]:
    """A word as a shell gives it to a command: the files that it stands for, where it stands for some."""
    return sorted(map(str, Path().glob(word))) or [word] if "*" in word and not word.startswith("/") else [word]


def _example() -> Example:
    inputs = {"topic": "Tea or coffee?", "participants": 2, "settings": {"max_messages": 2}}
    return Example(id="00000000-0000-4000-8000-000000000001", inputs=inputs, outputs={"answer": "yes"})


def _options_are_known(arguments: list[str]) -> None:
    group: Any = typer.main.get_command(app)
    name, *options = arguments
    command = group.get_command(None, name)
    if command is not None and name not in ENDLESS:
        name, *options = options
        command = command.get_command(None, name)
    assert command is not None, f"no command {name!r}"
    command.make_context(name, options)


def _looks_like(block: Block, command: str, out: str) -> None:
    """Where a document shows what is printed, the real lines begin with the same words."""
    if not block.text.startswith("$ "):
        return
    shown = block.text.split(f"$ {command}\n")[1].splitlines()
    begins = [re.split(r"\s{2,}|: ", line)[0] for line in shown]
    printed = "\n" + out
    assert [begin for begin in begins if f"\n{begin}" not in printed] == [], f"{block.where}:\n{out}"


def _smaller(experiment: str) -> str:
    """An experiment with a tenth of its seeds, and conversations of a third of their length; two of each at least."""
    few = re.sub(r"(?<=from: 0, count: )\d+", lambda found: str(max(2, int(found[0]) // 10)), experiment)
    return re.sub(r"(?<=max_messages: )\d+", lambda found: str(max(2, int(found[0]) // 3)), few)


def _lay_out(document: str, root: Path, *, small: bool) -> None:
    """Give the folder what the document takes for granted."""
    shutil.copytree(root / "examples", "examples", ignore=shutil.ignore_patterns("__pycache__"))
    for example in Path("examples/experiments").glob("*.yaml") if small else ():
        example.write_text(_smaller(example.read_text(encoding="utf-8")), encoding="utf-8")
    Path("personas").mkdir()
    Path("personas", "stories").symlink_to(root / "personas" / "stories")
    for name, text in GIVEN.get(document, {}).items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    for block in BLOCKS:
        saved = re.fullmatch(r"# (\S+\.yaml)", block.first)
        if block.document == document and block.language == "yaml" and saved:
            assert yaml.safe_load(block.text)
            Path(saved.group(1)).write_text(_smaller(block.text) if small else block.text, encoding="utf-8")


@pytest.mark.proof(cases="all")
@pytest.mark.parametrize(
    ("document", "small"),
    [
        *(pytest.param(document, True, marks=[pytest.mark.long] * (document in SLOWEST)) for document in PLAYED),
        *(pytest.param(document, False, marks=pytest.mark.long) for document in sorted(LARGE)),
    ],
)
def test_what_a_document_says_works(
    document: str,
    small: bool,
    root: Path,
    tmp_path: Path,
    model: LoopbackServer,
    prepared: Path,
    nobody: TextIO,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", nobody)
    monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{model.port}")
    monkeypatch.setenv("OPENAI_BASE_URL", model.url)
    monkeypatch.setenv(*SHORT)
    monkeypatch.setenv("LANGSMITH_TEST_TRACKING", "false")
    get_env_var.cache_clear()
    _lay_out(document, root, small=small)
    played = [block for block in BLOCKS if block.document == document and block.language in (*COMMANDS, *SCRIPTS)]
    typed = [command for block in played if block.language in COMMANDS for command in block.commands]
    first = next((command.split()[1] for command in typed if command.startswith("persimchat ")), "")
    if first in LOOKS_BACK:
        shutil.copytree(prepared, "conversations")
        shutil.copytree(prepared, "runs")
    with LangSmithServer() as receiver:
        reader = Reader(receiver, capsys)
        for block in played:
            with monkeypatch.context() as keys:
                if "openai:" in block.text:
                    keys.setenv("OPENAI_API_KEY", "sk-loopback")
                if any(word in block.text for word in OF_STORIES) or document == "docs/stories.md":
                    keys.delenv(SHORT[0])  # a story's stages say how long it is
                reader.play(block)
    if document == "docs/langsmith.md":
        _tree_is_as_shown(receiver)


def _tree_is_as_shown(receiver: LangSmithServer) -> None:
    """Both blocks with a conversation were traced, and the tree that the document draws is the one that was sent."""
    assert "POST /v1/traces" in receiver.paths
    sent = {run.name.partition(":")[0] for tree in receiver.trees() for run in tree.all()}
    (drawn,) = (block.text for block in BLOCKS if block.document == "docs/langsmith.md" and block.language == "text")
    names = {re.split(r"\s{2,}|:", line.lstrip("│├└─ "))[0] for line in drawn.splitlines()}
    assert names - sent - {"…"} == {"conclusion"}  # of debates without consensus
