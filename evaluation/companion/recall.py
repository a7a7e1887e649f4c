"""What a companion remembers: recall, contradiction after correction, abstention, leaks between persons."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from persimchat.evaluation.companion.rows import Row
from persimchat.evaluation.companion.scripts import Asked, Script, make_script
from persimchat.runs.companion.events import Answered
from persimchat.runs.companion.session import Companion
from persimchat.runs.companion.world import opened_world
from persimchat.state.clock import ago
from persimchat.state.place import Clock, Place
from persimchat.state.settings import Settings

TALKS: Final = (1, 2, 5, 10, 20)
"""Numbers of talks before the questions."""
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


def abstains(utterance: str) -> bool:
    """Whether words say that something is not known."""
    return _DOES_NOT_KNOW.search(utterance) is not None


def sounds_like_an_assistant(utterance: str) -> bool:
    """Whether words offer help that nobody asked for, or call the speaker an AI."""
    return _ASSISTANT.search(utterance) is not None


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
    quiet = place.model_copy(update={"clock": Clock(mode="steps"), "events": [], "people": []})
    rows: list[Row] = []
    async with opened_world(folder, quiet, settings) as world:
        agent = world.agents[0]
        person = await world.companion(agent, PERSON, introduced=True)
        said: list[str] = []
        told_at: dict[str, str] = {}
        for messages in script.talks:
            for message in messages:
                told_at[message] = world.now()
                said.append((await _answer(person, message)).utterance)
            await person.settled()
            world.advance(_A_DAY_S)
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


async def _answer(person: Companion, text: str) -> Answered:
    """The answer to a message, with what became of it."""
    found: Answered | None = None
    async for event in person.say(text):
        if isinstance(event, Answered):
            found = event
    assert found is not None
    return found


def _rows(
    run: str, unit: str, asked: Asked, utterance: str, why: Mapping[str, Any], script: Script, when: str
) -> Iterator[Row]:
    """The measures of one answer."""
    words = utterance.casefold()
    if asked.kind == "untold":
        values = [fact.value.casefold() for fact in script.planted]
        invents = any(value in words for value in values)
        yield Row(run, unit, "abstains", float(abstains(utterance) and not invents))
        return
    wanted = [when] if asked.kind == "when" else asked.wanted
    right = all(one.casefold() in words for one in wanted) and not _has(words, asked.unwanted)
    yield Row(run, unit, "right", float(right))
    yield from _recalled(run, unit, asked, why)
    if asked.unwanted:
        shown = " ".join(_in_prompt(why)).casefold()
        yield Row(run, unit, "contradicts", float(_has(words, asked.unwanted)))
        yield Row(run, unit, "stale_in_prompt", float(_has(shown, asked.unwanted)))


def _recalled(run: str, unit: str, asked: Asked, why: Mapping[str, Any]) -> Iterator[Row]:
    """Recall and precision among the memories recalled, and whether the facts are in the prompt."""
    values = [fact.value.casefold() for fact in asked.planted]
    themes = [str(one["theme"]).casefold() for one in why["recalled"]]
    for k in BEST:
        best = themes[:k]
        found = sum(any(value in theme for theme in best) for value in values)
        yield Row(run, unit, f"recall@{k}", found / len(values))
        fit = sum(any(value in theme for value in values) for theme in best)
        yield Row(run, unit, f"precision@{k}", fit / len(best) if best else None, "" if best else "nothing recalled")
    shown = " ".join(_in_prompt(why)).casefold()
    yield Row(run, unit, "in_prompt", sum(value in shown for value in values) / len(values))


def _in_prompt(why: Mapping[str, Any]) -> list[str]:
    return [
        *(str(fact["statement"]) for fact in why["facts"]),
        *(str(one["theme"]) for one in why["recalled"] if one["shown"]),
    ]


def _has(words: str, values: Sequence[str]) -> bool:
    return any(value.casefold() in words for value in values)


async def _leaks(run: str, other: Companion, script: Script) -> list[Row]:
    """Whether somebody else gets to know what the person has told."""
    rows = []
    values = [fact.value for fact in script.planted]
    for n, asked in enumerate(script.questions, start=1):
        answer = await _answer(other, asked.text)
        told = [answer.utterance, *_in_prompt(other.why), *(str(one["theme"]) for one in other.why["recalled"])]
        rows.append(Row(run, f"other {n}", "leaks", float(_has(" ".join(told).casefold(), values))))
    return rows


async def _with_history(run: str, person: Companion, script: Script) -> list[Row]:
    """The right answers if the prompt shows all that was said, and nothing is remembered."""
    history = [{"speaker": "person", "text": message} for talk in script.talks for message in talk]
    rows = []
    for n, asked in enumerate(script.questions, start=1):
        if asked.kind in ("when", "untold"):
            continue
        words = ""
        async for event in person.say(asked.text, shown=history):
            words = event.utterance if isinstance(event, Answered) else words
        right = all(one.casefold() in words.casefold() for one in asked.wanted)
        rows.append(
            Row(
                run,
                f"{asked.kind} {n}",
                "right_with_history",
                float(right and not _has(words.casefold(), asked.unwanted)),
            )
        )
    return rows
