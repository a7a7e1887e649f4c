"""The transcript and the minds as the report's templates show them, with the parts that are folded."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

from ..runs.events import Analysed, Judged, Silenced, Uttered
from ..runs.folder.lines import RecordedIntervention, happening_in_words, silence_in_words
from ..runs.folder.parts import MindRecord, Thought
from ..runs.folder.reading import Record
from ..state.minds.emotion import EMOTIONS
from ..state.plain_text import one_line
from ..state.wording import listed, t
from .palette import Person
from .pruning_figures import LeftOut, left_out_of
from .summary import count_words
from .words import compact, spaced

_SHOWN: Final = ("say", "answer", "choose")
"""Interventions that are utterances or happenings of the transcript, so that they need no second mention."""


@dataclass(frozen=True)
class Aside:
    """An event between two utterances.

    Attributes:
        turn: the number of the utterance after which it is shown.
        kind: "silence", "intervention" or, in a story, "stage" or "happening".
        words: what happened.
    """

    turn: int
    kind: str
    words: str


def asides(record: Record) -> list[Aside]:
    """All events between utterances, in order."""
    silent = [_silence(silence) for silence in record.silences]
    done = [_intervention(done) for done in record.interventions if done.do not in _SHOWN]
    told = [(one, happening_in_words(one)) for one in record.happenings]
    happened = [Aside(one.turn, "stage" if one.do == "stage" else "happening", words) for one, words in told if words]
    return sorted([*silent, *done, *happened], key=lambda aside: aside.turn)


def _silence(silence: Silenced) -> Aside:
    turn = silence.turn if silence.step != "speak" else max(0, silence.turn - 1)  # as in transcript.md
    return Aside(turn, "silence", silence_in_words(silence))


def _intervention(done: RecordedIntervention) -> Aside:
    more = {key: value for key, value in done.more.items() if value is not None}
    who = compact(more.get("agent", t("report.a_participant")))
    match done.do:
        case "topic":
            words = t("transcript.topic", topic=compact(more.get("topic", "")))
        case "hand":
            words = t("report.did_hand_up" if more.get("raised", True) else "report.did_hand_down", who=who)
        case "floor":
            words = t("report.did_floor", who=who)
        case "stop":
            words = t("report.did_stop")
        case "pause":
            words = t("report.did_pause")
        case _:
            words = f"{spaced(done.do)}{f': {compact(more)}' if more else ''}"
    return Aside(done.turn, "intervention", words)


FACES: Final = {
    "happiness": "😊",
    "sadness": "😔",
    "anger": "😠",
    "fear": "😨",
    "disgust": "🤢",
    "surprise": "😮",
    "calm": "😌",
}
"""A face beside each emotion's name."""

MOST_EMOTIONS: Final = 3
"""How many of the speaker's emotions are shown with an utterance, the strongest first."""

MOST_OPEN: Final = 120
"""The longest transcript, in utterances, that is shown whole; a longer one is folded."""

_CHUNK: Final = 100
_MOST_THOUGHTS: Final = 24


@dataclass(frozen=True)
class Entry:
    """An utterance in the transcript, and the verdict that came after it.

    Attributes:
        utterance: as it was recorded.
        person: who spoke.
        emotions: name and level, strongest first; "calm" and 0 if all are 0; empty if not known.
        need: the speaker's need to talk when it was chosen.
        words: of the text.
        score: of the analysis.
        verdict: of the judge after it.
        heard_by: a whisper: who heard it, in words; empty if all heard it.
        listened: whose model was asked about it, in words; empty if all were asked.
        before: events before it; only for the first utterance.
        after: events between it and the next one.
    """

    utterance: Uttered
    person: Person
    emotions: list[tuple[str, int]]
    need: int | None
    words: int
    score: Analysed | None
    verdict: Judged | None
    heard_by: str
    listened: str
    before: Sequence[Aside]
    after: Sequence[Aside]


@dataclass(frozen=True)
class Chunk:
    """A part of the transcript; `title` is empty if the transcript is not folded."""

    title: str
    is_open: bool
    entries: Sequence[Entry]


