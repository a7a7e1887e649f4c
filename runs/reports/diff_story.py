"""Two stories side by side: where the characters stand from the last update that both share, and the vote."""

from __future__ import annotations

from pydantic import Field

from persimchat.runs.events import Happened
from persimchat.runs.folder.lines import BALLOTS
from persimchat.runs.folder.reading import Record
from persimchat.runs.reports.diff_parting import Part
from persimchat.runs.reports.summary import names_of


class Standpoint(Part):
    """Where a character stands after an update."""

    supports: str = Field(description="the main character supported; empty for nobody")
    influence: int
    beliefs: list[int] = Field(description="in the file's order")
    closeness: dict[str, int]


class Update(Part):
    """Where one character stands after one update in both runs; null where a run has no such update."""

    round: int = Field(description="0 before the first round")
    shared: bool = Field(description="whether this is the last update before the runs part")
    name: str
    a: Standpoint | None
    b: Standpoint | None


class Voted(Part):
    """What one voter put on one ballot in both runs; empty where a run has no such ballot."""

    name: str
    ballot: str = Field(description="guess, ballot (open) or closed_ballot")
    a: str
    b: str


def updates(a: Record, b: Record, shared: int) -> list[Update]:
    """The updates of two stories, from the last one that both share.

    Args:
        a: one run.
        b: the other.
        shared: how many utterances they share from the start.
    """
    then, now = a.standings, b.standings
    rounds = sorted({*then, *now})
    both = [n for n in rounds if n in then and then[n] == now.get(n) and _last_turn(then[n]) <= shared]
    names = list(dict.fromkeys([*names_of(a), *names_of(b)]))
    return [
        Update(round=n, shared=n in both, name=name, a=_stands(then, n, name), b=_stands(now, n, name))
        for n in rounds
        if not both or n >= both[-1]
        for name in names
        if name in then.get(n, {}) or name in now.get(n, {})
    ]


def votes(a: Record, b: Record) -> list[Voted]:
    """The ballots of two stories, in the order in which they are cast."""
    made = [{(one.do, one.speaker): one.choice for one in run.happenings if one.do in BALLOTS} for run in (a, b)]
    order = list(BALLOTS)
    cast = sorted(dict.fromkeys([*made[0], *made[1]]), key=lambda key: order.index(key[0]))
    return [Voted(name=who, ballot=do, a=made[0].get((do, who), ""), b=made[1].get((do, who), "")) for do, who in cast]


def _last_turn(standings: dict[str, Happened]) -> int:
    return max(one.turn for one in standings.values())


def _stands(found: dict[int, dict[str, Happened]], number: int, name: str) -> Standpoint | None:
    one = found.get(number, {}).get(name)
    if one is None:
        return None
    return Standpoint(
        supports=one.supports or "", influence=one.influence or 0, beliefs=one.beliefs, closeness=one.closeness
    )
