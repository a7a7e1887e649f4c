"""A run as lines, for pipes and files: utterances, and what else happens, such as a silence, a pause, a new topic."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ...reports.pruning_figures import Wording, sentence
from ...reports.words import count
from ...runs.events import (
    Analysed,
    Asked,
    Continued,
    Event,
    GuideTold,
    HandRaised,
    Happened,
    MindChanged,
    Paused,
    Shortened,
    Silenced,
    Speaking,
    Started,
    Stopped,
    TopicChanged,
    Uttered,
    Waiting,
)
from ...runs.folder.lines import DISCLAIMER, edited, happening_in_words
from ...state.person_answer import PositionQuestion, StoryQuestion, numbered
from ...state.plain_text import one_line
from ...state.poll import Poll
from ..commands.options import OUT
from ..output import is_unicode, say, warn
from .lead import Lead
from .text import concluded, ending, models_in_words, unscored, used

RECENT: Final = 4
"""How many utterances of a resumed run's past are shown."""

_PARAGRAPH: Final = "\n\n"

_ONLY_NEW: Final = (Asked, Continued, HandRaised, Paused, Speaking, Waiting)
"""Events that never belong to the past."""

_MISSED: Final = {
    "awaken": "begins without a first feeling",
    "hear": "did not hear this",
    "think": "did not think this turn",
    "speak": "found no words this turn",
    "stocktake": "could not take stock",
    "choose": "chose nobody to talk to",
    "address": "found no words for the group",
    "summarise": "kept nothing of the talk",
    "review": "did not look back on the round",
    "ballot": "did not vote",
}


def status_line(event: Event) -> str:
    """An event on one line; empty for events that the views show themselves or not at all."""
    match event:
        case Asked():
            return asking(event)
        case Silenced():
            who = one_line(event.agent)
            if event.why == "passed":
                return f"{who} passes."
            return f"{who} {_MISSED[event.step]}: {one_line(event.why)}"
        case Happened():
            return one_line(happening_in_words(event))
        case Shortened():
            return left_out(event)
        case MindChanged() if event.record.pruned is not None:
            return f"{sentence(Wording(event.record.agent, event.record.pruned))}."
        case HandRaised():
            return f"{one_line(event.agent)} {'raises' if event.raised else 'lowers'} a hand."
        case TopicChanged():
            return f"The topic is now: {one_line(event.topic)}"
        case Waiting():
            asked = f"{event.asked_s:,.0f} seconds"
            again = (
                "" if event.wait_s == event.asked_s else f" The next request follows in {event.wait_s:,.0f} seconds."
            )
            return f"The server of {one_line(event.model)} asks for a pause of {asked}.{again}"
        case Paused():
            return "Paused."
        case Continued():
            return "The conversation continues."
        case _:
            return ""


def left_out(event: Shortened) -> str:
    """The message that prompts do not fit a model's context, or texts their embedding, with remedies."""
    if event.characters is not None:
        return (
            f"The server of {one_line(event.model)} does not take texts as long as a memory of {one_line(event.agent)}"
            f": only their first {event.characters:,} characters are compared. Start it with longer inputs."
        )
    lost = {"memories": event.memories, "utterances": event.utterances}
    what = " and ".join(f"{number:,} {things}" for things, number in lost.items() if number)
    return (
        f"The context of {one_line(event.model)} ({event.context_tokens:,} tokens) is too small: a prompt of "
        f"{one_line(event.agent)} ({event.module}) was shortened by {what}, and later prompts may be shortened, too. "
        "Start its server with a larger context, raise context_tokens, or lower memory_tokens or recent_utterances."
    )


def asking(event: Asked) -> str:
    """The question to a person, with the problem of the previous answer."""
    problem = f" ({one_line(event.problem)})" if event.problem else ""
    name = one_line(event.agent)
    if event.what == "need_to_talk":
        return f"{name}, how much do you need to talk, 0 to 10?{problem}"
    if event.position is not None:
        return f"{name}, {event.position['when']} the talk: {_position(event.position)}.{problem}"
    if event.puts is not None:
        number, of, ask = event.puts["number"], event.puts["of"], one_line(event.puts["ask"])
        return (
            f"Your turn, {name}: question {number} of {of} is due: {ask} "
            f"(An empty line puts it so, other words put it in yours, /pass lets them talk on.){problem}"
        )
    if event.story is None:
        return f"Your turn, {name}.{problem}"
    if event.what == "utterance":
        return f"Your turn, {name}, {_heard_by(event.story)}.{problem}"
    question = "whom do you talk to" if event.what == "choice" else _BALLOTS[event.story["ballot"]]
    return f"{name}, {question}? {numbered(event.story['candidates'])}; or /pass.{problem}"


