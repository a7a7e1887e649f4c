"""A scene: the speaker's situation, on which the wording of an utterance depends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from persimchat.models.offline.grammar import Decks, slots
from persimchat.models.offline.lexicon import Point
from persimchat.models.offline.opinion import Stance
from persimchat.models.offline.persona_facts import Facts
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.randomness import generator, permutation
from persimchat.models.offline.topics import Topic
from persimchat.models.offline.words import content_words, normalised

_BLOCK: Final = 5
"""Of every five utterances, two tell a story from life, or one if the topic is a task or a debate; in an order drawn
per conversation."""


@dataclass(frozen=True)
class Scene:
    """The situation that determines an utterance.

    Attributes:
        prompt: as read.
        facts: of the speaker.
        topic: analysed.
        stance: of the speaker.
        decks: the conversation's phrases.
        values: values for the slots; "" if there is none.
        register: "casual", "neutral" or "formal".
        target: length in words.
        turn: utterances so far, the place in all decks.
        step: `turn`, moved on if the same prompt is repeated.
        spoken_before: the speaker's utterances so far.
        opening: nobody has spoken yet.
        closing: the end is near, so these are the speaker's last words.
        asked: the last utterance asks this speaker something.
        reaction: to the last speaker: agree, disagree, concede, build or answer.
        led: the last utterance is the moderator's, who takes no part.
        confided: the last utterance was whispered.
        moved: the speaker's position has changed since they last spoke.
        others_hold: the positions that the others last spoke for, by name.
        mood: an emotion strong enough to be expressed now; empty otherwise.
        short: the utterance has no optional parts.
        asks: the utterance ends with a question to a participant.
        other_spoke: the participant to be asked has spoken lately.
        last_text: the last utterance of another speaker; empty if there is none.
        said_lately: utterances that must not be repeated.
        remembered: the themes of memories of earlier utterances, normalised.
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
    led: bool
    confided: bool
    moved: bool
    others_hold: dict[str, int]
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
        """One of several options for one decision of this utterance."""
        return choices[int(self.chance(about) * len(choices))]

    def usable(self, point: Point) -> bool:
        """Whether all slots of a point can be filled."""
        return all(self.values.get(s) for s in slots(point.text))

    def untold(self, gist: str) -> bool:
        """Whether no memory says that this was brought up."""
        return not gist or normalised(gist) not in self.remembered

    def recalls(self, sentence: str) -> bool:
        """Whether the standout words of a remembered utterance include most words of a sentence."""
        words = {word.casefold() for word in content_words(sentence, 20)}
        least = max(2, round(0.6 * len(words)))
        percepts = (m for m in self.prompt.memories if m.kind == "perception")
        return any(len(words.intersection(k.casefold() for k in m.keywords)) >= min(least, 4) for m in percepts)

    @property
    def debate(self) -> bool:
        """Whether the conversation is a debate, which seeks one answer."""
        return self.prompt.form is not None

    @property
    def agreed(self) -> bool:
        """Whether nearly all others are known to hold the speaker's position, and none another."""
        held = list(self.others_hold.values())
        return len(held) >= 0.75 * len(self.prompt.present) > 0 and set(held) == {self.stance.mine}

    @property
    def tells_life(self) -> bool:
        """Whether this turn of the conversation is one for a story from life."""
        return self._is_life(self.step)

    @property
    def point_step(self) -> int:
        """How many points were made in the turns before this one."""
        whole, rest = divmod(self.step, _BLOCK)
        lives = sum(self._is_life(whole * _BLOCK + i) for i in range(rest))
        return whole * (_BLOCK - self._life_turns) + rest - lives

    @property
    def _life_turns(self) -> int:
        return 1 if self.topic.is_task or self.debate else 2

    def _is_life(self, turn: int) -> bool:
        block, place = divmod(turn, _BLOCK)
        return permutation(_BLOCK, self.decks.seed, self.topic.text, "life", block)[place] < self._life_turns
