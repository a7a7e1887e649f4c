"""Evaluators of whole conversations: pure functions on a target's outputs, some with a reference answer.

What does not apply to a conversation (consensus in a discussion, a reference that is not given) is None, never 0.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from persimchat.state.answer_format import parse_answer, same_answer
from persimchat.state.errors import InputError
from persimchat.state.folding import folded

Outputs = dict[str, Any]
Feedback = dict[str, Any]

FAREWELLS: Final = (
    "bye", "goodbye", "good bye", "farewell", "good night", "see you", "so long", "take care", "until next time",
    "until tomorrow", "have a good", "have a nice", "i have to go", "i must go", "i must be off", "good evening to you",
)  # fmt: skip
"""English words with which people take leave."""


def consensus(outputs: Outputs) -> Feedback:
    """Whether a debate came to a consensus: 1 or 0; None for discussions. Source: the thesis, chapter 5."""
    concluded = outputs["conclusion"]
    if concluded is None:
        return {"key": "consensus", "score": None, "comment": "no debate"}
    return {"key": "consensus", "score": float(concluded["consensus"]), "comment": concluded["answer"]}


def correct(outputs: Outputs, reference_outputs: dict[str, Any]) -> Feedback:
    """Whether a debate's answer is the reference's `answer`: 1 or 0; None without a debate or a reference.

    Both are read in the debate's own form (yes or no, choice, number) before they are compared; free text is compared
    without case, diacritics and punctuation, which finds the same words and not the same meaning.

    Raises:
        InputError: the reference is no answer in the debate's form.
    """
    concluded, expected = outputs["conclusion"], reference_outputs.get("answer")
    if concluded is None or expected is None:
        return {"key": "correct", "score": None, "comment": "no debate" if concluded is None else "no reference"}
    form, choices = outputs["settings"]["answer_format"], outputs["settings"].get("choices") or ()
    try:
        wanted = parse_answer(str(expected), form, choices)
    except ValueError as error:
        raise InputError(
            f"the reference cannot be right: {error}",
            where="an example's outputs, field answer",
            remedy=f"Write it in the debate's form, answer_format={form}.",
        ) from None
    try:
        given = parse_answer(concluded["answer"], form, choices)
    except ValueError as error:
        return {"key": "correct", "score": 0.0, "comment": str(error)}
    return {"key": "correct", "score": float(same_answer(given, wanted, form)), "comment": given}


def shares(outputs: Outputs) -> dict[str, float]:
    """Everybody's share of the utterances, 0–1, in order of listing; all 0 where nothing was said."""
    counts = Counter(said["speaker"] for said in outputs["utterances"])
    total = sum(counts[name] for name in outputs["participants"])
    return {name: counts[name] / total if total else 0.0 for name in outputs["participants"]}


def greatest_share(outputs: Outputs) -> Feedback:
    """The share of the utterances of the one who spoke most often, 0–1; None where nothing was said."""
    found = shares(outputs)
    most = max(found, key=lambda name: found[name], default="")
    if not found or not found[most]:
        return {"key": "greatest_share", "score": None, "comment": "nothing was said"}
    return {"key": "greatest_share", "score": found[most], "comment": most}


def balance(outputs: Outputs) -> Feedback:
    """How evenly the utterances are spread over the participants: 1 where all spoke alike, 0 where only one did.

    Source: evenness, Shannon's entropy of the shares over its greatest value (Pielou 1966). None where nothing was
    said, or by a single participant.
    """
    found = [share for share in shares(outputs).values() if share]
    if not found or len(outputs["participants"]) < 2:
        return {"key": "balance", "score": None, "comment": "nothing to balance"}
    entropy = -sum(share * math.log(share) for share in found)
    score = min(1.0, max(0.0, entropy / math.log(len(outputs["participants"]))))
    return {"key": "balance", "score": score, "comment": f"{len(found)} of {len(outputs['participants'])} spoke"}


def goodbye(outputs: Outputs, farewells: Sequence[str] = FAREWELLS) -> Feedback:
    """Whether somebody takes leave at the end: 1 or 0, over the last round (one utterance a participant).

    Source: closings end with an exchange of terminal utterances (Schegloff and Sacks 1973). Whole words are looked
    for, without case and diacritics; other languages than English need `farewells` of their own.
    """
    last = outputs["utterances"][-len(outputs["participants"]) :]
    if not last:
        return {"key": "goodbye", "score": None, "comment": "nothing was said"}
    forms = "|".join(re.escape(folded(words)) for words in farewells)
    leaving = [said["speaker"] for said in last if re.search(rf"(?<!\w)(?:{forms})(?!\w)", folded(said["text"]))]
    return {"key": "goodbye", "score": float(bool(leaving)), "comment": ", ".join(leaving) or "nobody took leave"}


CONVERSATION_EVALUATORS = (consensus, correct, greatest_share, balance, goodbye)
