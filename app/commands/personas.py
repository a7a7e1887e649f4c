"""`persimchat personas`: lists the shipped personas, and shows one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from persimchat.app.commands import convert as convert_command
from persimchat.app.commands import generate as generate_command
from persimchat.app.output import on_terminal, say
from persimchat.app.views.printing import print_all
from persimchat.state.plain_text import clean, one_line

if TYPE_CHECKING:
    from rich.console import RenderableType

    from persimchat.state.persona import Persona

personas = typer.Typer(
    help="List the shipped personas, show one, generate your own, or convert descriptions of people.",
    no_args_is_help=False,
    invoke_without_command=True,
)

_COLUMNS = ("age", "occupation", "residence")
_TRAITS = 3

Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")]


@personas.callback()
def _which(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        say(context.get_help())


@personas.command("list")
def list_personas(as_json: Json = False) -> None:
    """List the shipped personas: name, age, occupation, residence, temper."""
    from persimchat.personas.catalogue import shipped

    people = shipped()
    if as_json:
        say(json.dumps([persona.model_dump(mode="json") for persona in people], ensure_ascii=False, indent=2))
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD if on_terminal() else None, pad_edge=False, header_style="bold")
    for heading in ("name", *_COLUMNS, "temper"):
        table.add_column(heading, overflow="fold", justify="right" if heading == "age" else "left")
    for persona in people:
        cells = [
            persona.name,
            *((persona.characteristic(c) or "") for c in _COLUMNS),
            ", ".join(persona.traits[:_TRAITS]),
        ]
        table.add_row(*(Text(one_line(cell)) for cell in cells))
    print_all(table)


@personas.command("show")
def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The name or first name of a shipped persona, or a persona file.")
    ],
    as_json: Json = False,
) -> None:
    """Show all that a persona's file says."""
    from persimchat.personas.catalogue import find_persona

    persona = find_persona(name)
    if as_json:
        say(json.dumps(persona.model_dump(mode="json"), ensure_ascii=False, indent=2))
        return
    print_all(_profile(persona))


personas.command("generate", epilog=generate_command.EXAMPLES)(generate_command.generate)
personas.command("convert", epilog=convert_command.EXAMPLES)(convert_command.convert)


def _profile(persona: Persona) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from persimchat.state.knowledge import field_levels, knowledge_level

    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    levels = {"overall": knowledge_level(persona), **field_levels(persona)}
    stated = "" if persona.knowledge is not None else " (derived)"
    rows = {
        **persona.characteristics,
        "traits": ", ".join(persona.traits),
        "knowledge": ", ".join(f"{field} {level} of 5" for field, level in levels.items()) + stated,
        "speaking style": persona.speaking_style or "",
        "social goals": "\n".join(persona.social_goals),
        "memories": "\n".join(memory.text for memory in persona.memories),
    }
    for label, value in rows.items():
        if value:
            facts.add_row(Text(one_line(label)), Text(clean(value)))
    description = Padding(Text(clean(persona.description)), (1, 0), expand=False)
    return Group(Text(one_line(persona.name), style="bold"), description, facts)
