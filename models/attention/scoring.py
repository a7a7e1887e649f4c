"""Scorers: local models whose attention says how much a response leans on each piece of information of a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from persimchat.state.errors import MissingExtraError


@dataclass(frozen=True)
class Scores:
    """What was read.

    Attributes:
        values: one a piece of information, in the order given, not rounded.
        tokens: how many tokens were read.
    """

    values: tuple[float, ...]
    tokens: int


class Scorer(Protocol):
    """A local model whose attention can be read.

    Attributes:
        name: as in the settings.
        context: the most tokens that it reads.
    """

    name: str
    context: int

    def count(self, system: str, user: str, response: str = "") -> int:
        """Tokens of a prompt and a response under the model's chat template."""

    def scores(
        self,
        system: str,
        user: str,
        spans: Sequence[tuple[int, int]],
        responses: Sequence[str] = (),
        *,
        reducer: Literal["sum_mean", "mean_mean"] = "sum_mean",
    ) -> Scores:
        """The attention to each piece of information: equation 1 of the paper.

        Args:
            system: the system message.
            user: the user message.
            spans: start and end of each piece, in characters of the user message.
            responses: who looks; without any, the prompt's last token.
            reducer: how a piece's tokens are put together.
        """


def scorer_of(name: str) -> Scorer:
    """The scorer of this name, loaded once a process."""
    raise MissingExtraError(name, "pruning")
