"""Evaluators of single utterances: pure functions on a target's outputs.

Each `…_of` gives one value per utterance; the evaluator of the same concept gives their mean as its score and names the
worst utterance. A score that does not apply to a conversation is None, never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from persimchat.runs.reports.summary import count_words, mean
from persimchat.state.repetition import (
    ASKED_AGAIN_FOR_OTHERS_WORDS,
    LEAST_WORDS,
    OTHERS_WORDS_REMOVED,
    overlaps,
    size,
)
from persimchat.state.speech import own_words

Outputs = dict[str, Any]
Feedback = dict[str, Any]


def repetition_of(outputs: Outputs) -> list[float]:
    """How much of each utterance was said before: the greatest share of its n-grams in an earlier one, 0–1.

    Source: n-gram precision, Papineni et al. 2002, as `persimchat.state.repetition` computes it. Utterances of fewer
    than six words repeat nothing.
    """
    texts = _texts(outputs)
    return [
        max(overlaps(text, texts[:i]), default=0.0) if size(text) >= LEAST_WORDS else 0.0
        for i, text in enumerate(texts)
    ]


def words_for_others_of(outputs: Outputs) -> list[float]:
    """Whether each utterance spoke for another participant: 1 or 0.

    It did if PerSimChat cut others' words off or asked again because of them, or if the text still has lines like a
    script ("Ben: …"). Source: specification, faults known from the thesis.
    """
    people, last, found = outputs["participants"], "", []
    for said in outputs["utterances"]:
        corrected = {OTHERS_WORDS_REMOVED, ASKED_AGAIN_FOR_OTHERS_WORDS} & set(said.get("corrections", ()))
        found.append(float(bool(corrected) or own_words(said["text"], said["speaker"], people, last).others))
        last = said["speaker"]
    return found


def length_error_of(outputs: Outputs) -> list[float]:
    """Each utterance's distance from the target length (`utterance_words`), as a share of it; 0 is exact, 1 is double.

    The absolute relative error, in words between white space.
    """
    target = outputs["settings"]["utterance_words"]
    return [abs(count_words(text) - target) / target for text in _texts(outputs)]


def addressee_named_of(outputs: Outputs) -> list[float]:
    """Whether each utterance speaks to a participant by name: 1 or 0.

    Source: specification, *Speaking*; naming the addressee is one of the ways to select the next speaker in Sacks,
    Schegloff and Jefferson 1974.
    """
    return [float(bool(said["addressees"])) for said in outputs["utterances"]]


def repetition(outputs: Outputs) -> Feedback:
    """The mean of `repetition_of`; 0 is best."""
    return _mean_of("repetition", repetition_of, outputs, max)


def words_for_others(outputs: Outputs) -> Feedback:
    """The share of utterances that spoke for another participant (`words_for_others_of`); 0 is best."""
    return _mean_of("words_for_others", words_for_others_of, outputs, max)


def length_error(outputs: Outputs) -> Feedback:
    """The mean of `length_error_of`; 0 is best."""
    return _mean_of("length_error", length_error_of, outputs, max)


def addressee_named(outputs: Outputs) -> Feedback:
    """The share of utterances that speak to a participant by name (`addressee_named_of`)."""
    return _mean_of("addressee_named", addressee_named_of, outputs, min)


def _texts(outputs: Outputs) -> list[str]:
    return [said["text"] for said in outputs["utterances"]]


def _mean_of(
    key: str, values_of: Callable[[Outputs], list[float]], outputs: Outputs, worst: Callable[[Sequence[float]], float]
) -> Feedback:
    values = values_of(outputs)
    if not values:
        return {"key": key, "score": None, "comment": "nothing was said"}
    extreme = worst(values)
    turn = outputs["utterances"][values.index(extreme)]["turn"]
    return {"key": key, "score": mean(values), "comment": f"utterance {turn} has {extreme:.2f}"}


UTTERANCE_EVALUATORS = (repetition, words_for_others, length_error, addressee_named)
