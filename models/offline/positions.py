"""Positions and opinions: which position words support, who spoke for which, and how hearing others moves an agent.

Positions on a topic lie on a line from 0 to 1. Each agent starts at a point of its own; another's position moves it by
the *convergence rate* times the distance, but only if that position is nearer than its *confidence bound*. So near
opinions converge and distant ones stay apart.

Sources: G. Deffuant, D. Neau, F. Amblard, G. Weisbuch (2000), Mixing beliefs among interacting agents, Advances in
Complex Systems 3; R. Hegselmann, U. Krause (2002), Opinion dynamics and bounded confidence: models, analysis and
simulation, JASSS 5(3). Here one speaker at a time updates one listener at a time, as in the former.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from ...state.intervention import MODERATOR
from .material import generator, lines, normalised, read, skeleton, word_list, word_pattern
from .prompt import NUMBER, MemoryLine, Prompt
from .topics import Topic

_CLAUSE_END: Final = re.compile(r"[!?;]|[.:,](?!\d)|(?<!\d)[.:,]")
_NAMED: Final = 3.0
_REFUSED: Final = -1.0
_ARGUED: Final = 2.0
"""Weights of naming a position, of refusing it, and of making one of its points."""


def anchor(index: int, positions: int) -> float:
    """The place of a position on the line: the middle of its share."""
    return (index + 0.5) / positions


def nearest(opinion: float, positions: int) -> int:
    """Index of the position whose share contains an opinion from 0 to 1."""
    return min(positions - 1, max(0, int(opinion * positions)))


@lru_cache(maxsize=8192)
def position_in(text: str, topic: Topic) -> int | None:
    """Index of the position that words support, None if it cannot be determined.

    A position counts if it is named and not refused, and if one of its points is made and not merely conceded. A
    refusal extends to the next comma: "not so sure about tea, I'd stay with coffee". A yes or no that is the whole
    text is an answer.
    """
    if topic.kind == "polar" and (whole := normalised(text).strip()) in ("yes", "no"):
        return 0 if whole == "yes" else len(topic.positions) - 1
    scores = [0.0] * len(topic.positions)
    labels = _labels(topic)
    for clause in _CLAUSE_END.split(text):
        words = f" {word_pattern('affirming').sub('', normalised(clause))} "
        dismissed = word_pattern("dismissing").search(words)
        for label, index in labels:
            at = words.find(label)
            if at >= 0:
                refused = word_list("refusals").intersection(words[:at].split()[-7:]) or dismissed
                scores[index] += _REFUSED if refused else _NAMED
                # A longer label may contain a shorter one: "more trams" is not "trams".
                words = words.replace(label, " " + "- " * len(label.split()))
        # A bare yes or no is an answer, but not at the beginning of a sentence.
        if topic.kind == "polar" and not any(scores) and (found := word_pattern("answering").search(words)):
            scores[0 if found.group().split()[-1] == "yes" else -1] += _NAMED
    plain = f" {normalised(text)} "
    for index, needle in _needles(topic):
        at = plain.find(needle)
        if at >= 0:
            granted = word_list("grants").intersection(plain[:at].split()[-8:])
            scores[index] += 0.0 if granted else _ARGUED
    best = max(range(len(scores)), key=lambda i: scores[i])
    return best if scores[best] > 0 else None


def place_in(text: str, topic: Topic) -> float | None:
    """The place of words on the line of opinions, 0 to 1; None if it cannot be determined.

    Numbers that are not positions of the debate lie between those that are.
    """
    index = position_in(text, topic)
    if index is not None:
        return anchor(index, len(topic.positions))
    if topic.kind != "number" or not (found := NUMBER.findall(text)):
        return None
    value, known = float(found[-1].replace(",", "")), [float(a) for a in topic.answers]
    n = len(known)
    above = bisect_right(known, value)
    if above in (0, n):
        return anchor(min(above, n - 1), n)
    return anchor(above - 1, n) + (value - known[above - 1]) / (known[above] - known[above - 1]) / n


@lru_cache(maxsize=1024)
def told_positions(profile: str, topic: Topic) -> tuple[int, ...]:
    """Indices of the positions that a text names, by a longer word of the label or its stem."""
    words = normalised(profile).split()
    return tuple(
        index
        for index, label in enumerate(topic.positions)
        if any(word.startswith(part[:6]) for part in normalised(label).split() if len(part) > 3 for word in words)
    )


@lru_cache(maxsize=512)
def _labels(topic: Topic) -> tuple[tuple[str, int], ...]:
    """The names of the positions, normalised for comparison, the longest first."""
    called = [(label, i) for i, label in enumerate(topic.positions)]
    if topic.kind == "choice":
        called += [(answer, i) for i, answer in enumerate(topic.answers) if len(normalised(answer)) > 3]
    found = {f" {normalised(label)} ": i for label, i in reversed(called) if normalised(label)}
    return tuple(sorted(found.items(), key=lambda pair: -len(pair[0])))


@lru_cache(maxsize=512)
def _needles(topic: Topic) -> tuple[tuple[int, str], ...]:
    return tuple((int(p.tag), normalised(p.text)) for p in topic.points if p.tag != "-" and "{" not in p.text)


@lru_cache(maxsize=4096)
def gist_of(text: str, topic: Topic) -> str:
    """A noun phrase for the content of an utterance, from the phrase material; "" if there is none.

    Words of people and other models are not in the material: then the phrase is a noun after an article, if any.
    """
    known = known_gist(text, topic)
    if known:
        return known
    found = re.search(
        r"\b(the|a|an|my|our) ([a-z]{4,14})(?=[,.;:!?]| (?:of|in|on|at|is|are|was|were|and|that|which|to|with|for)\b)",
        text,
    )
    positions = {word for label in topic.positions for word in normalised(label).split()}
    return f"the {found[2]}" if found and found[2] not in word_list("not_nouns") | positions else ""


@lru_cache(maxsize=4096)
def known_gist(text: str, topic: Topic) -> str:
    """As `gist_of`, but only for words in the phrase material; "" for all others."""
    plain = f" {normalised(text)} "
    return next((gist for needle, gist in _gists(topic) if needle in plain), "")


@lru_cache(maxsize=256)
def _gists(topic: Topic) -> tuple[tuple[str, str], ...]:
    # A point with slots is recognised by its longest stretch between them, if that is long enough.
    pairs = [(p.text if "{" not in p.text else skeleton(p.text), p.gist) for p in topic.points if p.gist]
    life = read("life")
    blocks = [e["lines"] for k in ("occupations", "hobbies", "family") for e in life[k].values()]
    blocks += [life[k] for k in ("anybody", "teen", "old", "young", "any_occupation", "any_occupation_retired")]
    told = [line.partition("|")[::2] for block in blocks for line in lines(block) if "|" in line]
    found = [(text, gist) for text, gist in pairs if len(text.split()) > 2]
    found += [(text, gist.strip()) for text, gist in told if "{" not in text]
    return tuple((f" {normalised(text)} ", gist) for text, gist in found)


class Told(NamedTuple):
    """An utterance, as far as the prompt shows it.

    Attributes:
        turn: its number.
        speaker: its speaker; empty if a memory does not name them.
        text: its words, or the memory of them.
        place: its place on the line of opinions, 0 to 1.
    """

    turn: int
    speaker: str
    text: str
    place: float


def utterances_known(prompt: Prompt) -> list[tuple[int, str, str]]:
    """Turn, speaker and text of each utterance, oldest first: word by word if known, else as remembered."""
    names = (*prompt.participants, MODERATOR)
    known: dict[int, tuple[str, str]] = {}
    for memory in prompt.recalled:
        if memory.kind == "perception":
            known[memory.turn] = (_speaker(memory, names), memory.theme)
    if prompt.heard:
        known[prompt.turn] = (prompt.heard.speaker, prompt.heard.text)
    for turn, said in enumerate(prompt.recent, start=prompt.turn - len(prompt.recent) + 1):
        known[turn] = (said.speaker, said.text)
    return [(turn, *known[turn]) for turn in sorted(known)]


def timeline(prompt: Prompt, topic: Topic) -> list[Told]:
    """The utterances that state a position, oldest first; a moderator asks about positions and holds none."""
    return [
        Told(turn, speaker, text, place)
        for turn, speaker, text in utterances_known(prompt)
        if not prompt.leads(speaker) and (place := place_in(text, topic)) is not None
    ]


def others_hold(prompt: Prompt, topic: Topic) -> dict[str, int]:
    """The positions that the others last spoke for, by name."""
    n = len(topic.positions)
    told = {one.speaker: nearest(one.place, n) for one in timeline(prompt, topic)}
    return {name: position for name, position in told.items() if name not in ("", prompt.name)}


def _speaker(memory: MemoryLine, names: Sequence[str]) -> str:
    """The speaker of a remembered utterance: its theme begins with their name, or names nobody else."""
    begins = [name for name in names if memory.theme.startswith(name[:60].strip())]
    found = [name for name in names if name in memory.theme]
    return max(begins, key=len) if begins else found[0] if len(found) == 1 else ""


class Temper(NamedTuple):
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
    told = {"traits": " ".join(traits), "goals": " ".join(goals)}
    if word_pattern("adversarial").search(told["goals"]):
        return Temper(0.0, 0.0, adversarial=True)
    bound, rate, _ = Temper()
    for group, (where, wider, faster) in read("feelings")["listens"].items():
        if word_pattern(group).search(told[where]):
            bound, rate = bound + wider, rate + faster
    return Temper(min(1.0, bound), min(0.5, rate))


def updated(opinion: float, heard: float, temper: Temper) -> float:
    """The opinion after hearing another, both 0 to 1 (Deffuant et al. 2000, equation 1, only for the listener)."""
    if abs(heard - opinion) > temper.confidence_bound:
        return opinion
    return opinion + temper.convergence_rate * (heard - opinion)


_HOLD: Final = 0.1
"""Part of a position's share of the line by which an opinion must leave the share before its holder says so."""
SHIFT: Final = "no longer stand with"
"""By these words a plan names the position that its maker has given up (`plan_shift` in thoughts.yaml)."""


