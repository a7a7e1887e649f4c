"""Checks of a wording: others' words, near-repetition, and contradiction to what was left out of its prompt.

For revision (Chu et al.), several requests at once say how far the words contradict it, 1 to 10. If their mean passes
the threshold, the agent words its utterance again from the same prompt with another seed. The first wording at or
below the threshold is said; if there is none, the one that contradicts least.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from ...memory.utterance_vectors import utterance_vectors
from ...models.asking import Spoken, all_asked, judgement
from ...models.exchange import Exchange
from ...models.failures import TransientModelError
from ...prompts import blocks
from ...prompts.blocks import Block
from ...prompts.fitting import Question
from ...state.errors import ModelError
from ...state.minds.addressing import addressees
from ...state.minds.judgement import Inconsistency
from ...state.minds.mind import Step
from ...state.minds.pruning import CHECKS, Check
from ...state.minds.speech import (
    NOT_CHECKED,
    OTHERS_WORDS_REMOVED,
    OWN_NAME_REMOVED,
    REVISED,
    SHORT,
    STILL_INCONSISTENT,
    nearness,
    own_words,
    size,
)
from ...state.settings import Settings

NAMED: Final = 3
"""The most earlier utterances that a repeating speaker is told to avoid; the nearest ones."""


@dataclass(frozen=True)
class Wording:
    """An answer after its corrections.

    Attributes:
        text: the speaker's own words; empty if there are none.
        corrections: what was removed, of `state.speech.CORRECTIONS`.
        nearness: how near it is to repeating an earlier utterance; 1 or more is a repetition.
        repeated: the earlier utterances that it nearly repeats, nearest first.
    """

    text: str
    corrections: tuple[str, ...]
    nearness: float = 0.0
    repeated: tuple[str, ...] = ()


async def checked(answer: str, mind: Step, settings: Settings) -> Wording:
    """Take the speaker's own words from an answer, and compare them with earlier utterances.

    Args:
        answer: what the model said, not empty.
        mind: the speaker, with its situation and `said`.
        settings: `repetition_*` and `embedding` count.

    Raises:
        ModelError: the embedding failed (TransientModelError if trying again may help).
    """
    situation, name = mind["situation"], mind["name"]
    last = situation["recent"][-1]["speaker"] if situation["recent"] else ""
    own = own_words(answer, name, situation["present"], last)
    removed = {OWN_NAME_REMOVED: own.own_name, OTHERS_WORDS_REMOVED: own.others and bool(own.text)}
    corrections = tuple(correction for correction, done in removed.items() if done)
    said = list(dict.fromkeys([*mind.get("said", [])[-settings.repetition_window :], *mind.get("avoid", [])]))
    if not (own.text and said and settings.repetition_check):
        return Wording(own.text, corrections)
    cosines: list[float] = []
    if size(own.text) >= SHORT:
        cosines = await utterance_vectors.similarities(settings, situation["simulation"], own.text, said, agent=name)
    near = nearness(
        own.text,
        said,
        cosines,
        overlap=settings.repetition_overlap,
        similarity=settings.repetition_similarity,
    )
    repeated = sorted((i for i, degree in enumerate(near) if degree >= 1), key=lambda i: (-near[i], -i))
    return Wording(own.text, corrections, max(near), tuple(said[i] for i in repeated[:NAMED]))


MODULE: Final = "revision"
THRESHOLD: Final = 6.67
"""A greater mean is a conflict: of three scores, a sum of 21 or more."""
RETRIES: Final = 3
"""How many other wordings are asked for at most."""
REPETITION: Final = 10
"""The score of another wording that repeats what was said, or has no words of the speaker's own; nobody is asked."""
_TRIES: Final = 2


@dataclass(frozen=True)
class Attempt:
    """One wording of an utterance.

    Attributes:
        spoken: what the model said.
        wording: the speaker's own words in it, and whether they repeat earlier ones.
    """

    spoken: Spoken
    wording: Wording


@dataclass(frozen=True)
class Revised:
    """What came of checking an utterance.

    Attributes:
        made: all wordings, in order.
        taken: the one that is said.
        checks: the record of each.
        correction: of `state.speech.CORRECTIONS`: what revision did; empty if the first wording passed.
    """

    made: list[Attempt]
    taken: Attempt
    checks: list[Check]
    correction: str


