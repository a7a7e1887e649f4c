"""Where the characters of a story stand: what a mind carries and is told, closeness, support, influence, the vote.

Source: Gu et al. 2024, AgentGroupChat; where the paper leaves something open, docs/stories.md says what is done here.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NotRequired

from typing_extensions import TypedDict

from .story import Ablation, Resource, Story


class StoryMind(TypedDict):
    """What a mind carries through a story."""

    main: bool
    beliefs: list[dict[str, Any]]
    """`text`, `score` and `for` (a participant's name, or empty)."""
    closeness: dict[str, int]
    """To each of the others, 0–100."""
    supports: str
    """The main character whom it supports; empty for nobody."""
    stock: dict[str, Any] | None
    """The last stocktaking: `summary` and `next_steps`."""
    plan: list[str]
    """A host's plan for its room: a topic for each exchange."""
    review: str
    """The sentence of the last review."""
    done: int
    """The number of the last act of which it has done its part."""
    answer: dict[str, Any] | None
    """What it answered in that act; None if its answers were unusable."""


class Seen(TypedDict):
    """A line of what a character knows has happened."""

    round: int
    do: Literal["met", "summary", "review", "words"]
    who: str
    others: list[str]
    text: str


class StorySituation(TypedDict):
    """The story as one character sees it in one act."""

    round: int
    rounds: int
    stage: str
    """The kind of stage, or "awakening", "update", "settlement"."""
    cast: list[dict[str, Any]]
    """The other characters, as everybody knows them: `name`, `main`, `known_as`, `camp`."""
    resources: list[dict[str, Any]]
    """`name`, `owner`, `influence`, `topics`, `description`."""
    room: dict[str, Any] | None
    """`others`, with what they are known as, `public`, and of a split group `number` and `of`; None outside rooms."""
    happened: list[Seen]
    """Oldest first."""
    candidates: list[str]
    """Who, or what, may be chosen."""
    exchanges: int
    """How often each speaks in the stage."""
    change: int
    """The greatest change of an update."""
    decider: str
    heard: NotRequired[list[int]]
    """For minds that hear and think: the numbers of the utterances that the character has heard, its own clock."""
    ablation: NotRequired[list[Ablation]]
    """What the mind goes without; missing if nothing."""


LOWEST: Final = 0
HIGHEST: Final = 100
"""The range of closeness and of the strength of beliefs."""


def moved(value: int, change: int) -> int:
    """A closeness or a belief's strength after a change, within 0 to 100."""
    return min(HIGHEST, max(LOWEST, value + change))


def strongest(beliefs: Sequence[Mapping[str, Any]]) -> list[int]:
    """The places of the strongest beliefs: several if they are equally strong, none without beliefs."""
    best = max((belief["score"] for belief in beliefs), default=None)
    return [place for place, belief in enumerate(beliefs) if belief["score"] == best]


def supported(
    story: Story, name: str, beliefs: Sequence[Mapping[str, Any]], closeness: Mapping[str, int], before: str
) -> str:
    """The main character whom a character supports now; empty for nobody.

    A main character supports nobody, unless its strictly strongest belief is for another main character. Another
    character supports the main character to whom it is closest, from `limits.support` on.

    Args:
        story: characters and limits.
        name: whose support.
        beliefs: its beliefs now, each with `score` and `for`.
        closeness: its closeness to each of the others.
        before: whom it supported until now, who keeps its support among equals.
    """
    character, mains = story.characters[name], story.mains
    if character.main:
        first = strongest(beliefs)
        favoured = str(beliefs[first[0]]["for"]) if len(first) == 1 else ""
        return favoured if favoured in mains and favoured != name else ""
    near = {main: closeness[main] for main in mains if main in closeness}
    best = max(near.values(), default=-1)
    if character.neutral or best < story.limits.support:
        return ""
    closest = [main for main in mains if near.get(main) == best]
    return before if before in closest else closest[0]


def influence(resources: Sequence[Resource], owners: Mapping[str, str], supports: Mapping[str, str]) -> dict[str, int]:
    """Everybody's influence: that of their own resources and, for a main character, of all others that support it.

    Args:
        resources: with their influence.
        owners: each resource's owner now, by its name.
        supports: by character, the main character whom it supports; empty for nobody. Its keys are all characters.
    """
    own = dict.fromkeys(supports, 0)
    for resource in resources:
        if owners.get(resource.name):
            own[owners[resource.name]] += resource.influence
    return {name: own[name] + sum(own[other] for other, main in supports.items() if main == name) for name in supports}


def in_order(mains: Sequence[str], weights: Mapping[str, int], lots: random.Random) -> list[str]:
    """The order in which main characters act: the greatest influence first, equals by lot.

    Args:
        mains: the main characters, in order of listing.
        weights: everybody's influence.
        lots: draws the lots.
    """
    drawn = list(mains)
    lots.shuffle(drawn)
    return sorted(drawn, key=lambda name: -weights[name])


def camps(story: Story, supports: Mapping[str, str]) -> dict[str, str]:
    """Everybody's camp: the declared one; else of a main character its own, of others that of whom they support.

    Args:
        story: its characters may have declared camps.
        supports: by character, the main character whom it supports; empty for nobody.
    """
    if any(one.camp for one in story.characters.values()):
        return {name: one.camp for name, one in story.characters.items()}
    return {name: supports[name] or (name if one.main else "") for name, one in story.characters.items()}


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
