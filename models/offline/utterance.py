"""Words an utterance: a reaction to the last speaker, a point or a story from life, and a continuation."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from persimchat.models.offline import openness as debating
from persimchat.models.offline.grammar import capitalised, filled
from persimchat.models.offline.leaving import leave_taking
from persimchat.models.offline.lexicon import Point, deck, read
from persimchat.models.offline.persona_facts import life_lines
from persimchat.models.offline.randomness import permutation
from persimchat.models.offline.scene import Scene
from persimchat.models.offline.words import count, expanded, normalised, overlap

_FORMAL: Final = (
    (re.compile(r"\bkids\b"), "children"),
    (re.compile(r"\bMum\b"), "my mother"),
    (re.compile(r"\bDad\b"), "my father"),
    (re.compile(r"\bmates\b"), "friends"),
    (re.compile(r"\bdaft\b"), "foolish"),
    (re.compile(r"\bgran\b"), "grandmother"),
)
_SENTENCE_START: Final = re.compile(r"(?<=[.!?…])\s+(\w)")


def spoken(sentences: list[str], register: str) -> str:
    """Sentences as one utterance in a register.

    Args:
        sentences: in order; empty ones are left out.
        register: "casual", "neutral" or "formal"; formal speech has no contractions.
    """
    text = " ".join(s.strip() for s in sentences if s.strip())
    if register == "formal":
        text = expanded(text)
        for pattern, word in _FORMAL:
            text = pattern.sub(word, text)
    return tidied(text)


def tidied(text: str) -> str:
    """One utterance with single spaces, no doubled punctuation, capitals after full stops and an end."""
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"\s+([,.;:!?])", r"\1", text)
    text = re.sub(r"([?!])[.,;:]+", r"\1", text)
    text = re.sub(r"\.{2,}", ".", text)
    text = re.sub(r"[,;:]+([.,;:!?])", r"\1", text)
    text = re.sub(r",{2,}", ",", text)
    text = _SENTENCE_START.sub(lambda m: " " + m.group(1).upper(), text)
    text = capitalised(text.strip(" ,;:-"))
    return text if text and text[-1] in ".!?…" else f"{text}."


_CHOICE: Final = 2
"""Number of points from which a speaker chooses: enough to find a fitting one, few enough to last a conversation."""
_AHEAD: Final = 19


def points_in_order(scene: Scene) -> list[Point]:
    """The points on the topic in the conversation's own order: specific ones before general ones.

    The first few are reserved for the first speaker, because later speakers cannot know which of them was used.
    """
    ordered: list[Point] = []
    begin = 0
    for tier, size in enumerate(scene.topic.tiers):
        order = permutation(size, "points", tier, scene.decks.seed, scene.topic.text)
        ordered += [scene.topic.points[begin + i] for i in order]
        begin += size
    kept = min(3, max(1, scene.topic.tiers[0] // 3))
    return ordered[:kept] if scene.opening else ordered[kept:]


def point_for(scene: Scene, variant: int) -> Point:
    """The next point: of the next two in the deck, the one that fits the speaker's position better."""
    ordered = points_in_order(scene)
    # The later variants look far ahead, so that they do not use the next speakers' points.
    start = _CHOICE * scene.point_step + (0 if variant < 3 else _AHEAD + 3 * variant)
    turned = (ordered[(start + i) % len(ordered)] for i in range(len(ordered)))
    fresh = [p for p in turned if scene.usable(p) and scene.decks.fresh(p.text)] or ordered
    fresh = [p for p in fresh if scene.untold(p.gist)] or fresh
    # The first speaker states their own view; later speakers take the next point.
    some = fresh if scene.opening else fresh[:_CHOICE]
    liked = sorted(some, key=lambda p: foreignness(scene, p))
    return liked[1 if variant == 1 and len(liked) > 1 else 0]


def foreignness(scene: Scene, point: Point) -> int:
    """0 for a point that supports the speaker's position, 1 for one that supports none, 2 for another position."""
    return 1 if point.tag == "-" else 0 if int(point.tag) == scene.stance.mine else 2


_CHILD_FIRST: Final = 3
"""Number of a child's sentences that are on the topic itself: the first ones."""
_GOOD: Final = 0.12
"""A draft with this cost or less is accepted at once."""


