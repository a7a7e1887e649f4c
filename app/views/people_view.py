"""What `persimchat evaluate people` prints: both distributions, and how far apart they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from persimchat.app.views.evaluate_view import between, number, reasons
from persimchat.app.views.run_tables import Look, table
from persimchat.evaluation.people import Apart, Likeness, Together
from persimchat.runs.reports.words import UNKNOWN, count

_FLOOR = (
    "Floor: the mean and the 95 % point of the distance that samples of this size have from people's shares by chance. "
    "Below it, a distance is not distinguishable from chance; that is no evidence of likeness."
)


def shown(found: Sequence[Likeness], over: Together | None, look: Look) -> RenderableType:
    """All questions, then what they say at once."""
    return Group(*_parts(found, over, look))


def _parts(found: Sequence[Likeness], over: Together | None, look: Look) -> Iterator[RenderableType]:
    for one in found:
        yield from _question(one, look)
    if over is not None:
        ranks = number(over.ranks.value)
        yield look(
            f"Over {count(over.questions, 'question')}: mean total variation {number(over.mean)}; rank correlation of "
            f"shares {ranks} (Spearman's ρ, n {over.ranks.n})."
        )
    yield look(_FLOOR)


def _question(one: Likeness, look: Look) -> Iterator[RenderableType]:
    poll, people = one.people.poll, one.people
    heading = look(f"{poll.ask} (poll {poll.id})" + (f", {people.group}" if people.group else ""))
    heading.stylize("bold")
    yield heading
    size = UNKNOWN if people.n is None else f"{people.n:,}"
    rows = [
        [option, str(given), number(share), number(human)]
        for option, given, share, human in zip(one.options, one.counts, one.simulated, one.human, strict=True)
    ]
    yield table(look, "Answers", ("answer", f"simulated\nn {one.n}", "share", f"people\nn {size}"), rows)
    yield Text("")

    def cells(apart: Apart) -> list[str]:
        floor = UNKNOWN if apart.floor is None else f"{number(apart.floor.mean)} ({number(apart.floor.high)})"
        known = "no" if apart.hidden else "yes"
        return [apart.name, number(apart.estimate.value), between(apart.estimate), floor, known]

    columns = ("distance, 0 to 1", "value", "95 % interval", "floor (95 %)", "more than chance")
    yield table(look, "How far apart", columns, map(cells, one.apart))
    if one.mean_difference is not None:
        mean, ratio = number(one.mean_difference), number(one.variance_ratio)
        yield look(f"Mean: simulated minus people {mean}; variance: simulated by people {ratio}.")
    if one.missing:
        yield look(f"Missing answers, left out or counted as --missing-as says: {reasons(one.missing)}.")
    yield from map(look, one.notes)
    yield Text("")
