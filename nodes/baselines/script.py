"""Script: one model writes the whole conversation in one answer (the single_agent baseline).

Source: thesis 6.1, the "single-agent zero-shot" system that multi-agent conversations are compared with. The model gets
all profiles, relationships and goals, the topic and the number of utterances, and writes everything at once. If the
script is faulty, the model is told what is wrong and asked once more.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables.config import ensure_config, set_config_context

from ...models.answers import answer_text, stop_problem
from ...models.exchange import Exchange, wording
from ...models.spoken import spoken_words
from ...prompts import answer_blocks, blocks, render
from ...prompts.fitting import followed_by
from ...state.baselines.script import Faults, Line, faults, parse_script, shared_out
from ...state.conversation import new_utterance
from ...state.language import told
from ...state.minds.mind import Call, Mind, Situation, Utterance
from ...state.settings import Settings

WRITER: Final = "Script"
"""The name under which the script's calls are counted."""

_REMEDY: Final = "Try again, choose a model that follows instructions better, or lower max_messages."

_SHOWN: Final = 6
"""The most names in an error."""


@dataclass(frozen=True)
class Written:
    """A conversation as it was written.

    Attributes:
        utterances: in order, at most as many as requested.
        faults: what is still wrong after the second request; None if nothing is.
        cut: how many surplus utterances were left out.
    """

    utterances: list[Utterance]
    faults: Faults | None
    cut: int


@dataclass(frozen=True)
class _Draft:
    lines: list[Line]
    faults: Faults | None
    cut: int


async def write_script(people: list[tuple[Mind, Situation]], settings: Settings) -> Written:
    """Let the model write a whole conversation of `max_messages` utterances.

    Args:
        people: the participants' minds, in order of listing, each with its situation.
        settings: of the simulation.

    Raises:
        ModelError: twice no speaker could be recognised, or a speaker does not take part; or the request failed, or
            the answer was cut off.
    """
    names, count = [mind["name"] for mind, _ in people], settings.max_messages
    exchange = Exchange.on_behalf(settings, WRITER, "script", 0)
    messages = script_prompt(people, settings)
    text, seconds, problem = await _written(exchange, messages)
    draft = _draft(text, names, settings)
    if draft.faults is not None and problem is None:
        wrong = wording("script_correction", names=names, count=count, **draft.faults._asdict())
        said = [*messages, AIMessage(text)] if text else messages
        text, more, cut = await _written(exchange, followed_by(said, wrong))
        second, seconds = _draft(text, names, settings), seconds + more
        # A usable script, even with faults, is not given up for an unusable one.
        if _is_useless(draft) or not (_is_useless(second) or cut):
            draft, problem = second, cut
    if problem is not None:
        raise exchange.error(f"the script is not whole: {problem}", remedy=_REMEDY)
    if draft.faults is not None and _is_useless(draft):
        raise exchange.error(f"wrong script twice: {_in_words(draft.faults)}", remedy=_REMEDY)
    return Written(_utterances(draft.lines, seconds, exchange.call(), people[0][1]), draft.faults, draft.cut)


def script_prompt(people: list[tuple[Mind, Situation]], settings: Settings) -> list[BaseMessage]:
    """The request for a whole conversation; arguments as for `write_script`."""
    names, count = [mind["name"] for mind, _ in people], settings.max_messages
    return render(
        "script",
        people=answer_blocks.people(people),
        environment=blocks.environment(people[0][1], ""),
        names=names,
        count=count,
        everybody=count >= len(names),
        allow_repetition=settings.allow_repeated_speaker,
        closing=settings.closing != "off",
        register=settings.speech_register,
        words=settings.utterance_words,
        **told(settings.language),
    )


async def _written(exchange: Exchange, messages: list[BaseMessage]) -> tuple[str, float, str | None]:
    """The model's words, the seconds they took, and why they are not whole, if they are not.

    They are not streamed, because they are not utterances yet.
    """
    config = ensure_config()
    with set_config_context({**config, "tags": [*config["tags"], "nostream"]}) as context:
        message, seconds = await asyncio.create_task(exchange.stream(messages), context=context)
    reported = message.response_metadata.get("response_time_s")
    taken = float(reported) if isinstance(reported, int | float) else seconds
    return spoken_words(answer_text(message)), taken, stop_problem(message)


def _draft(text: str, names: list[str], settings: Settings) -> _Draft:
    count = settings.max_messages
    script = parse_script(text, names)
    wrong = faults(script, names, count, allow_repetition=settings.allow_repeated_speaker)
    return _Draft(script.lines[:count], wrong, max(0, len(script.lines) - count))


def _is_useless(draft: _Draft) -> bool:
    return draft.faults is not None and draft.faults.is_useless()


def _in_words(wrong: Faults) -> str:
    """What makes a script unusable, for an error."""
    if wrong.strangers:
        return f"it has words for {', '.join(wrong.strangers[:_SHOWN])}, which matches no participant's name"
    return "nobody speaks in it"


def _utterances(lines: list[Line], seconds: float, call: Call, situation: Situation) -> list[Utterance]:
    """The utterances; the call's time and tokens are divided by length, because there is only one call."""
    lengths = [len(line.text) for line in lines]
    shares = zip(
        *(shared_out(total, lengths) for total in (round(seconds * 1000), call["input_tokens"], call["output_tokens"])),
        strict=True,
    )
    return [
        new_utterance(
            turn,
            line.speaker,
            line.text,
            situation["present"],
            called=situation.get("called"),
            response_time_s=milliseconds / 1000,
            tokens={"input": given, "output": made},
        )
        for turn, (line, (milliseconds, given, made)) in enumerate(zip(lines, shares, strict=True), start=1)
    ]
