"""Evaluators: pure functions on a target's outputs, of single utterances and of whole conversations.

Of utterances, each `…_of` gives one value per utterance; the evaluator of the same concept gives their mean as its
score and names the worst utterance. A score that does not apply to a conversation (consensus in a discussion, a missing
reference) is None, never 0.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from ..reports.summary import count_words, mean
from ..state.debates.answers import parse_answer, same_answer
from ..state.errors import InputError
from ..state.minds.speech import (
    ASKED_AGAIN_FOR_OTHERS_WORDS,
    LEAST_WORDS,
    OTHERS_WORDS_REMOVED,
    overlaps,
    own_words,
    size,
)
from ..state.plain_text import folded
from .statistics.intervals import COUNT, SHARE, UNIT

Outputs = dict[str, Any]
Feedback = dict[str, Any]


def repetition_of(outputs: Outputs) -> list[float]:
    """How much of each utterance was said before: the greatest share of its n-grams in an earlier one, 0–1.

    Source: n-gram precision, Papineni et al. 2002, as `persimchat.state.minds.speech` computes it. Utterances of fewer
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


FAREWELLS: Final = (
    "bye", "goodbye", "good bye", "farewell", "good night", "see you", "so long", "take care", "until next time",
    "until tomorrow", "have a good", "have a nice", "i have to go", "i must go", "i must be off", "good evening to you",
)  # fmt: skip
"""English words of farewell."""


def consensus(outputs: Outputs) -> Feedback:
    """Whether a debate reached a consensus: 1 or 0; None for discussions. Source: the thesis, chapter 5."""
    concluded = outputs["conclusion"]
    if concluded is None:
        return {"key": "consensus", "score": None, "comment": "no debate"}
    return {"key": "consensus", "score": float(concluded["consensus"]), "comment": concluded["answer"]}


def correct(outputs: Outputs, reference_outputs: dict[str, Any]) -> Feedback:
    """Whether a debate's answer is the reference's `answer`: 1 or 0; None without a debate or a reference.

    Both are read in the debate's own form (yes or no, choice, number) before they are compared; free text is compared
    without case, diacritics and punctuation, which finds the same words and not the same meaning.

    Raises:
        InputError: the reference is not an answer in the debate's form.
    """
    concluded, expected = outputs["conclusion"], reference_outputs.get("answer")
    if concluded is None or expected is None:
        return {"key": "correct", "score": None, "comment": "no debate" if concluded is None else "no reference"}
    form, choices = outputs["settings"]["answer_format"], outputs["settings"].get("choices") or ()
    try:
        wanted = parse_answer(str(expected), form, choices)
    except ValueError as error:
        raise InputError(
            f"the reference is invalid: {error}",
            where="an example's outputs, field answer",
            remedy=f"Write it in the debate's form, answer_format={form}.",
        ) from None
    try:
        given = parse_answer(concluded["answer"], form, choices)
    except ValueError as error:
        return {"key": "correct", "score": 0.0, "comment": str(error)}
    return {"key": "correct", "score": float(same_answer(given, wanted, form)), "comment": given}


def shares(outputs: Outputs) -> dict[str, float]:
    """Each participant's share of the utterances, 0–1, in order of listing; all 0 if there are none."""
    counts = Counter(said["speaker"] for said in outputs["utterances"])
    total = sum(counts[name] for name in outputs["participants"])
    return {name: counts[name] / total if total else 0.0 for name in outputs["participants"]}


def greatest_share(outputs: Outputs) -> Feedback:
    """The share of utterances of the participant who spoke most often, 0–1; None if there are none."""
    found = shares(outputs)
    most = max(found, key=lambda name: found[name], default="")
    if not found or not found[most]:
        return {"key": "greatest_share", "score": None, "comment": "nothing was said"}
    return {"key": "greatest_share", "score": found[most], "comment": most}


def balance(outputs: Outputs) -> Feedback:
    """How evenly the utterances are spread over the participants: 1 if all spoke equally often, 0 if only one did.

    Source: evenness, Shannon's entropy of the shares over its greatest value (Pielou 1966). None if there are
    no utterances, or only one participant.
    """
    found = [share for share in shares(outputs).values() if share]
    if not found or len(outputs["participants"]) < 2:
        return {"key": "balance", "score": None, "comment": "nothing to balance"}
    entropy = -sum(share * math.log(share) for share in found)
    score = min(1.0, max(0.0, entropy / math.log(len(outputs["participants"]))))
    return {"key": "balance", "score": score, "comment": f"{len(found)} of {len(outputs['participants'])} spoke"}


def goodbye(outputs: Outputs, farewells: Sequence[str] = FAREWELLS) -> Feedback:
    """Whether a participant says goodbye at the end: 1 or 0, over the last round (one utterance per participant).

    Source: closings end with an exchange of terminal utterances (Schegloff and Sacks 1973). It looks for whole
    words, ignoring case and diacritics; languages other than English need their own `farewells`.
    """
    last = outputs["utterances"][-len(outputs["participants"]) :]
    if not last:
        return {"key": "goodbye", "score": None, "comment": "nothing was said"}
    forms = "|".join(re.escape(folded(words)) for words in farewells)
    leaving = [said["speaker"] for said in last if re.search(rf"(?<!\w)(?:{forms})(?!\w)", folded(said["text"]))]
    return {"key": "goodbye", "score": float(bool(leaving)), "comment": ", ".join(leaving) or "nobody took leave"}


VALUES: Final = {
    **dict.fromkeys(("words_for_others", "addressee_named", "consensus", "correct", "goodbye"), SHARE),
    **dict.fromkeys(("repetition", "greatest_share", "balance"), UNIT),
    "length_error": COUNT,
}
"""What values each evaluator of this module has."""
CONVERSATION_EVALUATORS = (consensus, correct, greatest_share, balance, goodbye)
