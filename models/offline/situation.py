"""Where somebody stands when they are about to speak: what the wording of an utterance depends on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from persimchat.models.offline.gists import gist_of
from persimchat.models.offline.grammar import Decks, slots
from persimchat.models.offline.lexicon import Point, read
from persimchat.models.offline.opinion import Stance, position_in, stance
from persimchat.models.offline.persona_facts import Facts, address, facts_of
from persimchat.models.offline.randomness import generator, permutation
from persimchat.models.offline.sections import Prompt
from persimchat.models.offline.topics import Topic, analyse
from persimchat.models.offline.words import normalised

_BLOCK = 5
"""Of every five utterances, two tell something from life, one where there is a task to work on; in an order drawn per
conversation."""


@dataclass(frozen=True)
class Scene:
    """All that decides an utterance.

    Attributes:
        prompt: as read.
        facts: who speaks.
        topic: analysed.
        stance: what the speaker holds.
        decks: the conversation's phrases.
        values: what fills the slots; "" where there is nothing.
        register: "casual", "neutral" or "formal".
        target: length in words.
        turn: utterances so far, the place in all decks.
        step: `turn`, moved on where the same is asked again.
        spoken_before: the speaker's utterances so far.
        opening: nobody has spoken yet.
        closing: this is among the last utterances.
        asked: the last utterance asks this speaker something.
        reaction: how the last speaker is taken up: agree, disagree, concede, build or answer.
        mood: an emotion strong enough to be put into words now; empty otherwise.
        short: nothing is added to what must be said.
        asks: the utterance ends with a question to somebody.
        other_spoke: the one who would be asked has spoken lately.
        last_text: the last utterance of somebody else; empty where there is none.
        said_lately: utterances that must not be repeated.
        remembered: what memories say of earlier utterances, normalised.
    """

    prompt: Prompt
    facts: Facts
    topic: Topic
    stance: Stance
    decks: Decks
    values: dict[str, str]
    register: str
    target: int
    turn: int
    step: int
    spoken_before: int
    opening: bool
    closing: bool
    asked: bool
    reaction: str
    mood: str
    short: bool
    asks: bool
    other_spoke: bool
    last_text: str
    said_lately: tuple[str, ...]
    remembered: str

    def chance(self, about: str) -> float:
        """A number from 0 to 1 for one decision of this utterance."""
        return generator(self.decks.seed, self.topic.text, self.facts.name, self.step, about).random()

    def choose(self, about: str, choices: Sequence[str]) -> str:
        """One of several for one decision of this utterance."""
        return choices[int(self.chance(about) * len(choices))]

    def usable(self, point: Point) -> bool:
        """Whether all slots of a point can be filled."""
        return all(self.values.get(s) for s in slots(point.text))

    def untold(self, gist: str) -> bool:
        """Whether nobody is remembered to have brought this up."""
        return not gist or normalised(gist) not in self.remembered

    @property
    def tells_life(self) -> bool:
        """Whether this turn of the conversation is one for a story from life."""
        return self._is_life(self.step)

    @property
    def point_step(self) -> int:
        """How many points have been made in the conversation's turns before this one."""
        whole, rest = divmod(self.step, _BLOCK)
        lives = sum(self._is_life(whole * _BLOCK + i) for i in range(rest))
        return whole * (_BLOCK - self._life_turns) + rest - lives

    @property
    def _life_turns(self) -> int:
        return 1 if self.topic.is_task else 2

    def _is_life(self, turn: int) -> bool:
        block, place = divmod(turn, _BLOCK)
        return permutation(_BLOCK, self.decks.seed, self.topic.text, "life", block)[place] < self._life_turns


def _register(prompt: Prompt, facts: Facts) -> str:
    found = re.search(r"Register: (casual|neutral|formal)\b", prompt.instructions)
    register = found.group(1) if found else "neutral"
    if any(re.search(r"\b(formal|polite)ly\b|\bformal (language|speech)", r, re.I) for r in prompt.rules):
        return "formal"
    return "neutral" if facts.formal and register == "casual" else register


def _target(prompt: Prompt, facts: Facts) -> int:
    found = re.search(r"about (\d+) words", prompt.instructions)
    words = int(found.group(1)) if found else 25
    rules = " ".join(prompt.rules)
    limit = re.search(r"(?:at most|no more than|maximum(?: of)?|up to|under) (\d+) words", rules, re.IGNORECASE)
    if limit:
        words = min(words, int(limit.group(1)))
    factor = 0.8 if facts.brief or facts.child else 1.0
    # Anger and grief make people short even when they do not say that they feel them.
    if max(prompt.emotions.get("anger", 0), prompt.emotions.get("disgust", 0)) >= 6:
        factor *= 0.65
    elif prompt.emotions.get("sadness", 0) >= 6:
        factor *= 0.8
    return max(3, round(words * factor))


def _mood(prompt: Prompt, seed: int) -> str:
    """The emotion that shows in words now: a strong one, and not every time."""
    if not prompt.emotions:
        return ""
    name = max(prompt.emotions, key=lambda e: prompt.emotions[e])
    level = prompt.emotions[name]
    threshold = 8 if name == "happiness" else 5
    draw = generator(seed, prompt.topic, prompt.name, prompt.turn, "mood").random()
    return name if level >= threshold and draw < (level - threshold + 2) / (12 if name == "happiness" else 8) else ""


