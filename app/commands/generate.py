"""`persimchat personas generate`: a group of invented people, saved as YAML files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from persimchat.app.commands import options
from persimchat.app.output import Interrupted, on_terminal, warn
from persimchat.state.errors import InputError
from persimchat.state.plain_text import one_line

if TYPE_CHECKING:
    from persimchat.personas.generation.generation import Generated
    from persimchat.personas.generation.quotas import Quotas
    from persimchat.state.persona import Persona
    from persimchat.state.settings import Settings

EXAMPLES: Final = """\b
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

Number = Annotated[
    int,
    typer.Option(
        "-n", "--n", "--number", metavar="N", help="How many personas. [dim]default: 5[/dim]", show_default=False
    ),
]
About = Annotated[str | None, typer.Option("--about", metavar="SENTENCE", help="Who the personas are, in a sentence.")]
QuotasFile = Annotated[
    Path | None,
    typer.Option(
        "--quotas",
        metavar="FILE",
        help="A YAML file: which share of the group has which age, gender, education, occupation or other "
        "characteristic. The group has these shares exactly.",
    ),
]
Seed = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="All randomness comes from it. [dim]default: 0[/dim]")
]
SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings", metavar="FILE", help="Settings (YAML). PERSIMCHAT_* and the command line override them."
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Any other setting; may be repeated. For example --set model_temperature=1.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="The folder for the files: a new or empty one. [dim]default: a new one in ./generated[/dim]",
        show_default=False,
    ),
]


def generate(
    number: Number = 5,
    about: About = None,
    quotas: QuotasFile = None,
    seed: Seed = None,
    settings_file: SettingsFile = None,
    assignments: Assignments = None,
    model: options.Model = None,
    out: Out = None,
) -> None:
    """Invent people from a sentence, from quotas or both, and save each as a persona file.

    A model makes them one after another, each unlike those before. The files are written when all are made, and no
    existing file is overwritten.
    """
    import asyncio

    from persimchat.app.commands.request import settings_of
    from persimchat.app.commands.wanted import Wanted
    from persimchat.app.views.generated import notes, report
    from persimchat.models.naming import default_model_name
    from persimchat.personas.generation.generated_files import (
        file_names,
        new_folder,
        new_folder_name,
        persona_text,
        write_all,
    )
    from persimchat.personas.generation.generation import check_request
    from persimchat.personas.generation.quotas import load_quotas

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
        people = asyncio.run(_made(number, settings, sentence, shares))
        names = file_names([generated.persona.name for generated in people])
        heads = [notes(people, n, settings, sentence, quotas) for n in range(number)]
        files = write_all(
            folder,
            {name: persona_text(p.persona, head) for name, p, head in zip(names, people, heads, strict=True)},
        )
    report(people, files)


async def _made(number: int, settings: Settings, about: str, quotas: Quotas | None) -> list[Generated]:
    """Make all personas; on a terminal, show each name as soon as the persona is made."""
    import asyncio

    from persimchat.models.registry import close_models
    from persimchat.personas.generation.generation import generate as made

    names: list[str] = []

    def show(persona: Persona) -> None:
        names.append(one_line(persona.name))
        if on_terminal():
            warn(f"{len(names)} of {number}: {names[-1]}")

    try:
        return await made(number, settings, about=about, quotas=quotas, made=show)
    except asyncio.CancelledError:
        raise Interrupted from None
    finally:
        await close_models()
