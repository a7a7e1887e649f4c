"""What a person types while a conversation goes on: from a line to what is to be done. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from persimchat.personas.names import full_name
from persimchat.state.errors import InputError, suggestion
from persimchat.state.intervention import MODERATOR
from persimchat.state.names import matching
from persimchat.state.normalise import folded
from persimchat.state.plain_text import clean, quoted

COMMANDS: Final = {
    "/say": ("TEXT", "the moderator says it"),
    "/whisper": ("NAME TEXT", "only they hear it"),
    "/topic": ("TEXT", "the moderator changes the topic"),
    "/hand": ("[NAME]", "a person raises a hand to speak, or lowers it"),
    "/pass": ("", "who is asked says nothing this time"),
    "/pause": ("", "nothing happens after this utterance"),
    "/go": ("", "end a pause"),
    "/stop": ("", "end the conversation"),
    "/help": ("", "these lines"),
}
"""Every command with what stands after it and what it does."""

_NAMED: Final = re.compile(r"\s*([^:\n]{1,300}):\s*(\S.*)", re.DOTALL)
_CALLED: Final = re.compile(r"([^\W\d_][\w.'’-]{0,39}):\s+\S")
_COMMAND: Final = re.compile(r"/(?!/)(\S*)\s*(.*)", re.DOTALL)
_WORD: Final = re.compile(r"\S+")
_MOST_QUOTED: Final = 40

Deed = Literal["nothing", "answer", "say", "topic", "hand", "pass", "pause", "go", "stop", "help"]


@dataclass(frozen=True)
class Talk:
    """What a line is understood by: who is there, and who is asked.

    Attributes:
        present: everybody's full names.
        people: those of them who are people.
        moderating: whether whoever types is the moderator.
        asked: who is asked for what ("utterance" or "need_to_talk").
        raised: people who have raised a hand.
    """

    present: Sequence[str] = ()
    people: Sequence[str] = ()
    moderating: bool = False
    asked: tuple[str, str] | None = None
    raised: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Order:
    """What is to be done.

    Attributes:
        do: the deed.
        text: words, a topic, or the answer to what somebody is asked.
        who: the speaker, or whose hand; empty for the moderator.
        to: who hears it, where nobody else does.
        raised: of a hand, whether it goes up.
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
"""Commands that take nothing after them."""


def order(line: str, talk: Talk) -> Order:
    """What a line asks for.

    A line that begins with a slash is a command (with two: words that begin with one); anything else is what somebody
    says. Names may be first names.

    Raises:
        InputError: there is no such command, something is missing, or it is not clear who is meant.
    """
    text = clean(line).strip()
    command = _COMMAND.fullmatch(text)
    if command is not None:
        return _command(f"/{command.group(1).casefold()}", command.group(2), talk)
    if not text:
        return _nothing(line, talk)
    return _words(text.removeprefix("/") if text.startswith("//") else text, talk)


def _nothing(line: str, talk: Talk) -> Order:
    """A line with nothing in it: one key too many, unless an answer is wanted or something was in it."""
    if talk.asked is None:
        if not line.strip():
            return Order("nothing")
        raise InputError("there are no words in it", remedy="Type it again in letters; /help says what can be done.")
    name, what = talk.asked
    if what == "need_to_talk":
        raise InputError("that is no number", where=name, remedy="Type a number from 0 to 10, or /pass.")
    raise InputError("there are no words in it", where=name, remedy="Type what you say, or /pass.")


def unknown_speaker(wanted: Order, talk: Talk) -> str:
    """The word before the colon of what is said, where it could be meant as a speaker and is nobody's name.

    Whoever typed it may have wanted somebody else to say it; empty where there is no such word.
    """
    named = _CALLED.match(wanted.text) if wanted.do == "say" and not wanted.to else None
    return named.group(1) if named is not None and not matching(named.group(1), talk.present) else ""


