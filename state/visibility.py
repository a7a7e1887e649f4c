"""Who hears an utterance: all participants, or those in `heard_by` (a whisper). All readers of utterances use this."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, TypeVar

Said = TypeVar("Said", bound=Mapping[str, Any])


def is_public(utterance: Mapping[str, Any]) -> bool:
    """Whether all participants hear an utterance."""
    return utterance.get("heard_by") is None


def is_heard(utterance: Mapping[str, Any], name: str) -> bool:
    """Whether a participant hears an utterance: it is public, or names them in `heard_by`, or is their own.

    Args:
        utterance: with `speaker` and, for a whisper, `heard_by`.
        name: the participant; empty for onlookers (judge, selector, analysis), who hear public utterances only.
    """
    heard_by = utterance.get("heard_by")
    return heard_by is None or bool(name) and (name in heard_by or name == utterance["speaker"])


def heard_by(utterances: Iterable[Said], name: str) -> list[Said]:
    """The utterances that a participant hears, in their order."""
    return [utterance for utterance in utterances if is_heard(utterance, name)]


def last_heard(newest_first: Iterable[Said], name: str, count: int) -> list[Said]:
    """The last `count` utterances that a participant hears, oldest first; reads no more utterances than necessary.

    Args:
        newest_first: utterances, the last one first.
        name: as for `is_heard`.
        count: how many at most.
    """
    return list(islice((utterance for utterance in newest_first if is_heard(utterance, name)), count))[::-1]
