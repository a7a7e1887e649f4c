"""The local model whose attention scores pieces of information: whether it is there, and what gets it."""

from __future__ import annotations

from typing import Any, Final

from persimchat.models.naming import SMOLLM2
from persimchat.state.errors import InputError, MissingExtraError

OFFERED: Final = SMOLLM2
"""The only scorer that pages and the REST API take: any other is a file on the server's machine."""


def scorer_missing() -> InputError | MissingExtraError | None:
    """Why attention cannot score here, with the command that helps; None if it can. Blocks."""
    from persimchat.models.attention.scoring import check_scorer

    try:
        check_scorer(OFFERED)
    except (InputError, MissingExtraError) as error:
        return error
    return None


def refuse_other_scorer(given: Any) -> None:
    """Refuse a scorer that is a file or a folder; raises InputError."""
    if str(given).strip() != OFFERED:
        raise InputError(
            f"the scorer {str(given)[:60]!r} is a file on the server's machine, which users of the page cannot choose",
            where="setting pruning.scorer",
            remedy=f"Leave it out, which takes {OFFERED}, or begin the run on the command line.",
        )
