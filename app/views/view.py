"""What people who play characters of a story see of it: what they hear, and at its end everything.

The view behind is the same as of any run; this one stands before it, and holds back what the players do not hear. If
several play at one terminal, it shows what any of them hears.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from ...runs.events import (
    OWN_ENDS,
    Asked,
    Continued,
    Event,
    Happened,
    Paused,
    Silenced,
    Speaking,
    Started,
    Stopped,
    Token,
    TopicChanged,
    Uttered,
    Waiting,
)
from ...state.person_answer import Knowledge
from ...state.plain_text import one_line
from ...state.visibility import is_heard
from ..output import on_terminal
from .lead import Lead
from .picture import NotingView, View

if TYPE_CHECKING:
    from ..console.taking_part import TakingPart


_FOR_ALL = (Asked, Continued, Paused, TopicChanged, Waiting)
_OPENED = (Happened, Silenced, Uttered)
"""What is held back, and shown when the story is over."""


class PlayersView:
    """Shows a story to its players; any other run as it is.

    Args:
        view: shows the events that the players may see.
    """

    def __init__(self, view: NotingView) -> None:
        self._view = view
        self._players: list[str] = []
        self._room: set[str] = set()
        self._held: list[Event] = []
        self._briefed: set[str] = set()
        self._heard = 0

    def show(self, event: Event) -> None:
        """Show an event, or hold it back."""
        if isinstance(event, Started) and event.mode == "story" and event.people:
            self._players = event.people
            # Numbers of utterances would tell of rooms that the players are not in, so none is shown.
            self._view.show(event.model_copy(update={"turn": 0, "max_messages": 0}))
            return
        if isinstance(event, Asked) and event.story is not None and event.agent not in self._briefed:
            self._briefed.add(event.agent)
            for line in briefing(event.story["knows"]):
                self._view.note(line)
        if not self._players or self._is_heard(event):
            if _is_stage(event):
                self._held.append(event)  # its heading, for what was held back in it
            self._heard += isinstance(event, Uttered)
            self._view.show(event)
        elif isinstance(event, Stopped):
            if event.reason in OWN_ENDS:
                self._open()
                self._view.show(event)
            else:  # it may go on, so the players still know only of what they have heard
                self._view.show(event.model_copy(update={"turn": self._heard}))
        elif isinstance(event, _OPENED):
            self._held.append(event)

    def close(self) -> None:
        """Restore the terminal."""
        self._view.close()

    def _is_heard(self, event: Event) -> bool:
        """Whether a player may see an event."""
        match event:
            case Uttered():
                return self._reaches(event.speaker, event.heard_by)
            case Happened():
                if event.do == "met":
                    self._room = {event.speaker, *event.others}
                return self._reaches(event.speaker, event.heard_by)
            case Speaking() | Token():  # they come in rooms only
                return not self._room.isdisjoint(self._players)
            case Silenced():
                return event.agent in self._players
            case _:
                return isinstance(event, _FOR_ALL)

    def _reaches(self, speaker: str, heard_by: list[str] | None) -> bool:
        return any(is_heard({"speaker": speaker, "heard_by": heard_by}, name) for name in self._players)

    def _open(self) -> None:
        """Show what was held back."""
        who = " and ".join(map(one_line, self._players))
        self._view.note(f"The story is over. This is what {who} did not hear:")
        self._players = []
        for event, after in zip(self._held, [*self._held[1:], None], strict=True):
            if not (_is_stage(event) and (after is None or _is_stage(after))):
                self._view.show(event)


def _is_stage(event: Event) -> bool:
    return isinstance(event, Happened) and event.do == "stage"


def briefing(knows: Knowledge) -> Iterator[str]:
    """What a character knows before anything has happened, line by line."""
    known = f", known as: {one_line(knows['known_as'])}" if knows["known_as"] else ""
    main = ", a main character" if knows["main"] else ""
    yield f"You are {one_line(knows['name'])}{main}{known}"
    if knows["description"]:
        yield one_line(knows["description"])
    for rule in knows["rules"]:
        yield f"Rule: {one_line(rule)}"
    for goal in knows["goals"]:
        yield f"Your goal: {one_line(goal)}"
    for belief in knows["beliefs"]:
        favours = f" (for {one_line(belief['for'])})" if belief["for"] else ""
        yield f"Your belief, {belief['score']} of 100: {one_line(belief['text'])}{favours}"
    near = ", ".join(f"{one_line(name)} {score}" for name, score in knows["closeness"].items())
    yield f"Your closeness, of 100: {near}"
    if knows["supports"]:
        yield f"You support {one_line(knows['supports'])}."
    for other in knows["cast"]:
        about = f": {one_line(other['known_as'])}" if other["known_as"] else ""
        yield f"{one_line(other['name'])}{' (a main character)' if other['main'] else ''}{about}"
    for one in knows["resources"]:
        owner = f" of {one_line(one['owner'])}" if one["owner"] else ""
        topics = f"; {one_line(', '.join(one['topics']))}" if one["topics"] else ""
        yield f"{one_line(one['name'])}{owner}, influence {one['influence']}{topics}. {one_line(one['description'])}"
    if knows["decider"]:
        yield f"{one_line(knows['decider'])} decides in the end."


# Chooses one of four views on the event stream


Form = Literal["text", "json", "quiet"]


def view_for(
    form: Form, *, people: bool = False, moderate: bool = False, lead: Lead | None = None
) -> tuple[View, TakingPart | None]:
    """The view for the user's options and the kind of standard output, and the source of people's lines, if any.

    Args:
        form: the form of output that the user asked for.
        people: whether any participant is a person.
        moderate: whether the user is the moderator.
        lead: the text around the past of a resumed run or a branch.
    """
    if not people and not moderate:
        return _watching(form, lead), None
    from ...runs.control import Control

    control = Control()
    if form == "text" and on_terminal() and sys.stdin is not None and sys.stdin.isatty():
        from ..console.console import Console

        console = Console(control, moderating=moderate, lead=lead)
        return (PlayersView(console) if people else console), console
    from ..console.piped_lines import PipedLines, standard_input

    lines = PipedLines(control, standard_input(), moderating=moderate)
    if form == "text" and people:
        return PlayersView(_reading(lead)), lines
    return _watching(form, lead), lines


def _watching(form: Form, lead: Lead | None) -> View:
    if form == "json":
        from .plain_view import JsonView

        return JsonView()
    if form == "quiet":
        from .plain_view import QuietView

        return QuietView()
    return _reading(lead)


def _reading(lead: Lead | None) -> NotingView:
    if on_terminal():
        from .live_view import LiveView

        return LiveView(lead=lead)
    from .plain_view import PlainView

    return PlainView(lead)