def answers(line: str, talk: Talk) -> bool:
    """Whether a line is an answer to whoever may be asked: words without a name before them, or /pass."""
    text = clean(line).strip()
    command = _COMMAND.fullmatch(text)
    if command is not None:
        return command.group(1).casefold() == "pass"
    named = _NAMED.fullmatch(text)
    return bool(text and talk.people) and (named is None or _person(named.group(1), talk) is None)


def _words(text: str, talk: Talk) -> Order:
    """A plain line: `Name: text`, or the words of whoever is asked, of the only person, or of the moderator."""
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
            f"{f'nobody here is called {quoted(nobody, _MOST_QUOTED)}; ' if nobody else ''}several people take part",
            where="who says it",
            remedy=f"Write whose words it is: {talk.people[0]}: …",
        )
    if not talk.moderating:
        raise InputError("no person takes part in this conversation", remedy="/help says what can be done.")
    return Order("say", text)


def _said(name: str, text: str, talk: Talk) -> Order:
    return Order("answer" if talk.asked == (name, "need_to_talk") else "say", text, name)


def _person(written: str, talk: Talk) -> str | None:
    """The person who is meant before a colon; empty for the moderator; None where it is nobody who could speak."""
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
            f"{name} is the moderator's, and you are not",
            remedy="A line without a slash is what you say; --moderate makes you the moderator.",
        )
    return text


def _addressed(rest: str, present: Sequence[str]) -> tuple[str, str]:
    """The name at the beginning, as many words of it as make one, and the text after it."""
    words = list(_WORD.finditer(rest))
    longest = max((len(folded(name).split()) for name in present), default=1)
    for count in range(min(longest, len(words)), 0, -1):
        end = words[count - 1].end()
        written = rest[:end].rstrip(":,")
        if len(written) > words[count - 1].start() and matching(written, present):
            name = full_name(written, present, what="participant", where="/whisper")
            if not rest[end:].strip():
                raise InputError(
                    f"nothing is whispered to {name}", where="/whisper", remedy="Write /whisper NAME TEXT."
                )
            return name, rest[end:].strip()
    written = words[0].group()
    if len(written) > _MOST_QUOTED:
        raise InputError("this is no name", where="/whisper", remedy="Write /whisper NAME TEXT.")
    return full_name(written, present, what="participant", where="/whisper"), ""


def _whisperer(talk: Talk) -> str:
    """Whose whisper it is: of whoever is asked for words, else the moderator's, else the only person's."""
    if talk.asked is not None and talk.asked[1] == "utterance":
        return talk.asked[0]
    if talk.moderating:
        return ""
    if len(talk.people) == 1:
        return talk.people[0]
    raise InputError("it is not clear who whispers", where="/whisper", remedy="Whisper when one of you is asked.")


def _whose_hand(written: str, talk: Talk) -> str:
    if not talk.people:
        raise InputError("no person takes part who could raise a hand", where="/hand", remedy="/say speaks at once.")
    if written:
        return full_name(written, talk.people, what="person", where="/hand")
    if len(talk.people) == 1:
        return talk.people[0]
    raise InputError("several people take part", where="/hand", remedy=f"Write whose hand: /hand {talk.people[0]}.")


def completions(before: str, talk: Talk) -> list[tuple[str, int]]:
    """How the text before the cursor may go on: replacements, and how many characters each replaces."""
    if before.startswith("/"):
        command, space, rest = before.partition(" ")
        if not space:
            return [
                (f"{name} " if takes else name, len(before))
                for name, (takes, _) in COMMANDS.items()
                if name.startswith(before.casefold())
            ]
        names = {"/whisper": talk.present, "/hand": talk.people}.get(command.casefold(), ())
        end = " " if command.casefold() == "/whisper" else ""
        return [(f"{name}{end}", len(rest)) for name in names if _begins(name, rest)]
    if len(talk.people) < 2 or not before.strip():
        return []
    return [(f"{name}: ", len(before)) for name in talk.people if _begins(name, before)]


def _begins(name: str, written: str) -> bool:
    """Whether what is written begins the name, or one of its words."""
    key = folded(written)
    return f" {folded(name)}".find(f" {key}") >= 0
