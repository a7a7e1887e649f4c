"""What a person types into a run: how it is understood, carried out and answered."""

from __future__ import annotations

from typing import Protocol

from persimchat.app.console.console_lines import COMMANDS, Order, Talk, order, unknown_speaker
from persimchat.runs.control import Control
from persimchat.runs.events import Event, HandRaised, Started
from persimchat.state.plain_text import one_line


class Listening:
    """Keeps up with a run, to understand what people type by it.

    Args:
        control: the run's.
        moderating: whether whoever types is the moderator.
    """

    def __init__(self, control: Control, *, moderating: bool) -> None:
        self.control, self._moderating = control, moderating
        self._started: Started | None = None
        self._raised: frozenset[str] = frozenset()

    def take(self, event: Event) -> None:
        """Take an event into account."""
        if isinstance(event, Started):
            self._started = event
        elif isinstance(event, HandRaised):
            self._raised = self._raised | {event.agent} if event.raised else self._raised - {event.agent}

    @property
    def talk(self) -> Talk:
        """What a line is understood by just now."""
        present, people = (self._started.participants, self._started.people) if self._started else ([], [])
        return Talk(present, people, self._moderating, self.control.asked, self._raised)


class TakingPart(Protocol):
    """Where people's lines come from."""

    @property
    def control(self) -> Control:
        """The run's."""

    def take(self, event: Event) -> None:
        """Take an event into account; called with every event before it is shown."""

    async def read(self) -> None:
        """Carry out what people type, from the beginning of the run until nobody types any more.

        Raises:
            Interrupted: they end the run as a signal does.
        """


def carry_out(line: str, talk: Talk, control: Control) -> str:
    """Do what a line asks for.

    Returns:
        What is told to whoever typed it; empty where they see it happen.

    Raises:
        InputError: it cannot be done; nothing has happened.
    """
    wanted = order(line, talk)
    match wanted.do:
        case "answer":
            control.answer(wanted.text)
        case "say":
            answers = talk.asked == (wanted.who, "utterance")
            control.say(wanted.text, speaker=wanted.who, heard_by=[wanted.to] if wanted.to else None)
            return "\n".join(filter(None, ("" if answers else _said(wanted), _as_it_stands(wanted, talk))))
        case "topic":
            control.change_topic(wanted.text)
            return "The topic changes after this utterance."
        case "hand":
            control.raise_hand(wanted.who, raised=wanted.raised)
            return f"{one_line(wanted.who)} {'has raised a hand' if wanted.raised else 'has lowered the hand'}."
        case "pass":
            control.pass_turn()
        case "pause":
            control.pause()
            return "Paused after this utterance; /go goes on."
        case "go":
            control.go_on()
        case "stop":
            control.stop()
            return "The conversation ends after this utterance."
        case "help":
            return help_text()
        case "nothing":
            pass
    return ""


def _said(wanted: Order) -> str:
    who = one_line(wanted.who) or "The moderator"
    return f"{who} {f'whispers it to {one_line(wanted.to)}' if wanted.to else 'says it'} next."


def _as_it_stands(wanted: Order, talk: Talk) -> str:
    """A hint that a name before the words is nobody's and was said with them; empty where there is none."""
    nobody = unknown_speaker(wanted, talk)
    who = one_line(wanted.who) or "the moderator"
    return f"Nobody here is called {nobody}; it was said by {who} as it stands." if nobody else ""


def help_text() -> str:
    """What can be typed."""
    width = max(len(f"{name} {takes}") for name, (takes, _) in COMMANDS.items())
    lines = [f"{f'{name} {takes}':<{width}}  {does}" for name, (takes, does) in COMMANDS.items()]
    return "\n".join(
        [
            "A line is what you say. Where several people take part: Name: text.",
            *lines,
            "Ctrl-D leaves: the run waits for you on disk. Ctrl-C interrupts it.",
        ]
    )
