"""What `persimchat evaluate stances` prints: one table a run and source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from persimchat.app.views.run_tables import Look, table
from persimchat.runs.reports.stance_summary import Holder, Stances
from persimchat.runs.reports.stances import AFTER_WHOM
from persimchat.runs.reports.words import UNKNOWN, count, decimal, whole


def shown(found: Mapping[str, Sequence[Stances]], look: Look) -> RenderableType:
    """The positions of runs, by run, and what the figures mean."""
    return Group(*_parts(found, look))


def _parts(found: Mapping[str, Sequence[Stances]], look: Look) -> Iterator[RenderableType]:
    for run, sources in found.items():
        for one in sources:
            title = one.where[0].upper() + one.where[1:]
            yield from _source(f"{run}: {one.where}" if len(found) > 1 else title, one, look)
        if not sources:
            yield look(
                f"{run}: no position is known: it is no story, and has no verdicts or answers in a form, and no polls."
            )
            yield Text("")
    kept, held = (sum(getattr(one, name) for own in found.values() for one in own) for name in ("kept", "held"))
    if held and sum(map(len, found.values())) > 1:
        yield look(f"Altogether, the first position of {kept} of {held} was their last.")
    yield look(AFTER_WHOM)


def _source(title: str, one: Stances, look: Look) -> Iterator[RenderableType]:
    known = any(holder.openness_else is not None for holder in one.holders)
    columns = ["agent", "began with", "ended with", "moves", "to the\nmajority", "others moved\nafter them"]
    columns += ["openness\nbefore a move", "otherwise"] * known

    def cells(holder: Holder) -> list[str]:
        first, last = (UNKNOWN if held is None else held for held in (holder.first, holder.last))
        moves = [whole(holder.moves), whole(holder.toward_majority), decimal(holder.credit)]
        openness = [decimal(holder.openness_moving), decimal(holder.openness_else)] * known
        return [holder.agent, first, last, *moves, *openness]

    yield table(look, title, columns, map(cells, one.holders))
    to = f", {one.toward_majority} to the majority of the time" if one.moves else ""
    nobody = f", {one.uncredited} after nobody" if one.uncredited else ""
    kept = f"the first position of {one.kept} of {one.held} was their last"
    yield look(f"{count(one.moves, 'move')}{to}{nobody}; {kept}.")
    yield Text("")
