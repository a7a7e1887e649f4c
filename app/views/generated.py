"""The report of `persimchat personas generate`: comments in the files' heads, and a table on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from persimchat.app.output import on_terminal, say
from persimchat.app.views.printing import how_to_use, print_all
from persimchat.app.views.text import used
from persimchat.models.naming import OFFLINE
from persimchat.models.offline.chat_model import NOTICE
from persimchat.personas.generation.generated_files import NOT_REAL
from persimchat.personas.generation.generation import Generated, model_asked
from persimchat.runs.folder.totals import totals
from persimchat.state.plain_text import one_line
from persimchat.state.settings import Settings

if TYPE_CHECKING:
    from rich.table import Table

_COLUMNS: Final = ("age", "gender", "occupation", "residence")


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


def report(people: Sequence[Generated], files: Sequence[Path]) -> None:
    """Print the personas, where their files are, what they cost, and how to use them."""
    print_all(_table(people, files))
    say(f"\nKept in {files[0].parent}")
    say(f"Used: {used(totals(dict(call) for person in people for call in person.calls))}.")
    say(how_to_use(files))


def _table(people: Sequence[Generated], files: Sequence[Path]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD if on_terminal() else None, pad_edge=False, header_style="bold")
    for heading in ("name", *_COLUMNS, "file"):
        justify: Literal["left", "right"] = "right" if heading == "age" else "left"
        table.add_column(heading, overflow="fold", justify=justify, no_wrap=heading == "file")
    for person, file in zip(people, files, strict=True):
        facts = [person.persona.characteristic(c) or "" for c in _COLUMNS]
        table.add_row(*(Text(one_line(cell)) for cell in (person.persona.name, *facts, file.name)))
    return table