@dataclass(frozen=True)
class Draft:
    """A draft: its parts in order, and its cost (lower is better)."""

    text: str
    cost: float


def worded(scene: Scene) -> str:
    """The speaker's next utterance: never empty, without their name in front, of about the requested length.

    Of a few drafts, it returns the one that repeats least of the recent utterances and comes nearest to the length.
    """
    best = _draft(scene, 0)
    for variant in range(1, 5):
        if best.cost <= _GOOD:
            break
        best = min(best, _draft(scene, variant), key=lambda d: d.cost)
    return best.text


def reasons(scene: Scene, first: str, last: str) -> str:
    """A reaction to the last speaker and reasons, between a first and a last sentence."""
    best, least = "", 10.0
    for variant in range(3):
        body, _, _ = _body(scene, variant)
        parts = [_reaction(scene) if scene.last_text and not scene.moved else "", first, body]
        more = [text for text in _further(scene, variant) if text not in parts]
        parts += more[:1] if count(" ".join(parts)) < 0.7 * scene.target else []
        # A speaker who has named their answer in their reasons need not repeat it at the end.
        settled = debating.names_mine(scene, " ".join(parts)) and not scene.moved
        text = spoken(parts if settled else [*parts, last], scene.register)
        repeated = max((overlap(text, said) for said in scene.said_lately), default=0.0) + 0.05 * variant
        if repeated < least:
            best, least = text, repeated
    return best


def _draft(scene: Scene, variant: int) -> Draft:
    parts = _parts(scene, variant)
    text = spoken(parts, scene.register)
    repeated = max((overlap(text, said) for said in scene.said_lately), default=0.0)
    off = abs(count(text) - scene.target) / scene.target
    # The later variants are fallbacks: they are used only if they are clearly better.
    return Draft(text, 4 * max(0.0, repeated - 0.15) + off + 0.12 * variant)


def _parts(scene: Scene, variant: int) -> list[str]:
    """The sentences of one draft. Variants differ in their optional parts and stories."""
    if scene.closing:
        return leave_taking(scene, _reaction(scene) if scene.asked else "", variant)
    body, clause, follows = _body(scene, variant)
    if scene.opening:
        parts = [_opening(scene, body, clause)]
    else:
        # Delight replaces a reaction.
        silent = variant in (2, 4) or scene.mood == "happiness"
        owed = scene.asked or (scene.debate and scene.moved)
        start = "" if silent and not owed else _reaction(scene)
        parts = [start, body]
    if scene.mood:
        phrases = deck("speech", "moods", scene.mood)
        parts.insert(0, scene.decks.pick("mood" + scene.mood, phrases, scene.turn, scene.values))
    if scene.debate:
        parts = _with_stand(scene, parts)
    budget = scene.target * (0.85 if variant in (0, 2) else 1.1)
    for extra in _extras(scene, variant, follows=follows):
        length = count(" ".join(p for p in parts if p))
        if length >= budget:
            break
        if extra not in parts and length + count(extra) <= scene.target * 1.4:
            parts.append(extra)
    return [p for p in parts if p] or [body]


def _opening(scene: Scene, body: str, clause: str) -> str:
    if scene.facts.child:
        return scene.decks.pick(
            "opening", deck("speech", "child", "opening"), scene.step, {**scene.values, "clause": body}
        )
    if not clause:
        return body
    values = {**scene.values, "clause": clause}
    return scene.decks.pick("opening", deck("speech", "opening"), scene.step, values)


def _with_stand(scene: Scene, parts: list[str]) -> list[str]:
    """The parts of an utterance in a debate, with the speaker's position; drops other parts if there is no room."""
    if not debating.wants_to_stand(scene, " ".join(parts)):
        return parts
    stand = debating.stand(scene)
    if scene.agreed and len(parts) > 1 and scene.chance("enough said") < 0.5:
        return [*parts[:-1], stand]
    while len(parts) > 1 and not scene.asked and count(" ".join((*parts, stand))) > 1.25 * scene.target:
        parts = parts[1:]
    return [*parts, stand]


