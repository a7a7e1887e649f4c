"""Evaluates conversations: a target and evaluators that fit `langsmith.evaluate`, and that run without an account."""

from typing import TYPE_CHECKING

from ..state.public_names import loader

if TYPE_CHECKING:
    from .dimensions import DIMENSIONS, dimension
    from .evaluators import (
        CONVERSATION_EVALUATORS,
        UTTERANCE_EVALUATORS,
        addressee_named,
        balance,
        consensus,
        correct,
        goodbye,
        greatest_share,
        length_error,
        repetition,
        words_for_others,
    )
    from .local import evaluate_locally, make_atarget, make_target, means, table

__all__ = [
    "CONVERSATION_EVALUATORS",
    "DIMENSIONS",
    "UTTERANCE_EVALUATORS",
    "addressee_named",
    "balance",
    "consensus",
    "correct",
    "dimension",
    "evaluate_locally",
    "goodbye",
    "greatest_share",
    "length_error",
    "make_atarget",
    "make_target",
    "means",
    "repetition",
    "table",
    "words_for_others",
]

__getattr__ = loader(
    __name__,
    {
        "CONVERSATION_EVALUATORS": "evaluation.evaluators",
        "DIMENSIONS": "evaluation.dimensions",
        "UTTERANCE_EVALUATORS": "evaluation.evaluators",
        "addressee_named": "evaluation.evaluators",
        "balance": "evaluation.evaluators",
        "consensus": "evaluation.evaluators",
        "correct": "evaluation.evaluators",
        "dimension": "evaluation.dimensions",
        "evaluate_locally": "evaluation.local",
        "goodbye": "evaluation.evaluators",
        "greatest_share": "evaluation.evaluators",
        "length_error": "evaluation.evaluators",
        "make_atarget": "evaluation.local",
        "make_target": "evaluation.local",
        "means": "evaluation.local",
        "repetition": "evaluation.evaluators",
        "table": "evaluation.local",
        "words_for_others": "evaluation.evaluators",
    },
)
