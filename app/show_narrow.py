"""Tables of `persimchat show` on a terminal that is too narrow for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

_UNBOUNDED = 10_000


class FittingTable(Table):
    """A table that becomes a list, a line for each figure, where the terminal is too narrow for its columns.

    Rich would cut figures off, and drop whole columns: a number with its end missing is a wrong number.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        needed = Measurement.get(console, options.update(max_width=_UNBOUNDED), self).minimum
        if needed <= options.max_width:
            yield from super().__rich_console__(console, options)
        else:
            yield from self._listed()

    def _listed(self) -> RenderResult:
        """The rows one below the other; a row is called by its first cell."""
        if self.title:
            yield Text.assemble(self.title, style="bold")
        first, *others = self.columns
        rows = zip(*(column.cells for column in self.columns), strict=True)
        for name, *cells in rows:
            # A figure, such as an utterance's number, says nothing without its heading.
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
