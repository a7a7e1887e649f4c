"""Feelings: how utterances change an agent's emotional state, by the agent's own temper.

A temper sets what an agent feels if nothing happens, and how it reacts to contradiction: one agent is hurt, another
angry, afraid or curious. It follows from traits, speaking style and description; if these say little, it is drawn at
random, seeded with them. The coefficients are this model's own and were set by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from persimchat.models.offline.appraisal import Appraisal, appraise, weariness
from persimchat.models.offline.gists import known_gist
from persimchat.models.offline.lexicon import word_pattern
from persimchat.models.offline.persona_facts import facts_of
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.randomness import generator
from persimchat.models.offline.words import normalised, short_name
from persimchat.state.emotion import EMOTIONS

_REST: Final = {
    # Trait group: how it shifts an agent's resting state.
    "cheerful": {"happiness": 1.8, "sadness": -0.5},
    "warm": {"happiness": 0.6, "sadness": 0.3},
    "funny": {"happiness": 0.4},
    "gloomy": {"happiness": -1.0, "sadness": 1.6, "disgust": 0.7},
    "irritable": {"happiness": -0.4, "anger": 1.7, "disgust": 0.4},
    "anxious": {"happiness": -0.4, "fear": 1.8},
    "curious": {"happiness": 0.2, "surprise": 1.0},
    "calm": {"happiness": 0.2, "anger": -0.4, "fear": -0.5},
    "stubborn": {"anger": 0.9},
    "blunt": {"anger": 0.4, "disgust": 0.4},
    "cautious": {"fear": 0.7},
    "reserved": {"happiness": -0.4, "sadness": 0.4, "fear": 0.3},
    "open_minded": {"surprise": 0.3},
    "learned": {"surprise": 0.2},
}
_TAKES: Final = {
    # Trait group: which emotions contradiction raises.
    "irritable": {"anger": 1.2, "disgust": 0.3},
    "stubborn": {"anger": 0.8},
    "blunt": {"anger": 0.3, "disgust": 0.6},
    "anxious": {"fear": 1.3, "sadness": 0.3},
    "cautious": {"fear": 0.4},
    "gloomy": {"sadness": 0.8, "disgust": 0.4},
    "warm": {"sadness": 0.7},
    "reserved": {"sadness": 0.5, "fear": 0.3},
    "curious": {"surprise": 0.9},
    "open_minded": {"surprise": 0.7},
    "learned": {"disgust": 0.3, "surprise": 0.3},
    "talkative": {"anger": 0.3},
}
_SOFTENS: Final = {"calm": 0.6, "cheerful": 0.8, "funny": 0.85}
"""Trait group: the part of a contradiction that takes effect."""
_TOLD: Final = ("cheerful", "gloomy", "irritable", "anxious")
"""Groups that are recognised in a description; there, words for the other groups have other meanings."""
_CONTENT: Final = 1.3
"""Resting happiness of agents about whom nothing is known."""
_LEANING: Final = {"happiness": 0.25, "surprise": 0.15, "sadness": 0.2, "anger": 0.17, "fear": 0.14, "disgust": 0.09}
"""Share of agents who lean to an emotion without a reason in their profile."""
_LEANS: Final = 1.2


@dataclass(frozen=True)
class Disposition:
    """A temper.

    Attributes:
        rest: the resting emotional state, by emotion.
        takes: what full contradiction adds, by emotion.
        spirits: what full support adds to happiness.
    """

    rest: Mapping[str, float]
    takes: Mapping[str, float]
    spirits: float


def disposition_of(prompt: Prompt) -> Disposition:
    """The temper of a prompt's agent, apart from the topic."""
    facts = facts_of(prompt)
    told = {group for group in _TOLD if word_pattern(group).search(prompt.description)}
    return _disposition(prompt.name, prompt.description, frozenset(facts.groups | told), facts.child, facts.onlooker)


@lru_cache(maxsize=256)
def _disposition(name: str, description: str, groups: frozenset[str], child: bool, onlooker: bool) -> Disposition:
    draw = generator("temper", name, description)
    leaning = draw.choices(list(_LEANING), list(_LEANING.values()))[0]
    rest = {e: 0.5 * draw.random() + (_CONTENT if e == "happiness" else 0.0) for e in EMOTIONS}
    takes = dict.fromkeys(EMOTIONS, 0.0) | {"anger": 0.6, "sadness": 0.3}
    # The less a profile says, the more is drawn at random.
    known = sum(group in _REST for group in groups) if not onlooker else 9
    rest[leaning] += _LEANS / (1 + 0.4 * known)
    takes["anger" if leaning == "happiness" else leaning] += 0.6 / (1 + 0.4 * known)
    for table, values in ((_REST, rest), (_TAKES, takes)):
        for group in sorted(groups & table.keys()):
            for emotion, shift in table[group].items():
                values[emotion] += shift
    if child:
        rest["happiness"] += 0.6
        rest["surprise"] += 0.6
    left = 1.0
    for group, part in _SOFTENS.items():
        left *= part if group in groups else 1.0
    spirits = 1.1 + 0.4 * ("cheerful" in groups) + 0.2 * ("warm" in groups) - 0.5 * ("gloomy" in groups)
    return Disposition(
        {e: max(0.0, v) for e, v in rest.items()},
        {e: left * v for e, v in takes.items()},
        spirits - 0.3 * ("irritable" in groups) - 0.2 * ("reserved" in groups),
    )


