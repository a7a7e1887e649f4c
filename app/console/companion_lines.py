"""The lines of a talk with a companion: what a person types, and what is shown of the events."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from persimchat.runs.companion.events import Acted, Answered, Event, TalkOver
from persimchat.state.companion import Tie
from persimchat.state.errors import InputError, suggestion
from persimchat.state.plain_text import clean, one_line, shortened

COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "/end": ("", "end the talk; the next words begin another one"),
    "/memory": ("", "what the agent knows of you"),
    "/why": ("", "what the last answer rests on, with scores"),
    "/event": ("TEXT", "something happens: /event The stove is smoking."),
    "/time": ("HH:MM", "set the clock, to the next time that it is so late; or a date and a time"),
    "/forget": ("", "the agent forgets you, for good"),
    "/quit": ("", "end the talk, and leave"),
    "/help": ("", "these commands"),
}
"""Each command with what it takes and what it does."""
_HOUR: Final = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_SCORES: Final = ("recency", "importance", "relevance", "emotional", "stm")
_WIDEST: Final = 100
_DOES: Final = {"comment": "comments", "start_talk": "begins a talk", "interrupt": "interrupts"}


def command_in(line: str) -> tuple[str, str] | None:
    """The command of a line and what follows it; None if the line is words.

    Raises:
        InputError: there is no such command, or it lacks what it takes.
    """
    text = clean(line).strip()
    if not text.startswith("/"):
        return None
    name, _, rest = text.partition(" ")
    name, rest = name.casefold(), rest.strip()
    if name not in COMMANDS:
        raise InputError(f"there is no command {shortened(name, 40)!r}", remedy=suggestion(name, COMMANDS))
    takes = COMMANDS[name][0]
    if bool(takes) != bool(rest):
        what, remedy = ("says nothing", f"{name} {takes}") if takes else ("takes nothing after it", f"{name} alone")
        raise InputError(f"{name} {what}", remedy=f"Write {remedy}.")
    return name, rest


def time_of(text: str, now: str) -> str:
    """The time that /time asks for, ISO: an hour is the next one.

    Args:
        text: HH:MM, or a date and a time.
        now: ISO time.
    """
    found = _HOUR.fullmatch(text)
    if found is None:
        return text
    from datetime import datetime, timedelta

    present = datetime.fromisoformat(now)
    at = present.replace(hour=int(found[1]), minute=int(found[2]), second=0)
    return (at if at >= present else at + timedelta(days=1)).isoformat()


def help_lines() -> list[str]:
    """The commands, a line each."""
    return [f"{name} {takes}".ljust(16) + told for name, (takes, told) in COMMANDS.items()]


def status_line(event: Event, trust: int | None) -> str:
    """What is shown beside the words; empty for nothing.

    Args:
        event: what happened.
        trust: the last trust shown; None before the first.
    """
    match event:
        case Answered(appraised=True):
            change = 0 if trust is None else event.trust - trust
            step = f" ({change:+d})".replace("-", "−") if change else ""
            return f"{event.emotion}, trust {event.trust}{step}"
        case Acted() if event.kind != "none":
            return one_line(f"The agent {_DOES[event.kind]}: {event.about}")
        case TalkOver():
            return one_line(f"The talk is over. {event.summary}")
        case _:
            return ""


def memory_lines(agent: str, tie: Tie | None) -> list[str]:
    """What an agent knows of a person, a line each."""
    if tie is None:
        return [f"{agent} does not know you yet."]
    stands = tie.type.replace("_", " ")
    lines = [f"{agent}: trust {tie.trust}, {stands}{f' ({one_line(tie.note)})' if tie.note else ''}"]
    lines.append(f"talks: {tie.talks}" + (f", the last one {tie.last_met.replace('T', ' ')}" if tie.last_met else ""))
    lines += [f"last: {one_line(tie.summary)}"] if tie.summary else []
    lines += [f"promise: {one_line(promise)}" for promise in tie.promises]
    if not tie.in_force:
        lines.append("no facts: what you tell becomes facts when the talk is over")
    lines += [f"fact: {one_line(fact.statement)} (“{one_line(fact.quote)}”, {fact.at[:10]})" for fact in tie.in_force]
    return lines


def why_lines(why: Mapping[str, Any]) -> list[str]:
    """What an answer rests on, a line each: facts, then memories with their scores, best first."""
    lines = [f"fact: {one_line(fact['statement'])}" for fact in why.get("facts", [])]
    for one in why.get("recalled", []):
        if not one.get("shown", True):
            continue
        parts = ", ".join(f"{name} {one[name]:.2f}" for name in _SCORES if isinstance(one.get(name), float))
        theme = shortened(one_line(str(one["theme"])), _WIDEST)
        lines.append(f"{one['score']:.2f}  {one['kind']}: {theme} ({parts})")
    left = sum(not one.get("shown", True) for one in why.get("recalled", []))
    lines += [f"{left} more were recalled and did not fit into the prompt."] if left else []
    return lines or ["Nothing was recalled."]