def scene_of(prompt: Prompt, seed: int) -> Scene:
    """The scene of a prompt for an utterance."""
    facts = facts_of(prompt)
    topic = analyse(prompt.topic)
    held = stance(prompt, topic, seed)
    everyone = (prompt.name, *prompt.present)
    others = [(s, t) for s, t in prompt.recent if s != prompt.name]
    last = others[-1] if others and prompt.recent[-1][0] != prompt.name else None
    heard = prompt.heard
    if last is None and not prompt.recent and heard and not heard.own:
        last = (heard.speaker, heard.words)
    mood = _mood(prompt, seed)
    values = _values(prompt, facts, topic, held, last, others)
    register = _register(prompt, facts)
    said = " | ".join(normalised(t) for t in (*(t for _, t in prompt.recent), *prompt.later))
    asked = last is not None and bool(values["name"]) and _asks(last[1], prompt.name, everyone)
    opening = not prompt.recent and prompt.turn == 0 and last is None
    remaining = prompt.limit - prompt.turn
    window = min(len(everyone), max(1, prompt.limit // 5))
    closing = not opening and prompt.limit > 3 and 0 < remaining <= window
    step = prompt.turn + 7 * len(prompt.later)
    draw = generator(seed, prompt.topic, prompt.name, step, "asks").random()
    no_questions = any(re.search(r"\b(no|not|don't|never)\b.*\bquestions?\b", r, re.I) for r in prompt.rules)
    asks = draw < (0.5 if "curious" in facts.groups else 0.3) and not no_questions and mood != "anger"
    return Scene(
        prompt=prompt,
        facts=facts,
        topic=topic,
        stance=held,
        decks=Decks(seed, prompt.topic, register, said),
        values=values,
        register=register,
        target=_target(prompt, facts),
        turn=step,
        step=step,
        spoken_before=_spoken(prompt),
        opening=opening,
        closing=closing,
        asked=asked,
        reaction=_reaction(topic, held, values, asked=asked),
        mood="" if opening or closing else mood,
        short=mood == "anger",
        asks=asks and not asked,
        other_spoke=any(address(s, everyone) == values["other"] for s, _ in prompt.recent),
        last_text=last[1] if last else "",
        said_lately=tuple(t for _, t in prompt.recent) + prompt.later,
        remembered=" | ".join(normalised(m.theme) for m in prompt.memories if m.kind == "perception"),
    )


def _spoken(prompt: Prompt) -> int:
    if prompt.spoken is not None:
        return prompt.spoken
    return max(sum(s == prompt.name for s, _ in prompt.recent), prompt.turn // (len(prompt.present) + 1))


def _asks(text: str, name: str, everyone: tuple[str, ...]) -> bool:
    """Whether words ask somebody by name: in the question itself, or anywhere where the words end on one."""
    spoken = address(name, everyone)
    if not spoken or "?" not in text:
        return False
    called = re.compile(rf"(?<!\w){re.escape(spoken)}(?!\w)", re.IGNORECASE)
    sentences = re.split(r"(?<=[.!?])\s+", text.strip())
    others = [a for n in everyone if n != name and (a := address(n, everyone))]
    if sentences[-1].endswith("?") and called.search(text) and not any(o in sentences[-1] for o in others):
        return True
    return any(s.endswith("?") and called.search(s) for s in sentences)


def _reaction(topic: Topic, held: Stance, values: dict[str, str], *, asked: bool) -> str:
    if asked:
        return "answer"
    if not values["theirs"]:
        return "build"
    if held.temper.adversarial:
        return "build" if values["theirs"] == values["mine"] else "disagree"
    if held.mine != held.before and values["theirs"] == topic.positions[held.mine]:
        return "concede"
    return "agree" if values["theirs"] == values["mine"] else "disagree"


def _called(prompt: Prompt, name: str, everyone: tuple[str, ...]) -> str:
    """How the last speaker is called: as one calls one's mother or grandfather, else by name."""
    relation = prompt.relation_to(name)
    if relation and relation.role in ("parent", "grandparent"):
        noted = re.findall(r"\w+", relation.note.casefold())
        kin = next((called for word, called in read("speech")["kin"].items() if word in noted), "")
        if kin:
            return str(kin)
    return address(name, everyone)


def _values(
    prompt: Prompt,
    facts: Facts,
    topic: Topic,
    held: Stance,
    last: tuple[str, str] | None,
    others: Sequence[tuple[str, str]],
) -> dict[str, str]:
    everyone = (prompt.name, *prompt.present)
    key = (prompt.topic, prompt.name, prompt.turn)
    n = len(topic.positions)
    rivals = [i for i in range(n) if i != held.mine]
    theirs = position_in(last[1], prompt.topic) if last else None
    rival = theirs if theirs is not None and theirs != held.mine else generator("rival", *key).choice(rivals)
    if held.mine != held.before:
        rival = held.before
    third = next(((s, t) for s, t in reversed(others) if last and s != last[0]), None)
    gist3 = gist_of(third[1], prompt.topic) if third else ""
    gist = gist_of(last[1], prompt.topic) if last else ""
    recent = [s for s, _ in prompt.recent]
    # Those who have been silent longest are asked first, and never the one who has just spoken.
    askable = [p for p in prompt.present if not last or p != last[0]] or list(prompt.present)
    silent = sorted(askable, key=lambda p: recent[::-1].index(p) if p in recent else 99, reverse=True)
    pool = silent[: max(1, (len(silent) + 1) // 2)]
    other = generator("other", *key).choice(pool) if pool else ""
    return {
        "name": _called(prompt, last[0], everyone) if last else "",
        "third": address(third[0], everyone) if third and gist3 and gist3 != gist else "",
        "other": address(other, everyone) if other else "",
        "mine": topic.positions[held.mine],
        "theirs": topic.positions[theirs] if theirs is not None else "",
        "rival": topic.positions[rival],
        "gist": gist,
        "gist3": gist3,
        "head": topic.head,
        "job": facts.as_noun,
        "place": facts.place,
        "pastime": facts.pastime,
    }
