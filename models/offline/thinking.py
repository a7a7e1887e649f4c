"""Words the questions, insights and plans of an agent, from its memories and the last utterance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from persimchat.models.offline.appraisal import Appraisal
from persimchat.models.offline.gists import gist_of
from persimchat.models.offline.grammar import capitalised, filled, slots
from persimchat.models.offline.lexicon import deck
from persimchat.models.offline.positions import position_in
from persimchat.models.offline.prompt import MemoryLine, Prompt
from persimchat.models.offline.randomness import generator, permutation
from persimchat.models.offline.topics import Topic
from persimchat.models.offline.words import content_words, short_name


def _last_speaker(prompt: Prompt) -> tuple[str, str]:
    """The last speaker and their words; ("", "") before the first utterance."""
    if prompt.heard:
        return prompt.heard.speaker, prompt.heard.words
    return (prompt.recent[-1].speaker, prompt.recent[-1].words) if prompt.recent else ("", "")


def _slots(prompt: Prompt, a: Appraisal) -> dict[str, str]:
    speaker, words = _last_speaker(prompt)
    others = [n for n in prompt.present if n != speaker]
    draw = generator("think", prompt.name, prompt.topic, prompt.turn)
    theirs = a.theirs if a.theirs is not None else position_in(words, a.topic) if words else None
    theirs = None if prompt.leads(speaker) else theirs
    return {
        "me": short_name(prompt.name),
        "speaker": short_name(speaker) if speaker and speaker != prompt.name else "",
        "other": short_name(draw.choice(others)) if others else "",
        "mine": a.topic.positions[a.stance.mine],
        "theirs": a.topic.positions[theirs] if theirs is not None and speaker != prompt.name else "",
        "head": a.topic.head,
        "gist": gist_of(words, a.topic) if words else "",
        "word": content_words(words, 6)[-1][:40] if words else "",
    }


def _phrase(kind: str, values: dict[str, str], *key: object, skip: Collection[str] = ()) -> str:
    """A phrase of a kind whose slots all have a value; each kind has at least one with only common slots."""
    phrases = deck("thoughts", kind)
    usable = [
        phrases[i] for i in permutation(len(phrases), kind, *key) if all(values.get(s) for s in slots(phrases[i]))
    ]
    return next((p for p in usable if p not in skip), usable[0])


def _pick(kind: str, values: dict[str, str], *key: object) -> str:
    return filled(_phrase(kind, values, *key), values)


def questions(prompt: Prompt, a: Appraisal) -> list[str]:
    """Three different questions: about the topic, the people, the agent itself."""
    values = _slots(prompt, a)
    ending = "_judge" if a.facts.onlooker else ""
    return [
        _pick(kind + ending, values, prompt.name, prompt.topic, prompt.turn)
        for kind in ("ask_matter", "ask_people", "ask_myself")
    ]


def insights(prompt: Prompt, a: Appraisal) -> list[dict[str, Any]]:
    """Five insights: on a person, another person or the conversation, the topic, the agent itself, the progress."""
    numbered = [m for m in prompt.memories if m.number]
    by_person = _memories_by_person(prompt, numbered)
    ranked = sorted(by_person, key=lambda n: -len(by_person[n]))[:2]
    kinds = [*["person"] * len(ranked), "matter", "myself", *["talk"] * (3 - len(ranked))]
    result: list[dict[str, Any]] = []
    used: list[str] = []
    values = _slots(prompt, a)
    for kind, about in zip(kinds, [*ranked, "", "", "", "", ""], strict=False):
        evidence = by_person[about] if about else _evidence_for(kind, numbered)
        held = _held_by(by_person[about], a.topic) if about else None
        local = {**values, "person": short_name(about), "held": a.topic.positions[held] if held is not None else ""}
        judged = "_judge" if a.facts.onlooker and kind in ("matter", "myself") else ""
        phrase = _phrase(f"insight_{kind}{judged}", local, prompt.name, prompt.topic, prompt.turn, skip=used)
        used.append(phrase)
        text = filled(phrase, local)
        result.append(
            {
                "theme": text,
                "keywords": _keywords(text, evidence),
                "evidence": [m.number for m in evidence[:5]],
                "importance": _weight(evidence),
            }
        )
    return result


def _memories_by_person(prompt: Prompt, memories: Sequence[MemoryLine]) -> dict[str, list[MemoryLine]]:
    found: dict[str, list[MemoryLine]] = {}
    for memory in memories:
        for name in prompt.present:
            if memory.kind == "perception" and memory.theme.startswith(short_name(name)):
                found.setdefault(name, []).append(memory)
    return found


def _held_by(memories: Sequence[MemoryLine], topic: Topic) -> int | None:
    held = Counter(p for m in memories if (p := position_in(m.theme, topic)) is not None)
    return held.most_common(1)[0][0] if held else None


def _evidence_for(kind: str, memories: Sequence[MemoryLine]) -> list[MemoryLine]:
    kinds = {"matter": ("topic", "perception"), "myself": ("profile", "social_goals", "plan"), "talk": ("perception",)}
    chosen = [m for m in memories if m.kind in kinds.get(kind, ())]
    return sorted(chosen or memories, key=lambda m: -m.importance)


def _keywords(text: str, evidence: Sequence[MemoryLine]) -> list[str]:
    from_memories = [k[:80] for m in evidence[:3] for k in m.keywords[:1] if k.strip()]
    return list(dict.fromkeys([*content_words(text, 3), *from_memories]))[:6]


def _weight(evidence: Sequence[MemoryLine]) -> int:
    mean = sum(m.importance for m in evidence[:5]) / max(1, len(evidence[:5]))
    return max(0, min(10, round(mean + 1)))


def plan(prompt: Prompt, a: Appraisal, seed: int) -> dict[str, Any]:
    """The fields of a plan; keeps the listed goals, at most five."""
    values = _slots(prompt, a)
    key = (seed, prompt.name, prompt.topic, prompt.turn)
    speaker, words = _last_speaker(prompt)
    positions = [position_in(said.words, a.topic) for said in prompt.recent]
    known = [p for p in positions if p is not None]
    stage = (
        "closing"
        if prompt.closing
        else "early"
        if len(prompt.recent) < 2
        else "agree"
        if len(set(known)) <= 1 and len(known) > 2
        else "differ"
    )
    react = bool(speaker) and speaker != prompt.name
    calls_me = react and prompt.name.split()[0].casefold() in words.casefold() if prompt.name.split() else False
    reluctant = "reserved" in a.facts.groups and not calls_me and generator("react", *key).random() < 0.5
    react = react and not reluctant and not a.facts.onlooker
    kind = "answer" if calls_me else "agree" if values["theirs"] == values["mine"] else "oppose"
    if a.facts.onlooker:
        return _judges_plan(prompt, values, key)
    reaction = _pick("react_" + (kind if react else "none"), values, *key)
    # The agent keeps its identity unless its position has changed since.
    keeps = prompt.identity and position_in(prompt.identity, a.topic) in (None, a.stance.mine)
    identity = prompt.identity[:900] if keeps else _pick("identity", {**values, "job": a.facts.as_noun}, *key)
    goals = list(dict.fromkeys(goal[:1000].strip() for goal in prompt.goals if goal.strip()))[:5]
    shifted = bool(prompt.form) and a.stance.earlier != a.stance.mine and not a.stance.temper.adversarial
    values["rival"] = a.topic.positions[a.stance.earlier] if shifted else ""
    about = "shift" if shifted else "adversarial" if a.stance.temper.adversarial else ""
    about = "closing" if prompt.closing else about
    theme = _pick(f"plan_{about}" if about else "plan", values, *key)
    gist = gist_of(words, a.topic) if words else ""
    return {
        "progress": _pick("progress_" + stage, values, *key),
        "identity": identity,
        "react": react,
        "reaction": reaction,
        "goals": goals,
        "theme": capitalised(theme),
        "keywords": [keyword[:80].strip() for keyword in dict.fromkeys((values["mine"], gist)) if keyword],
        "importance": max(0, min(10, 5 + (kind == "oppose" and react) + 2 * bool(goals))),
    }


def _judges_plan(prompt: Prompt, values: dict[str, str], key: tuple[object, ...]) -> dict[str, Any]:
    """The plan of an onlooker."""
    theme = _pick("plan_judge", values, *key)
    return {
        "progress": _pick("progress_early" if len(prompt.recent) < 2 else "progress_judge", values, *key),
        "identity": _pick("identity_judge", values, *key),
        "react": False,
        "reaction": _pick("react_judge", values, *key),
        "goals": [goal[:1000] for goal in prompt.goals[:5]],
        "theme": theme,
        "keywords": content_words(theme, 3),
        "importance": 5,
    }