@dataclass(frozen=True)
class Mindful:
    """The mind of one agent.

    Attributes:
        person: whose mind it is.
        asked: about how many utterances its model was asked, and how many it heard; None if its model was asked about
            all.
        memories: alive in long-term memory at the end.
        short_term: the memory in short-term memory at the end.
        emotions: felt at the end, strongest first.
        thoughts: turn, "plan" or "insight", and the thought; the last ones.
        earlier: thoughts that are not shown.
        left_out: what its last utterances were worded without.
    """

    person: Person
    asked: tuple[int, int] | None
    memories: int | None
    short_term: Thought | None
    emotions: list[tuple[str, int]]
    thoughts: list[tuple[int, str, Thought]]
    earlier: int
    left_out: list[LeftOut]


def strongest(emotion: Mapping[str, int], most: int = MOST_EMOTIONS) -> list[tuple[str, int]]:
    """The strongest emotions, in order; "calm" if all are 0, and none if they are not known."""
    if not emotion:
        return []
    felt = [(name, emotion[name]) for name in EMOTIONS if emotion.get(name)]
    return sorted(felt, key=lambda pair: -pair[1])[:most] or [("calm", 0)]


def entries(record: Record, people: Mapping[str, Person]) -> list[Entry]:
    """The transcript, utterance by utterance."""
    scores = {score.turn: score for score in record.scores}
    verdicts = {verdict.turn: verdict for verdict in record.verdicts}
    between = asides(record)
    listened: dict[int, list[str]] = {}
    for mind in record.minds:
        if mind.listened:
            listened.setdefault(mind.turn, []).append(one_line(mind.agent))
    turns = [utterance.turn for utterance in record.utterances]
    next_turns = [*turns[1:], inf]
    return [
        Entry(
            utterance=utterance,
            person=people[utterance.speaker],
            emotions=strongest(utterance.emotion),
            need=utterance.need_to_talk.get(utterance.speaker),
            words=count_words(utterance.text),
            score=scores.get(utterance.turn),
            verdict=verdicts.get(utterance.turn),
            heard_by="" if utterance.heard_by is None else listed(utterance.heard_by),
            listened=listed(listened.get(utterance.turn, [])),
            before=[aside for aside in between if aside.turn < utterance.turn] if place == 0 else [],
            after=[aside for aside in between if utterance.turn <= aside.turn < next_turns[place]],
        )
        for place, utterance in enumerate(record.utterances)
    ]


def folded(transcript: Sequence[Entry], cuts: Sequence[int] = ()) -> list[Chunk]:
    """The transcript in parts; of a long one, only the first and the last part are unfolded.

    Args:
        transcript: in order of turns.
        cuts: the numbers of utterances after which a part ends; if left out, a part has a hundred of them.
    """
    if len(transcript) <= MOST_OPEN:
        return [Chunk("", True, transcript)] if transcript else []
    places = [bisect_right(transcript, turn, key=lambda entry: entry.utterance.turn) for turn in cuts]
    starts = sorted({0, *(place for place in places if place < len(transcript))})
    starts = starts if cuts else list(range(0, len(transcript), _CHUNK))
    parts = [transcript[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]
    return [
        Chunk(
            t("report.part", first=part[0].utterance.turn, last=part[-1].utterance.turn),
            place in (0, len(parts) - 1),
            part,
        )
        for place, part in enumerate(parts)
    ]


def mindful(person: Person, minds: Sequence[MindRecord]) -> Mindful:
    """The mind of one agent, from its records in order of turns (at least one)."""
    thoughts = [
        thought
        for mind in minds
        for thought in [
            *([(mind.turn, "plan", mind.plan)] if mind.plan else []),
            *((mind.turn, "insight", insight) for insight in mind.insights),
        ]
    ]
    last = minds[-1]
    listened = [mind.listened for mind in minds if mind.listened is not None]
    return Mindful(
        person=person,
        asked=(sum(listened), len(listened)) if listened else None,
        memories=last.long_term_memories,
        short_term=last.short_term_memory,
        emotions=strongest(last.emotion, len(EMOTIONS)),
        thoughts=thoughts[-_MOST_THOUGHTS:],
        earlier=max(0, len(thoughts) - _MOST_THOUGHTS),
        left_out=left_out_of(minds),
    )
