"""Stories: what is said in rooms, before the group and as a last speech, and the judgements of closeness and beliefs.

The arithmetic is made up: plausible figures for demonstrations and tests, not a theory of people. Its coefficients are
chosen so that stories take different courses: somebody is persuaded now and then, and few values end at 0 or 100.

A room has the course of a bargain: an opening, a reply, an offer, an answer to it, and last words. A deck's order
depends on the seed, and the place in it on the prompt. The places of an utterance's phrases are so laid out that two
utterances of a story share one phrase at most, until the decks are used up.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from .material import (
    content_words,
    count,
    deck,
    filled,
    generator,
    listed,
    normalised,
    permutation,
    read,
    spoken,
    word_pattern,
)
from .positions import place_in
from .prompt import Answer, Prompt
from .topics import topic_of

TONES: Final = 2
"""A talk is felt from -2, very cold, to 2, very warm."""
MOST: Final = 10
"""The greatest change of an update."""
SIZE: Final = 13
"""The phrases of most decks: a prime, so that two of an utterance's phrases come together again only after 169."""
APART: Final = 23
"""Places in the decks between two rooms, whose talks take place at the same time, so that they share few phrases."""
REPLIES: Final = ("refusals", "doubts", "accepts")
ANSWERS: Final = ("declines", "weighs", "takes")
CLOSES: Final = ("cold_closes", "open_closes", "warm_closes")
"""Decks by how warm they are, the coldest first: of a reply, of an answer to an offer, and of last words."""


class Held(NamedTuple):
    """A belief; `favours` is empty for nobody, and `score` 0 if the prompt does not show it."""

    text: str
    favours: str
    score: int = 0


class Passed(NamedTuple):
    """A line of what has happened."""

    do: str
    who: str
    others: tuple[str, ...]
    text: str
    round: int


def happened(prompt: Prompt) -> tuple[Passed, ...]:
    """What has happened as far as a character knows, oldest first."""
    return tuple(Passed(*(v[name] for name in Passed._fields)) for v in prompt.items.every("happened"))


class _Story:
    """What only a story's prompt tells to its character; what it lacks is empty."""

    def __init__(self, prompt: Prompt) -> None:
        items, time = prompt.items, prompt.items.first("story_time")
        self.items, self.seed, self.name = items, prompt.seed, prompt.need(prompt.name, "basic_information")
        self.round, self.stage = int(time.get("round", 0)), str(time.get("stage", ""))
        self.everybody = [prompt.name, *prompt.present]
        self.aims = [Held(v["text"], v["for"]) for v in items.every("aim")]
        self.beliefs = [Held(v["text"], v["for"], v["score"]) for v in items.every("belief")]
        self.supports, self.other = items.text("supports", "name"), items.text("beside_me", "name")
        self.stock, self.decider = items.text("stock"), items.text("decider", "name")
        self.place = prompt.values.get("place")
        self.happened = happened(prompt)
        near = {v["name"]: v["closeness"] for v in items.every("candidate") if v["closeness"] is not None}
        self.closeness = {v["to"]: v["score"] for v in items.every("closeness")} or near
        """To all others, or to the candidates."""
        self.valences = {relation.to: relation.valence for relation in prompt.relations}

    def draw(self, about: str, *key: object) -> random.Random:
        """The random numbers of one decision of this round."""
        return generator(self.seed, about, self.name, self.round, *key)

    def liking(self, other: str) -> float:
        """How much the character likes another by nature and by their relationship, -1 to 1."""
        drawn = 0.6 * (2 * generator(self.seed, "affinity", self.name, other).random() - 1)
        return max(-1.0, min(1.0, drawn + 0.25 * self.valences.get(other, 0)))

    def backs(self, words: str, speaker: str, held: Iterable[Held]) -> bool:
        """Whether words speak for one of these beliefs."""
        return any(speaks_for(words, speaker, one, self.everybody) for one in held)

    def favoured(self, words: str, speaker: str) -> str:
        """Whom words speak for; empty for nobody."""
        return favoured_in(words, speaker, self.everybody)

    @property
    def strongest(self) -> list[Held]:
        """The beliefs with the greatest score."""
        return [held for held in self.beliefs if held.score == max(one.score for one in self.beliefs)]


