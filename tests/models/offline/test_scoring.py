"""Analysis: the scores follow from the words, and differ."""

from __future__ import annotations

import json
import statistics
from typing import Any

from persimchat.models.offline import OfflineChatModel
from persimchat.prompts import blocks as b
from persimchat.prompts import render
from persimchat.state.emotion import EMOTIONS
from persimchat.state.judgement import Score

CALM = dict.fromkeys(EMOTIONS, 0)
BEFORE = "Tea keeps me awake at night, Ann, so what do you drink?"


def utterance(speaker: str, text: str, **felt: int) -> Any:
    return {"turn": 1, "speaker": speaker, "text": text, "addressees": [], "emotion": CALM | felt}


def score(text: str, before: tuple[str, ...] = (BEFORE,), **felt: int) -> Score:
    situation: Any = {
        "topic": "Is tea better than coffee?",
        "turn": 2,
        "max_messages": 9,
        "present": ["Ann", "Bob"],
        "rules": [],
        "relationships": [],
        "debate": None,
        "closing": False,
    }
    prompt = render(
        "analysis",
        environment=b.environment(situation, ""),
        last_utterances=b.observed([utterance("Bob", t) for t in before]),
        heard=b.heard(utterance("Ann", text, **felt), ""),
    )
    return Score.model_validate(json.loads(OfflineChatModel().invoke(prompt).content))


def test_an_answer_is_more_coherent_than_something_else():
    assert score("Coffee, Bob, and never tea at night.").coherence > score("My bicycle is red.").coherence + 2


def test_saying_again_what_was_said_is_less_coherent():
    assert score(BEFORE).coherence < score("Coffee, Bob, and never tea at night.").coherence - 1


def test_friendly_words_and_feelings_are_warmer_than_hostile_ones():
    kind = score("I agree, Bob, that's a lovely thought!", happiness=7)
    neutral = score("One can drink either of them.", happiness=3)
    hostile = score("Nonsense, that's a stupid idea.", anger=8)
    assert kind.sentiment > neutral.sentiment + 1 > hostile.sentiment + 3


def test_whoever_says_more_about_themselves_and_asks_is_more_involved():
    long = "I drink coffee, Bob, because my night shifts would be unbearable if I didn't; how do you get through yours?"
    assert score(long).engagement > score("Hm.").engagement + 4


def test_scores_of_a_conversation_spread(talk: Any, shipped: list[Any]):
    conversation = talk(shipped[:4], "Is tea better than coffee?", limit=20)
    conversation.run()
    found = []
    for i, u in enumerate(conversation.utterances):
        situation = conversation.situation("")
        prompt = render(
            "analysis",
            environment=b.environment(situation, ""),
            last_utterances=b.observed(conversation.utterances[max(0, i - 6) : i]),
            heard=b.heard(u, ""),
        )
        found.append(Score.model_validate(json.loads(conversation.model.invoke(prompt).content)))
    for name in ("coherence", "sentiment", "engagement"):
        values = [getattr(s, name) for s in found]
        assert len(set(values)) >= 6, name
        assert statistics.stdev(values) >= 0.5, name
        assert 3 <= statistics.mean(values) <= 8.5, name
