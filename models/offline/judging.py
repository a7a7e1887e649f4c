"""The judge of a debate: each participant's position by their own words, consensus, and the majority's answer.

It reads positions as the rest of this model does (`positions.py`), from the utterances in its prompt or, if it has a
mind of its own, from its memories. Consensus requires that all participants have spoken, that all last spoke for the
same answer, and that nobody's openness is low.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from persimchat.models.offline.answer_form import NUMBER
from persimchat.models.offline.gists import known_gist
from persimchat.models.offline.grammar import capitalised, filled, slots
from persimchat.models.offline.lexicon import deck, read
from persimchat.models.offline.positions import nearest
from persimchat.models.offline.prompt import Member, Prompt
from persimchat.models.offline.randomness import generator
from persimchat.models.offline.timeline import timeline, utterances_known
from persimchat.models.offline.topics import Topic, topic_of
from persimchat.models.offline.words import content_words, listed, short_name

READY: Final = 6
"""The least openness at which a participant counts as accepting the common answer."""
_NEW: Final = 0.3
"""If fewer of the later utterances than this share bring a new reason, the conversation is circling."""


@dataclass(frozen=True)
class Held:
    """The position of a participant.

    Attributes:
        label: its words in a sentence.
        answer: in the form of the debate's answer; the label if any text is allowed.
        before: the label of their earlier position, empty if it is the same or there is none.
    """

    label: str
    answer: str
    before: str = ""


def holdings(prompt: Prompt, topic: Topic) -> dict[str, Held]:
    """The position that each participant last spoke for, by name; participants without one are left out."""
    found: dict[str, Held] = {}
    for told in timeline(prompt, topic):
        if told.speaker not in prompt.participants:
            continue
        index = nearest(told.place, len(topic.positions))
        label, answer = topic.positions[index], (topic.answers or topic.positions)[index]
        named = NUMBER.findall(told.text) if topic.kind == "number" and label not in told.text else []
        if named:
            label, answer = named[-1], named[-1].replace(",", "")
        earlier = found.get(told.speaker)
        before = "" if earlier is None else earlier.before if earlier.label == label else earlier.label
        found[told.speaker] = Held(label, answer, before)
    return found


def judge(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Verdict`."""
    topic = _topic(prompt)
    held = holdings(prompt, topic)
    answers = Counter(held[m.name].answer for m in prompt.group if m.name in held)
    most = max(answers, key=lambda answer: answers[answer]) if answers else ""
    agreed = bool(prompt.group) and len(answers) == 1 and len(held) == len(prompt.group)
    reluctant = [m for m in prompt.group if m.openness is not None and m.openness < READY]
    consensus = agreed and not reluctant
    conditions = conditions_of(prompt, topic, held, most)
    return {
        "reasoning": _reasoning(prompt, topic, held, agreed, reluctant, seed),
        "consensus": consensus,
        "answer": worded_answer(prompt, topic, most, held, seed) if consensus else None,
        **({"conditional": conditions} if consensus and conditions else {}),
        "positions": [
            {
                "agent": m.name,
                "position": _position(m, held.get(m.name)),
                **({"answer": held[m.name].answer} if topic.answers and m.name in held else {}),
                "agrees": m.name in held and held[m.name].answer == most and (consensus or m not in reluctant),
            }
            for m in prompt.group
        ],
        "progress": progress(prompt, topic),
    }