def _clipped(value: float, most: int = MOST) -> int:
    """A value rounded and kept within -most to most."""
    return max(-most, min(most, round(value)))


def _gumbel(draw: random.Random) -> float:
    """A draw from the standard Gumbel distribution: the greatest of many small chances."""
    return -math.log(-math.log(max(draw.random(), 1e-12)))


def belief_changes(weights: Sequence[float], own: Sequence[bool], swayed: float, draw: random.Random) -> list[int]:
    """The changes of beliefs in an update.

    Args:
        weights: for each belief, the closeness to those who spoke for it, summed.
        own: for each belief, whether it is the holder's own strongest; that needs fewer who speak for it.
        swayed: how much of what was heard moves them.
        draw: the chance in it.
    """
    total, changes = sum(weights), []
    for weight, strongest in zip(weights, own, strict=True):
        expected = 0.35 if strongest else 1 / len(weights)
        moved = 10 * swayed * (weight / total - expected) if total else 0.0
        changes.append(_clipped(moved + draw.gauss(0, 3)))
    return changes


def ballot_choice(scores: Mapping[str, float], draw: random.Random, noise: float) -> str:
    """The candidate with the greatest score, with so much chance in it."""
    drawn = {name: score + noise * _gumbel(draw) if noise else score for name, score in scores.items()}
    return max(drawn, key=lambda name: drawn[name])


def open_choice(
    name: str, candidates: Sequence[str], aims: Sequence[str], scores: Mapping[str, float], *, decides: bool
) -> str | None:
    """Whom a main character names openly: itself, unless its one strongest belief is for another.

    Args:
        name: who votes.
        candidates: whom it may name.
        aims: for each strongest belief, whom it favours; empty for nobody.
        scores: by candidate, for voters who are no candidates.
        decides: whether the voter decides in the end, and so keeps things while it is after nobody.

    Returns:
        The choice; None if the voter is no candidate.
    """
    if name not in candidates:
        return None
    favoured = [aim for aim in aims if aim in candidates]
    if len(aims) == len(favoured) == 1:
        return favoured[0]
    if (decides and "" in aims) or not favoured or name in favoured:
        return name
    return max(favoured, key=lambda one: scores.get(one, 0.0))


def phrases(name: str) -> tuple[str, ...]:
    """The phrases of a deck."""
    return deck("story", name)


def _short(name: str) -> str:
    """The first word of a name."""
    return name.partition(" ")[0]


def favoured_in(text: str, speaker: str, names: Iterable[str]) -> str:
    """Whom words speak for, by the set phrases of this model: "for NAME", "for myself"; empty for nobody."""
    if re.search(r"\bfor (?:myself|themselves|me)\b", text):
        return speaker
    called = (n for n in names if re.search(rf"\bfor (?:{re.escape(n)}|{re.escape(_short(n))})\b", text))
    return next(called, "")


def speaks_for(text: str, speaker: str, belief: Held, names: Iterable[str]) -> bool:
    """Whether words speak for a belief: for whom it favours, or, if that is nobody, in its own words."""
    if belief.favours:
        return favoured_in(text, speaker, names) == belief.favours
    return normalised(belief.text) in normalised(text)


@cache
def _matching(name: str) -> re.Pattern[str]:
    """The phrases of a deck with any words in their slots."""
    slot = re.compile(r"\\\{\w+(?:\\\^)?\\\}")
    return re.compile("|".join(slot.sub(".{1,300}?", re.escape(phrase)) for phrase in phrases(name)), re.IGNORECASE)


def _warmth_of(words: str) -> int:
    """How warm words are, -1 to 1: of an answer by its set phrases, else whether they make an offer."""
    decks = [(warm - 1, name) for names in (REPLIES, ANSWERS, CLOSES) for warm, name in enumerate(names)]
    found = [warm for warm, name in decks if _matching(name).search(words)]
    return max(-1, min(1, sum(found))) if found else int(bool(_matching("offers").search(words)))


