"""Tables and facts on a terminal, and as wide as necessary in a pipe; how a command ends: with them, or with JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ...reports.words import plain
from ...state.plain_text import one_line
from ..output import is_unicode, on_terminal, say, say_object

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderResult

_WIDE: Final = 400
_UNBOUNDED: Final = 10_000


class FittingTable(Table):
    """A table that becomes a list, one figure per line, if the terminal is too narrow for its columns.

    Rich would cut figures off, and drop whole columns: a number with its end missing is a wrong number. In a pipe it
    has no lines, and is as wide as it must be.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.box is None:
            yield self._plain()
            return
        needed = Measurement.get(console, options.update(max_width=_UNBOUNDED), self).minimum
        if needed <= options.max_width:
            yield from super().__rich_console__(console, options)
        else:
            yield from self._listed()

    def _plain(self) -> Text:
        """The rows line by line; Rich draws a thousand of them in a second."""
        columns = []
        for column in self.columns:
            cells = [_text(cell).plain for cell in (column.header, *column.cells)]
            width = max(map(cell_len, cells))
            gaps = [" " * (width - cell_len(cell)) for cell in cells]
            right = column.justify == "right"
            columns.append([gap + cell if right else cell + gap for cell, gap in zip(cells, gaps, strict=True)])
        title = [_text(self.title).plain] if self.title else []
        lines = [*title, *map("  ".join, zip(*columns, strict=True))]
        return Text("\n".join(lines), no_wrap=True, overflow="ignore")

    def _listed(self) -> RenderResult:
        """The rows one below the other, each headed by its first cell."""
        if self.title:
            yield Text.assemble(self.title, style="bold")
        first, *others = self.columns
        rows = zip(*(column.cells for column in self.columns), strict=True)
        for name, *cells in rows:
            # A figure, such as an utterance's number, needs its heading.
            label = f"{_heading(first.header)} " if first.justify == "right" else ""
            yield Text.assemble(label, _text(name))
            figures = Table.grid(padding=(0, 2), pad_edge=False)
            figures.add_column(style="dim", no_wrap=True)
            figures.add_column(overflow="fold")
            for column, cell in zip(others, cells, strict=True):
                if _text(cell).plain:
                    figures.add_row(Text(f"  {_heading(column.header)}"), cell)
            yield figures


def _heading(header: object) -> str:
    """A heading on one line."""
    return str(header).replace("\n", " ")


def _text(cell: object) -> Text:
    return cell if isinstance(cell, Text) else Text(str(cell))


@dataclass(frozen=True)
class Look:
    """What standard output can show.

    Attributes:
        terminal: whether tables have lines.
        unicode: whether it takes all of Unicode.
    """

    terminal: bool
    unicode: bool

    def __call__(self, words: str) -> Text:
        """Text on one line; nothing in it is read as markup."""
        return Text(one_line(words if self.unicode else plain(words)))


def here() -> Look:
    """What standard output can show."""
    return Look(terminal=on_terminal(), unicode=is_unicode())


_WORDS: Final = frozenset(
    {
        *("agent", "answer", "answered by", "beliefs", "closeness to", "compared", "debate is", "dimension"),
        *("ending", "feels at the end", "file", "from", "gender", "in a", "in b", "judge", "last answer"),
        *("left out most often", "licence", "measure", "missing", "mode", "model", "module", "name", "occupation"),
        *("participants", "reference", "residence", "run", "scores", "setting", "stands behind", "system", "tags"),
        *("temper", "topic", "unit", "verdict", "what", "when"),
    }
)
"""Columns that hold words; the others hold figures, which are aligned right and never broken."""


def table(look: Look, title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table; a heading of two lines becomes one line in a pipe."""
    table = FittingTable(
        title=look(title) if title else None,
        title_justify="left",
        title_style="bold",
        box=(box.SIMPLE_HEAD if look.unicode else box.ASCII2) if look.terminal else None,
        show_edge=False,
        pad_edge=False,
        header_style="bold",
    )
    for column in columns:
        heading = column if look.terminal else column.replace("\n", " ")
        words = column in _WORDS
        table.add_column(heading, overflow="fold", no_wrap=not words, justify="left" if words else "right")
    for row in rows:
        table.add_row(*(look(cell) for cell in row))
    return table


def facts(look: Look, pairs: Iterable[tuple[str, str]]) -> Table:
    """Labels and what they are about, one below the other."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, words in pairs:
        grid.add_row(look(label), look(words))
    return grid


def heading(look: Look, words: str) -> Text:
    """Words above a part."""
    text = look(words)
    text.stylize("bold")
    return text


def apart(parts: Iterable[RenderableType | None]) -> list[RenderableType]:
    """Parts with an empty line behind each; those that are None are left out."""
    return [item for part in parts if part is not None for item in (part, Text(""))]


def print_all(shown: RenderableType) -> None:
    """Print to standard output; in a pipe, without colours and without fitting lines to a terminal.

    Raises:
        OutputClosed: the reader has closed it.
    """
    if on_terminal():
        Console(highlight=False, markup=False, emoji=False).print(shown)
        return
    console = Console(width=_WIDE, highlight=False, markup=False, emoji=False, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(shown, crop=False)
    say("\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n")))


def finish(
    as_json: bool,
    data: Callable[[], Mapping[str, Any]],
    shown: Callable[[Look], RenderableType],
    files: Iterable[Path] = (),
) -> None:
    """End a command: print one JSON object, or what it shows and the files that it has written.

    Args:
        as_json: whether --json was given.
        data: makes the object.
        shown: makes what is shown for what standard output can show.
        files: those that were written.
    """
    if as_json:
        say_object(data())
        return
    print_all(shown(here()))
    for path in files:
        say(str(path))
