"""Compares two runs: set-up, where and why they first differ, and results. Pure functions of records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from pydantic import Field

from ..runs.events import Totals
from ..runs.folder.lines import stand_in_words
from ..runs.folder.parts import is_empty, is_none, totals
from ..runs.folder.reading import Record, calls_of
from .diff_charts import PrunedDifference, Update, Voted, pruned_differences, updates, votes
from .diff_parting import MindDifference, Part, Parting, first_other_minds, parting, shared
from .summary import count_words, names_of

DIFF_VERSION: Final = 1


class Difference(Part):
    """A difference of set-up; null if a run does not have it."""

    what: str = Field(description="such as settings.selection_temperature or scenario.participants.Eva.traits")
    a: Any
    b: Any


class End(Part):
    """The result of a run."""

    stop_reason: str | None = Field(description="null if no ending is recorded")
    stop_source: str
    stop_detail: str
    consensus: bool | None = Field(description="null in discussions, and if there is no conclusion")
    answer: str | None
    utterances: int
    words: int
    calls: int | None = Field(description="null if they are not recorded")
    tokens: int | None
    cost_usd: float | None = Field(description="null if it is not known")


class Stands(Part):
    """Where one character of a story stands at the end of each run, in words; empty where a run does not say it."""

    name: str
    a: str
    b: str


class Share(Part):
    """How much one participant said in each run."""

    name: str
    utterances_a: int
    utterances_b: int
    words_a: int
    words_b: int


class Comparison(Part):
    """Two runs side by side, as `persimchat diff` prints them."""

    version: int = DIFF_VERSION
    a: str = Field(description="the first run's id")
    b: str = Field(description="the second run's id")
    lineage: list[str] = Field(description="if a run is a branch: of which run, a sentence each")
    equal: bool = Field(description="whether nothing differs but ids, times and cost")
    setup: list[Difference]
    shared: int = Field(description="utterances that they share from the start")
    parting: Parting | None = Field(description="null if all utterances are the same")
    minds: list[MindDifference] = Field(
        description="minds that differ, at the first turn at which any does; empty if all are equal"
    )
    calls_after: int | None = Field(
        default=None,
        exclude_if=is_none,
        description="one run is a branch: the utterance after which calls, tokens and cost of both ends count, as the "
        "branch has none of its past; left out: they are of whole runs",
    )
    end_a: End
    end_b: End
    participants: list[Share]
    pruned: list[PrunedDifference] = Field(
        default=[], exclude_if=is_empty, description="what was left out of prompts, where it differs; else left out"
    )
    standings: list[Stands] = Field(
        default=[], exclude_if=is_empty, description="stories: where the characters stand at the end; else left out"
    )
    updates: list[Update] = Field(
        default=[],
        exclude_if=is_empty,
        description="stories: where the characters stand after each update, from the last shared one; else left out",
    )
    votes: list[Voted] = Field(default=[], exclude_if=is_empty, description="stories: the ballots; else left out")
    notes: list[str] = Field(description="what is missing in the runs' folders")


def compare(a: Record, b: Record) -> Comparison:
    """Compare two runs.

    Args:
        a: one run, read with whole minds.
        b: the other, read in the same way.
    """
    setup = list(_setup(a, b))
    place, minds, together = parting(a, b), first_other_minds(a, b), shared(a, b)
    after = calls_after(a, b)
    end_a, end_b = _end(a, after), _end(b, after)
    judged = a.verdicts == b.verdicts and a.scores == b.scores and a.happenings == b.happenings
    return Comparison(
        a=a.manifest.run,
        b=b.manifest.run,
        lineage=_lineage(a, b),
        equal=not setup and place is None and not minds and _came_to(end_a) == _came_to(end_b) and judged,
        setup=setup,
        shared=together,
        parting=place,
        minds=minds,
        calls_after=after,
        end_a=end_a,
        end_b=end_b,
        participants=_shares(a, b),
        pruned=pruned_differences(a, b),
        standings=_standings(a, b),
        updates=updates(a, b, together),
        votes=votes(a, b),
        notes=[f"{record.manifest.run}: {note}" for record in (a, b) for note in record.notes],
    )


def _lineage(a: Record, b: Record) -> list[str]:
    """If a run is a branch, of which run, in words; the two runs are called a and b."""
    called = {a.manifest.run: "a", b.manifest.run: "b"}
    told = []
    for name, record in (("a", a), ("b", b)):
        branch = record.manifest.branch
        if branch is not None:
            told.append(f"{name} is a branch of {called.get(branch.of, branch.of)} at turn {branch.turn}")
    return told


def _setup(a: Record, b: Record) -> Iterator[Difference]:
    """The differences of set-up, in their order."""
    flat_a, flat_b = dict(_flat(_parts(a))), dict(_flat(_parts(b)))
    for what in dict.fromkeys([*flat_a, *flat_b]):
        one, other = flat_a.get(what), flat_b.get(what)
        if one != other:
            yield Difference(what=what, a=one, b=other)


def _parts(record: Record) -> dict[str, Any]:
    manifest = record.manifest
    scenario = manifest.scenario.model_dump()
    participants = {participant.pop("name"): participant for participant in scenario.pop("participants")}
    settings = manifest.settings.model_dump()
    settings.pop("seed", None)  # compared separately
    return {
        "scenario": {**scenario, "participants": participants, "order": list(participants)},
        "seed": manifest.seed,
        "settings": settings,
        "models": {name: _one(models) for name, models in {**manifest.models, **manifest.outside_models}.items()},
        "prompt_hash": manifest.prompt_hash or None,
        "versions": manifest.versions,
    }


LONGEST_VALUE: Final = 300
"""The most characters that tables show of a value in which runs differ, such as a template."""


def _one(models: Any) -> Any:
    """An agent's models by module; one name if it is the same for all modules."""
    names = list(models.values()) if isinstance(models, dict) else []
    return names[0] if names and all(name == names[0] for name in names) else models


