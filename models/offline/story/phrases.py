"""Words in a story: in a room, before the group, and as a last speech; set phrases, and for whom one speaks.

A room has the course of a bargain: an opening, a reply, an offer, an answer to it, and last words. A deck's order
depends on the seed, and the place in it on the prompt. The places of an utterance's phrases are so laid out that two
utterances of a story share one phrase at most, until the decks are used up.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from persimchat.models.offline.grammar import filled
from persimchat.models.offline.lexicon import deck, read
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.randomness import generator, permutation
from persimchat.models.offline.story import arithmetic
from persimchat.models.offline.story.told import Held, Passed, Told, favoured_in, speaks_for
from persimchat.models.offline.utterance import spoken

FILES: Final = ("story/story", "story/rooms")
"""The files of phrases."""
SIZE: Final = 13
"""The phrases of most decks: a prime, so that two of an utterance's phrases come together again only after 169."""
_ANOTHER: Final = SIZE + 9
"""How far the phrases are from those that must not be said again."""
_STAGES: Final = ("private", "confidential", "group", "settlement")

REPLIES: Final = ("refusals", "doubts", "accepts")
ANSWERS: Final = ("declines", "weighs", "takes")
CLOSES: Final = ("cold_closes", "open_closes", "warm_closes")
"""Decks by how warm they are, the coldest first: of a reply, of an answer to an offer, and of last words."""
OFFERS: Final = "offers"


def phrases(name: str) -> tuple[str, ...]:
    """The phrases of a deck, in whichever file it is."""
    return deck(next(file for file in FILES if name in read(file)), name)


def short(name: str) -> str:
    """A name in short: the first word of it."""
    return name.partition(" ")[0]


def story_words(prompt: Prompt, seed: int) -> str:
    """The speaker's next words: three phrases."""
    told = prompt.story
    assert told is not None  # the task is one of a story
    step = _step(prompt, told) + _ANOTHER * bool(prompt.avoid)
    aim = _aim(prompt, told, seed)
    favoured = aim.favours if aim is not None else ""
    values = {
        "other": short(told.other),
        "topic": _topic(prompt, told, seed),
        "belief": aim.text.rstrip(".!?") + "." if aim is not None and aim.text else "",
        "who": short(favoured),
        "a": "",
        "b": "",
    }
    claims = _claims(prompt, told, aim, favoured)
    if told.words.get("place") == "speech":
        decks: tuple[str, ...] = ("speech_starts", claims, "speech_ends")
    elif told.words.get("place") == "group":
        start, named = _start(prompt, told, aim, seed)
        values |= named
        decks = (start, claims, "reasons" if claims != "undecided" else "wishes")
    else:
        decks = _in_room(prompt, told, claims, aim, seed)
    lap = step // SIZE
    parts = []
    for place, name in enumerate(decks):
        found = phrases(name)
        at = step + place * lap
        parts.append(filled(found[permutation(len(found), seed, name)[at % len(found)]], values))
    return spoken(parts, prompt.register)


def _aim(prompt: Prompt, told: Told, seed: int) -> Held | None:
    """What one speaks for: one's strongest belief, else whom one stands behind, without a sentence."""
    if told.aims:
        return told.aims[generator(seed, "aim", prompt.name, told.round).randrange(len(told.aims))]
    return Held("", told.supports) if told.supports else None


def _claims(prompt: Prompt, told: Told, aim: Held | None, favoured: str) -> str:
    if not favoured:
        return "undecided" if aim is None else "plain_claims"
    return "own_claims" if favoured == prompt.name else "claims_before" if favoured == told.other else "claims"