def _position(asked: PositionQuestion) -> str:
    """Where a person is asked to stand, with the answers that there are."""
    poll = Poll(ask=asked["ask"], answer=asked["answer"], options=tuple(asked["options"]))
    form = poll.described if poll.is_ordered else numbered(poll.possible)
    return f"{one_line(poll.ask)} {form}; or /pass"


_BALLOTS: Final = {
    "guess": "who do you think will win",
    "open": "whom do you name on your open ballot",
    "closed": "whom do you name on your closed ballot, on which you cannot stand",
}


def _heard_by(asked: StoryQuestion) -> str:
    """Who will hear the words that are asked for."""
    room = asked["room"]
    if room is None:
        return "before everybody"
    known = "all know that you meet" if room["public"] else "nobody knows that you meet"
    return f"alone with {' and '.join(map(one_line, room['others']))}; {known}"


class Guided:
    """Tells of a focus group's guide: which question an utterance puts, and what everybody is shown."""

    def __init__(self) -> None:
        self._guide: GuideTold | None = None

    def begin(self, event: Started) -> str:
        """Take a run's `started` event; returns what is shown from the beginning, empty if nothing is."""
        self._guide = event.guide
        return self._shown() if event.guide is not None and not event.guide.shown_with else ""

    def question(self, event: Uttered) -> str:
        """Which question of the guide an utterance puts; empty if none."""
        if event.question is None:
            return ""
        of = f" of {len(self._guide.questions)}" if self._guide is not None else ""
        return f"question {event.question}{of}"

    def shown(self, event: Uttered) -> str:
        """What is shown with an utterance; empty if nothing is."""
        return self._shown() if self._guide is not None and event.question in self._guide.shown_with else ""

    def _shown(self) -> str:
        words = self._guide.shown if self._guide is not None else ""
        return f"Everybody is shown: {one_line(words.replace(_PARAGRAPH, ' / '))}" if words else ""


def addressed(event: Uttered) -> str:
    """Who an utterance is for: the hearers of a whisper, else those whom it addresses; empty for the whole group."""
    if event.heard_by is not None:
        return f"to {', '.join(map(one_line, event.heard_by))} only"
    return f"to {', '.join(map(one_line, event.addressees))}" if event.addressees else ""


def participants(event: Started) -> list[str]:
    """The names of all participants; people are marked."""
    return [f"{one_line(name)}{' (a person)' if name in event.people else ''}" for name in event.participants]


def models(event: Started) -> dict[str, str]:
    """The models of the agents."""
    return {name: model for name, model in event.models.items() if name not in event.people}


def going_on(event: Stopped) -> str:
    """How to continue an unfinished run; empty if the run is complete or not kept."""
    if event.folder is None or event.reason not in ("stopped", "error", "budget"):
        return ""
    folder = Path(event.folder)
    command = f"persimchat resume {shlex.quote(folder.name if folder.parent == OUT else str(folder))}"
    if event.reason == "budget":
        return f"Continue with a greater budget: {command} --{event.source.replace('_', '-')} N"
    return f"Continue with: {command}"


