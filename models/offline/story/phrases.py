"""Words in a story: in a room, before the group, and as a last speech; set phrases, and for whom one speaks.

A deck's order depends on the seed, and the place in it on the prompt. The places of an utterance's phrases are so laid
out that two utterances of a story share one phrase at most, until the decks are used up.
"""

from __future__ import annotations

from typing import Final

from persimchat.models.offline.grammar import filled
from persimchat.models.offline.lexicon import deck
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.randomness import generator, permutation
from persimchat.models.offline.story import arithmetic
from persimchat.models.offline.story.told import Told
from persimchat.models.offline.utterance import spoken

FILE: Final = "story/story"
"""The file of phrases."""
SIZE: Final = 13
"""The phrases of each deck: a prime, so that two of an utterance's three phrases come together again only after 169."""
_STAGES: Final = ("private", "confidential", "group", "settlement")


def short(name: str) -> str:
    """A name in short: the first word of it."""
    return name.partition(" ")[0]


def story_words(prompt: Prompt, seed: int) -> str:
    """The speaker's next words: three phrases, or two at the beginning of a room."""
    told = prompt.story
    assert told is not None  # the task is one of a story
    step = _step(prompt, told) + (SIZE + 1) * bool(prompt.avoid)
    aim = told.aims[generator(seed, "aim", prompt.name, told.round).randrange(len(told.aims))] if told.aims else None
    favoured = aim.favours if aim is not None else ""
    values = {
        "other": short(told.other) if told.other else "all of you",
        "topic": _topic(prompt, seed, step),
        "belief": aim.text.rstrip(".!?") + "." if aim is not None else "",
        "who": "" if not favoured else "myself" if favoured == prompt.name else short(favoured),
    }
    claims = "undecided" if aim is None else "claims" if values["who"] else "plain_claims"
    if told.words.get("place") == "speech":
        decks = ("speech_starts", claims, "speech_ends")
    elif told.words.get("place") == "group":
        decks = ("group_starts", claims, "reasons")
    elif not prompt.recent:
        decks = ("openings", claims, "tails")
    else:
        second = claims if len(prompt.recent) == 1 else "offers" if len(prompt.recent) % 2 else "asks"
        decks = (_reply(prompt, seed), second, "tails")
    lap = step // SIZE
    places = (step, step + lap, step + 2 * lap)
    parts = []
    for name, place in zip(decks, places, strict=True):
        phrases = deck(FILE, name)
        parts.append(filled(phrases[permutation(len(phrases), seed, name)[place % len(phrases)]], values))
    return spoken(parts, prompt.register)


def _step(prompt: Prompt, told: Told) -> int:
    """A number that no two utterances of a place and story have in common, as far as a prompt can tell."""
    names = sorted((prompt.name, *prompt.present))
    if told.words.get("place") != "room":
        said = sum(one.speaker == prompt.name for one in prompt.recent)
        return ((told.round - 1) * SIZE // 2 + said) * len(names) + names.index(prompt.name)
    host = names.index(prompt.recent[0].speaker if prompt.recent else prompt.name)
    stage = _STAGES.index(told.stage) if told.stage in _STAGES else 0
    room = ((told.round - 1) * 2 + stage) * len(names) + host
    return room if not prompt.recent else room * max(1, 6 - 1) + len(prompt.recent) - 1


def _reply(prompt: Prompt, seed: int) -> str:
    """The deck of an answer to the other in the room: accept, doubt or refuse."""
    told = prompt.story
    assert told is not None
    relation = prompt.relation_to(told.other)
    liking = arithmetic.affinity(seed, prompt.name, told.other, relation.valence if relation else 0)
    leaning = liking + 0.4 * generator(seed, "reply", prompt.name, told.other, told.round, len(prompt.recent)).gauss(
        0, 1
    )
    return "accepts" if leaning > 0.25 else "refusals" if leaning < -0.25 else "doubts"


def _topic(prompt: Prompt, seed: int, step: int) -> str:
    """Something to talk of: of the plan, of a resource, or of what all talk about."""
    told = prompt.story
    assert told is not None
    topics = [*told.plan, *(topic for one in told.resources for topic in one.topics)]
    topics = topics or list(deck(FILE, "topics"))
    return topics[(step + generator(seed, "topic", prompt.name, told.round).randrange(len(topics))) % len(topics)]
