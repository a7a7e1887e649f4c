"""The opinions of agents, and how hearing others moves them: bounded confidence.

Positions on a topic lie on a line from 0 to 1. Each agent starts at a point of its own; another's position moves it by
the *convergence rate* times the distance, but only if that position is nearer than its *confidence bound*. So near
opinions converge and distant ones stay apart.

Sources: G. Deffuant, D. Neau, F. Amblard, G. Weisbuch (2000), Mixing beliefs among interacting agents, Advances in
Complex Systems 3; R. Hegselmann, U. Krause (2002), Opinion dynamics and bounded confidence: models, analysis and
simulation, JASSS 5(3). Here one speaker at a time updates one listener at a time, as in the former.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from persimchat.models.offline.lexicon import word_pattern
from persimchat.models.offline.positions import anchor, nearest, position_in, told_positions
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.randomness import generator
from persimchat.models.offline.timeline import timeline
from persimchat.models.offline.topics import Topic


@dataclass(frozen=True)
class Temper:
    """How far and how fast others move an agent's opinion.

    Attributes:
        confidence_bound: greatest distance at which others have an effect, 0 (none have) to 1 (all have).
        convergence_rate: part of the distance by which the opinion moves, 0 to 0.5.
        adversarial: whether the agent's goals are against the others; then its opinion never moves.
    """

    confidence_bound: float = 0.4
    convergence_rate: float = 0.25
    adversarial: bool = False


def temper_of(traits: Iterable[str], goals: Iterable[str]) -> Temper:
    """Temper from traits and social goals: stubborn agents listen to few, open ones to many, adversaries to nobody."""
    character, aims = " ".join(traits), " ".join(goals)
    if word_pattern("adversarial").search(aims):
        return Temper(0.0, 0.0, adversarial=True)
    bound, rate = 0.4, 0.25
    if word_pattern("stubborn").search(character):
        bound, rate = bound - 0.22, rate - 0.1
    if word_pattern("open_minded").search(character):
        bound, rate = bound + 0.2, rate + 0.1
    if word_pattern("cooperative").search(aims):
        bound, rate = bound + 0.2, rate + 0.1
    return Temper(min(1.0, bound), min(0.5, rate))


def updated(opinion: float, heard: float, temper: Temper) -> float:
    """The opinion after hearing another, both 0 to 1 (Deffuant et al. 2000, equation 1, only for the listener)."""
    if abs(heard - opinion) > temper.confidence_bound:
        return opinion
    return opinion + temper.convergence_rate * (heard - opinion)


def moved(opinion: float, heard: Iterable[float], temper: Temper) -> float:
    """The opinion after hearing others one after the other."""
    for value in heard:
        opinion = updated(opinion, value, temper)
    return opinion


def initial_opinion(seed: int, name: str, topic: str) -> float:
    """An agent's opinion before the first utterance, 0 to 1."""
    return generator(seed, "opinion", name, topic).random()


_HOLD: Final = 0.1
"""Part of a position's share of the line by which an opinion must leave the share before its holder says so."""
SHIFT: Final = "no longer stand with"
"""By these words a plan names the position that its maker has given up (`plan_shift` in thoughts.yaml)."""


def starting_opinion(prompt: Prompt, topic: Topic, seed: int) -> float:
    """An agent's initial opinion: at one of the positions that its goals, or else its description, name, or anywhere.

    Goals and descriptions that name all positions, or none, have no effect.
    """
    anywhere = initial_opinion(seed, prompt.name, topic.text)
    for profile in (" ".join(prompt.goals), prompt.description):
        told = told_positions(profile, topic)
        if 0 < len(told) < len(topic.positions):
            return anchor(told[int(anywhere * len(told))], len(topic.positions))
    return anywhere


@dataclass(frozen=True)
class Stance:
    """An agent's current opinion on the topic.

    Attributes:
        opinion: 0 to 1.
        mine: index of the agent's position.
        before: index of its position before the last utterance that it heard.
        stated: index of the position for which it last spoke, or planned to speak; None if neither is known.
        temper: how far and how fast others move its opinion.
        aloud: whether `stated` is known from its own words, and not only from its plans.
    """

    opinion: float
    mine: int
    before: int
    stated: int | None
    temper: Temper
    aloud: bool = False

    @property
    def earlier(self) -> int:
        """The earlier position, if the agent has moved since it last spoke for one; else its current one."""
        return self.before if self.stated is None else self.stated


def kept(opinion: float, stated: int, positions: int) -> float:
    """The opinion of an agent who spoke for a position: unchanged, but within that position's share of the line.

    A mind that has forgotten what moved it still knows its own words.
    """
    edge = 1e-6
    return min((stated + 1) / positions - edge, max(stated / positions + edge, opinion))


def stance(prompt: Prompt, topic: Topic, seed: int) -> Stance:
    """The stance of a prompt's agent, from its persona, the topic, the seed, and what it heard and said.

    The identity in its last plan names a position, too. It counts as said just before the prompt's last utterances.
    """
    temper = temper_of(prompt.traits, prompt.goals)
    n = len(topic.positions)
    opinion = starting_opinion(prompt, topic, seed)
    identity = position_in(prompt.identity, topic)
    oldest = prompt.turn - max(1, len(prompt.recent))
    before, stated, aloud = opinion, None, False
    for told in timeline(prompt, topic):
        if identity is not None and told.turn > oldest:
            opinion, identity, stated = kept(opinion, identity, n), None, identity
        if told.speaker != prompt.name:
            before, opinion = opinion, updated(opinion, told.place, temper)
        elif not temper.adversarial:
            stated, aloud = nearest(told.place, n), True
            before = opinion = kept(opinion, stated, n)
    if identity is not None:
        before = opinion = kept(opinion, identity, n)
        stated = identity
    mine = nearest(opinion, n)
    if stated is not None and _barely_outside(opinion, stated, n):
        mine = stated
    if SHIFT in prompt.plan and stated == mine and not _spoke_for(mine, prompt, topic):
        stated = position_in(prompt.plan, topic)
    return Stance(opinion, mine, nearest(before, n), stated, temper, aloud)


def _spoke_for(position: int, prompt: Prompt, topic: Topic) -> bool:
    """Whether the prompt shows that its agent has spoken for a position."""
    n = len(topic.positions)
    return any(t.speaker == prompt.name and nearest(t.place, n) == position for t in timeline(prompt, topic))


def _barely_outside(opinion: float, stated: int, positions: int) -> bool:
    """Whether an opinion has left the share of the stated position by too little for its holder to retract it."""
    low, high = stated / positions, (stated + 1) / positions
    return max(low - opinion, opinion - high) < _HOLD / positions