def _reaction(scene: Scene) -> str:
    """The reaction to the last speaker; "" now and then, because people do not always react."""
    values, child = scene.values, scene.facts.child
    if scene.debate and not scene.asked and (shifted := debating.shift(scene)):
        return shifted
    if scene.led:
        return _to_moderator(scene)
    if not values["name"] or (scene.confided and not scene.asked):
        return ""
    if scene.asked and scene.debate and not child and (replied := debating.reply(scene)):
        return replied
    if scene.asked and not child:
        for question in (*read("speech")["questions"], *read("speech")["questions_child"]):
            if question["cue"] in scene.last_text.lower():
                found = scene.decks.pick("answers" + question["cue"], deck_of(question["answers"]), scene.step, values)
                if found:
                    return found
    if not child and not scene.asked and not scene.agreed and values["third"] and scene.chance("refer") < 0.2:
        return scene.decks.pick("refer", deck("speech", "refer"), scene.turn, values)
    if not scene.asked and scene.chance("plain") < 0.18:
        return ""
    kind = scene.reaction
    phrases = deck("speech", "child", kind) if child else deck("speech", kind)
    return scene.decks.pick(kind, phrases, scene.turn, values)


def _to_moderator(scene: Scene) -> str:
    """An answer to the moderator's question, or words that follow their lead; never reveals a whisper."""
    unasked = ("confided" if scene.values["gist"] else "aside") if scene.confided else "follow"
    kind = "answer" if scene.asked else unasked
    return scene.decks.pick(f"moderator {kind}", deck("speech", "moderator", kind), scene.turn, scene.values)


def deck_of(block: str) -> tuple[str, ...]:
    """The lines of a block inside a record."""
    return tuple(line.strip() for line in block.splitlines() if line.strip())


def _body(scene: Scene, variant: int) -> tuple[str, str, bool]:
    """The words; their bare clause, if they are one; whether the speaker's position follows."""
    if scene.facts.child:
        return _child_body(scene, variant), "", not scene.topic.is_task
    if scene.tells_life and not scene.opening and variant < 3:
        return _led(scene, _life(scene, variant)), "", True
    point = point_for(scene, variant)
    clause = filled(point.text, scene.values)
    return _framed(scene, point, clause), clause, foreignness(scene, point) < 2


def _life(scene: Scene, variant: int, *, extra: bool = False) -> str:
    """A story from the speaker's life that was not told lately; one told in passing comes from the end of the list."""
    lines = life_lines(scene.facts, scene.decks.seed, scene.topic.text)
    start = -2 - 2 * scene.spoken_before if extra else scene.spoken_before + 7 * variant
    order = [*lines[start % len(lines) :], *lines[: start % len(lines)]]
    for line in order:
        sentence, _, gist = (part.strip() for part in line.partition("|"))
        if normalised(filled(sentence, scene.values)) not in scene.decks.said and scene.untold(gist):
            return filled(sentence, scene.values)
    return filled(order[0].partition("|")[0].strip(), scene.values)


def _led(scene: Scene, sentence: str) -> str:
    """A story from life, mostly with words that introduce it."""
    if scene.asked or scene.chance("lead") < 0.35:
        return sentence
    lead = scene.decks.pick("lead", deck("speech", "lead"), scene.turn, scene.values)
    first = sentence.partition(" ")[0]
    return f"{lead} {sentence if first.partition(chr(39))[0] == 'I' else sentence[0].lower() + sentence[1:]}"


def _child_body(scene: Scene, variant: int) -> str:
    """A story from a child's life, or a sentence on the topic: specific ones before general ones."""
    name = scene.facts.name
    if scene.tells_life and not scene.opening:
        pool: Sequence[str] = life_lines(scene.facts, scene.decks.seed, scene.topic.text)
    else:
        about = scene.topic.child
        own = min(_CHILD_FIRST, len(about))
        first = permutation(own, "child", scene.decks.seed, scene.topic.text, name)
        rest = permutation(len(about) - own, "child rest", scene.decks.seed, scene.topic.text, name)
        pool = [*(about[i] for i in first), *(about[own + i] for i in rest)]
    start = scene.spoken_before + 7 * variant
    turned = [pool[(start + i) % len(pool)].partition("|")[0].strip() for i in range(len(pool))]
    sentences = [filled(sentence, scene.values) for sentence in turned]
    unsaid = [s for s in sentences if normalised(s) not in scene.decks.said]
    return next((s for s in unsaid if not scene.recalls(s)), unsaid[0] if unsaid else sentences[0])


