"""What transcript.md says of the events of a run, as pure functions, in the current language (`state/wording.py`)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from ...state.language import ENGLISH
from ...state.plain_text import clean, one_line
from ...state.poll import Guide
from ...state.settings import BASELINES
from ...state.wording import entry, in_language, language, listed, t, t_or, worded
from ..events import Concluded, Happened, Silenced, Stopped, Uttered
from .parts import Turn

DISCLAIMER: Final = worded("transcript.disclaimer", ENGLISH)
"""That it is a simulation, in English."""

STANDING: Final = "standing"
"""The happening of a story that says where a character stands after an update."""

BALLOTS: Final = {"guess": "guess", "ballot": "open", "closed_ballot": "closed"}
"""The happenings of a story's vote, in order, and which ballot each is."""

PASSED: Final = "passed"
"""Reason of the silence of a person who passes."""


class RecordedIntervention(BaseModel):
    """An intervention with its details, as they are: a replay tells it from others by all of them."""

    model_config = ConfigDict(frozen=True, extra="allow")

    turn: Turn
    do: str

    @property
    def more(self) -> dict[str, Any]:
        """Its details: all fields but `turn` and `do`."""
        return dict(self.model_extra or {})


def head(topic: str, participants: Iterable[str], guide: Guide | None = None) -> str:
    """The head of transcript.md; of a focus group with what it is shown."""
    begin = (
        f"# {text(' '.join(topic.split()))}\n\n{text(', '.join(participants))}\n\n> {t('transcript.disclaimer')}\n\n"
    )
    if guide is None or guide.stimulus is None:
        return begin
    first = guide.shown_with
    told = t("transcript.shown_with", n=first) if first else t("transcript.shown_first")
    return f"{begin}*{told}*\n\n{text(guide.stimulus.words)}\n\n"


def spoken(uttered: Uttered) -> str:
    """An utterance in transcript.md, with the hearers of a whisper, and a note if the words are not the speaker's.

    One that puts a question of a guide has its number as a heading.
    """
    heading = "" if uttered.question is None else f"## {t('transcript.question', n=uttered.question)}\n\n"
    whispered = "" if uttered.heard_by is None else f"*({t('transcript.only_to', who=_listed(uttered.heard_by))})* "
    put_in = edited(uttered.edited_by)
    marked = f"*({text(put_in)})* " if put_in else ""
    return f"{heading}**{text(uttered.speaker)}:** {whispered}{marked}{text(uttered.text)}\n\n"


def edited(by: str | None) -> str:
    """The note that an utterance's words are not its speaker's own, by its `edited_by`; empty if they are."""
    return "" if by is None else t_or(f"transcript.put_in_{by}", t("transcript.put_in", who=by))


def silence(silenced: Silenced) -> str:
    """A silence and its reason in transcript.md."""
    return f"*{text(one_line(silence_in_words(silenced)))}*\n\n"


def silence_in_words(silenced: Silenced) -> str:
    """A silence and its reason, in a sentence."""
    if silenced.why == PASSED:
        return t("transcript.passes", who=silenced.agent)
    told = t(f"transcript.silent_{silenced.step}", who=silenced.agent)
    return f"{told}: {silenced.why}" if silenced.why else f"{told}."


def happening(happened: Happened) -> str:
    """What happened in a story, in transcript.md: stages as headings, meetings, standings and ballots; else empty.

    The result is left out: the last line says it.
    """
    words = happening_in_words(happened)
    if not words or happened.do == "outcome":
        return ""
    return f"## {text(words)}\n\n" if happened.do == "stage" else f"*{text(one_line(words))}*\n\n"


def happening_in_words(happened: Happened) -> str:
    """What happened in a story, in a sentence; empty for what only its owner has in mind."""
    who = happened.speaker
    match happened.do:
        case "stage":
            return t("transcript.stage", n=happened.round, stage=stage_name(happened.stage))
        case "met" if happened.stage == "rooms":
            return t("transcript.room", number=happened.room.rpartition(".")[2], who=listed([who, *happened.others]))
        case "choice" if happened.chosen_by is not None and not happened.choice:
            return t("transcript.chosen_nobody", who=who)
        case "choice" if happened.chosen_by is not None:
            return t("transcript.chosen", who=who, whom=happened.choice)
        case "met":
            known = "met_known" if happened.heard_by is None else "met_unknown"
            return t(f"transcript.{known}", who=who, others=listed(happened.others))
        case "standing":
            return t("transcript.stands", who=who, where=stand_in_words(happened))
        case "guess" | "ballot" | "closed_ballot":
            return t(f"transcript.{happened.do}", who=who, choice=happened.choice)
        case "outcome":
            return happened.text
        case _:
            return ""


def stage_name(stage: str) -> str:
    """A stage of a story in the current language; in English, as the story's plan has it."""
    return stage if language() == ENGLISH else t_or(f"story.stage_{stage}", stage)


