"""What a scorer is, and how attention to tokens becomes one score a piece of information."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ...state.errors import ModelError, PromptTooLong
from ..naming import SMOLLM2

Reducer = Literal["sum_mean", "mean_mean"]
"""How attention becomes a score: the sum over a piece's tokens, or their mean; both are means over the response's."""

WHERE: Final = "pruning.scorer"
_GET: Final = f"persimchat models get {SMOLLM2}"
OTHERWISE: Final = "set pruning.method=embedding"


@dataclass(frozen=True)
class Scores:
    """What a scorer found in one prompt.

    Attributes:
        values: one score a piece, in the order of the spans, not rounded.
        tokens: tokens read.
    """

    values: tuple[float, ...]
    tokens: int


class Scorer(Protocol):
    """A model whose attention can be read."""

    @property
    def name(self) -> str:
        """Its name, as the settings have it."""

    @property
    def context(self) -> int:
        """The most tokens that it reads."""

    def count(self, system: str, user: str, response: str = "") -> int:
        """The tokens of a prompt under its chat template, and of a response to it."""

    def scores(
        self,
        system: str,
        user: str,
        spans: Sequence[tuple[int, int]],
        responses: Sequence[str] = (),
        *,
        reducer: Reducer = "sum_mean",
    ) -> Scores:
        """The score of each piece of information. Blocks; call it by `reading`.

        Args:
            system: the system message.
            user: the user message.
            spans: where each piece begins and ends, in characters of `user`. A token belongs to the piece in which its
                first character stands.
            responses: answers to the prompt, whose mean counts; without one, the prompt's last token looks.
            reducer: how attention becomes a score.

        Raises:
            PromptTooLong: prompt and response pass the context.
            ModelError: the model gives no numbers, or a response has no token.
        """


def refuse_long(name: str, context: int, prompt: int, answers: Sequence[Sequence[int]]) -> None:
    """Refuse what a scorer cannot read.

    Args:
        name: the scorer's.
        context: the most tokens that it reads.
        prompt: tokens of the prompt.
        answers: the tokens of each response.

    Raises:
        PromptTooLong: prompt and response pass the context.
        ModelError: a response has no token.
    """
    if not all(answers):
        raise ModelError("a first response has no words, so it looks at nothing", model=name)
    longest = max(map(len, answers), default=0)
    if prompt + longest > context:
        answer = f" and a response of {longest:,}" if longest else ""
        raise PromptTooLong(
            f"too long: a prompt of {prompt:,} tokens{answer}, and the scorer reads at most {context:,}",
            model=name,
            remedy="Shorten the prompt with context_tokens, or use another pruning.scorer.",
        )


def per_piece(
    name: str, seen: NDArray[np.float64], begins: NDArray[np.int64], spans: Sequence[tuple[int, int]], reducer: Reducer
) -> tuple[float, ...]:
    """The attention to tokens as a score of each piece of information.

    Args:
        name: the scorer's.
        seen: of each token of the prompt.
        begins: where each token begins, in the characters in which the spans are given, ascending.
        spans: where each piece begins and ends.
        reducer: sum or mean over a piece's tokens; a piece without a token has 0.

    Raises:
        ModelError: something is not a number.
    """
    if not np.isfinite(seen).all():
        raise ModelError(
            "the attention is not a number: the scorer's file is broken",
            model=name,
            remedy=f"Get it again, for example with: {_GET}",
        )
    bounds = np.searchsorted(begins, np.array(spans, np.int64).reshape(-1, 2))
    found = [(float(seen[a:b].sum()), max(1, int(b - a))) for a, b in bounds]
    return tuple(total if reducer == "sum_mean" else total / tokens for total, tokens in found)
