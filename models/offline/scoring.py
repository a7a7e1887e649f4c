"""An onlooker's answers: scores of an utterance, and the next speaker.

Scores are coherence, sentiment and engagement, 0–10 with one decimal. They count visible features: content words shared
with the topic and the last utterances, names, words of agreement and of hostility, the speaker's emotions, questions,
reasons, examples from life. It is a rough measure, cheap and repeatable, not a reader's judgement.
"""

from __future__ import annotations

import re
from typing import Any, Final

from persimchat.models.offline.gists import known_gist
from persimchat.models.offline.lexicon import word_pattern
from persimchat.models.offline.positions import position_in
from persimchat.models.offline.prompt import Heard, Member, Prompt
from persimchat.models.offline.randomness import generator
from persimchat.models.offline.topics import Topic, topic_of
from persimchat.models.offline.words import content_words, count, overlap, short_name, spoken_to

_PERSONAL: Final = re.compile(r"\b(I|I'(?:m|ve|d|ll)|my|me|we|our)\b")


def analysis(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Score` of the last utterance."""
    prompt.need_section(prompt.heard, "heard")
    heard = prompt.heard
    assert heard is not None
    topic = topic_of(prompt)
    coherence, why = _coherence(heard, prompt, topic)
    sentiment = _sentiment(heard, prompt, topic)
    engagement = _engagement(heard, prompt, topic)
    tone = "warmly" if sentiment >= 6.5 else "sharply" if sentiment <= 3.5 else "evenly"
    depth = "with much of themselves in it" if engagement >= 6.5 else "briefly" if engagement <= 3.5 else "to the point"
    return {
        "reasoning": f"{short_name(heard.speaker)} {why}, {tone} and {depth}.",
        "coherence": _points(coherence),
        "sentiment": _points(sentiment),
        "engagement": _points(engagement),
    }


def _points(value: float) -> float:
    return round(max(0.0, min(10.0, value)), 1)


def _stems(text: str) -> set[str]:
    return {word.casefold()[:6] for word in content_words(text, 60)}


def _coherence(heard: Heard, prompt: Prompt, topic: Topic) -> tuple[float, str]:
    """Coherence, from the overlap with the topic and the last utterances, and its reason in words."""
    words = _stems(heard.words)
    material = " ".join((topic.text, topic.head, *topic.positions))
    on_topic = len(words & _stems(material)) / max(1, min(4, len(words)))
    on_topic = max(on_topic, 0.7 * bool(known_gist(heard.words, topic)))
    on_topic = max(on_topic, 0.8 * (position_in(heard.words, topic) is not None))
    value = 3.2 + 3.4 * min(1.0, on_topic)
    why = "speaks to the topic" if on_topic >= 0.4 else "strays from the topic"
    last = prompt.recent[-1] if prompt.recent else None
    if last is None:
        return value + 1.2, why
    before = [said.words for said in prompt.recent]
    shared = len(words & _stems(" ".join(before[-3:]))) / max(1, len(words))
    to_last = last.speaker in spoken_to(heard.words, heard.speaker, prompt.participants)
    value += 1.6 * to_last + 3.0 * min(0.5, shared)
    if last.words.rstrip().endswith("?") and not to_last:
        value -= 0.8
    repeated = max(overlap(heard.words, text) for text in before)
    if repeated > 0.3:
        return value - 4.0 * repeated, "says again what was said"
    return value, f"answers {short_name(last.speaker)}" if to_last else why


def _sentiment(heard: Heard, prompt: Prompt, topic: Topic) -> float:
    """Sentiment, from words of agreement, kindness, contradiction and hostility, and the speaker's emotions."""
    mine = position_in(heard.words, topic)
    theirs = position_in(prompt.recent[-1].words, topic) if prompt.recent else None
    sides = 0.0 if mine is None or theirs is None else 0.7 if mine == theirs else -0.5
    felt, words = heard.emotion, heard.words

    def counted(pattern: str, most: int = 1) -> int:
        return min(most, len(word_pattern(pattern).findall(words)))

    value = 5.0 + sides + 0.5 * ((felt.get("happiness", 0) - 3) if felt else 0)
    value -= 0.32 * felt.get("anger", 0) + 0.25 * felt.get("disgust", 0)
    value -= 0.18 * felt.get("sadness", 0) + 0.15 * felt.get("fear", 0)
    value += 0.9 * counted("agreeing") + 0.7 * counted("kindly", 2) + 0.4 * min(2, words.count("!"))
    return value - 1.0 * counted("contradicting") - 2.2 * counted("hostile") - 0.35 * counted("bitter", 3)


def _engagement(heard: Heard, prompt: Prompt, topic: Topic) -> float:
    """Engagement, from length, questions, reasons, people addressed, a stated position, and stories from life."""
    words = heard.words
    value = 1.6 + 2.6 * min(1.0, count(words) / 30)
    value += 0.9 * ("?" in words) + 0.45 * min(3, len(_PERSONAL.findall(words)))
    value += 0.4 * min(2, len(word_pattern("reasoned").findall(words)))
    value += 0.9 * bool(spoken_to(words, heard.speaker, prompt.participants))
    value += 0.8 * (position_in(words, topic) is not None)
    return value + 0.15 * max(0, max(heard.emotion.values(), default=0) - 4)


def selector(prompt: Prompt, seed: int) -> dict[str, Any]:
    """The selector's answer: `reasoning` and `speaker`."""
    prompt.need_section(prompt.group, "group")
    names = [member.name for member in prompt.group]
    able = [name for name in prompt.candidates if name in names] or names
    last = prompt.recent[-1] if prompt.recent else None
    called_on = spoken_to(last.words, last.speaker, prompt.participants) if last else []
    called = [name for name in able if name in called_on]
    if last and called:
        did = "asked" if "?" in last.words else "spoke to"
        return {"reasoning": f"{short_name(last.speaker)} {did} {short_name(called[0])}.", "speaker": called[0]}
    standing = {member.name: member for member in prompt.group}
    waiting = min(_waits(standing[name]) for name in able)
    longest = [name for name in able if _waits(standing[name]) == waiting]
    chosen = generator(seed, "selector", prompt.topic, prompt.turn).choice(longest)
    since = standing[chosen].last
    why = f"has been silent since turn {since}" if since else "has not spoken yet"
    return {"reasoning": f"{short_name(chosen)} {why}.", "speaker": chosen}


def _waits(member: Member) -> tuple[int, int]:
    """The smaller, the more overdue a candidate is."""
    return member.last, member.spoken
