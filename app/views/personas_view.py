"""Personas as the commands print them: in a list, one of them whole, and what came of generating or converting some."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ...models.naming import OFFLINE
from ...models.offline.chat_model import NOTICE
from ...personas.conversion.conversion import Conversion, summaries
from ...personas.files import NOT_REAL
from ...personas.generation import Generated, model_asked
from ...runs.folder.parts import totals
from ...state.persona import Persona, field_levels, knowledge_level
from ...state.plain_text import clean, one_line
from ...state.settings import Settings
from ..output import say
from .tables import Look, here, print_all, table
from .text import used

_TRAITS: Final = 3
_ROWS: Final = 30
"""People whom the table of a conversion shows."""
_NOTES: Final = 20
_NAMED: Final = 6
"""The most files named in the suggested command line."""


def listing(people: Iterable[Persona], look: Look) -> RenderableType:
    """The shipped personas: name, age, occupation, residence, temper."""
    facts = ("age", "occupation", "residence")
    rows = ([one.name, *_facts(one, facts), ", ".join(one.traits[:_TRAITS])] for one in people)
    return table(look, "", ("name", *facts, "temper"), rows)


def _facts(persona: Persona, names: Iterable[str]) -> list[str]:
    return [persona.characteristic(name) or "" for name in names]


def profile(persona: Persona) -> RenderableType:
    """All that a persona's file says."""
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    levels = {"overall": knowledge_level(persona), **field_levels(persona)}
    stated = "" if persona.knowledge is not None else " (derived)"
    rows = [
        *persona.characteristics.items(),  # one may be called like a field
        ("traits", ", ".join(persona.traits)),
        ("knowledge", ", ".join(f"{field} {level} of 5" for field, level in levels.items()) + stated),
        ("called", ", ".join(persona.called)),
        ("speaking style", persona.speaking_style or ""),
        ("social goals", "\n".join(persona.social_goals)),
        ("memories", "\n".join(memory.text for memory in persona.memories)),
    ]
    for label, value in rows:
        if value:
            facts.add_row(Text(one_line(label)), Text(clean(value)))
    description = Padding(Text(clean(persona.description)), (1, 0), expand=False)
    return Group(Text(one_line(persona.name), style="bold"), description, facts)


def _print_people(people: Iterable[tuple[Persona, str, Path]], facts: Sequence[str], origin: str = "") -> None:
    """Print people, where each comes from, and their files."""
    rows = ([one.name, *_facts(one, facts), *[came] * bool(origin), file.name] for one, came, file in people)
    print_all(table(here(), "", ("name", *facts, *[origin] * bool(origin), "file"), rows))


def notes(people: Sequence[Generated], n: int, settings: Settings, about: str, quotas: Path | None) -> list[str]:
    """The comments in the head of the n-th persona's file, counted from 0: that it is invented, and how it was made."""
    model = model_asked(settings)
    lines = [
        NOT_REAL,
        f"Made by persimchat {version('persimchat')} with model {model}, seed {settings.seed}: "
        f"person {n + 1} of {len(people)}.",
    ]
    if model == OFFLINE:
        lines.append(NOTICE)
    if about:
        lines.append(f"The group's description: {about}")
    if quotas is not None:
        fixed = ", ".join(people[n].fixed) or "nothing"
        lines.append(f"Quotas: {quotas}; fixed by them for this person: {fixed}.")
    return lines


def report_generation(people: Sequence[Generated], files: Sequence[Path]) -> None:
    """Print the personas, where their files are, what they cost, and how to use them."""
    made = ((person.persona, "", file) for person, file in zip(people, files, strict=True))
    _print_people(made, ("age", "gender", "occupation", "residence"))
    say(f"\nKept in {files[0].parent}")
    say(f"Used: {used(totals(dict(call) for person in people for call in person.calls))}.")
    say(how_to_use(files))


def report_conversion(conversion: Conversion, kept: Sequence[Path]) -> None:
    """Print who was converted, from which fields, what was left out, which rows are wrong, and how to use the files."""
    shown = list(zip(conversion.people, kept, strict=True))[:_ROWS]
    _print_people(
        [(one.persona, one.draft.record.file.name, file) for one, file in shown], ("age", "occupation"), "from"
    )
    if len(conversion.people) > _ROWS:
        say(f"… and {len(conversion.people) - _ROWS:,} more")
    for summary in summaries(conversion):
        say("")
        for line in summary.lines():
            say(line)
    notes = [f"{one_line(one.persona.name)}: {one_line(note)}" for one in conversion.people for note in one.draft.notes]
    if notes:
        say("")
    for note in notes[:_NOTES]:
        say(f"Note: {note}")
    if len(notes) > _NOTES:
        say(f"Note: and {len(notes) - _NOTES:,} more; they are in the heads of the files.")
    if conversion.refused:
        number = len(conversion.refused)
        say(f"\n{'1 row' if number == 1 else f'{number:,} rows'} could not be taken:")
    for row in conversion.refused[:_NOTES]:
        say(f"  {one_line(str(row.error))}")
    if len(conversion.refused) > _NOTES:
        say(f"  and {len(conversion.refused) - _NOTES:,} more")
    say(f"\nKept in {kept[0].parent}")
    if conversion.calls:
        say(f"Used: {used(totals(dict(call) for call in conversion.calls))}.")
    say(how_to_use(kept))


def how_to_use(kept: Sequence[Path]) -> str:
    """A line with the command that lets the personas talk, or that shows the only one."""
    if len(kept) == 1:
        return f"Read it: persimchat personas show {shlex.quote(str(kept[0]))}"
    named = [str(file) for file in kept[:_NAMED]]
    if any("," in name for name in named):
        return "Let them talk: list the files under 'participants:' in a scenario, and run it with --scenario."
    what = "Let them talk" if len(kept) <= _NAMED else f"Let the first {_NAMED} talk"
    return f'{what}: persimchat run "…" --participants {shlex.quote(",".join(named))}'
