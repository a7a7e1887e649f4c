"""Parses the lines that people type during a conversation into requests. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ...personas.names import full_name
from ...state.errors import InputError, suggestion
from ...state.intervention import MODERATOR
from ...state.plain_text import clean, folded, matching, quoted

COMMANDS: Final = {
    "/say": ("TEXT", "the moderator says it"),
    "/whisper": ("NAME TEXT", "only they hear it"),
    "/topic": ("TEXT", "the moderator changes the topic"),
    "/hand": ("[NAME]", "a person raises a hand, or lowers it"),
    "/pass": ("", "the person who is asked says nothing this time"),
    "/pause": ("", "pauses after this utterance"),
    "/go": ("", "end a pause"),
    "/stop": ("", "end the conversation"),
    "/help": ("", "these lines"),
}
"""Every command with its arguments and what it does."""

_NOT_IN_STORIES: Final = ("/whisper", "/hand")

_NAMED: Final = re.compile(r"\s*([^:\n]{1,300}):\s*(\S.*)", re.DOTALL)
_CALLED: Final = re.compile(r"([^\W\d_][\w.'’-]{0,39}):\s+\S")
_COMMAND: Final = re.compile(r"/(?!/)(\S*)\s*(.*)", re.DOTALL)
_WORD: Final = re.compile(r"\S+")
_MOST_QUOTED: Final = 40

Deed = Literal["nothing", "answer", "say", "topic", "hand", "pass", "pause", "go", "stop", "help"]


@dataclass(frozen=True)
class Talk:
    """What the meaning of a line depends on: who takes part, and who is asked.

    Attributes:
        present: the full names of all participants.
        people: the names of those who are people.
        moderating: whether the user is the moderator.
        asked: who is asked for what (`state.person_answer.Asked`).
        raised: people who have raised a hand.
        story: whether it is a story, in which rooms say who hears whom.
        puts: the question of a focus group's guide that the moderator, who is asked, may put as it is.
    """

    present: Sequence[str] = ()
    people: Sequence[str] = ()
    moderating: bool = False
    asked: tuple[str, str] | None = None
    raised: frozenset[str] = frozenset()
    story: bool = False
    puts: str = ""

    @property
    def commands(self) -> dict[str, tuple[str, str]]:
        """The commands that can be used, as in `COMMANDS`."""
        return {name: told for name, told in COMMANDS.items() if not (self.story and name in _NOT_IN_STORIES)}


@dataclass(frozen=True)
class Order:
    """What a line asks for.

    Attributes:
        do: the kind of request.
        text: words, a topic, or an answer.
        who: the speaker, or the person who raises or lowers a hand; empty for the moderator.
        to: the only participant who hears a whisper.
        raised: whether the hand goes up.
    """

    do: Deed
    text: str = ""
    who: str = ""
    to: str = ""
    raised: bool = True


_BARE: Final = {
    "/pass": Order("pass"),
    "/pause": Order("pause"),
    "/go": Order("go"),
    "/stop": Order("stop"),
    "/help": Order("help"),
}
"""Commands without arguments."""


def order(line: str, talk: Talk) -> Order:
    """What a line asks for.

    A line that begins with a slash is a command (with two slashes, it is words that begin with one); any other line is
    what a person or the moderator says. Names may be first names.

    Raises:
        InputError: the command is unknown or incomplete, or it is not clear who is meant.
    """
    text = clean(line).strip()
    command = _COMMAND.fullmatch(text)
    if command is not None:
        return _command(f"/{command.group(1).casefold()}", command.group(2), talk)
    if not text:
        return _nothing(line, talk)
    return _words(text.removeprefix("/") if text.startswith("//") else text, talk)


def _nothing(line: str, talk: Talk) -> Order:
    """An empty line: ignored, unless a person is asked or the line had characters that were removed.

    A moderator who is asked puts the question that is due as it stands.
    """
    if talk.asked is None:
        if not line.strip():
            return Order("nothing")
        raise InputError("there are no words in it", remedy="Type it again in letters; /help lists the commands.")
    name, what = talk.asked
    if what == "need_to_talk":
        raise InputError("this is not a number", where=name, remedy="Type a number from 0 to 10, or /pass.")
    if what == "position":
        raise InputError("there is no answer in it", where=name, remedy="Type your answer, or /pass.")
    if what != "utterance":
        raise InputError("nobody is named", where=name, remedy="Type a name or its number, or /pass.")
    if talk.puts and not line.strip():
        return Order("say", talk.puts, name)
    raise InputError("there are no words in it", where=name, remedy="Type what you say, or /pass.")


def unknown_speaker(wanted: Order, talk: Talk) -> str:
    """A word before a colon that looks like a speaker but is not a participant's name; empty if there is none.

    The user may have meant another speaker, so a hint tells them.
    """
    named = _CALLED.match(wanted.text) if wanted.do == "say" and not wanted.to else None
    return named.group(1) if named is not None and not matching(named.group(1), talk.present) else ""


def answers(line: str, talk: Talk) -> bool:
    """Whether a line answers the person who is asked: words without a name before them, or /pass."""
    text = clean(line).strip()
    command = _COMMAND.fullmatch(text)
    if command is not None:
        return command.group(1).casefold() == "pass"
    named = _NAMED.fullmatch(text)
    return bool(text and talk.people) and (named is None or _person(named.group(1), talk) is None)


def _words(text: str, talk: Talk) -> Order:
    """A plain line: `Name: text`, or the words of the person who is asked, of the only person, or of the moderator."""
    named = _NAMED.fullmatch(text)
    if named is not None:
        found = _person(named.group(1), talk)
        if found is not None:
            return _said(found, named.group(2), talk)
    if talk.asked is not None:
        return _said(talk.asked[0], text, talk)
    if len(talk.people) == 1:
        return Order("say", text, talk.people[0])
    if talk.people:
        nobody = unknown_speaker(Order("say", text), talk)
        raise InputError(
            f"{f'no participant is called {quoted(nobody, _MOST_QUOTED)}; ' if nobody else ''}several people take part",
            where="who says it",
            remedy=f"Write whose words it is: {talk.people[0]}: …",
        )
    if not talk.moderating:
        raise InputError("no person takes part in this conversation", remedy="/help says what can be done.")
    return Order("say", text)


def _said(name: str, text: str, talk: Talk) -> Order:
    answers = talk.asked is not None and talk.asked[0] == name and talk.asked[1] != "utterance"
    return Order("answer" if answers else "say", text, name)


def _person(written: str, talk: Talk) -> str | None:
    """The person whose name is before a colon; empty for the moderator; None if the name is neither."""
    found = matching(written, talk.people)
    if len(found) == 1:
        return found[0]
    return "" if talk.moderating and folded(written) == folded(MODERATOR) else None


def _command(name: str, rest: str, talk: Talk) -> Order:
    if name not in COMMANDS:
        raise InputError(f"there is no command {quoted(name, _MOST_QUOTED)}", remedy=suggestion(name, COMMANDS))
    takes = COMMANDS[name][0]
    if takes in ("TEXT", "NAME TEXT") and not rest:
        raise InputError(f"{name} says nothing", remedy=f"Write {name} {takes}.")
    if not takes and rest:
        raise InputError(f"{name} takes nothing after it", remedy=f"Write {name} alone.")
    match name:
        case "/say":
            return Order("say", _as_moderator(rest, name, talk))
        case "/topic":
            return Order("topic", _as_moderator(rest, name, talk))
        case "/whisper":
            to, text = _addressed(rest, talk.present)
            return Order("say", text, _whisperer(talk), to)
        case "/hand":
            who = _whose_hand(rest, talk)
            return Order("hand", who=who, raised=who not in talk.raised)
        case _:
            return _BARE[name]


def _as_moderator(text: str, name: str, talk: Talk) -> str:
    if not talk.moderating:
        raise InputError(
            f"only the moderator can use {name}",
            remedy="To say it, leave out the slash; to moderate, start with --moderate.",
        )
    return text


def _addressed(rest: str, present: Sequence[str]) -> tuple[str, str]:
    """The longest name at the beginning of a text, and the text after it."""
    words = list(_WORD.finditer(rest))
    longest = max((len(folded(name).split()) for name in present), default=1)
    for count in range(min(longest, len(words)), 0, -1):
        end = words[count - 1].end()
        written = rest[:end].rstrip(":,")
        if len(written) > words[count - 1].start() and matching(written, present):
            name = full_name(written, present, what="participant", where="/whisper")
            if not rest[end:].strip():
                raise InputError(
                    f"there are no words to whisper to {name}", where="/whisper", remedy="Write /whisper NAME TEXT."
                )
            return name, rest[end:].strip()
    written = words[0].group()
    if len(written) > _MOST_QUOTED:
        raise InputError("this is not a name", where="/whisper", remedy="Write /whisper NAME TEXT.")
    return full_name(written, present, what="participant", where="/whisper"), ""


def _whisperer(talk: Talk) -> str:
    """Who whispers: the person who is asked for words, else the moderator, else the only person."""
    if talk.asked is not None and talk.asked[1] == "utterance":
        return talk.asked[0]
    if talk.moderating:
        return ""
    if len(talk.people) == 1:
        return talk.people[0]
    raise InputError("it is not clear who whispers", where="/whisper", remedy="Whisper when a person is asked.")


def _whose_hand(written: str, talk: Talk) -> str:
    if not talk.people:
        raise InputError("no person takes part who could raise a hand", where="/hand", remedy="Use /say to speak next.")
    if written:
        return full_name(written, talk.people, what="person", where="/hand")
    if len(talk.people) == 1:
        return talk.people[0]
    raise InputError("several people take part", where="/hand", remedy=f"Write whose hand: /hand {talk.people[0]}.")


def completions(before: str, talk: Talk) -> list[tuple[str, int]]:
    """Completions of the text before the cursor, and how many characters each replaces."""
    if before.startswith("/"):
        command, space, rest = before.partition(" ")
        if not space:
            return [
                (f"{name} " if takes else name, len(before))
                for name, (takes, _) in talk.commands.items()
                if name.startswith(before.casefold())
            ]
        names = {"/whisper": talk.present, "/hand": talk.people}.get(command.casefold(), ())
        end = " " if command.casefold() == "/whisper" else ""
        return [(f"{name}{end}", len(rest)) for name in names if _begins(name, rest)]
    if len(talk.people) < 2 or not before.strip():
        return []
    return [(f"{name}: ", len(before)) for name in talk.people if _begins(name, before)]


def _begins(name: str, written: str) -> bool:
    """Whether the name, or one of its words, begins with what is written."""
    key = folded(written)
    return f" {folded(name)}".find(f" {key}") >= 0
