"""Who hears an utterance: everybody, or named agents; a property of the utterance, heeded wherever one is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, TypeVar

Said = TypeVar("Said", bound=Mapping[str, Any])


def is_public(utterance: Mapping[str, Any]) -> bool:
    """Whether everybody hears it."""
    return utterance.get("heard_by") is None


def is_heard(utterance: Mapping[str, Any], name: str) -> bool:
    """Whether somebody hears it: everybody does, or they are named, or said it.

    Args:
        utterance: with `speaker` and, unless it is for everybody, `heard_by`.
        name: who; empty for onlookers of the conversation (judge, selector, analysis), who hear what is public.
    """
    heard_by = utterance.get("heard_by")
    return heard_by is None or bool(name) and (name in heard_by or name == utterance["speaker"])


def heard_by(utterances: Iterable[Said], name: str) -> list[Said]:
    """Those of the utterances that somebody hears, in their order."""
    return [utterance for utterance in utterances if is_heard(utterance, name)]


def last_heard(newest_first: Iterable[Said], name: str, count: int) -> list[Said]:
    """The last `count` utterances that somebody hears, oldest first; takes no more of them than it has to.

    Args:
        newest_first: utterances, the last one first.
        name: as for `is_heard`.
        count: how many at most.
    """
    return list(islice((utterance for utterance in newest_first if is_heard(utterance, name)), count))[::-1]