def _flat(value: dict[str, Any], above: str = "") -> Iterable[tuple[str, Any]]:
    """Dotted names and their values; empty values are left out."""
    for key, item in value.items():
        what = f"{above}.{key}" if above else str(key)
        if isinstance(item, dict):
            yield from _flat(item, what)
        elif item not in (None, "", []):
            yield what, item


def calls_after(a: Record, b: Record) -> int | None:
    """The utterance after which the requests of both runs can be compared; None if all can.

    A branch makes no requests for its past. Those around the place where it begins are of its past in the one run and
    its own in the other, so that only what follows its first own utterance is comparable.
    """
    begins = [record.manifest.branch.turn + 1 for record in (a, b) if record.manifest.branch is not None]
    return max(begins) if begins else None


def _end(record: Record, after: int | None) -> End:
    """The result of a run; its requests from an utterance on, or all of them."""
    manifest = record.manifest
    conclusion = manifest.conclusion
    total = manifest.usage.total if after is None else _used(record, after)
    return End(
        stop_reason=manifest.stop_reason,
        stop_source=manifest.stop_source,
        stop_detail=manifest.detail,
        consensus=conclusion.consensus if conclusion else None,
        answer=conclusion.answer if conclusion else None,
        utterances=len(record.utterances),
        words=sum(count_words(said.text) for said in record.utterances),
        calls=total.calls if total else None,
        tokens=total.input_tokens + total.output_tokens if total else None,
        cost_usd=total.cost_usd if total else None,
    )


def _used(record: Record, after: int) -> Totals:
    """What a run used from an utterance on."""
    fields = set(Totals.model_fields)
    return totals([call.model_dump(include=fields) for call in calls_of(record) if (call.turn or 0) >= after])


def _came_to(end: End) -> End:
    """A result without its requests: a resumed or replayed run may have made others and is still the same."""
    return end.model_copy(update={"calls": None, "tokens": None, "cost_usd": None})


def _shares(a: Record, b: Record) -> list[Share]:
    def spoken(record: Record, name: str) -> tuple[int, int]:
        texts = [said.text for said in record.utterances if said.speaker == name]
        return len(texts), sum(map(count_words, texts))

    shares = []
    for name in dict.fromkeys([*names_of(a), *names_of(b)]):
        (said_a, words_a), (said_b, words_b) = spoken(a, name), spoken(b, name)
        shares.append(Share(name=name, utterances_a=said_a, utterances_b=said_b, words_a=words_a, words_b=words_b))
    return shares


def _standings(a: Record, b: Record) -> list[Stands]:
    """Where the characters of a story stand at the end of each run, in order of listing."""

    def last(record: Record) -> dict[str, str]:
        found = record.last_standings
        return {name: stand_in_words(one) for name, one in found.items()}

    then, now = last(a), last(b)
    names = [name for name in dict.fromkeys([*names_of(a), *names_of(b)]) if name in then or name in now]
    return [Stands(name=name, a=then.get(name, ""), b=now.get(name, "")) for name in names]
