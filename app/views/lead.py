"""The lines around the past of a resumed run or a branch; commands load it, so it loads no run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...state.plain_text import one_line

if TYPE_CHECKING:
    from ...runs.folder.manifest import Branch


@dataclass(frozen=True)
class Lead:
    """The lines around a run's past.

    Attributes:
        heading: the run of which this is a branch, for the head; empty if it is not a branch.
        mark: the line between the past and the new utterances; empty for none.
    """

    heading: str = ""
    mark: str = ""


def resumed(branch: Branch | None) -> Lead:
    """The lines around the past of a resumed run.

    Args:
        branch: its origin, from the log; None if it is not a branch.
    """
    return Lead(_heading(branch.of, branch.turn) if branch else "", "The run continues here.")


def branched(of: str, turn: int, *, again: bool) -> Lead:
    """The lines around the past that a branch shares.

    Args:
        of: the id of the original run.
        turn: how many utterances they share.
        again: whether the next utterance is worded again.
    """
    more = f": utterance {turn + 1} is worded again" if again else ""
    return Lead(f"{_heading(of, turn)}{more}", "New from here on.")


def _heading(of: str, turn: int) -> str:
    return f"Branch of {one_line(of)} {f'after utterance {turn}' if turn else 'at the awakening'}"
