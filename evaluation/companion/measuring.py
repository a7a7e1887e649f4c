"""What is measured of companions: what they remember, how trust goes, which answers are accepted."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from pydantic import BaseModel

from ...graph.companion.calls import calls
from ...models.answers import WrongAnswer, read
from ...models.mending import mended
from ...models.recording import Asking, asking_of, from_record
from ...models.recording import Row as Request
from ...runs.companion.events import KINDS, Answered
from ...runs.companion.folder import WORLD
from ...runs.companion.session import Companion
from ...runs.companion.world import World, opened_world
from ...runs.log import Log
from ...state.companion import Label
from ...state.companion.clock import ago
from ...state.companion.judgement import Chunks, DayPlan, TalkDigest
from ...state.companion.place import Clock, Place
from ...state.minds.judgement import PARTS, FocalPoints, Reflection, in_parts
from ...state.settings import Settings
from .latency import measure_latency
from .rows import Row
from .scripts import TEMPERS, WORDS, Asked, Script, Temper, make_script

BEST: Final = (1, 5, 10, 30)
"""Of so many memories recalled, recall and precision are told."""
PERSON, OTHER, STRANGER = "Petr", "Eva", "Jan"
"""Who tells and asks, who asks without having told, and who has never been introduced."""
_A_DAY_S: Final = 86_400.0

_DOES_NOT_KNOW: Final = re.compile(
    r"\b(do(es)?n['’]?t|do not|cannot|can['’]?t|could not|couldn['’]?t) (know|remember|recall|think you|believe you)"
    r"|never (told|said|mentioned|heard)|no idea|not (told|said|mentioned)|have(n['’]t| not) (told|said|mentioned)"
    r"|you['’]?(ve| have) not|not that I know|wish I knew|weiß (ich )?nicht|nevím",
    re.IGNORECASE,
)
"""Words that say that something is not known."""
_ASSISTANT: Final = re.compile(
    r"how (can|may) i (help|assist)|as an ai|i['’]?m here to (help|assist)|let me know if|happy to help", re.IGNORECASE
)
"""Words of an assistant, which a companion is not."""


_SAD: Final[frozenset[Label]] = frozenset({"angry", "disgust", "sad", "fear"})
"""Emotions that fit hostile words."""


def abstains(utterance: str) -> bool:
    """Whether words say that something is not known."""
    return _DOES_NOT_KNOW.search(utterance) is not None


def sounds_like_an_assistant(utterance: str) -> bool:
    """Whether words offer help that nobody asked for, or call the speaker an AI."""
    return _ASSISTANT.search(utterance) is not None


@asynccontextmanager
async def _opened(folder: Path, place: Place, settings: Settings) -> AsyncIterator[World]:
    """A new world without planned events and acquaintances, whose clock goes by exchanges."""
    quiet = place.model_copy(update={"clock": Clock(mode="steps"), "events": [], "people": []})
    async with opened_world(folder, quiet, settings) as world:
        yield world


async def measure_recall(
    folder: Path, place: Place, settings: Settings, talks: int, seed: int, *, baselines: bool = False
) -> list[Row]:
    """Hold the talks of a scripted person, ask, and measure.

    Args:
        folder: a new world's; it stays, with all its talks.
        place: its first agent is asked.
        settings: of the world.
        talks: how many before the questions.
        seed: of the script; the world's seed is the settings'.
        baselines: whether the same questions are also asked with the whole history in the prompt in place of memory.

    Raises:
        PerSimChatError: a model failed, or the folder cannot be used.
    """
    script, run = make_script(talks, seed), f"recall-{talks}-{seed}"
    rows: list[Row] = []
    async with _opened(folder, place, settings) as world:
        agent = world.agents[0]
        person = await world.companion(agent, PERSON, introduced=True)
        said: list[str] = []
        told_at: dict[str, str] = {}
        for messages in script.talks:
            for message in messages:
                told_at[message] = world.now()
                said.append((await _answer(person, message)).utterance)
            await person.settled()
            await world.advance(_A_DAY_S)
        for n, asked in enumerate(script.questions, start=1):
            answer = await _answer(person, asked.text)
            said.append(answer.utterance)
            when = ago(told_at[asked.planted[0].sentence], world.now()) if asked.kind == "when" else ""
            rows += _rows(run, f"{asked.kind} {n}", asked, answer.utterance, person.why, script, when)
            await person.settled()
        rows += await _leaks(run, await world.companion(agent, OTHER, introduced=True), script)
        stranger = await world.companion(agent, STRANGER, introduced=False)
        first = (await _answer(stranger, "Good morning.")).utterance
        knows = STRANGER.casefold() in first.casefold() or "again" in first.casefold().split()
        rows.append(Row(run, "stranger", "knows_a_stranger", float(knows)))
        if baselines:
            rows += await _with_history(run, await world.companion(agent, "Ida", introduced=True), script)
        rows += [
            Row(run, f"answer {n}", "assistant_phrase", float(sounds_like_an_assistant(words)))
            for n, words in enumerate(said, start=1)
        ]
    return rows


async def _answer(person: Companion, text: str, **more: Any) -> Answered:
    """The answer to a message, with what became of it."""
    return [event async for event in person.say(text, **more) if isinstance(event, Answered)][-1]


def _rows(
    run: str, unit: str, asked: Asked, utterance: str, why: Mapping[str, Any], script: Script, when: str
) -> Iterator[Row]:
    """The measures of one answer: whether it is right, and recall and precision among the memories recalled."""
    words, values = utterance.casefold(), [fact.value.casefold() for fact in asked.planted]
    if asked.kind == "untold":
        invents = _has(words, [fact.value for fact in script.planted])
        yield Row(run, unit, "abstains", float(abstains(utterance) and not invents))
        return
    wanted = [when] if asked.kind == "when" else asked.wanted
    yield Row(run, unit, "right", float(all(_has(words, [one]) for one in wanted) and not _has(words, asked.unwanted)))
    themes = [str(one["theme"]).casefold() for one in why["recalled"]]
    for k in BEST:
        best = themes[:k]
        found = sum(any(value in theme for theme in best) for value in values)
        yield Row(run, unit, f"recall@{k}", found / len(values))
        fit = sum(any(value in theme for value in values) for theme in best)
        yield Row(run, unit, f"precision@{k}", fit / len(best) if best else None, "" if best else "nothing recalled")
    shown = _in_prompt(why)
    yield Row(run, unit, "in_prompt", sum(value in shown for value in values) / len(values))
    if asked.unwanted:
        yield Row(run, unit, "contradicts", float(_has(words, asked.unwanted)))
        yield Row(run, unit, "stale_in_prompt", float(_has(shown, asked.unwanted)))


def _in_prompt(why: Mapping[str, Any]) -> str:
    told = [*(fact["statement"] for fact in why["facts"]), *(one["theme"] for one in why["recalled"] if one["shown"])]
    return " ".join(map(str, told)).casefold()


def _has(words: str, values: Sequence[str]) -> bool:
    return any(value.casefold() in words for value in values)


async def _leaks(run: str, other: Companion, script: Script) -> list[Row]:
    """Whether somebody else gets to know what the person has told."""
    rows = []
    values = [fact.value for fact in script.planted]
    for n, asked in enumerate(script.questions, start=1):
        answer = await _answer(other, asked.text)
        told = [answer.utterance, _in_prompt(other.why), *(str(one["theme"]) for one in other.why["recalled"])]
        rows.append(Row(run, f"other {n}", "leaks", float(_has(" ".join(told).casefold(), values))))
    return rows


async def _with_history(run: str, person: Companion, script: Script) -> list[Row]:
    """The right answers if the prompt shows all that was said, and nothing is remembered."""
    history = [{"speaker": "person", "text": message} for talk in script.talks for message in talk]
    rows = []
    for n, asked in enumerate(script.questions, start=1):
        if asked.kind not in ("when", "untold"):
            words = (await _answer(person, asked.text, shown=history)).utterance.casefold()
            right = all(_has(words, [one]) for one in asked.wanted) and not _has(words, asked.unwanted)
            rows.append(Row(run, f"{asked.kind} {n}", "right_with_history", float(right)))
    return rows


# Courses of trust: four scripted persons, twelve exchanges each, and what the course should be


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
    lines: list[str] = WORDS["tempers"][temper]
    async with _opened(folder, place, settings) as world:
        person = await world.companion(world.agents[0], "Kim", introduced=True)
        found: list[Answered] = []
        for text in lines:
            answer = await _answer(person, text)
            found += [answer] if answer.appraised else []
            await person.settled()
            if found and found[-1].end:
                break
        second = None
        if temper == "friendly":
            async for _ in person.end():
                pass
            await world.advance(_A_DAY_S)
            for text in lines:
                second = (await _answer(person, text)).trust
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
            Row(run, course.temper, "emotion_fits", sum(one in _SAD for one in course.labels) / len(course.labels))
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


# What a world's files tell of its answers: how many were accepted at the first try, how many repeat another


_OWN: Final = ("perception", "emotion", "trust")
"""What a companion's digest judges."""
_SCHEMAS: Final[dict[str, tuple[type[BaseModel], ...]]] = {
    **{name: (PARTS[name],) for name in _OWN},
    "reaction": (in_parts(*_OWN),),
    "hearing": (in_parts("perception"),),
    "appraisal": (in_parts("emotion", "trust"),),
    "consolidation": (TalkDigest,),
    "day_plan": (DayPlan, Chunks),
    "focal_points": (FocalPoints,),
    "reflection": (Reflection,),
}
"""By module, which schemas its answers have; the words of an answer have none."""