_RETURN: Final = 0.3
"""Part of the way back to the resting state between two utterances."""
_FADES: Final = 0.5
"""The same part for surprise, which passes quickly."""
_MOST: Final = 3.0
"""The most levels by which one utterance changes an emotion."""
_NEWS: Final = (("hurtful", "sadness"), ("frightening", "fear"), ("surprising", "surprise"))
"""Words in topics and utterances, and the emotions that they raise."""


def feeling(prompt: Prompt, seed: int) -> tuple[dict[str, int], str]:
    """The new emotional state, and the change with its reason (one sentence).

    Before the conversation, the state depends only on persona and topic. Later it returns towards the persona's own
    temper, and the event moves it part of the way towards its target.
    """
    a = appraise(prompt, seed)
    temper = disposition_of(prompt)
    rest = {e: temper.rest[e] + _of_topic(e, prompt.topic) for e in EMOTIONS}
    draw = generator(seed, "feeling", prompt.name, prompt.topic, prompt.turn)
    if not a.heard or not prompt.emotions:
        state = {e: _stepped(rest[e], draw.random()) for e in EMOTIONS}
        return state, f"{short_name(prompt.name)} comes to it in their usual temper."
    event = _event(a, temper, prompt)
    state = {}
    for emotion in EMOTIONS:
        before = prompt.emotions.get(emotion, 0)
        pull = (_FADES if emotion == "surprise" else _RETURN) * (rest[emotion] - before)
        push = max(-_MOST, min(_MOST, event[emotion]))
        state[emotion] = _stepped(before + pull + push, draw.random())
    return state, _reason(a, prompt)


def _of_topic(emotion: str, topic: str) -> float:
    return float(sum(word_pattern(pattern).search(topic) is not None for pattern, felt in _NEWS if felt == emotion))


def _stepped(value: float, draw: float) -> int:
    """A level from 0 to 10; the fraction is the chance to round up, so that slow changes are not lost."""
    whole = int(value // 1)
    return max(0, min(10, whole + (draw < value - whole)))


def _event(a: Appraisal, temper: Disposition, prompt: Prompt) -> dict[str, float]:
    """The effect of the words on the six emotions."""
    event = dict.fromkeys(EMOTIONS, 0.0)
    heard = prompt.heard
    if heard is None or a.own:
        return event
    near = 1.5 if a.to_me else 1.0
    if a.agreement > 0:
        event["happiness"] += temper.spirits * a.agreement * near
        event["anger"] -= 1.0 * a.agreement
        event["sadness"] -= 0.5 * a.agreement
        event["fear"] -= 0.5 * a.agreement
    else:
        blow = -a.agreement * near
        for emotion, level in temper.takes.items():
            event[emotion] += level * blow
        event["happiness"] -= 1.1 * blow
        # Contradiction by a friend hurts, by an opponent it angers.
        event["anger"] += 0.3 * blow * -a.valence
        event["sadness"] += 0.6 * blow * (a.valence > 0)
    if a.to_me:
        event["happiness"] += 0.4 * (a.valence >= 0 and a.agreement >= 0)
        event["happiness"] += 0.4 * bool(word_pattern("kindly").search(heard.words))
        event["disgust"] += 0.6 * (a.valence < 0)
        event["fear"] += 0.6 * ("anxious" in a.facts.groups)
    contagion = 0.16 if a.valence > 0 else 0.08
    for emotion, level in heard.emotion.items():
        event[emotion] += contagion * max(-2, min(6, level - prompt.emotions.get(emotion, 0)))
    for pattern, emotion in _NEWS:
        event[emotion] += 0.9 * bool(word_pattern(pattern).search(heard.words))
    if word_pattern("hostile").search(heard.words):
        event["disgust"] += 0.8
        event["anger" if temper.takes["anger"] >= temper.takes["sadness"] else "sadness"] += 0.8
    event["surprise"] += 1.2 * (a.stance.mine != a.stance.before)
    # A new thought surprises agents who are easily surprised.
    event["surprise"] += 0.6 * temper.rest["surprise"] * _is_new(a, prompt)
    # Repetition lowers all agents' spirits.
    weary = weariness(prompt) / 5
    event["happiness"] -= 0.6 * weary
    event["disgust"] += weary * (0.2 + 0.5 * temper.takes["disgust"])
    event["anger"] += weary * 0.4 * temper.takes["anger"]
    event["sadness"] += weary * 0.4 * temper.takes["sadness"]
    return event


def _is_new(a: Appraisal, prompt: Prompt) -> bool:
    """Whether the words bring up something that no memory has."""
    gist = known_gist(prompt.heard.words, a.topic) if prompt.heard else ""
    return bool(gist) and not any(normalised(gist) in normalised(memory.theme) for memory in prompt.memories)


def _reason(a: Appraisal, prompt: Prompt) -> str:
    speaker = short_name(prompt.heard.speaker if prompt.heard else "")
    if a.own:
        return f"{short_name(prompt.name)} has had their say, and the feeling settles."
    what = "was in line with" if a.agreement > 0.15 else "went against" if a.agreement < -0.15 else "hardly touched"
    to_me = ", and was meant for them" if a.to_me else ""
    return f"What {speaker} said {what} what {short_name(prompt.name)} holds{to_me}."
