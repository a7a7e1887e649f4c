"""The judgements of a mind in a conversation: what it hears, feels and wants, and what it makes of its memories.

Hearing follows appraisal theories of emotion: is the utterance for or against my position, was it meant for me, what is
my relationship to the speaker, what does the speaker feel. The coefficients are this model's own and were set by hand.

A temper sets what an agent feels if nothing happens, and how it reacts to contradiction: one agent is hurt, another
angry, afraid or curious. It follows from traits, speaking style and description; if these say little, it is drawn at
random, seeded with them.

Openness follows from the same bounded confidence as the opinions (`positions.py`): an agent does not accept a position
outside its bound, and accepts one within it the more readily the nearer it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from functools import lru_cache
from math import prod
from typing import Final

from ...state.minds.emotion import EMOTIONS
from . import material
from .material import capitalised, content_words, filled, generator, listed, normalised, read, short_name, word_pattern
from .persona_facts import facts_of
from .positions import Stance, anchor, gist_of, known_gist, others_hold, position_in, stance, utterances_known
from .prompt import Answer, MemoryLine, Prompt, Said, leaving_memory
from .topics import topic_of

_WEARIEST: Final = 5.0
_RETURN: Final = 0.3
"""Part of the way back to the resting state between two utterances."""
_FADES: Final = 0.5
"""The same part for surprise, which passes quickly."""
_MOST: Final = 3.0
"""The most levels by which one utterance changes an emotion."""


class Hearing:
    """How an agent takes the last utterance; before the first, it is nobody's, without words.

    Attributes:
        heard: the utterance.
        facts: about the hearer.
        topic: analysed.
        stance: of the hearer.
        led: the speaker is the moderator, who takes no part.
        theirs: index of the position that the words support, None if it cannot be determined.
        questions: the words ask something.
        asked: the words ask the hearer something.
        valence: of the hearer's relationship to the speaker, -1, 0 or 1.
        agreement: from -1 (against the hearer's position, or a reproof) over 0 to 1 (for it).
    """

    def __init__(self, prompt: Prompt) -> None:
        self.heard = prompt.heard or Said("", "")
        self.facts, self.topic = facts_of(prompt), topic_of(prompt)
        self.stance = stance(prompt, self.topic)
        self.led = prompt.leads(self.heard.speaker)
        self.theirs = None if self.led else position_in(self.heard.text, self.topic)
        # A question asks those whom it names, or all if it names nobody. A moderator's question asks its addressees.
        self.questions = "?" in self.heard.text
        self.asked = self.questions and (self.heard.addressed or (self.led and not self.heard.addressees))
        relation = prompt.relation_to(self.heard.speaker)
        self.valence = relation.valence if relation else 0
        self.agreement = 0.0 if self.heard.own else self._agreement()

    def has(self, pattern: str) -> bool:
        """Whether words of a pattern are in the words."""
        return bool(word_pattern(pattern).search(self.heard.text))

    def _agreement(self) -> float:
        value = 0.0
        if self.theirs is not None:
            distance = abs(anchor(self.theirs, len(self.topic.positions)) - self.stance.opinion)
            same = self.theirs == self.stance.mine
            value = 0.7 * (1.0 - 2.0 * distance) if same else -min(0.8, 0.3 + distance)
        weight = 0.6 if self.heard.addressed else 0.25
        value += weight * self.has("agreeing")
        value -= weight * self.has("contradicting")
        value -= 0.6 * self.has("hostile")
        return max(-1.0, min(1.0, value))


def _level(score: float) -> int:
    return max(0, min(10, round(score)))


def need_to_talk(prompt: Prompt) -> Answer:
    """`NeedToTalk`: the agent's need to talk, 0–10, and the reason (one sentence)."""
    a = Hearing(prompt)
    groups, me = a.facts.groups, short_name(prompt.name)
    temper = ("talkative" in groups) - ("reserved" in groups)
    if prompt.closing:  # those who have taken leave are done, the others still want to
        told = [text for _, speaker, text in utterances_known(prompt) if speaker == prompt.name]
        if any("took leave" in text or material.took_leave(text) for text in told):
            return {"reasoning": f"{me} has said goodbye.", "need_to_talk": 0}
        wish = 5 + 2 * a.heard.addressed + temper + round(2 * prompt.draw("leave").random() - 1)
        return {"reasoning": f"{me} has not said goodbye yet.", "need_to_talk": max(3, min(9, wish))}
    strongest, weary, heard = max(prompt.emotions.values(), default=0), weariness(prompt), a.heard
    late = min(1.0, prompt.turn / prompt.limit) if prompt.limit > 0 else 0.0
    # More for those with less than their share of the utterances.
    share = prompt.turn / (len(prompt.present) + 1)
    missing = max(-2.5, min(2.5, share - prompt.spoken)) if prompt.spoken is not None else 0.0
    asked, addressed = a.asked and not heard.own, heard.addressed and not a.asked and not heard.own
    rows = (
        (heard.own, -5.0, "has only just spoken"),
        (asked and heard.addressed, 4.0, "was asked by name"),
        (asked and not heard.addressed, 2.0, "was asked like everybody"),
        (addressed, 2.6, "was whispered to" if heard.whispered else "was spoken to by name"),
        (strongest >= 6, 0.0, "feels it strongly"),
        (a.agreement < -0.15, 2.4 * -a.agreement, "disagrees with what was said"),
        (a.agreement > 0.3, 0.4, "agrees and has little to add"),
        (weary > 2, 0.0, "has nothing new to say"),
        (missing >= 1, 0.0, "has hardly spoken so far"),
        (late > 0.8, 0.0, "has said most of it"),
        (temper > 0, 0.0, "talks readily"),
        (temper < 0, 0.0, "rather listens"),
        (temper == 0, 0.0, "is at ease"),
    )
    score = 4.2 + 1.5 * temper - 0.6 * a.facts.brief + 0.3 * max(0, strongest - 3) + 0.4 * abs(a.valence)
    score += sum(points for holds, points, _ in rows if holds) + (1 - weary / _WEARIEST) * 1.5 * missing
    score += 2.4 * (prompt.draw("need").random() - 0.5) - weary - 3.0 * late**3
    return {"reasoning": f"{me} {listed([why for holds, _, why in rows if holds])}.", "need_to_talk": _level(score)}


def weariness(prompt: Prompt) -> float:
    """How exhausted a discussion is, 0 to 5: grows after three times as many utterances as there are participants."""
    if prompt.form is not None:
        return 0.0
    rounds = prompt.turn / (len(prompt.present) + 1)
    return max(0.0, min(_WEARIEST, 0.8 * (rounds - 3)))


@lru_cache(maxsize=256)
def _temper(
    name: str, description: str, groups: frozenset[str], child: bool, onlooker: bool
) -> tuple[Mapping[str, float], Mapping[str, float], float]:
    """A temper: the resting emotions, what full contradiction adds to each, and what full support adds to happiness."""
    table = read("feelings")
    draw = generator("temper", name, description)
    leaning = draw.choices(list(table["leaning"]), list(table["leaning"].values()))[0]
    rest = {e: 0.5 * draw.random() + (1.3 if e == "happiness" else 0.0) for e in EMOTIONS}
    takes = dict.fromkeys(EMOTIONS, 0.0) | {"anger": 0.6, "sadness": 0.3}
    # The less a profile says, the more is drawn at random.
    known = sum(group in table["rest"] for group in groups) if not onlooker else 9
    rest[leaning] += 1.2 / (1 + 0.4 * known)
    takes["anger" if leaning == "happiness" else leaning] += 0.6 / (1 + 0.4 * known)
    for shifts, values in ((table["rest"], rest), (table["takes"], takes)):
        for group in sorted(groups & shifts.keys()):
            for emotion, shift in shifts[group].items():
                values[emotion] += shift
    for emotion in ("happiness", "surprise"):
        rest[emotion] += 0.6 * child
    left = prod(part for group, part in table["softens"].items() if group in groups)
    spirits = 1.1 + sum(shift for group, shift in table["spirits"].items() if group in groups)
    return {e: max(0.0, v) for e, v in rest.items()}, {e: left * v for e, v in takes.items()}, spirits


def emotion(prompt: Prompt) -> Answer:
    """`Feeling`: the new emotional state, and the change with its reason (one sentence).

    Before the conversation, the state depends only on persona and topic. Later it returns towards the persona's own
    temper, and the event moves it part of the way towards its target.
    """
    a, me = Hearing(prompt), short_name(prompt.name)
    # In a description, words for the other groups have other meanings.
    told = {g for g in ("cheerful", "gloomy", "irritable", "anxious") if word_pattern(g).search(prompt.description)}
    temper = _temper(prompt.name, prompt.description, a.facts.groups | told, a.facts.child, a.facts.onlooker)
    news = read("feelings")["news"].items()
    of_topic = [felt for pattern, felt in news if word_pattern(pattern).search(prompt.topic)]
    rest = {e: temper[0][e] + of_topic.count(e) for e in EMOTIONS}
    event: Mapping[str, float] = {}
    reason = f"{me} comes to it in their usual temper."
    if prompt.heard and prompt.emotions:
        event = dict.fromkeys(EMOTIONS, 0.0) if a.heard.own else _event(a, *temper, prompt)
        what = "was in line with" if a.agreement > 0.15 else "went against" if a.agreement < -0.15 else "hardly touched"
        to_me = ", and was meant for them" if a.heard.addressed else ""
        reason = f"What {short_name(a.heard.speaker)} said {what} what {me} holds{to_me}."
        reason = f"{me} has had their say, and the feeling settles." if a.heard.own else reason
    draw, state = prompt.draw("feeling"), {}
    for one, value in rest.items():
        if event:
            before = prompt.emotions.get(one, 0)
            pull = (_FADES if one == "surprise" else _RETURN) * (value - before)
            value = before + pull + max(-_MOST, min(_MOST, event[one]))
        # The fraction is the chance to round up, so that slow changes are not lost.
        whole = int(value // 1)
        state[one] = _level(whole + (draw.random() < value - whole))
    return {"reasoning": reason, **state}


def _event(
    a: Hearing, rest: Mapping[str, float], takes: Mapping[str, float], spirits: float, prompt: Prompt
) -> Mapping[str, float]:
    """The effect of another's words on the six emotions."""
    near, weary, table = 1.5 if a.heard.addressed else 1.0, weariness(prompt) / 5, read("feelings")
    support, blow = max(0.0, a.agreement), max(0.0, -a.agreement) * near
    gist = known_gist(a.heard.text, a.topic)
    known = any(normalised(gist) in normalised(memory.theme) for memory in prompt.memories)
    measures = {
        "lift": spirits * support * near,
        "support": support,
        "blow": blow,
        "of_opponent": blow * -a.valence,
        "of_friend": blow * (a.valence > 0),
        "meant": a.heard.addressed * ((a.valence >= 0 and a.agreement >= 0) + a.has("kindly")),
        "meant_badly": a.heard.addressed * (a.valence < 0),
        "meant_for_anxious": a.heard.addressed * ("anxious" in a.facts.groups),
        "hostile": a.has("hostile"),
        "provokes": a.has("hostile") * (takes["anger"] >= takes["sadness"]),
        "hurts": a.has("hostile") * (takes["anger"] < takes["sadness"]),
        "change_of_mind": a.stance.mine != a.stance.before,
        "new_thought": rest["surprise"] * bool(gist and not known),
        "weary": weary,
        **{pattern: a.has(pattern) for pattern in table["news"]},
    }
    event = {one: takes[one] * (blow + weary * table["wears"].get(one, 0.0)) for one in EMOTIONS}
    for name, value in measures.items():
        for one, weight in table["moves"][name].items():
            event[one] += weight * value
    for one, level in a.heard.emotion.items():  # is catching, a friend's more
        event[one] += (0.16 if a.valence > 0 else 0.08) * max(-2, min(6, level - prompt.emotions.get(one, 0)))
    return event


def heading(held: Mapping[str, int], mine: Stance, positions: int) -> tuple[int, float] | None:
    """The position that most of the others spoke for, and their share; None if no other has spoken for one.

    Args:
        held: the others' positions, by name.
        mine: the member's own stance; of positions with equally many holders, the nearest to it counts.
        positions: how many there are.
    """
    counts = Counter(held.values())
    best = max(counts, key=lambda p: (counts[p], -abs(anchor(p, positions) - mine.opinion)), default=None)
    return None if best is None else (best, counts[best] / len(held))


def openness_to(group: tuple[int, float] | None, mine: Stance, positions: int) -> float:
    """Openness from 0 to 10, before mood and chance.

    If the agent holds the group's position: 8 to 10. If that is within its bound: 4 to 7, more the nearer it is and the
    more hold it. If it is outside the bound: 3 or less.
    """
    bound = mine.temper.confidence_bound
    if mine.temper.adversarial:
        return 0.0
    if group is None:
        return 3.0 + 6.0 * bound
    position, share = group
    if position == mine.mine:
        return 8.0 + 2.0 * share
    distance = abs(anchor(position, positions) - mine.opinion)
    if distance <= bound:
        return 4.0 + 2.0 * (1.0 - distance / bound) + share
    return max(0.0, 3.0 - 4.0 * (distance - bound))


def openness(prompt: Prompt) -> Answer:
    """`Openness`: of a prompt's agent to a common answer, 0–10, and the reason (one sentence)."""
    a = Hearing(prompt)
    n, held = len(a.topic.positions), others_hold(prompt, a.topic)
    group = heading(held, a.stance, n)
    score = openness_to(group, a.stance, n)
    if not a.stance.temper.adversarial:
        # The fewer participants have spoken, the less certain is the group's position; one utterance changes nobody.
        known = len(held) / max(1, len(prompt.present))
        score = known * score + (1 - known) * openness_to(None, a.stance, n)
        if prompt.openness is not None and a.stance.mine == a.stance.earlier:
            score = 0.6 * score + 0.4 * prompt.openness
        upset = max(prompt.emotions.get("anger", 0), prompt.emotions.get("disgust", 0))
        score += 0.15 * max(0, prompt.emotions.get("happiness", 0) - 3) - 0.35 * max(0, upset - 2)
        score += 0.4 * a.valence * (a.agreement > 0) + 0.8 * (prompt.draw("openness").random() - 0.5)
    distance = abs(anchor(group[0], n) - a.stance.opinion) if group else 0.0
    near = distance <= a.stance.temper.confidence_bound
    kind = "alone" if group is None else "prefers" if near else "stands"
    if group and group[0] == a.stance.mine:
        kind = "same" if a.stance.earlier == a.stance.mine else "came"
    kind = "adversarial" if a.stance.temper.adversarial else kind
    holders = [name for name, position in held.items() if group and position == group[0]]
    most = "all the others" if group and group[1] == 1 else "most of the others"
    one = len(holders) == 1
    values = {
        "me": short_name(prompt.name),
        "mine": a.topic.positions[a.stance.mine],
        "theirs": a.topic.positions[group[0]] if group else "",
        "who": short_name(holders[0]) if one else most,
        "s": "s" if one else "",
        "do": "does" if one else "do",
    }
    return {"reasoning": filled(read("thoughts")["openness"][kind], values), "openness": _level(score)}


def perception(prompt: Prompt) -> Answer:
    """`Percept`: who said what, for which position, and asked whom."""
    heard = prompt.need(prompt.heard, "heard")
    a = Hearing(prompt)
    # Without the names of the participants if other words remain.
    names = {part.casefold() for n in (prompt.name, *prompt.present) for part in n.split()}
    found = content_words(heard.text, 40)
    words = ([w for w in found if w.casefold() not in names] or found)[:5]
    parts = [f"spoke for {a.topic.positions[a.theirs]}"] if a.theirs is not None else []
    if gist := gist_of(heard.text, a.topic):
        parts.append(f"brought up {gist}")
    elif not parts or len(words) > 2:
        parts.append(f"talked of {listed([material.without_markup(w) or w for w in words[:3]])}")
    whom = short_name(", ".join(heard.addressees)) if heard.addressees else ""
    if prompt.closing and material.took_leave(heard.text):
        parts.append("took leave")
    elif a.questions:
        parts.append(f"asked {whom or 'the group'} a question")
    elif whom:
        parts.append(f"{'contradicted' if a.has('contradicting') else 'turned to'} {whom}")
    score = 2.4 + 2.0 * heard.addressed + 2.0 * abs(a.agreement) + 0.8 * abs(a.valence) - 0.6 * heard.own
    score += 0.25 * max(0, max(heard.emotion.values(), default=0) - 4)
    score += 0.6 * a.questions - 0.8 * (material.count(heard.text) < 6)
    whispered = " in a whisper" if heard.whispered else ""
    return {
        "theme": f"{short_name(heard.speaker)} {listed(parts)}{whispered}, on {a.topic.head}.",
        "keywords": words,
        "importance": _level(score),
    }


def memory_filtering(prompt: Prompt) -> Answer:
    """`Consolidation`: a memory is kept if it matters and is new."""
    leaving = leaving_memory(prompt)
    touched = any(k.casefold() in " ".join(prompt.goals + prompt.traits).casefold() for k in leaving.keywords)
    strong = max(prompt.emotions.values(), default=0) >= 6
    score = leaving.importance / 10 + 0.15 * touched + 0.1 * strong + 0.1 * (leaving.kind != "perception")
    similarity = round(prompt.values.get("similarity", 0.0), 2)
    known = similarity >= 0.9 or (similarity >= 0.7 and score < 0.6)
    kind = "known" if known else "kept" if score >= 0.3 else "missed"
    return {"reasoning": read("thoughts")["filtering"][kind], "keep": kind == "kept"}


def action(prompt: Prompt) -> Answer:
    """`Action`: plan without a plan or if an answer is expected, reflect after much new content."""
    a = Hearing(prompt)
    kinds = [memory.kind for memory in prompt.memories]
    much = kinds.count("perception") > 3 * (1 + kinds.count("reflection") // 5)
    strong = max(prompt.emotions.values(), default=0) >= 7
    late = prompt.limit > 0 and prompt.turn / prompt.limit > 0.5
    reasons = [
        (not prompt.plan, "There is no plan for this conversation yet.", "plan"),
        (a.heard.addressed, "An answer is expected, so the next step has to be thought out.", "plan"),
        (strong, "The feeling is strong and wants to be understood.", "reflect"),
        (much, "Much has been heard and not yet digested.", "reflect"),
        (a.stance.shifts, "The own view is shifting, so the plan no longer fits.", "plan"),
        (late, "The plan still holds, so there is time to think back.", "reflect"),
        (True, "The plan wants a next step.", "plan"),
    ]
    return next({"reasoning": why, "action": what} for holds, why, what in reasons if holds)


def replans(prompt: Prompt) -> bool:
    """Whether a plan is due: there is none yet, an answer is expected, or the own view shifts."""
    a = Hearing(prompt)
    return not prompt.plan or a.heard.addressed or a.stance.shifts


class _Thoughts:
    """The phrases of thoughts, with what their slots are filled with."""

    def __init__(self, prompt: Prompt, a: Hearing, *key: object) -> None:
        last = prompt.heard or (prompt.recent[-1] if prompt.recent else Said("", ""))
        self.speaker, self.words, self._key = last.speaker, last.text, (*key, prompt.name, prompt.topic, prompt.turn)
        theirs = None if prompt.leads(self.speaker) or not self.words else position_in(self.words, a.topic)
        foreign = self.speaker != prompt.name
        others = [name for name in prompt.present if name != self.speaker]
        draw = generator("think", prompt.name, prompt.topic, prompt.turn)
        self.values = {
            "me": short_name(prompt.name),
            "speaker": short_name(self.speaker) if self.speaker and foreign else "",
            "other": short_name(draw.choice(others)) if others else "",
            "mine": a.topic.positions[a.stance.mine],
            "theirs": a.topic.positions[theirs] if theirs is not None and foreign else "",
            "head": a.topic.head,
            "gist": gist_of(self.words, a.topic) if self.words else "",
            "word": content_words(self.words, 6)[-1][:40] if self.words else "",
        }

    def phrase(self, kind: str, values: Mapping[str, str], skip: Collection[str] = ()) -> str:
        """A phrase of a kind whose slots all have a value; each kind has at least one with only common slots."""
        phrases = material.deck("thoughts", kind)
        turned = (phrases[place] for place in material.permutation(len(phrases), kind, *self._key))
        usable = [phrase for phrase in turned if all(values.get(slot) for slot in material.slots(phrase))]
        return next((phrase for phrase in usable if phrase not in skip), usable[0])

    def pick(self, kind: str, **values: str) -> str:
        """A phrase of a kind, filled."""
        return filled(self.phrase(kind, known := {**self.values, **values}), known)


def focal_points(prompt: Prompt) -> Answer:
    """`FocalPoints`: a question about the topic, one about the people, one about the agent itself."""
    prompt.need(prompt.heard or prompt.topic, "heard")
    a = Hearing(prompt)
    thoughts, ending = _Thoughts(prompt, a), "_judge" if a.facts.onlooker else ""
    return {"questions": [thoughts.pick(f"ask_{about}{ending}") for about in ("matter", "people", "myself")]}


def reflection(prompt: Prompt) -> Answer:
    """`Reflection`: five insights, each with memories of the list as evidence.

    On a person, another person or the conversation, the topic, the agent itself, the progress.
    """
    numbered = prompt.need([m for m in prompt.memories if m.number], "memories")
    a = Hearing(prompt)
    by_person: dict[str, list[MemoryLine]] = {}
    for memory in numbered:
        for name in prompt.present:
            if memory.kind == "perception" and memory.theme.startswith(short_name(name)):
                by_person.setdefault(name, []).append(memory)
    ranked = sorted(by_person, key=lambda n: -len(by_person[n]))[:2]
    kinds = [*(("person", name) for name in ranked), ("matter", ""), ("myself", ""), *[("talk", "")] * 3][:5]
    thoughts, result, used = _Thoughts(prompt, a), [], list[str]()
    for kind, about in kinds:
        evidence = by_person.get(about, [])
        held = Counter(p for m in evidence if (p := position_in(m.theme, a.topic)) is not None)
        if not about:
            chosen = [m for m in numbered if m.kind in read("thoughts")["evidence"][kind]]
            evidence = sorted(chosen or numbered, key=lambda m: -m.importance)
        spoke_for = a.topic.positions[held.most_common(1)[0][0]] if held else ""
        values = {**thoughts.values, "person": short_name(about), "held": spoke_for}
        judged = "_judge" if a.facts.onlooker and kind in ("matter", "myself") else ""
        used.append(thoughts.phrase(f"insight_{kind}{judged}", values, used))
        text = filled(used[-1], values)
        of_memories = [k[:80] for m in evidence[:3] for k in m.keywords[:1] if k.strip()]
        mean = sum(m.importance for m in evidence[:5]) / max(1, len(evidence[:5]))
        result.append(
            {
                "theme": text,
                "keywords": list(dict.fromkeys([*content_words(text, 3), *of_memories]))[:6],
                "evidence": [m.number for m in evidence[:5]],
                "importance": _level(mean + 1),
            }
        )
    return {"insights": result}


def planning(prompt: Prompt) -> Answer:
    """`Plan`: keeps the listed goals, at most five."""
    a = Hearing(prompt)
    thoughts = _Thoughts(prompt, a, prompt.seed)
    early = "progress_early" if len(prompt.recent) < 2 else ""
    known = [p for said in prompt.recent if (p := position_in(said.text, a.topic)) is not None]
    stage = early or ("progress_agree" if len(set(known)) <= 1 and len(known) > 2 else "progress_differ")
    react = thoughts.speaker not in ("", prompt.name)
    calls_me = react and bool(material.spoken_to(thoughts.words, "", [prompt.name]))
    draw = generator("react", prompt.seed, prompt.name, prompt.topic, prompt.turn)
    react = react and not ("reserved" in a.facts.groups and not calls_me and draw.random() < 0.5)
    same = thoughts.values["theirs"] == thoughts.values["mine"]
    kind = "answer" if calls_me else "agree" if same else "oppose"
    adversarial = a.stance.temper.adversarial
    shifted = bool(prompt.form) and a.stance.earlier != a.stance.mine and not adversarial
    about = "plan_shift" if shifted else "plan_adversarial" if adversarial else "plan"
    decks = [stage, "identity", f"react_{kind if react else 'none'}", about]
    if prompt.closing:
        decks = ["progress_closing", "identity", f"react_{kind if react else 'none'}", "plan_closing"]
    if a.facts.onlooker:
        decks = [early or "progress_judge", "identity_judge", "react_judge", "plan_judge"]
        react, kind = False, ""
    values = {"job": a.facts.as_noun, "rival": a.topic.positions[a.stance.earlier] if shifted else ""}
    progress, identity, reaction, theme = (thoughts.pick(chosen, **values) for chosen in decks)
    # The agent keeps its identity unless its position has changed since.
    keeps = prompt.identity and position_in(prompt.identity, a.topic) in (None, a.stance.mine) and not a.facts.onlooker
    keywords = [k[:80].strip() for k in dict.fromkeys((thoughts.values["mine"], thoughts.values["gist"])) if k]
    goals = list(dict.fromkeys(goal[:1000].strip() for goal in prompt.goals if goal.strip()))[:5]
    return {
        "progress": progress,
        "identity": prompt.identity[:900] if keeps else identity,
        "react": react,
        "reaction": reaction,
        "goals": goals,
        "theme": capitalised(theme),
        "keywords": content_words(theme, 3) if a.facts.onlooker else keywords,
        "importance": 5 + (kind == "oppose" and react) + 2 * bool(goals and not a.facts.onlooker),
    }
