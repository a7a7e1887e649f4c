"""`persimchat personas`: lists the shipped ones, shows one, invents people, converts descriptions of people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ...state.errors import InputError
from ...state.plain_text import one_line
from ..output import help_alone, on_terminal, say_object, warn
from . import options
from .options import option

if TYPE_CHECKING:
    from ...personas.generation import Generated
    from ...personas.quotas import Quotas
    from ...state.persona import Persona
    from ...state.settings import Settings


personas = typer.Typer(
    help="List the shipped personas, show one, generate your own, or convert descriptions of people.",
    no_args_is_help=False,
    invoke_without_command=True,
)

Json = Annotated[bool, option("personas", "json")]


personas.callback()(help_alone)


@personas.command("list")
def list_personas(as_json: Json = False) -> None:
    """List the shipped personas: name, age, occupation, residence, temper."""
    from ...personas.catalogue import shipped

    people = shipped()
    if as_json:
        say_object([persona.model_dump(mode="json") for persona in people])
        return
    from ..views.personas_view import listing
    from ..views.tables import here, print_all

    print_all(listing(people, here()))


@personas.command("show")
def show(
    name: Annotated[str, option("personas", "name")],
    as_json: Json = False,
) -> None:
    """Show all that a persona's file says."""
    from ...personas.catalogue import find_persona

    persona = find_persona(name)
    if as_json:
        say_object(persona.model_dump(mode="json"))
        return
    from ..views.personas_view import profile
    from ..views.tables import print_all

    print_all(profile(persona))


_GENERATE: Final = """\b
[bold]Examples[/bold]
  persimchat personas generate --about "commuters of a mid-sized town"
  persimchat personas generate --n 10 --quotas examples/quotas.yaml --out town
  persimchat personas generate --n 3 --seed 7 --model ollama:llama3.2

\b
[bold]Quotas[/bold]
  a YAML file: which part of the group has which characteristics
    quotas:
      gender: {woman: 1/2, man: 1/2}
      age: {18-29: 30%, 30-64: 50%, 65+: 20%}
"""


@personas.command("generate", epilog=_GENERATE)
def generate(
    number: Annotated[int, option("generate", "number")] = 5,
    about: Annotated[str | None, option("generate", "about")] = None,
    quotas: Annotated[Path | None, option("generate", "quotas_file")] = None,
    seed: Annotated[int | None, option("generate", "seed")] = None,
    settings_file: Annotated[Path | None, option("generate", "settings_file")] = None,
    assignments: Annotated[list[str] | None, option("generate", "assignments")] = None,
    model: options.Model = None,
    out: Annotated[Path | None, option("generate", "out")] = None,
) -> None:
    """Invent people from a sentence, from quotas or both, and save each as a persona file.

    A model makes them one after another, each unlike those before. The files are written when all are made, and no
    existing file is overwritten.
    """
    from ...models.naming import default_model_name
    from ...personas.files import (
        file_names,
        new_folder,
        new_folder_name,
        persona_text,
        write_all,
    )
    from ...personas.generation import check_request
    from ...personas.quotas import load_quotas
    from ..views.personas_view import notes, report_generation
    from .foreground import run_with_models
    from .option_groups import Wanted
    from .request import settings_of

    if about is not None and not one_line(about):
        raise InputError("--about is empty", remedy='Say who they are: --about "commuters of a mid-sized town".')
    sentence = one_line(about or "")
    check_request(number, sentence)
    wanted = Wanted(arguments={"seed": seed, "model": model}, settings=settings_file, assignments=assignments)
    settings = settings_of(wanted)
    shares = load_quotas(quotas) if quotas is not None else None
    with new_folder(out if out is not None else new_folder_name(sentence)) as folder:
        _, notice = default_model_name(settings.model)
        if notice:
            warn(one_line(notice))
        people = run_with_models(_made(number, settings, sentence, shares))
        names = file_names([generated.persona.name for generated in people])
        heads = [notes(people, n, settings, sentence, quotas) for n in range(number)]
        texts = {name: persona_text(p.persona, head) for name, p, head in zip(names, people, heads, strict=True)}
        files = write_all(folder, texts)
    report_generation(people, files)


async def _made(number: int, settings: Settings, about: str, quotas: Quotas | None) -> list[Generated]:
    """Make all personas; on a terminal, show each name as soon as the persona is made."""
    from ...personas.generation import generate as made

    names: list[str] = []

    def show(persona: Persona) -> None:
        names.append(one_line(persona.name))
        if on_terminal():
            warn(f"{len(names)} of {number}: {names[-1]}")

    return await made(number, settings, about=about, quotas=quotas, made=show)


_CONVERT: Final = """\b
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


@personas.command("convert", epilog=_CONVERT)
def convert(
    files: Annotated[list[Path], option("convert", "files")],
    mapping: Annotated[str | None, option("convert", "mapping_name")] = None,
    columns: Annotated[list[str] | None, option("convert", "columns")] = None,
    out: Annotated[Path | None, option("convert", "out")] = None,
    model: Annotated[str | None, option("convert", "model")] = None,
    pick: Annotated[list[str] | None, option("convert", "pick")] = None,
) -> None:
    """Convert descriptions of people from other programs, tables and texts into persona files.

    If a mapping fits, no model is needed. Otherwise name a model with --model, and it reads the descriptions. The
    output lists what was taken, what was left out and what stayed empty; nothing is invented. Of a table, the good rows
    are converted and the others listed. The files are written at the end, and no existing file is overwritten.
    """
    from ...personas.conversion.conversion import convert as converted
    from ...personas.conversion.conversion import new_place, texts_of
    from ...personas.files import new_folder, write_all
    from ..views.personas_view import report_conversion
    from .foreground import run_with_models
    from .option_groups import Wanted
    from .request import settings_of

    if pick and not all(one_line(name) for name in pick):
        raise InputError("--pick is empty", remedy="Name a person, or leave --pick out to convert all.")
    settings = settings_of(Wanted(arguments={"model": model}))
    with new_folder(out if out is not None else new_place(files)) as folder:
        conversion = run_with_models(
            converted(
                files,
                settings,
                mapping=mapping,
                columns=_said(columns),
                read=model is not None,
                pick=pick or [],
                told=lambda line: warn(f"persimchat: {line}"),
            )
        )
        kept = write_all(folder, texts_of(conversion.people))
    report_conversion(conversion, kept)


def _said(columns: list[str] | None) -> dict[str, str] | None:
    """What --column says of each column; the last equals sign parts the two, as names may have one."""
    if not columns:
        return None
    parted = [column.rpartition("=") for column in columns]
    wrong = next((whole for whole, (name, _, field) in zip(columns, parted, strict=True) if not (name and field)), None)
    if wrong is not None:
        raise InputError(f"{one_line(wrong)!r} does not say what a column becomes", where="--column", remedy=_COLUMN)
    return {name.strip(): field.strip() for name, _, field in parted}
