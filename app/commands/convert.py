"""`persimchat personas convert`: turns descriptions of people in other formats into persona files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from persimchat.app.output import warn
from persimchat.state.errors import InputError
from persimchat.state.plain_text import one_line

if TYPE_CHECKING:
    from persimchat.personas.conversion.conversion import Conversion
    from persimchat.state.settings import Settings

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat personas convert people.csv
  persimchat personas convert answers.csv --column "Respondent=name"
  persimchat personas convert survey.csv --mapping survey.yaml --out people
  persimchat personas convert agents/*.agent.json --pick Lena
  persimchat personas convert seraphine.png
  persimchat personas convert interview.pdf --model ollama:llama3.2

\b
[bold]Ready mappings[/bold], recognised by the shape of a file
  character_card, generative_agents, tinytroupe, tinytroupe_old, sotopia,
  agentgroupchat, and plain: columns called name, age, occupation, description …, jméno, věk …

\b
[bold]Files[/bold]
  .csv .tsv .json .jsonl .txt .md, .png with a character card in it,
  and .pdf with: pip install 'persimchat\\[pdf]'
  Other columns of a table: say what each becomes with --column. A column becomes name, first name, last name,
  description, traits, knowledge, speaking style, social goals, a characteristic such as age or one of your own; or -,
  then it is left out. Other fields: write a mapping file, or have a model read them.
"""

_COLUMN: Final = "Write the column and what it becomes, such as --column 'Respondent=name'."

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE…", help="Files that describe people; each person becomes a persona.", show_default=False
    ),
]
MappingName = Annotated[
    str | None,
    typer.Option(
        "--mapping",
        metavar="NAME|FILE",
        help="A ready mapping, or a mapping file (YAML) that says which field of a persona comes from which of theirs. "
        "[dim]default: chosen by the shape of each file[/dim]",
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="'COLUMN=FIELD'",
        help="What a column of a table becomes; may be repeated. [dim]default: by the column's name[/dim]",
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="A model that reads the descriptions that no mapping fits: openai:<model>, ollama:<model>, "
        "<model>@http://host:port/v1, … [dim]default: PERSIMCHAT_MODEL, else OpenAI with OPENAI_API_KEY[/dim]",
        show_default=False,
    ),
]
Pick = Annotated[
    list[str] | None,
    typer.Option("--pick", metavar="NAME", help="Convert only this person; may be repeated. [dim]default: all[/dim]"),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="The folder for the files: a new or empty one. [dim]default: a new one in ./converted[/dim]",
        show_default=False,
    ),
]


def convert(
    files: Files,
    mapping: MappingName = None,
    columns: Columns = None,
    out: Out = None,
    model: Model = None,
    pick: Pick = None,
) -> None:
    """Convert descriptions of people from other programs, tables and texts into persona files.

    If a mapping fits, no model is needed. Otherwise name a model with --model, and it reads the descriptions. The
    output lists what was taken, what was left out and what stayed empty; nothing is invented. Of a table, the good rows
    are converted and the others listed. The files are written at the end, and no existing file is overwritten.
    """
    import asyncio

    from persimchat.app.commands.request import settings_of
    from persimchat.app.commands.wanted import Wanted
    from persimchat.app.views.converted import report
    from persimchat.personas.conversion.files import new_place, texts_of
    from persimchat.personas.generation.generated_files import new_folder, write_all

    if pick and not all(one_line(name) for name in pick):
        raise InputError("--pick is empty", remedy="Name a person, or leave --pick out to convert all.")
    settings = settings_of(Wanted(arguments={"model": model}))
    with new_folder(out if out is not None else new_place(files)) as folder:
        conversion = asyncio.run(_converted(files, settings, mapping, _said(columns), model is not None, pick or []))
        kept = write_all(folder, texts_of(conversion.people))
    report(conversion, kept)


def _said(columns: list[str] | None) -> dict[str, str] | None:
    """What --column says of each column; the last equals sign parts the two, as names may have one."""
    if not columns:
        return None
    parted = [column.rpartition("=") for column in columns]
    wrong = next((whole for whole, (name, _, field) in zip(columns, parted, strict=True) if not (name and field)), None)
    if wrong is not None:
        raise InputError(f"{one_line(wrong)!r} does not say what a column becomes", where="--column", remedy=_COLUMN)
    return {name.strip(): field.strip() for name, _, field in parted}


async def _converted(
    files: list[Path],
    settings: Settings,
    mapping: str | None,
    columns: dict[str, str] | None,
    read: bool,
    pick: list[str],
) -> Conversion:
    from persimchat.models.registry import close_models
    from persimchat.personas.conversion.conversion import convert as converted

    try:
        return await converted(
            files,
            settings,
            mapping=mapping,
            columns=columns,
            read=read,
            pick=pick,
            told=lambda line: warn(f"persimchat: {line}"),
        )
    finally:
        await close_models()
