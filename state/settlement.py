"""How the ballots of a story are counted: pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from typing_extensions import TypedDict


class Outcome(TypedDict):
    """The result of a story's vote."""

    winners: list[str]
    """Who, or which outcome, has won: one; several after a draw; none if nobody voted."""
    decided: str
    """The choice of a decider who decides alone; empty without one."""
    ceded: str
    """Whom the decider, a main character, has put in its own place; empty if it has not."""
    appointed: str
    """Whom the decider would have if it could not have itself; empty without a decider."""
    elected: list[str]
    """Who has most open ballots after the rules for ties: one; several after a draw; none without ballots."""
    open: dict[str, int]
    """Open ballots by candidate, those with none left out."""
    closed: dict[str, int]
    """Closed ballots by candidate, those with none left out."""


def counted(ballots: Mapping[str, str], candidates: Sequence[str]) -> dict[str, int]:
    """How many ballots name each candidate, in the candidates' order; an empty ballot counts for nobody."""
    votes = list(ballots.values())
    return {name: votes.count(name) for name in candidates if name in votes}


def most(counts: Mapping[str, int], among: Sequence[str]) -> list[str]:
    """Those of `among` with the most ballots, in their order; empty if none of them has any."""
    best = max((counts.get(name, 0) for name in among), default=0)
    return [name for name in among if counts.get(name) == best] if best else []


def settled(
    open_ballots: Mapping[str, str],
    closed_ballots: Mapping[str, str],
    candidates: Sequence[str],
    *,
    decider: str = "",
    alone: bool = False,
) -> Outcome:
    """The outcome of a vote.

    Most open ballots elect. Of equals, the one with most closed ballots; of equals again, the one on the decider's
    closed ballot; else it is a draw. A decider that puts another in its place ends the matter, and so does one that
    decides alone, whose ballot is not counted among the others'.

    Args:
        open_ballots: by voter, a candidate, possibly the voter; empty for an abstention.
        closed_ballots: by voter, a candidate other than the voter; empty for an abstention.
        candidates: in order of listing.
        decider: who decides; empty for nobody.
        alone: whether the decider decides alone.
    """
    others = {voter: choice for voter, choice in open_ballots.items() if not (alone and voter == decider)}
    openly, secretly = counted(others, candidates), counted(closed_ballots, candidates)
    own_open, own_closed = open_ballots.get(decider, ""), closed_ballots.get(decider, "")
    elected = most(openly, candidates)
    if len(elected) > 1:
        elected = most(secretly, elected) or elected
    if len(elected) > 1 and own_closed in elected:
        elected = [own_closed]
    decided = own_open if alone else ""
    ceded = own_open if not alone and own_open not in ("", decider) else ""
    final = decided or ceded
    return {
        "winners": [final] if final else elected,
        "decided": decided,
        "ceded": ceded,
        "appointed": "" if alone else own_closed,
        "elected": elected,
        "open": openly,
        "closed": secretly,
    }


def outcome_in_words(outcome: Outcome, decider: str = "") -> str:
    """The result of a vote, one sentence."""
    winners = outcome["winners"]
    votes = ", ".join(f"{name} {number}" for name, number in outcome["open"].items()) or "none"
    if outcome["decided"]:
        return f"{decider} decides for {outcome['decided']}; ballots of the others: {votes}."
    if outcome["ceded"]:
        return f"{decider} gives way to {outcome['ceded']}; open ballots: {votes}."
    if not winners:
        return "Nobody voted, so nobody has won."
    if len(winners) > 1:
        return f"The vote is a draw between {' and '.join(winners)}; open ballots: {votes}."
    tied = len(most(outcome["open"], list(outcome["open"]))) > 1
    broken = "; closed ballots have broken the tie" if tied else ""
    return f"{winners[0]} is elected; open ballots: {votes}{broken}."