def accepted(run: str, folder: Path) -> list[Row]:
    """By module and question, whether the first answer was accepted, else whether one was at all.

    An answer that is corrected counts as accepted, as it does for the mind.

    Args:
        run: the world's name in the table.
        folder: the world's.

    Raises:
        InputError: the world's log is damaged.
    """
    asked: dict[Asking, list[Request]] = defaultdict(list)
    with Log(folder / WORLD, KINDS, read_only=True) as log:
        for request in log.read("asked_model"):
            if request.answer is not None:
                asked[asking_of(request)].append(request)
    rows = []
    for requests in asked.values():
        module = requests[0].module
        usable = [_is_usable(module, request) for request in requests]
        rows.append(Row(run, module, "accepted_at_first", float(usable[0])))
        if not usable[0]:
            rows.append(Row(run, module, "accepted_at_second", float(any(usable[1:]))))
    return rows


def repeats(run: str, folder: Path) -> list[Row]:
    """Of each answer, whether the agent has said the same words to this person before.

    Raises:
        InputError: the world's log is damaged.
    """
    said: dict[tuple[str, str], set[str]] = defaultdict(set)
    rows: list[Row] = []
    with Log(folder / WORLD, KINDS, read_only=True) as log:
        for one in log.read("exchange"):
            words, before = " ".join(one.utterance.casefold().split()), said[one.agent, one.person]
            if words:
                rows.append(Row(run, f"answer {len(rows) + 1}", "repeated", float(words in before)))
                before.add(words)
    return rows