def majority(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Majority`: the answer with the most holders; of equally many, the one whose holders are more open."""
    topic = _topic(prompt)
    held = holdings(prompt, topic)
    open_to = {m.name: m.openness if m.openness is not None else 5 for m in prompt.group}
    holders: dict[str, list[str]] = {}
    for m in prompt.group:
        if m.name in held:
            holders.setdefault(held[m.name].answer, []).append(m.name)
    if not holders:
        return _guess(prompt, topic, seed)
    ranked = sorted(holders, key=lambda a: (-len(holders[a]), -sum(open_to[n] for n in holders[a]) / len(holders[a])))
    best = ranked[0]
    tied = len(ranked) > 1 and len(holders[ranked[1]]) == len(holders[best])
    words = read("debate")["judge"]["majority_tie" if tied else "majority"]
    label = _called(best, held, topic)
    kind = "most" if 2 * len(holders[best]) > len(prompt.group) else "tie" if tied else "many"
    return {
        "reasoning": capitalised(filled(words, {"holds": _holds(prompt, topic, held, ranked), "answer": label}))[:1000],
        "answer": worded_answer(prompt, topic, best, held, seed, kind),
        **({"conditional": conditions} if (conditions := conditions_of(prompt, topic, held, best)) else {}),
        "supporters": holders[best],
    }


def conditions_of(prompt: Prompt, topic: Topic, held: dict[str, Held], answer: str) -> str:
    """The conditions of a yes or no; empty if nobody holds it under conditions.

    Agents of this model say that they have conditions, but never which. Other answers include their conditions.
    """
    if topic.kind != "polar":
        return ""
    holders = {m.name: held[m.name].label for m in prompt.group if m.name in held and held[m.name].answer == answer}
    under = [short_name(name) for name, label in holders.items() if is_conditional(label)]
    names = f" ({listed(under)})" if len(under) < len(holders) else ""
    return f"nobody named them{names}" if under else ""


def is_conditional(position: str) -> bool:
    """Whether a position has conditions ("a yes with conditions")."""
    return re.search(r"\bconditions?\b", position) is not None


def _guess(prompt: Prompt, topic: Topic, seed: int) -> dict[str, Any]:
    """The majority if no words show a position: one drawn at random, called a guess."""
    index = generator(seed, "guess", topic.text).randrange(len(topic.positions))
    most = max(prompt.group, key=lambda m: (m.spoken, m.openness or 0))
    answer = (topic.answers or topic.positions)[index]
    return {
        "reasoning": filled(read("debate")["judge"]["majority_none"], {"answer": topic.positions[index]}),
        "answer": worded_answer(prompt, topic, answer, {}, seed, "guess"),
        "supporters": [most.name],
    }


def _topic(prompt: Prompt) -> Topic:
    prompt.need_section(prompt.group, "group")
    prompt.need_section(prompt.topic, "environment")
    return topic_of(prompt)


def worded_answer(
    prompt: Prompt, topic: Topic, answer: str, held: dict[str, Held], seed: int, kind: str = "answer"
) -> str:
    """An answer in the required form; if any text is allowed, a sentence with its holders' reasons."""
    if topic.answers:
        return answer
    named = [
        gist
        for _, speaker, text in utterances_known(prompt)
        if speaker in held and held[speaker].answer == answer and (gist := known_gist(text, topic))
    ]
    # "On tea or coffee, the group settles on tea" would repeat itself.
    head = "" if answer in topic.head else topic.head
    values = {"head": head, "answer": answer, "point": listed(list(dict.fromkeys(named))[-2:])}
    phrases = deck("debate", "judge", kind if named else f"{kind}_plain")
    usable = [phrase for phrase in phrases if all(values[slot] for slot in slots(phrase))]
    return filled(generator(seed, "answer", topic.text).choice(usable), values)


def progress(prompt: Prompt, topic: Topic) -> str:
    """Whether the debate is "progressing" (a position changed, or its later half has new reasons) or "circling"."""
    said = utterances_known(prompt)
    half = len(said) // 2
    if half < 2:
        return "progressing"
    last: dict[str, int] = {}
    for told in timeline(prompt, topic):
        index = nearest(told.place, len(topic.positions))
        if last.setdefault(told.speaker, index) != index:
            return "progressing"
    earlier = {word.casefold() for _, _, text in said[:half] for word in content_words(text, 60)}
    new = sum(_is_reason(text, earlier, topic) for _, _, text in said[half:])
    return "progressing" if new >= _NEW * (len(said) - half) else "circling"


def _is_reason(text: str, earlier: set[str], topic: Topic) -> bool:
    """Whether words bring a reason on the topic, or, if they are not from the phrase material, anything new."""
    own = [p.gist for p in topic.points[: topic.tiers[0] + topic.tiers[1]]]
    gist = known_gist(text, topic) or next((g for g in own if g and f"brought up {g}" in text), "")
    if gist:
        return gist in own and not earlier.issuperset(word.casefold() for word in content_words(gist))
    words = content_words(text, 60)
    return 2 * sum(word.casefold() not in earlier for word in words) > len(words)


def _reasoning(
    prompt: Prompt, topic: Topic, held: dict[str, Held], agreed: bool, reluctant: Sequence[Member], seed: int
) -> str:
    words = read("debate")["judge"]
    if not held:
        return str(words["nothing"])
    unknown = [m for m in prompt.group if m.name not in held]
    kind = "silent" if unknown else "differ" if not agreed else "reluctant" if reluctant else "consensus"
    if kind == "consensus" and conditions_of(prompt, topic, held, next(iter(held.values())).answer):
        kind = "conditional"
    whom = unknown if unknown else reluctant
    values = {
        "holds": _holds(prompt, topic, held, list(dict.fromkeys(h.answer for h in held.values()))),
        "answer": _called(next(iter(held.values())).answer, held, topic),
        "names": listed([short_name(m.name) for m in whom]),
    }
    phrases = deck("debate", "judge", kind)
    return capitalised(filled(generator(seed, "verdict", topic.text, prompt.turn).choice(phrases), values))[:1000]


def _holds(prompt: Prompt, topic: Topic, held: dict[str, Held], answers: Sequence[str]) -> str:
    """The holders of each answer: "Eva and Bob for tea, Cleo for a yes with conditions"."""
    holders: dict[str, list[str]] = {}
    for answer in answers:
        for m in prompt.group:
            if m.name in held and held[m.name].answer == answer:
                label = held[m.name].label
                holders.setdefault(label if is_conditional(label) else _called(answer, held, topic), []).append(m.name)
    words = read("debate")["judge"]["holds"]
    return ", ".join(
        filled(words, {"names": listed([short_name(name) for name in names]), "answer": label})
        for label, names in holders.items()
    )


def _called(answer: str, held: dict[str, Held], topic: Topic) -> str:
    """An answer within a sentence: a yes or no unchanged, any other as its holders call it."""
    return answer if topic.kind == "polar" else next(h.label for h in held.values() if h.answer == answer)


def _position(member: Member, held: Held | None) -> str:
    words = read("debate")["judge"]
    if held is None:
        return str(words["unknown" if member.spoken else "quiet"])
    return filled(words["came" if held.before else "position"], {"answer": held.label, "before": held.before})
