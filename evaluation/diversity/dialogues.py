"""What of a recorded run counts as a dialogue: words that agents said to all, and what pruning left out for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Final

from persimchat.runs.events import OWN_ENDS, Uttered
from persimchat.runs.folder.reading import Record
from persimchat.state.pruning import Check, Pruned

WHISPERS, PEOPLE, MODERATOR = "whispers", "words of people", "words of the moderator"
NOT_OVER: Final = "it is not over"
NO_WORDS: Final = "no agent said anything that all heard"


@dataclass(frozen=True)
class LeftOut:
    """How much of the words that may go was left out of a dialogue's prompts.

    Attributes:
        words: of all pieces of information that might have gone.
        removed: words of those that went.
    """

    words: int
    removed: int


@dataclass(frozen=True)
class Dialogue:
    """One run of a case.

    Attributes:
        run: its id, or its cell's.
        texts: the utterances that count, in order.
        seed: of the run; None if it is not known.
        apart: utterances that do not count, by the reason.
        left_out: what pruning left out; None if nothing is recorded of it.
        said: by utterance that was checked, how far it contradicts what was left out, 1–10.
        first: the same of each first wording.
    """

    run: str
    texts: tuple[str, ...]
    seed: int | None = None
    apart: Mapping[str, int] = field(default_factory=dict)
    left_out: LeftOut | None = None
    said: tuple[float, ...] = ()
    first: tuple[float, ...] = ()

    @cached_property
    def key(self) -> tuple[bool, int, str]:
        """By which the dialogues of a case are sorted: their seeds, then their runs."""
        return self.seed is None, self.seed or 0, self.run

    @property
    def draw(self) -> int | str:
        """What is random in it: its seed, or its run where that is not known."""
        return self.run if self.seed is None else self.seed


def why_left_out(record: Record) -> str:
    """Why a run cannot be measured: it failed, is not over, or nothing in it counts; empty if it can."""
    reason = record.manifest.stop_reason
    if reason is None:
        return NOT_OVER
    if reason not in OWN_ENDS:
        return {"error": "it failed", "budget": "its budget was used up", "stopped": "it was stopped"}[reason]
    return "" if any(_apart(record, said) is None for said in record.utterances) else NO_WORDS


def dialogue_of(record: Record, name: str | None = None) -> Dialogue:
    """The dialogue in a run.

    Args:
        record: of the run.
        name: how it is called; the run's id if None.
    """
    apart = [(said, _apart(record, said)) for said in record.utterances]
    pruned = [mind.pruned for mind in record.minds if mind.pruned is not None]
    return Dialogue(
        run=record.manifest.run if name is None else name,
        texts=tuple(said.text for said, why in apart if why is None),
        seed=record.manifest.seed,
        apart=Counter(why for _, why in apart if why is not None),
        left_out=LeftOut(sum(one.words for one in pruned), sum(one.words_removed for one in pruned))
        if pruned
        else None,
        said=_scores(pruned, lambda checks: next((one for one in checks if one.taken), None)),
        first=_scores(pruned, lambda checks: checks[0]),
    )


def apart_in_words(apart: Mapping[str, int]) -> list[str]:
    """What a reader is told of utterances that do not count: one sentence, or none."""
    named = ", ".join(f"{why} {number:,}" for why, number in sorted(apart.items()))
    return [f"Utterances that do not count: {named}."] if named else []


def _apart(record: Record, said: Uttered) -> str | None:
    """Why an utterance does not count; None if it does."""
    if said.speaker not in record.manifest.names or said.edited_by is not None:
        return MODERATOR
    if said.speaker in record.manifest.people:
        return PEOPLE
    if said.is_given:
        return PEOPLE if said.question is None else MODERATOR
    return None if said.heard_by is None else WHISPERS


def _scores(pruned: Iterable[Pruned], chosen: Callable[[list[Check]], Check | None]) -> tuple[float, ...]:
    """The mean score of one check of each utterance that has any."""
    checks = (chosen(one.checks) for one in pruned if one.checks)
    return tuple(fmean(one.scores) for one in checks if one is not None and one.scores)
