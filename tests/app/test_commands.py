"""Help, version, personas and the drawing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

from persimchat.app.cli import PANELS, app
from persimchat.state.persona import Persona

Run = Callable[..., Any]
WIDE = {"COLUMNS": "160", "TERM": "dumb", "NO_COLOR": "1"}


def help_of(*arguments: str) -> str:
    result = CliRunner().invoke(app, [*arguments, "--help"], env=WIDE)
    assert result.exit_code == 0
    return result.output


def test_every_option_of_run_has_a_help_text():
    text = help_of("run")
    for option in (
        "--scenario", "--participants", "-n", "--messages", "--pattern", "--selection", "--selection-temperature",
        "--allow-repeated-speaker", "--model", "--embedding", "--seed", "--out", "--set", "--json", "--quiet",
    ):  # fmt: skip
        line = next(line for line in text.splitlines() if re.search(rf"{option}\b", line) and line.startswith("│"))
        assert len(line.strip("│ ").split("  ")[-1].strip()) > 15, line
    assert "./conversations" in text
    assert "130 interrupted" in text


@pytest.mark.parametrize("command", [(), ("run",), ("personas",), ("personas", "show"), ("graph",), ("doctor",)])
def test_help_is_not_markup(command: tuple[str, ...]):
    text = help_of(*command)
    assert "[bold]" not in text
    assert "[dim]" not in text
    assert "\b" not in text


def test_no_command_shows_help(command: Run):
    done = command()
    assert done.code == 0
    assert "Usage: persimchat" in done.out
    assert "personas" in done.out
    assert command("personas").code == 0


def test_commands_are_listed_in_five_panels():
    """In the order in which a person needs them; a command without a panel would not be listed at all."""
    text = help_of()
    assert re.findall(r"╭─ (\w[\w ]*?) ─", text) == ["Options", *PANELS]
    panels = dict(zip(PANELS, re.split(r"╭─ (?:\w[\w ]*?) ─", text)[2:], strict=True))
    assert " experiment " in panels["Study"] and " resume " in panels["Go on"] and " personas " in panels["Set up"]


@pytest.mark.proof
@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"]], ids=" ".join)
def test_help_does_not_load_the_rooms(arguments: list[str]):
    code = (
        f"import sys; from persimchat.app.cli import main; main({arguments!r});"
        "heavy = ('langgraph', 'chromadb', 'openai', 'langchain_openai', 'langchain_core', 'nicegui', 'fastapi',"
        " 'uvicorn', 'persimchat.runs', 'persimchat.graph', 'persimchat.app.web');"
        f"heavy += ('pydantic', 'yaml', 'persimchat.state.settings') if {len(arguments)} == 1 else ();"
        "print([n for n in heavy if n in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_version(command: Run):
    done = command("--version")
    assert (done.code, done.out) == (0, f"persimchat {version('persimchat')}\n")


def test_personas_are_listed_one_a_line(command: Run):
    lines = command("personas", "list").out.splitlines()
    assert lines[0].split() == ["name", "age", "occupation", "residence", "temper"]
    assert len(lines) == 11
    assert lines[1].startswith("Jarmila Dvořáčková")
    assert "retired railway signaller" in lines[1]
    assert "stubborn" in lines[1]


def test_personas_as_json_are_personas(command: Run):
    people = [Persona.model_validate(given) for given in json.loads(command("personas", "list", "--json").out)]
    assert len(people) == 10
    shown = Persona.model_validate_json(command("personas", "show", "ines", "--json").out)
    assert shown in people


def test_a_persona_is_shown_whole(command: Run):
    done = command("personas", "show", "Inés")
    assert done.code == 0
    for words in ("Inés Quiroga", "eleven beetles", "Colonia del Sacramento", "bored by long speeches", "2 of 5"):
        assert words in done.out


def test_a_persona_of_ones_own_is_shown(command: Run, tmp_path: Path):
    path = tmp_path / "me.yaml"
    path.write_text("name: Me\ndescription: Just me.\nknowledge: {overall: 3, tea: 5}\nsocial_goals: [Be heard.]\n")
    done = command("personas", "show", str(path))
    assert "overall 3 of 5, tea 5 of 5" in done.out
    assert "Be heard." in done.out


def test_the_drawing_is_mermaid(command: Run):
    from persimchat.graph.conversation import build_conversation

    whole = command("graph")
    assert whole.code == 0
    assert whole.out.strip() == build_conversation().get_graph(xray=1).draw_mermaid().strip()
    assert {"speak", "hear", "publish"} <= set(re.findall(r"\w+", whole.out))


def test_a_list_in_a_narrow_terminal(terminal: Callable[..., tuple[int, str]], plain: Callable[[str], str]):
    code, screen = terminal("personas", "list", columns=60)
    assert code == 0
    assert max(map(cell_len, plain(screen).splitlines())) <= 60
