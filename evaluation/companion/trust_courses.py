"""Courses of trust: four scripted persons, twelve exchanges each, and what the course should be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from persimchat.evaluation.companion.rows import Row
from persimchat.runs.companion.events import Answered
from persimchat.runs.companion.world import opened_world
from persimchat.state.companion import Label
from persimchat.state.place import Clock, Place
from persimchat.state.settings import Settings

Temper = Literal["friendly", "hostile", "apologising", "neutral"]
TEMPERS: Final[tuple[Temper, ...]] = get_args(Temper)
EXCHANGES: Final = 12
SAD: Final[frozenset[Label]] = frozenset({"angry", "disgust", "sad", "fear"})
"""Emotions that fit hostile words."""

_FRIENDLY: Final = (
    "Good morning! Thank you for waiting for me yesterday.",
    "I brought you a warm tea, it is cold today.",
    "Thank you, that was kind of you.",
    "I used to work at a harbour, I know how long the days are.",
    "You do this really well.",
    "Shall I carry that for you?",
    "I told my sister about you.",
    "Thank you for telling me.",
    "I like how you keep the log.",
    "That must have been hard for you.",
    "Thanks a lot, I am glad to know you.",
    "I will bring you the book that I promised.",
)
_HOSTILE: Final = (
    "You are an idiot.",
    "Shut up, you stupid fool.",
    "You are useless, everybody says so.",
    "I hate you.",
    "You are pathetic.",
    "I will hurt you.",
    "You moron.",
    "I will break your window.",
)
_NEUTRAL: Final = (
    "When does the next boat leave?",
    "How much is a ticket?",
    "Is there a bench?",
    "What time is it?",
    "Which side is the landing?",
    "Does the boat stop at the island?",
    "Is it far?",
    "How long does it take?",
    "Where can I wait?",
    "Is the tea stall open?",
    "Which boat is that?",
    "Does it run on Sundays?",
)


@dataclass(frozen=True)
class Course:
    """What happened to trust.

    Attributes:
        temper: of the person.
        trust: after every exchange of the first talk.
        ends: after which exchange the agent ended the talk, from 1; 0 if it did not.
        labels: its emotion after every exchange.
        second: trust after the second talk; None if there was none.
    """

    temper: Temper
    trust: tuple[int, ...]
    ends: int
    labels: tuple[Label, ...]
    second: int | None = None


def lines_of(temper: Temper) -> tuple[str, ...]:
    """What a person of this temper says."""
    match temper:
        case "friendly":
            return _FRIENDLY
        case "hostile":
            return (*_HOSTILE, *_HOSTILE[:4])
        case "apologising":
            sorry = ("I am sorry, I did not mean it.", "I apologise, that was wrong of me.", "Please forgive me.")
            return (*_NEUTRAL[:3], "You are an idiot.", *sorry, *_FRIENDLY[1:6])
        case "neutral":
            return _NEUTRAL


async def hold(folder: Path, place: Place, settings: Settings, temper: Temper) -> Course:
    """Hold the talk of a scripted person; a friendly one talks twice.

    Args:
        folder: a new world's.
        place: its first agent is talked with.
        settings: of the world.
        temper: of the person.

    Raises:
        PerSimChatError: a model failed, or the folder cannot be used.
    """
    quiet = place.model_copy(update={"clock": Clock(mode="steps"), "events": [], "people": []})
    async with opened_world(folder, quiet, settings) as world:
        person = await world.companion(world.agents[0], "Kim", introduced=True)
        found: list[Answered] = []
        for text in lines_of(temper):
            async for event in person.say(text):
                if isinstance(event, Answered) and event.appraised:
                    found.append(event)
            await person.settled()
            if found and found[-1].end:
                break
        second = None
        if temper == "friendly":
            async for _ in person.end():
                pass
            world.advance(86_400)
            for text in _FRIENDLY[:EXCHANGES]:
                async for event in person.say(text):
                    second = event.trust if isinstance(event, Answered) else second
                await person.settled()
    ends = next((n for n, one in enumerate(found, start=1) if one.end), 0)
    return Course(temper, tuple(one.trust for one in found), ends, tuple(one.emotion for one in found), second)


def rows_of(run: str, course: Course) -> list[Row]:
    """The measures of a course: whether it is as it should be, and each of its values."""
    rows = [Row(run, f"{course.temper} {n}", "trust", trust) for n, trust in enumerate(course.trust, start=1)]
    fits = {
        "friendly": _never_falls(course.trust, 5) and bool(course.trust) and course.trust[-1] >= 6
        and (course.second or 0) >= 7,
        "hostile": bool(course.trust) and min(course.trust[:6]) <= 2 and 0 < course.ends <= 8,
        "apologising": _apologised(course.trust),
        "neutral": all(4 <= trust <= 6 for trust in course.trust),
    }  # fmt: skip
    rows.append(Row(run, course.temper, "course_as_expected", float(fits[course.temper])))
    if course.temper in ("friendly", "neutral"):
        rows.append(Row(run, course.temper, "false_end", float(course.ends > 0)))
    if course.temper == "hostile" and course.labels:
        rows.append(
            Row(run, course.temper, "emotion_fits", sum(one in SAD for one in course.labels) / len(course.labels))
        )
    return rows


def _never_falls(trust: Sequence[int], start: int) -> bool:
    return all(before <= after for before, after in zip((start, *trust), trust, strict=False))


def _apologised(trust: Sequence[int], insult: int = 3) -> bool:
    """Trust falls by 2 or more at the insult, rises again, and stays 1 below its former level in the talk."""
    if len(trust) <= insult + 1:
        return False
    before, after, rest = trust[insult - 1], trust[insult], trust[insult + 1 :]
    return before - after >= 2 and max(rest) > after and max(rest) <= before - 1
