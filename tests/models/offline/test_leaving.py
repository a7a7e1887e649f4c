"""Taking leave: told to, people say goodbye, each in words of their own, and nothing else."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

import pytest

from persimchat.models.offline.leaving import took_leave
from persimchat.models.offline.lexicon import deck, read
from persimchat.models.offline.words import four_grams, normalised

TOPICS = ("Cats or dogs?", "How can I sleep better?", "What if cats could fly?", "Should we ban cars?", "Prague", "🙂")


def goodbyes() -> list[str]:
    """Every goodbye of the phrase material, without register marks."""
    leave = read("leave")
    found = [
        *deck("leave", "goodbye"),
        *deck("leave", "child", "goodbye"),
        *deck("leave", "old"),
        *deck("leave", "teen"),
    ]
    found += [line for group in ("tempers", "occupations") for k in leave[group] for line in deck("leave", group, k)]
    return [line.removeprefix("c|").removeprefix("f|") for line in found]


def goodbye_in(text: str) -> str:
    """The goodbye of the material that a text has; the longest, where one holds another."""
    return max((g for g in goodbyes() if normalised(g) in normalised(text)), key=len)


def leaving(talk: Any, people: list[Any], topic: str, **options: Any) -> list[str]:
    conversation = talk(people, topic, **options)
    texts = conversation.run()
    return texts[-min(len(people), conversation.limit // 4) :]


def test_every_goodbye_is_understood_as_one():
    assert not [line for line in goodbyes() if not took_leave(line)]


def test_nothing_in_the_material_asks():
    leave = read("leave")
    words = [leave[k] for k in ("words", "near", "far", "takes", "goodbye")] + list(leave["child"].values())
    assert "?" not in "".join((*words, *goodbyes()))


@pytest.mark.proof
@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("register", ["casual", "neutral", "formal"])
def test_everybody_takes_leave_in_other_words_and_asks_nothing(
    talk: Any, shipped: list[Any], topic: str, register: str
):
    for start in (0, 4):
        people = [shipped[(start + i) % 10] for i in range(5)]
        texts = leaving(talk, people, topic, limit=20, register=register, seed=start)
        assert len(texts) == 5
        assert not [t for t in texts if not took_leave(t) or "?" in t]
        used = [goodbye_in(t) for t in texts]
        assert len(used) == len(set(used))
        assert max(len(four_grams(a) & four_grams(b)) for a, b in combinations(texts, 2)) <= 4


@pytest.mark.proof
def test_ten_people_do_not_say_the_same(talk: Any, shipped: list[Any]):
    texts = leaving(talk, shipped, "Cats or dogs?", limit=40)
    assert len({goodbye_in(t) for t in texts}) >= 9
    assert len(set(texts)) == 10


@pytest.mark.proof
def test_nobody_takes_leave_who_was_not_told(talk: Any, shipped: list[Any]):
    for topic in TOPICS[:3]:
        texts = talk(shipped[:4], topic, limit=12, takes_leave=False).run()
        assert not [t for t in texts if any(g in t for g in goodbyes())]


@pytest.mark.proof
def test_a_nurse_and_a_child_leave_as_themselves(talk: Any, shipped: list[Any]):
    child = next(p for p in shipped if (p.age or 99) < 13)
    nurse = next(p for p in shipped if "nurse" in (p.characteristic("occupation") or ""))
    own = {"child": deck("leave", "child", "goodbye"), "nurse": deck("leave", "occupations", "health")}
    said: dict[str, list[str]] = {"child": [], "nurse": []}
    for seed in range(8):
        conversation = talk([nurse, child, shipped[0]], "Cats or dogs?", limit=12, seed=seed)
        conversation.run()
        for u in conversation.utterances[-3:]:
            for who, person in (("child", child), ("nurse", nurse)):
                said[who] += [g for g in own[who] if u["speaker"] == person.name and g in u["text"]]
    assert len(said["child"]) == 8
    assert said["nurse"]


@pytest.mark.proof
def test_a_question_is_still_answered(talk: Any, shipped: list[Any]):
    answered = 0
    for seed in range(20):
        conversation = talk(shipped[1:5], "Cats or dogs?", limit=12, seed=seed)
        conversation.run()
        before, after = conversation.utterances[-4], conversation.utterances[-3]
        if before["text"].endswith("?") and after["speaker"] in before["addressees"]:
            answered += re.search(rf"\b{before['speaker'].split()[0]}\b", after["text"]) is not None
    assert answered