def starting_opinion(prompt: Prompt, topic: Topic) -> float:
    """An agent's initial opinion: at one of the positions that its goals, or else its description, name, or anywhere.

    Goals and descriptions that name all positions, or none, have no effect.
    """
    anywhere = generator(prompt.seed, "opinion", prompt.name, topic.text).random()
    for profile in (" ".join(prompt.goals), prompt.description):
        told = told_positions(profile, topic)
        if 0 < len(told) < len(topic.positions):
            return anchor(told[int(anywhere * len(told))], len(topic.positions))
    return anywhere


class Stance(NamedTuple):
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

    @property
    def shifts(self) -> bool:
        """Whether the position is another one than before the last utterance, or than the one last spoken for."""
        return self.mine != self.before or self.mine != self.earlier


def kept(opinion: float, stated: int, positions: int) -> float:
    """The opinion of an agent who spoke for a position: unchanged, but within that position's share of the line.

    A mind that has forgotten what moved it still knows its own words.
    """
    edge = 1e-6
    return min((stated + 1) / positions - edge, max(stated / positions + edge, opinion))


def stance(prompt: Prompt, topic: Topic) -> Stance:
    """The stance of a prompt's agent, from its persona, the topic, the seed, and what it heard and said.

    The identity in its last plan names a position, too. It counts as said just before the prompt's last utterances.
    """
    temper = temper_of(prompt.traits, prompt.goals)
    n = len(topic.positions)
    opinion = starting_opinion(prompt, topic)
    identity = position_in(prompt.identity, topic)
    oldest = prompt.turn - max(1, len(prompt.recent))
    before, stated, aloud = opinion, None, False
    known = timeline(prompt, topic)
    for told in known:
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
    # A position is not retracted for an opinion that has left its share by little.
    if stated is not None and max(stated / n - opinion, opinion - (stated + 1) / n) < _HOLD / n:
        mine = stated
    spoken_for = {nearest(told.place, n) for told in known if told.speaker == prompt.name}
    if SHIFT in prompt.plan and stated == mine and mine not in spoken_for:
        stated = position_in(prompt.plan, topic)
    return Stance(opinion, mine, nearest(before, n), stated, temper, aloud)