def _is_usable(module: str, request: Request) -> bool:
    assert request.answer is not None
    message, schemas = from_record(request.answer), _SCHEMAS.get(module, ())
    if not schemas:
        return bool(str(message.text).strip())
    for schema in schemas:
        try:
            read(message, schema)
        except WrongAnswer as wrong:
            if wrong.found is not None and mended(wrong.found, schema) is not None:
                return True
        else:
            return True
    return False


# Which measures of a companion are taken: how many calls they make, and their rows


What = Literal["recall", "trust", "latency"]
WHAT: Final[tuple[What, ...]] = get_args(What)


@dataclass(frozen=True)
class Plan:
    """What is measured.

    Attributes:
        what: recall, trust, latency.
        talks: before the questions of recall; the greatest number is that of latency, too.
        seeds: of the scripted persons, 0 and up.
        baselines: whether the questions are also asked with the whole history in the prompt.
    """

    what: tuple[What, ...]
    talks: tuple[int, ...]
    seeds: int
    baselines: bool = False

    def calls(self, settings: Settings) -> int:
        """About how many requests it makes: reflections and answers that are asked again come on top."""
        exchanges, over = self._exchanges()
        timed = 0
        if "latency" in self.what:
            timed = sum(len(talk) for talk in make_script(1 + max(self.talks), settings.seed).talks)
            over += 1 + max(self.talks)
        return sum(calls(settings, exchanges=exchanges + 2 * timed).values()) + over

    def _exchanges(self) -> tuple[int, int]:
        """Exchanges and talks that are consolidated, of recall and trust."""
        exchanges = over = 0
        for seed in range(self.seeds):
            for talks in self.talks if "recall" in self.what else ():
                script = make_script(talks, seed)
                asked = len(script.questions) * (3 if self.baselines else 2)
                exchanges += sum(map(len, script.talks)) + asked + 1
                over += talks
            for temper in TEMPERS if "trust" in self.what else ():
                exchanges += len(WORDS["tempers"][temper]) * (2 if temper == "friendly" else 1)
                over += 1
        return exchanges, over

    def worlds(self) -> Iterator[tuple[What, str, int, int]]:
        """What is measured in each world: its name, its number of talks, its seed."""
        for seed in range(self.seeds):
            for talks in self.talks if "recall" in self.what else ():
                yield "recall", f"recall-{talks}-{seed}", talks, seed
        for seed in range(self.seeds):
            if "trust" in self.what:
                yield "trust", f"trust-{seed}", 0, seed
        if "latency" in self.what:
            yield "latency", "latency", max(self.talks), 0


async def measured(
    what: What, name: str, talks: int, seed: int, *, folder: Path, place: Place, settings: Settings, baselines: bool
) -> list[Row]:
    """The rows of one world (`Plan.worlds`), or of the four worlds of the courses of trust.

    Args:
        what: is measured.
        name: of the world.
        talks: how many.
        seed: of the scripted person; added to the settings'.
        folder: in which worlds are made.
        place: its first agent is talked with.
        settings: of the worlds.
        baselines: as of `measure_recall`.

    Raises:
        PerSimChatError: a model failed, or the folder cannot be used.
    """
    own = settings.model_copy(update={"seed": settings.seed + seed})
    match what:
        case "recall":
            rows = await measure_recall(folder / name, place, own, talks, seed, baselines=baselines)
            return [*rows, *accepted(name, folder / name), *repeats(name, folder / name)]
        case "latency":
            return await measure_latency(folder / name, place, own, talks)
        case "trust":
            found: list[Row] = []
            for temper in TEMPERS:
                world = folder / f"{name}-{temper}"
                found += rows_of(name, await hold(world, place, own, temper))
                found += [*accepted(name, world), *repeats(name, world)]
            return found