def stand_in_words(happened: Happened) -> str:
    """Behind whom a story's character stands after an update, its beliefs and its influence."""
    behind = t("transcript.behind", who=happened.supports) if happened.supports else t("transcript.behind_nobody")
    beliefs = [t("transcript.beliefs", scores=", ".join(map(str, happened.beliefs)))] if happened.beliefs else []
    return f"{behind}: {', '.join([*beliefs, t('transcript.influence', n=happened.influence)])}"


def conclusion(came_to: Concluded) -> str:
    """The conclusion of a debate in transcript.md."""
    heading = conclusion_heading(came_to.consensus, came_to.by)  # conditions have a line of their own
    supporters = ", ".join(map(text, came_to.supporters))
    held = f" ({t('transcript.held_by', who=supporters)})" if supporters else ""
    said = f"**{heading}:** {text(came_to.answer)}{held}\n\n"
    if not came_to.conditional:
        return said
    stands = (
        f"- {text(one.agent)}: {text(one_line(one.position))} “{text(one_line(one.words))}”\n"
        for one in came_to.positions
    )
    condition = f"**{t('transcript.conditions')}:** {text(one_line(came_to.conditional))}\n\n"
    return "".join([said, condition, *stands, "\n" if came_to.positions else ""])


def conclusion_heading(consensus: bool, by: str, *, conditional: bool = False) -> str:
    """The heading of a debate's answer.

    Args:
        consensus: whether all participants agree.
        by: who drew the conclusion (`Conclusion.by`).
        conditional: whether the answer holds under conditions, which is an outcome of its own.
    """
    by_majority = entry(f"transcript.{by}_conditional") is None
    found = "consensus" if consensus else "majority" if by_majority else by
    return t(f"transcript.{found}_conditional" if conditional else f"transcript.{found}")


def why_ended(stopped: Stopped) -> str:
    """Why a run ended, in a sentence: that of the rule that ended it in English, one for its reason in other languages.

    A story's has its result, which is in English.
    """
    if stopped.reason in ("stopped", "error"):
        return t(f"transcript.over_{stopped.reason}")
    if language() == ENGLISH:
        return stopped.detail
    told = t_or(f"chat.ended_{'baseline' if stopped.source in BASELINES else stopped.reason}", stopped.detail)
    return f"{told} {stopped.detail}" if stopped.outcome is not None else told


def text(given: str) -> str:
    """Text escaped for Markdown: nothing in it is markup, not even at the start of a line."""
    escaped = re.sub(r"([\\`*_\[\]<>#|~])", r"\\\1", clean(given))
    return re.sub(r"^([^\S\n]*\d*)([-=+.)])", r"\1\\\2", escaped, flags=re.MULTILINE)


def _listed(names: list[str]) -> str:
    return listed([text(name) for name in names]) if names else t("transcript.nobody")


class Transcript:
    """The text of transcript.md, as it grows with the events of a run.

    Several things may happen between two utterances, in different steps. Their order is fixed, so it does not depend on
    when they are reported: after an utterance, the agents that did not hear it or had no thoughts meanwhile; then new
    topics; then what happened in a story; then the agents that failed to make the next utterance. So lines between
    utterances are held back until their place is certain.

    Args:
        language: in which its headings and notes are, as a tag (BCP 47); English, where the catalogue lacks it.
    """

    def __init__(self, language: str = ENGLISH) -> None:
        self._language = language
        self._waiting: list[tuple[int, int, str]] = []

    def after(self, event: Any) -> str:
        """What an event adds; what happened between two utterances comes before the next one."""
        with in_language(self._language):
            return self._added(event)

    def _added(self, event: Any) -> str:
        match event:
            case Uttered():
                return "".join([*self._taken((event.turn, 0)), spoken(event)])
            case Silenced():
                self._waiting.append((event.turn, -1 if event.step == "speak" else 1, silence(event)))
            case RecordedIntervention(do="topic"):
                topic = text(" ".join(str(event.more["topic"]).split()))
                self._waiting.append((event.turn, 2, f"*{t('transcript.topic', topic=topic)}*\n\n"))
            case Happened() if line := happening(event):
                self._waiting.append((event.turn, 3, line))
        return ""

    def end(self, stopped: Stopped) -> str:
        """The end of the text: what is still to be said, the conclusion of a debate, and why the run ended."""
        with in_language(self._language):
            came_to = conclusion(stopped.conclusion) if stopped.conclusion else ""
            return "".join([*self._taken(None), came_to, f"*{text(why_ended(stopped))}*\n"])

    def _taken(self, upto: tuple[int, int] | None) -> list[str]:
        ordered = sorted(self._waiting, key=lambda aside: aside[:2])  # stable: equal keys keep their order
        taken = [aside for aside in ordered if upto is None or aside[:2] < upto]
        self._waiting = ordered[len(taken) :]
        return [line for _, _, line in taken]
