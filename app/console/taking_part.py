"""Carries out what people type during a run, and answers them."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ...runs.control import Control
from ...runs.events import Event, HandRaised, Started
from ...state.plain_text import one_line
from .console_lines import Order, Talk, order, unknown_speaker


class TakingPart(ABC):
    """A source of the lines that people type: follows a run, and carries them out.

    Args:
        control: the run's control.
        moderating: whether the user is the moderator.
    """

    def __init__(self, control: Control, *, moderating: bool) -> None:
        self.control, self._moderating = control, moderating
        self._started: Started | None = None
        self._raised: frozenset[str] = frozenset()

    def take(self, event: Event) -> None:
        """Update the state with an event; called with every event before it is shown."""
        if isinstance(event, Started):
            self._started = event
        elif isinstance(event, HandRaised):
            self._raised = self._raised | {event.agent} if event.raised else self._raised - {event.agent}

    @property
    def talk(self) -> Talk:
        """What the meaning of a line depends on at this moment."""
        present, people = (self._started.participants, self._started.people) if self._started else ([], [])
        story = self._started is not None and self._started.mode == "story"
        question = self.control.question
        puts = question["puts"]["ask"] if question is not None and "puts" in question else ""
        return Talk(present, people, self._moderating, self.control.asked, self._raised, story, puts)

    @abstractmethod
    async def read(self) -> None:
        """Carry out what people type, from the beginning of the run to the end of the input.

        Raises:
            Interrupted: the user interrupted the run.
        """


def carry_out(line: str, talk: Talk, control: Control) -> str:
    """Carry out what a line asks for.

    Returns:
        A message for the user; empty if the user sees the effect anyway.

    Raises:
        InputError: it cannot be done, and nothing was changed.
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
            return "Pausing after this utterance; /go continues."
        case "go":
            control.go_on()
        case "stop":
            control.stop()
            return "The conversation ends after this utterance."
        case "help":
            return help_text(talk)
        case "nothing":
            pass
    return ""


def _said(wanted: Order) -> str:
    who = one_line(wanted.who) or "The moderator"
    return f"{who} {f'whispers it to {one_line(wanted.to)}' if wanted.to else 'says it'} next."


def _as_it_stands(wanted: Order, talk: Talk) -> str:
    """A hint that the word before a colon is nobody's name and was said with the rest; empty if there is none."""
    nobody = unknown_speaker(wanted, talk)
    who = one_line(wanted.who) or "the moderator"
    return f"No participant is called {nobody}, so {who} says the whole line." if nobody else ""


def help_text(talk: Talk) -> str:
    """The lines of /help."""
    width = max(len(f"{name} {takes}") for name, (takes, _) in talk.commands.items())
    lines = [f"{f'{name} {takes}':<{width}}  {does}" for name, (takes, does) in talk.commands.items()]
    return "\n".join(
        [
            "A line is what you say. If several people take part: Name: text.",
            *lines,
            "Ctrl-D leaves: the run stops at a person's turn and can be resumed. Ctrl-C interrupts it.",
        ]
    )
