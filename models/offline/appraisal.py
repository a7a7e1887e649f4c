"""Appraises an utterance for its hearer, and derives the need to talk.

It follows appraisal theories of emotion: is the utterance for or against my position, was it meant for me, what is my
relationship to the speaker, what does the speaker feel. Need to talk and emotional state (`feeling.py`) are computed
from these answers; the coefficients are this model's own and were set by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from persimchat.models.offline.lexicon import word_pattern
from persimchat.models.offline.opinion import Stance, stance
from persimchat.models.offline.persona_facts import Facts, facts_of
from persimchat.models.offline.positions import anchor, position_in
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.randomness import generator
from persimchat.models.offline.timeline import utterances_known
from persimchat.models.offline.topics import Topic, topic_of
from persimchat.models.offline.words import short_name

_WEARIEST: Final = 5.0


@dataclass(frozen=True)
class Appraisal:
    """The appraisal of the last utterance by its hearer.

    Attributes:
        facts: about the hearer.
        topic: analysed.
        stance: of the hearer.
        theirs: index of the position that the words support, None if it cannot be determined.
        own: the hearer spoke the words.
        to_me: the words address the hearer by name or in a whisper.
        asked: the words ask the hearer something.
        agreement: from -1 (against the hearer's position, or a reproof) over 0 to 1 (for it).
        valence: of the hearer's relationship to the speaker, -1, 0 or 1.
        heard: whether there was an utterance.
        led: the speaker is the moderator, who takes no part.
    """

    facts: Facts
    topic: Topic
    stance: Stance
    theirs: int | None
    own: bool
    to_me: bool
    asked: bool
    agreement: float
    valence: int
    heard: bool
    led: bool = False


def appraise(prompt: Prompt, seed: int) -> Appraisal:
    """Appraise the last utterance."""
    facts = facts_of(prompt)
    topic = topic_of(prompt)
    held = stance(prompt, topic, seed)
    heard = prompt.heard
    if heard is None:
        return Appraisal(facts, topic, held, None, False, False, False, 0.0, 0, heard=False)
    led = prompt.leads(heard.speaker)
    theirs = None if led else position_in(heard.words, topic)
    # A question asks those whom it names, or all if it names nobody. A moderator's question asks its addressees.
    asked = "?" in heard.words and (heard.to_me or (led and heard.addressees == "everybody"))
    relation = prompt.relation_to(heard.speaker)
    return Appraisal(
        facts=facts,
        topic=topic,
        stance=held,
        theirs=theirs,
        own=heard.own,
        to_me=heard.to_me,
        asked=asked,
        agreement=0.0 if heard.own else _agreement(heard.words, theirs, held, topic, to_me=heard.to_me),
        valence=relation.valence if relation else 0,
        heard=True,
        led=led,
    )


def _agreement(words: str, theirs: int | None, held: Stance, topic: Topic, *, to_me: bool) -> float:
    value = 0.0
    if theirs is not None:
        n = len(topic.positions)
        distance = abs(anchor(theirs, n) - held.opinion)
        value = 0.7 * (1.0 - 2.0 * distance) if theirs == held.mine else -min(0.8, 0.3 + distance)
    weight = 0.6 if to_me else 0.25
    value += weight * bool(word_pattern("agreeing").search(words))
    value -= weight * bool(word_pattern("contradicting").search(words))
    value -= 0.6 * bool(word_pattern("hostile").search(words))
    return max(-1.0, min(1.0, value))


def need_to_talk(prompt: Prompt, seed: int) -> tuple[int, str]:
    """The agent's need to talk, 0–10, and the reason (one sentence)."""
    a = appraise(prompt, seed)
    groups = a.facts.groups
    reasons = []
    score = 4.2 + 1.5 * ("talkative" in groups) - 1.5 * ("reserved" in groups) - 0.6 * a.facts.brief
    strongest = max(prompt.emotions.values(), default=0)
    score += 0.3 * max(0, strongest - 3)
    if strongest >= 6:
        reasons.append("feels it strongly")
    if prompt.closing:
        return _need_to_leave(prompt, a, seed)
    if a.own:
        score -= 5.0
        reasons.insert(0, "has only just spoken")
    elif a.asked:
        score += 4.0 if a.to_me else 2.0
        reasons.insert(0, "was asked by name" if a.to_me else "was asked like everybody")
    elif a.to_me:
        score += 2.6
        whispered = prompt.heard is not None and prompt.heard.whispered
        reasons.insert(0, "was whispered to" if whispered else "was spoken to by name")
    if a.agreement < -0.15:
        score += 2.4 * -a.agreement
        reasons.append("disagrees with what was said")
    elif a.agreement > 0.3:
        score += 0.4
        reasons.append("agrees and has little to add")
    score += 0.4 * abs(a.valence)
    weary = weariness(prompt)
    if weary > 2:
        reasons.append("has nothing new to say")
    score += (1 - weary / _WEARIEST) * _silence(prompt, reasons) - weary
    score -= _lateness(prompt, reasons)
    draw = generator(seed, "need", prompt.name, prompt.topic, prompt.turn).random()
    score += 2.4 * (draw - 0.5)
    number = max(0, min(10, round(score)))
    temper = "talks readily" if "talkative" in groups else "rather listens" if "reserved" in groups else "is at ease"
    reasons.append(temper)
    return number, f"{short_name(prompt.name)} {', '.join(reasons[:-1])}{' and ' if reasons[:-1] else ''}{reasons[-1]}."


def _need_to_leave(prompt: Prompt, a: Appraisal, seed: int) -> tuple[int, str]:
    """Need to talk while agents take leave: those who have are done, the others still want to say goodbye."""
    name = short_name(prompt.name)
    told = [text for _, speaker, text in utterances_known(prompt) if speaker == prompt.name]
    if any("took leave" in text or word_pattern("leaving").search(text) for text in told):
        return 0, f"{name} has said goodbye."
    draw = generator(seed, "leave", prompt.name, prompt.topic, prompt.turn).random()
    score = 5 + 2 * a.to_me + ("talkative" in a.facts.groups) - ("reserved" in a.facts.groups) + round(2 * draw - 1)
    return max(3, min(9, score)), f"{name} has not said goodbye yet."


def weariness(prompt: Prompt) -> float:
    """How exhausted a discussion is, 0 to 5: grows after three times as many utterances as there are participants."""
    if prompt.form is not None:
        return 0.0
    rounds = prompt.turn / (len(prompt.present) + 1)
    return max(0.0, min(_WEARIEST, 0.8 * (rounds - 3)))


def _silence(prompt: Prompt, reasons: list[str]) -> float:
    """Raise the need of agents with less than their share of the utterances."""
    share = prompt.turn / (len(prompt.present) + 1)
    spoken = prompt.spoken
    if spoken is None:
        return 0.0
    missing = max(-2.5, min(2.5, share - spoken))
    if missing >= 1:
        reasons.append("has hardly spoken so far")
    return 1.5 * missing


def _lateness(prompt: Prompt, reasons: list[str]) -> float:
    """Lower the need towards the message limit: most has been said."""
    if prompt.limit <= 0:
        return 0.0
    part = min(1.0, prompt.turn / prompt.limit)
    if part > 0.8:
        reasons.append("has said most of it")
    return float(3.0 * part**3)
