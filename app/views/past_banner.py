"""Where a run's past comes from and where it ends, in words: what a reader sees around the past that is shown again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from persimchat.state.plain_text import one_line

if TYPE_CHECKING:
    from persimchat.runs.folder.manifest import Branch


@dataclass(frozen=True)
class Lead:
    """What stands around a run's past.

    Attributes:
        heading: whose branch it is, for the head; empty for a run of its own.
        mark: what stands between the past and what is new; empty where nothing is to stand there.
    """

    heading: str = ""
    mark: str = ""


def resumed(branch: Branch | None) -> Lead:
    """Around the past of a run that goes on itself.

    Args:
        branch: where it has its past from, as its run.json says; None for a run of its own.
    """
    return Lead(_heading(branch.of, branch.turn) if branch else "", "It goes on here.")


def branched(of: str, turn: int, *, again: bool) -> Lead:
    """Around the past that a branch shares.

    Args:
        of: the other run's id.
        turn: how many utterances they share.
        again: whether the next one is made again.
    """
    more = f": utterance {turn + 1} is made again" if again else ""
    return Lead(f"{_heading(of, turn)}{more}", "From here on it is new.")


def _heading(of: str, turn: int) -> str:
    return f"Branch of {one_line(of)} {f'after utterance {turn}' if turn else 'at the awakening'}"
