"""Chance in a survey: which topics are shown, in which order, under which names. All of it comes from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from persimchat.runs.reports.words import count, listed
from persimchat.state.errors import InputError

MOST_SYSTEMS: Final = 26
"""There are so many letters for labels."""
_LETTERS: Final = "bcdfghjkmnpqrstvwxz"
"""Letters of ids. Without vowels they make no words, and no months, which a spreadsheet would turn into dates."""
_LENGTH: Final = 5


@dataclass(frozen=True)
class Held:
    """A conversation that was held, from which an excerpt may be drawn.

    Attributes:
        system: what is compared: a method, a model, a variant.
        task: what it has in common with the conversations of other systems that it may stand beside.
        topic: what it is about.
        folder: its run's.
    """

    system: str
    task: str
    topic: str
    folder: Path


def draw_topics(held: Sequence[Held], systems: Sequence[str], number: int, chance: Random) -> list[dict[str, Held]]:
    """Draw tasks that all systems have; no topic comes again before all others have come.

    Args:
        held: all conversations.
        systems: to be compared.
        number: of tasks.
        chance: by which they are drawn.

    Returns:
        For each task drawn, its conversation by system.

    Raises:
        InputError: fewer than two systems or too many, fewer tasks than wanted, or the topics of one task differ.
    """
    if not 2 <= len(systems) <= MOST_SYSTEMS:
        raise InputError(
            f"a survey compares 2 to {MOST_SYSTEMS} systems, not {len(systems)}",
            where=listed(list(systems)),
            remedy="Name others.",
        )
    by_topic: dict[str, list[dict[str, Held]]] = {}
    shared = 0
    for found in _by_task(held).values():
        if found.keys() >= set(systems):
            shared += 1
            topics = {found[system].topic for system in systems}
            if len(topics) == 1:
                by_topic.setdefault(topics.pop(), []).append(found)
    if shared and not by_topic:
        raise InputError(
            "the systems talk about different topics, so raters would know them apart",
            where=listed(list(systems)),
            remedy="Compare by an axis that leaves the topic as it is.",
        )
    there = sum(map(len, by_topic.values()))
    if there < number:
        counts = [f"{system} {len({one.task for one in held if one.system == system})}" for system in systems]
        raise InputError(
            f"there {'is' if there == 1 else 'are'} {count(there, 'task')} that all systems have, not {number}",
            where=f"complete conversations, by task: {', '.join(counts)}",
            remedy="Ask for fewer with --topics, or hold the conversations that are missing.",
        )
    queues = [chance.sample(found, len(found)) for _, found in sorted(by_topic.items())]
    chance.shuffle(queues)
    rounds = (queue[turn] for turn in range(max(map(len, queues))) for queue in queues if turn < len(queue))
    return [found for found, _ in zip(rounds, range(number), strict=False)]


def _by_task(held: Sequence[Held]) -> dict[str, dict[str, Held]]:
    """The conversations of each task by system.

    Raises:
        InputError: a system has two conversations of one task.
    """
    found: dict[str, dict[str, Held]] = {}
    for one in sorted(held, key=lambda one: (one.task, one.system)):
        of_task = found.setdefault(one.task, {})
        if one.system in of_task:
            raise InputError(
                f"the runs {of_task[one.system].folder.name} and {one.folder.name} have the same topic, participants "
                "and seed, so it is not clear which of them to show",
                where=f"system {one.system}",
                remedy="Leave one of them out.",
            )
        of_task[one.system] = one
    return found


def draw_order(systems: Sequence[str], chance: Random) -> list[str]:
    """The order of the systems under one topic: each is equally likely, whatever other topics have."""
    return chance.sample(systems, len(systems))


def draw_ids(number: int, chance: Random) -> list[str]:
    """Different ids that say nothing."""
    found: dict[str, None] = {}
    while len(found) < number:
        found["".join(chance.choices(_LETTERS, k=_LENGTH))] = None
    return list(found)
