"""Evaluates conversations: a target and evaluators that fit `langsmith.evaluate`, and that run without an account."""

from typing import TYPE_CHECKING

from persimchat.state.public_names import loader

if TYPE_CHECKING:
    from persimchat.evaluation.conversations import (
        CONVERSATION_EVALUATORS,
        balance,
        consensus,
        correct,
        goodbye,
        greatest_share,
    )
    from persimchat.evaluation.dimensions import DIMENSIONS
    from persimchat.evaluation.evaluators import dimension
    from persimchat.evaluation.local import evaluate_locally, means, table
    from persimchat.evaluation.target import make_atarget, make_target
    from persimchat.evaluation.utterances import (
        UTTERANCE_EVALUATORS,
        addressee_named,
        length_error,
        repetition,
        words_for_others,
    )

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
        "CONVERSATION_EVALUATORS": "evaluation.conversations",
        "DIMENSIONS": "evaluation.dimensions",
        "UTTERANCE_EVALUATORS": "evaluation.utterances",
        "addressee_named": "evaluation.utterances",
        "balance": "evaluation.conversations",
        "consensus": "evaluation.conversations",
        "correct": "evaluation.conversations",
        "dimension": "evaluation.evaluators",
        "evaluate_locally": "evaluation.local",
        "goodbye": "evaluation.conversations",
        "greatest_share": "evaluation.conversations",
        "length_error": "evaluation.utterances",
        "make_atarget": "evaluation.target",
        "make_target": "evaluation.target",
        "means": "evaluation.local",
        "repetition": "evaluation.utterances",
        "table": "evaluation.local",
        "words_for_others": "evaluation.utterances",
    },
)