def _in_room(prompt: Prompt, told: Told, claims: str, aim: Held | None, seed: int) -> tuple[str, ...]:
    """The decks of an utterance of a room, by its place in the bargain."""
    said = len(prompt.recent)
    ends = "glances" if told.public else "secrets"
    if said == 0:
        return ("openings", claims, "asks")
    if said % 2 == 0:
        return (OFFERS, "persuasions", "pledges") if said % 4 == 2 else ("presses", "persuasions", ends)
    asked = next((one.words for one in prompt.recent if one.speaker == told.other), "")
    differs = aim is not None and not speaks_for(asked, told.other, aim, [prompt.name, *prompt.present])
    relation = prompt.relation_to(told.other)
    liking = arithmetic.affinity(seed, prompt.name, told.other, relation.valence if relation else 0)
    draw = generator(seed, "reply", prompt.name, told.other, told.round, told.stage)
    warm = arithmetic.warmth(liking, differs, draw)
    if said == 1:
        return (REPLIES[warm + 1], claims, "returns")
    return (*((ANSWERS[warm + 1], "conditions") if said % 4 == 3 else (CLOSES[warm + 1], ends)), "afterthoughts")


def _start(prompt: Prompt, told: Told, aim: Held | None, seed: int) -> tuple[str, dict[str, str]]:
    """The first deck of words before the group: an answer to somebody, a remark on a meeting, or neither."""
    draw = generator(seed, "start", prompt.name, told.round, len(prompt.recent))
    everybody = [prompt.name, *prompt.present]
    stands = [s for s in prompt.recent if s.speaker in prompt.present and favoured_in(s.words, s.speaker, everybody)]
    if aim is not None and stands and draw.random() < 0.6:
        one = draw.choice(stands)
        return ("agreements" if speaks_for(one.words, one.speaker, aim, everybody) else "answers"), {
            "a": short(one.speaker)
        }
    seen = [one for one in told.happened if _is_sight(one, prompt.name, told.round)]
    if not prompt.recent and seen and draw.random() < 0.5:
        met = draw.choice(seen)
        return "sightings", {"a": short(met.who), "b": short(met.others[0])}
    return "group_starts", {}


def _is_sight(one: Passed, name: str, number: int) -> bool:
    """Whether a line tells of a meeting of others in this round."""
    return one.do == "met" and one.round == number and bool(one.others) and name not in (one.who, *one.others)


def _step(prompt: Prompt, told: Told) -> int:
    """A number that no two utterances of a place and story have in common, as far as a prompt can tell."""
    names = sorted((prompt.name, *prompt.present))
    if told.words.get("place") != "room":
        said = sum(one.speaker == prompt.name for one in prompt.recent)
        return ((told.round - 1) * SIZE // 2 + said) * len(names) + names.index(prompt.name)
    said, host = len(prompt.recent), names.index(prompt.recent[0].speaker if prompt.recent else prompt.name)
    stage = _STAGES.index(told.stage) if told.stage in _STAGES else 0
    # The two of a room do not say the same.
    return ((told.round - 1) * 2 + stage) * len(names) + host + said // 4 + SIZE // 2 * (said % 2)


def _topic(prompt: Prompt, told: Told, seed: int) -> str:
    """Something to talk of: the next point of a host's plan, else of a resource, else what all may talk about."""
    if told.plan:
        return told.plan[len(prompt.recent) // 2 % len(told.plan)]
    topics = [topic for one in told.resources for topic in one.topics] or list(phrases("topics"))
    said = sum(one.speaker == prompt.name for one in prompt.recent)
    start = generator(seed, "topic", prompt.name, told.round, told.words.get("place")).randrange(len(topics))
    return topics[(start + said) % len(topics)]


def warmth_of(words: str) -> int | None:
    """How warm an answer's words are, -1 to 1, by their set phrases; None if they are no answer."""
    found = [
        warm - 1
        for decks in (REPLIES, ANSWERS, CLOSES)
        for warm, name in enumerate(decks)
        if any(pattern.search(words) for pattern in _patterns(name))
    ]
    return max(-1, min(1, sum(found))) if found else None


def offered_in(words: str) -> bool:
    """Whether words make an offer, by their set phrases."""
    return any(pattern.search(words) for pattern in _patterns(OFFERS))


@cache
def _patterns(name: str) -> tuple[re.Pattern[str], ...]:
    """The phrases of a deck with any words in their slots."""
    slot = re.compile(r"\\\{\w+(?:\\\^)?\\\}")
    return tuple(re.compile(slot.sub(".{1,300}?", re.escape(phrase)), re.IGNORECASE) for phrase in phrases(name))
