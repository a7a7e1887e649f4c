"""Evaluators of whole conversations: pure functions on a target's outputs, some with a reference answer.

A score that does not apply to a conversation (consensus in a discussion, a missing reference) is None, never 0.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from persimchat.state.answer_format import parse_answer, same_answer
from persimchat.state.errors import InputError
from persimchat.state.normalise import folded

Outputs = dict[str, Any]
Feedback = dict[str, Any]

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


CONVERSATION_EVALUATORS = (consensus, correct, greatest_share, balance, goodbye)