class Past:
    """Shows the past of a resumed run or a branch: only its last few utterances, and where it ends.

    Args:
        lead: the lines around the past; None for none.
    """

    def __init__(self, lead: Lead | None = None) -> None:
        self._hidden = self._last = 0
        self.heading = lead.heading if lead is not None else ""
        """The run of which this is a branch, on one line; empty if it is not a branch."""
        self._mark = lead.mark if lead is not None else ""

    def begin(self, event: Started) -> str:
        """Take a run's `started` event; returns a line that counts the hidden utterances, empty if all are shown."""
        self._hidden, self._last = max(0, event.turn - RECENT), event.turn
        return f"… {count(self._hidden, 'earlier utterance')}" if self._hidden else ""

    def hides(self, event: Event) -> bool:
        """Whether an event is too far back to be shown."""
        turn = event.record.turn if isinstance(event, MindChanged) else getattr(event, "turn", None)
        if not self._hidden or turn is None or isinstance(event, Started | Stopped):
            return False
        return bool(turn <= self._hidden)

    def over(self, event: Event) -> str:
        """The line before the first new event; empty for other events, and if there is no past."""
        if not self._mark or not self._last:
            return ""
        if not isinstance(event, _ONLY_NEW) and not (isinstance(event, Uttered) and event.turn > self._last):
            return ""
        mark, self._mark = self._mark, ""
        return mark


# The views that need no terminal: plain text (one `Name: text` line an utterance), JSON (one event a line), qui


# Characters that JSON allows in strings but some programs take for the end of a line, or a terminal for an order.
_AWKWARD: Final = re.compile(r"[\x7f-\x9f\u2028\u2029]")


def say_json(value: Mapping[str, Any]) -> None:
    """Print an object on one line.

    Raises:
        OutputClosed: the reader has closed it.
    """
    text = json.dumps(value, ensure_ascii=not is_unicode())
    say(_AWKWARD.sub(lambda found: f"\\u{ord(found.group()):04x}", text))


class JsonView:
    """Prints events (`persimchat.runs.events`) as they happen."""

    def show(self, event: Event) -> None:
        """Print one event."""
        say_json(event.model_dump(mode="json"))

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


class PlainView:
    """Prints header, utterances and footer, each as soon as it is known, without escape codes.

    Args:
        lead: the text around the past of a resumed run or a branch.
    """

    def __init__(self, lead: Lead | None = None) -> None:
        self._unscored = 0
        self._past = Past(lead)
        self._guided = Guided()

    def show(self, event: Event) -> None:
        """Print the lines of an event."""
        if self._past.hides(event):
            return
        if mark := self._past.over(event):
            say(f"# {mark}")
        match event:
            case Started():
                say(f"# Topic: {one_line(event.topic)}")
                say(f"# Participants: {', '.join(participants(event))}")
                say(f"# Model: {models_in_words(models(event))}")
                if self._past.heading:
                    say(f"# {self._past.heading}")
                if event.notice:
                    say(f"# {one_line(event.notice)}")
                say(f"# {DISCLAIMER}\n")
                if shown := self._guided.begin(event):
                    self.note(shown)
                if earlier := self._past.begin(event):
                    say(f"# {earlier}")
            case Uttered():
                if shown := self._guided.shown(event):
                    self.note(shown)
                marks = [addressed(event) if event.heard_by is not None else "", one_line(edited(event.edited_by))]
                marks.append(self._guided.question(event))
                shown = "".join(f" ({mark})" for mark in marks if mark)
                say(f"{one_line(event.speaker)}{shown}: {one_line(event.text)}")
            case Analysed():
                self._unscored += bool(event.failed)
            case Stopped():
                self._footer(event)
            case _:
                if line := status_line(event):
                    self.note(line)

    def note(self, line: str) -> None:
        """Print a line that is not an utterance."""
        say(f"# {line}")

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _footer(self, event: Stopped) -> None:
        say("")
        if event.conclusion:
            heading, answer, held = concluded(event.conclusion)
            say(f"# {heading}: {answer}" + (f" ({held})" if held else ""))
        lines = [f"Ended: {ending(event)}.", unscored(self._unscored), f"Used: {used(event.totals)}."]
        lines += [f"Run: {event.folder}" if event.folder else "", going_on(event)]
        for line in filter(None, lines):
            say(f"# {line}")


class QuietView:
    """Prints the run's folder on standard output; a notice, and who is asked, go to standard error."""

    def show(self, event: Event) -> None:
        """Print the run's folder, a notice, or who is asked."""
        if isinstance(event, Started) and event.notice:
            warn(one_line(event.notice))
        if isinstance(event, Asked):
            warn(asking(event))
        if isinstance(event, Stopped) and event.folder:
            say(event.folder)

    def close(self) -> None:
        """Do nothing: there is nothing to close."""