def _framed(scene: Scene, point: Point, clause: str) -> str:
    values: Mapping[str, str] = {**scene.values, "clause": clause}
    if clause.endswith("?"):
        return capitalised(clause)
    first_person = clause.startswith(("I ", "I'd", "I'm", "I've", "if ", "let's"))
    frames = "point_i" if first_person else "point"
    if foreignness(scene, point) == 2 and not first_person:
        frames = "grant"
    return capitalised(scene.decks.pick(frames, deck("speech", frames), scene.turn, values))


def _extras(scene: Scene, variant: int, *, follows: bool) -> list[str]:
    """Possible continuations, in order of preference: a conclusion, a question to a participant, a remark, a point."""
    child = scene.facts.child
    values = scene.values
    if scene.short:
        return []
    tie = scene.decks.pick(
        "tie", deck("speech", "child", "tie") if child else deck("speech", "tie"), scene.turn, values
    )
    question = _question(scene)
    remark = _remark(scene)
    link = scene.decks.pick("link", deck("speech", "link"), scene.turn, values) if not child else remark
    # Omits a conclusion that the last speaker has just drawn, or that does not follow.
    names_mine = normalised(values["mine"]) in normalised(scene.last_text)
    wants_tie = follows and not scene.debate and scene.chance("tie") < (0.25 if names_mine else 0.6)
    start = scene.chance("extras")
    if scene.asks:
        extras = [question, tie if wants_tie else remark]
    elif scene.tells_life and not child and not scene.opening:
        extras = [tie if wants_tie else link, remark]
    else:
        extras = [tie, remark] if wants_tie and start < 0.6 else [remark, tie if wants_tie else ""]
    if variant == 3:
        extras.reverse()
    extras += _further(scene, variant) if scene.target > 34 else []
    return [e for e in extras if e]


def _further(scene: Scene, variant: int) -> list[str]:
    """More for a long utterance: further points and stories from life."""
    if scene.facts.child:
        more = [_child_body(scene, variant + 9 + 2 * i) for i in range(6)]
        return list(dict.fromkeys(more))
    ordered = [p for p in points_in_order(scene) if scene.usable(p) and scene.decks.fresh(p.text)]
    used = point_for(scene, variant)
    count_wanted = min(len(ordered) - 1, scene.target // 14)
    start = 2 * scene.point_step + 21 + variant
    rest = [ordered[(start + 2 * i) % len(ordered)] for i in range(count_wanted)] if ordered else []
    texts = [capitalised(filled(p.text, scene.values)) + "." for p in rest if p is not used]
    # From the far end of the list, so that the speaker's next story is still new.
    texts.insert(0, _life(scene, variant, extra=True))
    return list(dict.fromkeys(texts))


def _question(scene: Scene) -> str:
    if not scene.values["other"]:
        return ""
    if scene.debate and not scene.facts.child and scene.chance("about the answer") < 0.6:
        return debating.question(scene)
    # Some questions suit only participants who have spoken, some only those who have not.
    who = "silent" if scene.other_spoke else "spoke"
    if scene.facts.child:
        asks = [q["ask"] for q in read("speech")["questions_child"] if q.get("who") != who]
        return scene.decks.pick("child ask", asks, scene.turn, scene.values)
    where = "talk" if scene.topic.is_task else "task"
    asks = [q["ask"] for q in read("speech")["questions"] if q.get("only") != where and q.get("who") != who]
    return scene.decks.pick("ask", asks, scene.turn, scene.values)


def _remark(scene: Scene) -> str:
    if scene.facts.child:
        return scene.decks.pick("child remark", deck("speech", "child", "remarks"), scene.turn, scene.values)
    kinds = [k for k in read("speech")["remarks"] if k in scene.facts.groups]
    if scene.facts.knowledge < 4 and "learned" in kinds:
        kinds.remove("learned")
    if scene.facts.knowledge >= 4 and "learned" not in kinds:
        kinds.append("learned")
    kind = kinds[scene.spoken_before % len(kinds)] if kinds else "plain"
    return scene.decks.pick("remark" + kind, deck("speech", "remarks", kind), scene.turn, scene.values)
