"""Consolidation: which memories long-term memory keeps when it is full (thesis, 4.1.1; specification, step 2)."""

from __future__ import annotations

from collections.abc import Collection, Mapping


def admit(
    alive: Mapping[str, int], new_id: str, turn: int, capacity: int, pinned: Collection[str] = ()
) -> tuple[dict[str, int], list[str]]:
    """Add a memory to long-term memory; if that is full, drop the memory with the oldest last access.

    Among memories last accessed at the same turn, the one that arrived first is dropped. A memory that is already alive
    keeps its place, and `turn` becomes its last access.

    Args:
        alive: id → turn of last access, in order of arrival; not changed.
        new_id: the memory that arrives.
        turn: number of utterances so far; the new memory's last access.
        capacity: how many memories may be alive.
        pinned: ids of profile, topic and social goals; they are never dropped, even if they alone exceed the capacity.

    Returns:
        The memories alive now, in order of arrival, and the ids of the dropped ones.
    """
    return within({**alive, new_id: turn}, capacity, pinned)


def within(alive: Mapping[str, int], capacity: int, pinned: Collection[str] = ()) -> tuple[dict[str, int], list[str]]:
    """Long-term memory without the memories with the oldest last access, if it holds too many; see `admit`.

    Args:
        alive: id → turn of last access, in order of arrival; not changed.
        capacity: how many memories may be alive.
        pinned: ids of those that are never dropped.

    Returns:
        The memories alive now, in order of arrival, and the ids of the dropped ones.
    """
    now = dict(alive)
    excess = len(now) - capacity
    if excess <= 0:
        return now, []
    kept = frozenset(pinned)
    # sorted() is stable and the mapping is in order of arrival, so of equal ones the older arrival is dropped.
    oldest = sorted((memory for memory in now if memory not in kept), key=now.__getitem__)[:excess]
    for memory in oldest:
        del now[memory]
    return now, oldest