Again = Callable[[int], Awaitable[Attempt | None]]
"""Words the utterance again, for the k-th time; None if there can be no other words."""


async def revised(
    first: Attempt,
    again: Again,
    left_out: Sequence[Block],
    mind: Step,
    settings: Settings,
    *,
    threshold: float = THRESHOLD,
    checks: int = CHECKS,
    retries: int = RETRIES,
) -> Revised:
    """Check an utterance against what was left out of its prompt, and have it worded again where it contradicts that.

    Args:
        first: the utterance, after the check for repetition.
        again: words it again.
        left_out: the pieces of information that were left out, in their blocks.
        mind: the speaker, with its situation.
        settings: of the simulation.
        threshold: the greatest mean score that is no conflict, 1 to 10.
        checks: how many requests there are about each wording, at once.
        retries: how often other words are asked for at most.

    Raises:
        BudgetExhausted: a request would have exceeded a budget, and was not made.
        InputError: the name, key or file of the model that checks is wrong.
    """
    made = [first]
    answers = [await _checked(first, 0, checks, left_out, mind, settings)]
    while (taken := chosen([scores for scores, _ in answers], threshold=threshold, retries=retries)) is None:
        other = await again(len(made))
        if other is None:
            taken = _least([scores for scores, _ in answers])
            break
        made.append(other)
        if other.wording.text and not other.wording.repeated:
            answers.append(await _checked(other, len(made) - 1, checks, left_out, mind, settings))
        else:
            answers.append(([REPETITION], ""))
    records = [Check(scores=s, comment=c, taken=n == taken) for n, (s, c) in enumerate(answers)]
    return Revised(made, made[taken], records, _correction(answers[taken][0], taken, threshold))


def chosen(scores: Sequence[Sequence[int]], *, threshold: float = THRESHOLD, retries: int = RETRIES) -> int | None:
    """Which wording is said; None if the utterance is to be worded again.

    Args:
        scores: of each wording so far, at least one; those of all but the last pass the threshold. A wording without
            scores stands, because nothing says that it contradicts anything.
        threshold: the greatest mean that is no conflict, 1 to 10.
        retries: how many wordings there may be beside the first.
    """
    last = scores[-1]
    if not last or fmean(last) <= threshold:
        return len(scores) - 1
    return _least(scores) if len(scores) > retries else None


def _least(scores: Sequence[Sequence[int]]) -> int:
    """The first of the wordings with the lowest mean."""
    return min(range(len(scores)), key=lambda n: fmean(scores[n]))


def _correction(scores: Sequence[int], taken: int, threshold: float) -> str:
    if not scores:
        return NOT_CHECKED
    if fmean(scores) > threshold:
        return STILL_INCONSISTENT
    return REVISED if taken else ""


async def _checked(
    attempt: Attempt, number: int, checks: int, left_out: Sequence[Block], mind: Step, settings: Settings
) -> tuple[list[int], str]:
    """The scores of one wording and the last comment; requests of no use are left out."""
    question = question_of(attempt.wording.text, left_out, mind)
    asked = (
        _asked(question, mind, settings, part=f"check:{number}.{n}", seed=settings.seed + number * checks + n)
        for n in range(checks)
    )
    usable = [answer for answer in await all_asked(asked) if answer is not None]
    return [answer.score for answer in usable], usable[-1].comment if usable else ""


def question_of(text: str, left_out: Sequence[Block], mind: Step) -> Question:
    """The question whether words contradict what was left out of the prompt for them."""
    situation, name = mind["situation"], mind["name"]
    scene = [item for item in blocks.scene(situation, name).items if item.kind in ("topic", "debate")]
    values = {
        "left_out": [block for block in left_out if block.items],
        "scene": Block("scene", tuple(scene)),
        "wording": blocks.wording(name, text, addressees(text, name, situation["present"], situation.get("called"))),
        "name": name,
    }
    return Question.of("inconsistency", values)


async def _asked(question: Question, mind: Step, settings: Settings, *, part: str, seed: int) -> Inconsistency | None:
    """One answer; None if it failed twice, or can never be given."""
    for _ in range(_TRIES):
        exchange = Exchange.on_behalf(settings, mind["name"], MODULE, mind["situation"]["turn"], part)
        exchange.seed = seed
        try:
            return await judgement(exchange, question, Inconsistency)
        except TransientModelError:
            continue
        except ModelError:
            return None
    return None