def story_words(prompt: Prompt) -> str:
    """The speaker's next words: three phrases."""
    told = _Story(prompt)
    aim = Held("", told.supports) if told.supports else None  # whom one stands behind, without a sentence
    if told.aims:
        aim = told.aims[generator(told.seed, "aim", prompt.name, told.round).randrange(len(told.aims))]
    favoured = aim.favours if aim is not None else ""
    belief = aim.text.rstrip(".!?") + "." if aim is not None and aim.text else ""
    values = {"other": _short(told.other), "topic": _topic(prompt, told), "belief": belief, "who": _short(favoured)}
    claims = "own_claims" if favoured == prompt.name else "claims_before" if favoured == told.other else "claims"
    if not favoured:
        claims = "undecided" if aim is None else "plain_claims"
    decks: tuple[str, ...] = ("speech_starts", claims, "speech_ends")
    if told.place == "group":
        start, named = _start(prompt, told, aim)
        values |= named
        decks = (start, claims, "reasons" if claims != "undecided" else "wishes")
    elif told.place != "speech":
        decks = _in_room(prompt, told, claims, aim)
    # Behind what must not be said again, the phrases are moved on.
    step = _step(prompt, told) + (SIZE + 9) * bool(prompt.avoid)
    parts = []
    for place, name in enumerate(decks):
        found, at = phrases(name), step + place * (step // SIZE)
        parts.append(filled(found[permutation(len(found), prompt.seed, name)[at % len(found)]], values))
    return spoken(parts, prompt.register)


def _in_room(prompt: Prompt, told: _Story, claims: str, aim: Held | None) -> tuple[str, ...]:
    """The decks of an utterance of a room, by its place in the bargain."""
    said = len(prompt.recent)
    ends = "glances" if told.items.first("room").get("public", False) else "secrets"
    if said == 0:
        return ("openings", claims, "asks")
    if said % 2 == 0:
        return ("offers", "persuasions", "pledges") if said % 4 == 2 else ("presses", "persuasions", ends)
    # Who wants something else than the other has spoken for never agrees.
    asked = next((one.text for one in prompt.recent if one.speaker == told.other), "")
    differs = aim is not None and not told.backs(asked, told.other, [aim])
    leaning = told.liking(told.other)
    leaning += generator(told.seed, "reply", prompt.name, told.other, told.round, told.stage).gauss(0, 0.3)
    warm = 0 if leaning < -0.2 else 2 if leaning > 0.1 and not differs else 1
    if said == 1:
        return (REPLIES[warm], claims, "returns")
    return (*((ANSWERS[warm], "conditions") if said % 4 == 3 else (CLOSES[warm], ends)), "afterthoughts")


def _start(prompt: Prompt, told: _Story, aim: Held | None) -> tuple[str, dict[str, str]]:
    """The first deck of words before the group: an answer to somebody, a remark on a meeting, or neither."""
    draw = told.draw("start", len(prompt.recent))
    stands = [s for s in prompt.recent if s.speaker in prompt.present and told.favoured(s.text, s.speaker)]
    if aim is not None and stands and draw.random() < 0.6:
        one = draw.choice(stands)
        return "agreements" if told.backs(one.text, one.speaker, [aim]) else "answers", {"a": _short(one.speaker)}
    met = [one for one in told.happened if one.do == "met" and one.round == told.round and one.others]
    seen = [one for one in met if prompt.name not in (one.who, *one.others)]
    if not prompt.recent and seen and draw.random() < 0.5:
        sight = draw.choice(seen)
        return "sightings", {"a": _short(sight.who), "b": _short(sight.others[0])}
    return "group_starts", {}


def _step(prompt: Prompt, told: _Story) -> int:
    """A number that no two utterances of a place and story have in common, as far as a prompt can tell."""
    names = sorted(told.everybody)
    if told.place != "room":
        said = sum(one.speaker == prompt.name for one in prompt.recent)
        return ((told.round - 1) * SIZE // 2 + said) * len(names) + names.index(prompt.name)
    said, host = len(prompt.recent), names.index(prompt.recent[0].speaker if prompt.recent else prompt.name)
    stage = {"confidential": 1, "group": 2, "settlement": 3}.get(told.stage, 0)
    # The two of a room do not say the same.
    return ((told.round - 1) * 2 + stage) * len(names) + host + said // 4 + SIZE // 2 * (said % 2)


def _topic(prompt: Prompt, told: _Story) -> str:
    """Something to talk of: the next point of a host's plan, else of a resource, else what all may talk about."""
    if plan := told.items.texts("talking_point"):
        return str(plan[len(prompt.recent) // 2 % len(plan)])
    topics = [topic for one in told.items.every("resource") for topic in one["topics"]] or list(phrases("topics"))
    said = sum(one.speaker == prompt.name for one in prompt.recent)
    return str(topics[(told.draw("topic", told.place).randrange(len(topics)) + said) % len(topics)])


def _stocktaking(prompt: Prompt, told: _Story) -> Answer:
    """`Stock`: who is strong, whom one met last, what one is after."""
    draw = told.draw("stock", told.stage)
    resources, weights = told.items.every("resource"), Counter[str]()
    for one in resources:
        weights[one["owner"]] += one["influence"] * (one["owner"] not in ("", prompt.name))
    strong = [name for name in sorted(weights, key=lambda name: (-weights[name], name)) if weights[name]][:3]
    met = [one.others[0] for one in told.happened if one.do == "summary" and one.others]
    backed = next((o for o in reversed(told.happened) if o.do == "words" and o.who != prompt.name), None)
    parts = [f"{listed(strong)} {'has' if len(strong) == 1 else 'have'} weight here."] if strong else []
    parts += [f"I have just talked with {met[-1]}."] if met else []
    if backed is not None and (whom := told.favoured(backed.text, backed.who)):
        parts.append(f"{_short(backed.who)} spoke for {_short(whom) if whom != backed.who else 'themselves'}.")
    own = f"I stand behind {told.supports}." if told.supports else "I have no aim of my own and watch the others."
    parts.append(f"I am after this: {told.aims[0].text.rstrip('.')}." if told.aims else own)
    steps: list[str] = []
    for name in strong or prompt.present[:1]:
        topics = [topic for one in resources if strong and one["owner"] == name for topic in one["topics"]]
        phrase = draw.choice([one for one in phrases("steps") if one not in steps])
        steps.append(phrase.format(other=_short(name), topic=draw.choice(topics or list(phrases("topics")))))
    return {"summary": " ".join(parts)[:690], "next_steps": steps}


def _choice(prompt: Prompt, told: _Story) -> Answer:
    """`Choice`: the candidate who appeals most, by weight, closeness, power to decide, and novelty."""
    candidates = prompt.need(told.items.texts("candidate", "name"), "candidates")
    strong, _, rest = told.stock.partition(" weight here.")
    named = sorted((strong.find(name), name) for name in candidates if rest and name in strong)
    weights = dict(zip((name for _, name in named), (1.0, 0.6, 0.3), strict=False))

    def parts(name: str) -> dict[str, float]:
        near = 0.8 * told.closeness.get(name, 0) / 100
        return {"gives": weights.get(name, 0.0), "near": near, "decides": 0.6 * (name == told.decider)}

    def appeal(name: str) -> float:
        chance = 0.5 * _gumbel(told.draw("choice", told.stage, name, told.stock))
        return sum(parts(name).values()) - 0.9 * (f"talked with {name}" in told.stock) + chance

    partner = max(candidates, key=appeal)
    reason, counts = max(parts(partner).items(), key=lambda part: part[1])
    why = read("thoughts")["reasons_for"][reason if counts else "unheard"]
    topics = list(phrases("topics"))
    told.draw("plan", told.stage, partner).shuffle(topics)
    steps = [step for step in told.items.texts("next_step") if _short(partner) in step.split()]
    noted = [topic for step in steps if (topic := step.partition(" about ")[2].rstrip("."))]
    length = max(1, int(prompt.values.get("exchanges", 1)))
    plan = ((noted or topics) * length)[:length]
    return {"reasoning": filled(why, {"who": _short(partner)}), "partner": partner, "plan": plan}


def _summary(prompt: Prompt, told: _Story) -> Answer:
    """`Summary`: for whom the other spoke, what came of it, and how the talk was felt, in set phrases."""
    if told.items.first("room_number").get("number", 0):
        return _kept_of_room(prompt)
    words = " ".join(said.text for said in prompt.recent if said.speaker == told.other)
    hosts = bool(prompt.recent) and prompt.recent[0].speaker == prompt.name
    met_with = _warmth_of(words)
    chance = generator(told.seed, "tone", prompt.name, told.other, words).gauss(0, 1.1)
    felt = _clipped(1.6 * told.liking(told.other) + 0.9 * met_with + chance, TONES)
    whom = told.favoured(words, told.other)
    shown = {"": "nobody", told.other: "themselves", prompt.name: "me"}.get(whom, _short(whom))
    came = "made me an offer" if _matching("offers").search(words) else "wanted to have me along"
    came = ("left it open", "agreed with me", "turned me down")[met_with] if hosts else came
    other = _short(told.other)
    return {
        "reasoning": f"I wanted {other} at my side." if hosts else f"{other} wanted me at their side.",
        "theme": f"{other} spoke for {shown} and {came}; {phrases('tones')[felt + TONES]}.",
        "keywords": content_words(words, 4) if words else [other],
        "importance": max(0, min(10, 5 + abs(felt) + (whom == prompt.name))),
    }


def _review(prompt: Prompt, told: _Story) -> Answer:
    """`Review`: closeness moves with the tone of talks and with who spoke for what one wants; beliefs with the rest."""
    draw = told.draw("review", told.happened)
    if prompt.values.get("first"):
        first = {other: _clipped(7 * told.liking(other) + draw.gauss(0, 2)) for other in told.closeness}
        return {"reasoning": "I go by what I know of them.", "closeness": first}
    heard, felt = dict[str, str](), dict[str, int]()
    for one in told.happened:
        talked = one.do == "summary" and one.others
        who = one.others[0] if talked else one.who if one.do == "words" else ""
        if who not in ("", prompt.name):
            heard[who] = f"{heard.get(who, '')} {one.text}"
        tones = [place for place, phrase in enumerate(phrases("tones")) if phrase in one.text]
        if talked and tones:
            felt[who] = tones[0] - TONES
    wanted = told.strongest
    # 1 for who spoke for what one wants, -1 for something else, 0 for nothing.
    backs = {who: 1 if told.backs(words, who, wanted) else -bool(wanted and told.favoured(words, who))
             for who, words in heard.items()}  # fmt: skip

    near = dict.fromkeys(told.closeness, 0)
    for other in (other for other in near if other in heard):
        change = 2 * told.liking(other)
        if other in felt:  # with whom one talked
            near[other] = _clipped(change + 2.5 * felt[other] + 2 * backs[other] + draw.gauss(0, 3))
        else:
            near[other] = _clipped(change + backs[other] + draw.gauss(0, 1.5))
    weights = [
        sum(told.closeness.get(who, 0) + 1 for who, words in heard.items() if told.backs(words, who, [held]))
        for held in told.beliefs
    ]
    traits = " ".join(prompt.traits)
    swayed = 4.5 if word_pattern("open_minded").search(traits) else 3.0
    swayed = 1.5 if word_pattern("stubborn").search(traits) else swayed
    changes = belief_changes(weights, [held in wanted for held in told.beliefs], swayed, draw)
    served = list(backs.values()).count(1)
    why = f"{served} spoke for what I want." if served else "Nobody spoke for what I want."
    own = {str(number): value for number, value in enumerate(changes, start=1)}
    return {"reasoning": why, "closeness": near, **({"beliefs": own} if own else {})}


def _ballot(prompt: Prompt, told: _Story) -> Answer:
    """`Ballot`: oneself or whom one has come to want; closed, the best of the others; a guess, by what was said."""
    candidates = prompt.need(told.items.texts("candidate", "name"), "candidates")
    kind = str(prompt.values.get("kind"))
    draw = generator(told.seed, "ballot", kind, prompt.name, told.happened)
    scores = {name: _score(told, name, candidates) for name in candidates}
    if kind == "guess":
        said = [told.favoured(one.text, one.who) for one in told.happened if one.do == "words"]
        found = ballot_choice({name: 4.0 * said.count(name) for name in candidates}, draw, 3.0)
    elif kind == "closed":
        found = ballot_choice(scores, draw, 3.0)
    else:
        aims = [held.favours for held in told.strongest]
        chosen = open_choice(prompt.name, candidates, aims, scores, decides=prompt.name == told.decider)
        found = chosen or ballot_choice(scores, draw, 0.0 if max(scores.values()) > 0 else 1.0)
        kind = "own" if found == prompt.name else "open"
    return {"reasoning": filled(read("thoughts")["ballots"][kind], {"who": _short(found)}), "choice": found}


def _score(told: _Story, name: str, candidates: Sequence[str]) -> float:
    """How much the voter wants a candidate: the beliefs that favour it, and closeness; an outcome, by its words."""

    def outcome(text: str) -> str:
        return max((one for one in candidates if one.casefold() in text.casefold()), key=len, default="")

    somebody = name in told.closeness or name == told.name
    wanted = (held.score for held in told.beliefs if name == (held.favours if somebody else outcome(held.text)))
    return float(sum(wanted) + (told.closeness.get(name, 0) if name != told.name else 0))


def _asked_for(task: Callable[[Prompt, _Story], Answer]) -> Callable[[Prompt], Answer]:
    """A task's answer as its prompt asks for it: without what the story's minds go without."""

    def answer(prompt: Prompt) -> Answer:
        found = task(prompt, _Story(prompt))
        ablation, sentence = prompt.values.get("ablation", ()), prompt.values.get("sentence", "reasoning")
        gone = {"next_steps", "plan"} if "planning" in ablation else set()
        gone |= {"reasoning"} if sentence != "reasoning" or "thinking" in ablation else set()
        kept = {name: value for name, value in found.items() if name not in gone}
        return {**kept, "afterthought": found["reasoning"]} if sentence == "afterthought" else kept

    return answer


TASKS: Final[dict[str, Callable[[Prompt], Answer]]] = {
    task.__name__.strip("_"): _asked_for(task) for task in (_stocktaking, _choice, _summary, _review, _ballot)
}
"""Every judging task of a story by the name of its template."""


def _kept_of_room(prompt: Prompt) -> Answer:
    """What everybody in the room of a split group said that tells most, in its words."""
    topic = topic_of(prompt)

    def point(name: str) -> str:
        """A sentence on where they stand, else the longest one; questions tell nothing."""
        said = [s for one in prompt.recent if one.speaker == name for s in re.split(r"(?<=[.!?…])\s+", one.text)]
        fitting = [one for one in said if "?" not in one and len(one) <= 110 and count(one) >= 5]
        telling = [one for one in fitting if place_in(one, topic) is not None]
        return max(telling or fitting, key=len, default="").rstrip(".!…")

    theme = ""
    for name in (*prompt.present, prompt.name):
        told = f"{'I' if name == prompt.name else _short(name)} said: “{said}.”" if (said := point(name)) else ""
        theme = f"{theme} {told}".strip() if len(theme) + len(told) < 290 else theme
    words = " ".join(one.text for one in prompt.recent if one.speaker != prompt.name)
    others = listed([_short(name) for name in prompt.present])
    return {
        "reasoning": f"I know better now where {others} {'stands' if len(prompt.present) == 1 else 'stand'}.",
        "theme": theme or f"I talked with {others}, and little was said.",
        "keywords": content_words(words, 4) if words else [others],
        "importance": 6,
    }


def report(prompt: Prompt) -> str:
    """The words with which one of a room tells the others of it: who was there, and what the speaker keeps of it."""
    kept = [one for one in happened(prompt) if one.do == "summary"]
    draw = generator(prompt.seed, "report", prompt.name)
    values = {"others": listed([_short(name) for name in kept[-1].others]) if kept else "some of you"}
    start, end = (filled(draw.choice(phrases(name)), values) for name in ("report_starts", "report_ends"))
    return spoken([start, kept[-1].text if kept else "", end], prompt.register)
