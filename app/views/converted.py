"""The report of `persimchat personas convert`: who was converted, from which fields, and what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from persimchat.app.output import on_terminal, say
from persimchat.app.views.printing import how_to_use, print_all
from persimchat.app.views.text import used
from persimchat.personas.conversion.conversion import Conversion, Converted
from persimchat.personas.conversion.summary import summaries
from persimchat.runs.folder.totals import totals
from persimchat.state.plain_text import one_line

_ROWS: Final = 30
"""People whom the table shows."""
_NOTES: Final = 20


def report(conversion: Conversion, kept: Sequence[Path]) -> None:
    """Print who was converted, from which fields, what was left out, which rows are wrong, and how to use the files."""
    _table(conversion.people, kept)
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


def _table(people: Sequence[Converted], kept: Sequence[Path]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD if on_terminal() else None, pad_edge=False, header_style="bold")
    for heading in ("name", "age", "occupation", "from", "file"):
        table.add_column(heading, overflow="fold", justify="right" if heading == "age" else "left")
    for one, file in list(zip(people, kept, strict=True))[:_ROWS]:
        facts = [one.persona.characteristic(name) or "" for name in ("age", "occupation")]
        cells = (one.persona.name, *facts, one.draft.record.file.name, file.name)
        table.add_row(*(Text(one_line(cell)) for cell in cells))
    print_all(table)
    if len(people) > _ROWS:
        say(f"… and {len(people) - _ROWS:,} more")
