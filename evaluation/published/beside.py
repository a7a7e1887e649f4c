"""Published results beside one's own: how they are printed, and in one sentence what was different."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from persimchat.evaluation.published.paper import Paper, Published, PublishedPair

P = TypeVar("P", Published, PublishedPair)


@dataclass(frozen=True, kw_only=True)
class Own:
    """The conditions of a study of one's own.

    Attributes:
        models: of the agents.
        judges: the models that scored.
        tasks: the independent units.
        messages: the message limits of the conversations.
        preset: whether the paper's settings were taken as the base.
        changed: settings of the preset that were then changed, each as it was held: "max_messages 20".
    """

    models: Sequence[str]
    judges: Sequence[str]
    tasks: int
    messages: Sequence[int]
    preset: bool
    changed: Sequence[str] = ()


def nearest(rows: Sequence[P], messages: Sequence[int]) -> P | None:
    """The published row to put beside a number: of conversations as long, and with nothing special, if there is one."""
    return max(rows, key=lambda row: (row.messages in messages, not row.note), default=None)


def in_words(rows: Iterable[Published | PublishedPair]) -> str:
    """Published values with their tables: "8.53 ± 0.94 (Table 6.3)", or shares won, tied and lost; empty for none."""
    return ", ".join(f"{_value(row)} (Table {row.table}{f', {row.note}' if row.note else ''})" for row in rows)


def _value(row: Published | PublishedPair) -> str:
    if isinstance(row, PublishedPair):
        return f"{row.win:.0f} / {row.tie:.0f} / {row.loss:.0f} %"
    return f"{row.value:.2f} ± {row.sd:.2f}"


def what_differed(paper: Paper, rows: Sequence[Published | PublishedPair], own: Own) -> str:
    """One sentence that names the conditions of the published values and of one's own; empty without any.

    Args:
        paper: that has the values.
        rows: that stand beside one's own.
        own: the conditions of one's own.
    """
    if not rows:
        return ""
    sizes = dict.fromkeys(f"{row.tasks * row.rounds} tasks of {row.messages} messages" for row in rows)
    parts = [
        f"models {_listed(row.model or 'not public' for row in rows)}, here {_listed(own.models)}",
        f"judge {_listed(row.judge for row in rows if row.judge)}, here {_listed(own.judges)}",
        f"{_listed(sizes)}, here {own.tasks} of {_listed(map(str, own.messages))} messages",
    ]
    if not own.preset:
        parts.append("settings (this experiment has no preset: thesis)")
    elif own.changed:
        parts.append(f"settings that the file changed: {_listed(own.changed)}")
    return f"What differed from {paper.source}: {'; '.join([*parts, *paper.preset.differs])}."


def _listed(names: Iterable[str]) -> str:
    return " and ".join(dict.fromkeys(names)) or "none"
