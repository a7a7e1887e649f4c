"""The figures of diversity: of each case and setting, and over cases with intervals and paired differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from statistics import fmean
from typing import Final, TypeVar

import numpy as np

from ...state.settings import Settings
from ...state.wording import all_of, t
from ..statistics.claims import Claim, family, paired
from ..statistics.intervals import COSINE, COUNT, SHARE, UNIT, Estimate, Kind, mean_over_tasks
from . import texts as ngrams
from .cases import Cases, Dialogue, Note, Setting, balanced
from .texts import (
    ORDERS,
    TOKENS,
    Vectors,
    Vocabulary,
    dist,
    embedded,
    embedding_in_words,
    exclusive,
    max_similarity,
    sim,
)

T = TypeVar("T")
_Group = Sequence[Dialogue]

NOTHING: Final = "nothing to compare"
UNEQUAL: Final = "unequal numbers of dialogues"
NO_GRAM: Final = "no n-gram"
NO_OTHERS: Final = "no group of the reference has other seeds"
CASE, POSITION = "case", "position"
GAIN: Final = "dist_3_gain"

MEASURES: Final[Mapping[str, str]] = {
    "sim": "mean cosine of all pairs of dialogues, −1 to 1; lower is more diverse",
    **{f"dist_{n}": f"different {n}-grams over all {n}-grams, 0–1; higher is more diverse" for n in ORDERS},
    **{f"dist_{n}_cut": f"dist_{n} with every dialogue cut to the words of the case's shortest" for n in ORDERS},
    "words": "mean words of an utterance",
    "repeated_end": "share of dialogues whose last utterance has the words of an earlier one",
    "words_left_out": "share of the words that might go which pruning left out of the prompts",
    GAIN: "dist_3 minus that of the same settings without pruning: read it against words_left_out",
    "inconsistency": "mean score by which what was said contradicts what was left out, 1–10",
    "inconsistency_first": "the same of first wordings, before any was replaced",
    "max_sim": "mean over dialogues of the greatest cosine with one of the reference; lower is more different",
    **{f"exclusive_{n}": f"share of different {n}-grams that the reference has not, 0–1" for n in ORDERS},
}
"""The measures, in order of tables, each with what it says."""
_KINDS: Final[Mapping[str, Kind]] = {
    "sim": COSINE,
    "max_sim": COSINE,
    "words": COUNT,
    "repeated_end": SHARE,
    GAIN: UNIT.of_differences,
    **dict.fromkeys(("inconsistency", "inconsistency_first"), Kind(low=1, high=10)),
}
"""What values measures have; all others are between 0 and 1."""
_BESIDE: Final = ("max_sim", *(f"exclusive_{n}" for n in ORDERS))
RELATIVE: Final = frozenset({"words_left_out", GAIN, *_BESIDE})
"""Measures that compare with the reference already, or count against none of it: their differences are not taken."""


@dataclass(frozen=True)
class Options:
    """How diversity is measured.

    Attributes:
        embedding: by its name in the settings.
        tokens: words, or whitespace to compare with other implementations.
        positions: whether the utterances at each position are measured, too.
        group: dialogues that are measured together, in order of seeds; all of a case if None. With more than one group,
            values are means over groups, and each group is compared with one of the reference from other seeds, those
            of the reference too.
    """

    embedding: str
    tokens: str = "words"
    positions: bool = False
    group: int | None = None


@dataclass(frozen=True)
class Value:
    """One value of a measure.

    Attributes:
        case: the set-up.
        setting: under which.
        measure: a name in `MEASURES`.
        value: None where it is missing.
        missing: why; empty where it is not.
        dialogues: on which it rests.
        unit: what it is a value of: the case, or a position in its dialogues.
        who: which position, from 1; empty for the case.
    """

    case: str
    setting: str
    measure: str
    value: float | None
    missing: str = ""
    dialogues: int = 0
    unit: str = CASE
    who: str = ""


@dataclass(frozen=True)
class Mean:
    """A measure of a setting over cases.

    Attributes:
        setting: which.
        measure: a name in `MEASURES`.
        estimate: the mean over cases; its interval is missing with one case.
        against: the setting with which it is compared; None for the first one.
        claim: the difference, this setting minus that one, over the cases that have both; None where none is taken.
        unit: case or position.
        who: which position; empty for the case.
    """

    setting: str
    measure: str
    estimate: Estimate
    against: str | None = None
    claim: Claim | None = None
    unit: str = CASE
    who: str = ""


@dataclass(frozen=True)
class Diversity:
    """What was found.

    Attributes:
        cases: the dialogues that were measured, by case and setting.
        options: how.
        values: of each case and setting.
        means: over cases.
        told: what a reader must know, a sentence each.
    """

    cases: Cases
    options: Options
    values: Sequence[Value]
    means: Sequence[Mean]
    told: Sequence[Note] = ()

    @property
    def notes(self) -> list[str]:
        """What a reader must know, in the current language."""
        return [one() for one in self.told]

    @property
    def embedding(self) -> str:
        """The embedding, as tables name it."""
        return embedding_in_words(self.options.embedding)

    def mean(self, setting: str, measure: str, who: str = "") -> Mean | None:
        """A measure of a setting over cases; None if it was not taken."""
        wanted = (one for one in self.means if (one.setting, one.measure, one.who) == (setting, measure, who))
        return next(wanted, None)

    @property
    def measures(self) -> list[str]:
        """The measures that were taken, in order."""
        taken = {one.measure for one in self.values}
        return [name for name in MEASURES if name in taken]


async def measure(cases: Cases, options: Options, settings: Settings) -> Diversity:
    """Measure the diversity of cases. No model is asked; an embedding of a server is.

    Args:
        cases: dialogues by case and setting.
        options: how.
        settings: for the embedding: timeout and limits on requests.

    Raises:
        MissingExtraError: intervals need the extra `evaluation`, or the embedding its own.
        InputError: there is no such embedding.
        ModelError: the embedding's server failed.
    """
    even = balanced(cases) if options.group is None else cases
    every = [one for by_setting in even.sets.values() for each in by_setting.values() for one in each]
    own = settings.model_copy(update={"embedding": options.embedding})
    rows = await embedded(own, [one.texts for one in every])
    vectors = {id(one): row for one, row in zip(every, rows, strict=True)}
    at: dict[tuple[int, int], Vectors] = {}
    if options.positions:
        places = [(id(one), place) for one in every for place in range(len(one.texts))]
        texts = [[text] for one in every for text in one.texts]
        at = dict(zip(places, await embedded(own, texts), strict=True))
    work = _Work(even, options, vectors, at)
    values = [value for case in even.sets for value in work.values(case)]
    unembedded = int(np.count_nonzero(~rows.any(axis=1)))
    notes = [*even.notes, *work.notes]
    if unembedded:
        notes.append(partial(t, "findings.left_out_of_sim", n=unembedded, embedding=options.embedding))
    means = list(_means(even, values))
    (claims,) = family(claims_of(means))
    return Diversity(even, options, values, with_claims(means, claims), notes)


class _Work:
    """What is known of all dialogues while cases are measured, one after the other."""

    def __init__(
        self,
        cases: Cases,
        options: Options,
        vectors: Mapping[int, Vectors],
        at: Mapping[tuple[int, int], Vectors],
    ) -> None:
        self._cases, self._options, self._vectors, self._at = cases, options, vectors, at
        self._vocabulary, self._divide = Vocabulary(), TOKENS[options.tokens]
        self._numbers: dict[int, list[ngrams.Numbers]] = {}
        self._pruned = any(one.pruned for one in cases.settings)
        self._sizes: set[tuple[int, int]] = set()
        self._ungrouped, self._alike = 0, False

    @property
    def notes(self) -> list[Note]:
        """What a reader must know of the numbers of dialogues."""
        found: list[Note] = []
        if any(a != b for a, b in self._sizes) or len({a for a, _ in self._sizes}) > 1:
            sizes = [str(size) for size in sorted({a for a, _ in self._sizes})]
            found.append(lambda: t("findings.reference_has", numbers=all_of(sizes)))
        if self._ungrouped:
            found.append(partial(t, "findings.ungrouped", n=self._ungrouped, group=str(self._options.group)))
        if self._alike:
            found.append(partial(t, "findings.no_others"))
        return found

    def values(self, case: str) -> Iterator[Value]:
        """All values of a case."""
        groups = {name: self._groups(each) for name, each in self._cases.sets[case].items()}
        equal = len({len(one) for each in groups.values() for one in each}) == 1
        lengths = [ngrams.length(self._words(one)) for each in groups.values() for group in each for one in group]
        shortest = min(lengths, default=0)
        dist_3: dict[str, float | None] = {}
        for setting in (one for one in self._cases.settings if one.label in groups):
            own, n = groups[setting.label], sum(map(len, groups[setting.label]))
            blank = Value(case, setting.label, "", None, dialogues=n)
            if not own:
                yield replace(blank, measure="sim", missing=f"fewer than {self._options.group} dialogues")
                continue
            found = list(self._alone(blank, own, setting, equal=equal, shortest=shortest))
            dist_3[setting.label] = next(one.value for one in found if one.measure == "dist_3" and one.unit == CASE)
            yield from found
        for setting in (one for one in self._cases.settings if groups.get(one.label)):
            blank = Value(case, setting.label, "", None, dialogues=sum(map(len, groups[setting.label])))
            reference = self._cases.reference(setting.label)
            if self._cases.is_gain(setting.label):
                yield _gain(blank, dist_3[setting.label], dist_3.get(reference or ""))
            own, others = groups[setting.label], groups.get(reference or setting.label, [])
            if self._options.group is not None:
                yield from self._beside(blank, list(_from_other_seeds(others, own)), NO_OTHERS)
            elif reference is not None:
                yield from self._beside(blank, list(zip(others, own, strict=False)), NOTHING)

    def _groups(self, dialogues: Sequence[Dialogue]) -> list[list[Dialogue]]:
        ordered, size = sorted(dialogues, key=lambda one: one.key), self._options.group
        if size is None:
            return [ordered] if ordered else []
        whole = len(ordered) - len(ordered) % size
        self._ungrouped += len(ordered) - whole
        return [ordered[start : start + size] for start in range(0, whole, size)]

    def _words(self, one: Dialogue) -> list[ngrams.Numbers]:
        if id(one) not in self._numbers:
            self._numbers[id(one)] = [self._vocabulary.numbers(self._divide(text)) for text in one.texts]
        return self._numbers[id(one)]

    def _matrix(self, group: Iterable[Dialogue]) -> Vectors:
        return np.stack([self._vectors[id(one)] for one in group])

    def _alone(
        self, blank: Value, groups: Sequence[Sequence[Dialogue]], setting: Setting, *, equal: bool, shortest: int
    ) -> Iterator[Value]:
        """The values of a setting by itself."""
        said = [[self._words(one) for one in group] for group in groups]
        every = [one for group in groups for one in group]
        yield _over(blank, "sim", groups, lambda group: sim(self._matrix(group)), NOTHING)
        for n in ORDERS:
            for name, most in ((f"dist_{n}", None), (f"dist_{n}_cut", shortest)):
                yield _dist(blank, name, said, n, most, equal=equal)
        sizes = [len(one) for group in said for dialogue in group for one in dialogue]
        yield replace(blank, measure="words", value=fmean(sizes))
        ends = [ngrams.ends_double(dialogue) for group in said for dialogue in group]
        yield replace(blank, measure="repeated_end", value=fmean(ends))
        if self._pruned:
            yield _left_out(blank, every, pruned=setting.pruned)
        if setting.checked:
            for name, scores in (
                ("inconsistency", [score for one in every for score in one.said]),
                ("inconsistency_first", [score for one in every for score in one.first]),
            ):
                value, missing = (fmean(scores), "") if scores else (None, "nothing was checked")
                yield replace(blank, measure=name, value=value, missing=missing)
        if self._options.positions:
            yield from self._by_position(blank, groups, equal=equal)

    def _by_position(self, blank: Value, groups: Sequence[Sequence[Dialogue]], *, equal: bool) -> Iterator[Value]:
        """dist-N and sim of the utterances at each position that at least two dialogues of a group reach."""
        for place in range(max(len(one.texts) for group in groups for one in group)):
            there = [[one for one in group if len(one.texts) > place] for group in groups]
            there = [group for group in there if len(group) > 1]
            if not there:
                break
            here = replace(blank, unit=POSITION, who=str(place + 1), dialogues=sum(map(len, there)))
            rows = [np.stack([self._at[id(one), place] for one in group]) for group in there]
            yield _over(here, "sim", rows, sim, NOTHING)
            said = [[[self._words(one)[place]] for one in group] for group in there]
            for n in ORDERS:
                yield _dist(here, f"dist_{n}", said, n, None, equal=equal)

    def _beside(self, blank: Value, pairs: Sequence[tuple[_Group, _Group]], missing: str) -> Iterator[Value]:
        """The values of a setting beside the reference: means over pairs of groups, the reference's first."""
        if not pairs:
            self._alike |= missing == NO_OTHERS
            yield from (replace(blank, measure=name, missing=missing) for name in _BESIDE)
            return
        self._sizes |= {(len(a), len(b)) for a, b in pairs}
        yield _over(blank, "max_sim", pairs, lambda p: max_similarity(self._matrix(p[0]), self._matrix(p[1])), NOTHING)
        words = [([self._words(one) for one in a], [self._words(one) for one in b]) for a, b in pairs]
        for n in ORDERS:
            yield _over(blank, f"exclusive_{n}", words, partial(_exclusive, n), NO_GRAM)


def _from_other_seeds(reference: Sequence[_Group], own: Sequence[_Group]) -> Iterator[tuple[_Group, _Group]]:
    """Each group with the next one of the reference that shares no seed with it.

    With equal seeds, a setting would be nearer to the reference than the reference's groups are to each other.
    """
    for place, group in enumerate(own):
        draws, after = {one.draw for one in group}, (place + 1) % (len(reference) or 1)
        others = (
            one for one in (*reference[after:], *reference[:after]) if draws.isdisjoint(each.draw for each in one)
        )
        yield from ((other, group) for other in islice(others, 1))


def _exclusive(n: int, pair: tuple[Sequence[ngrams.Dialogue], Sequence[ngrams.Dialogue]]) -> float | None:
    return exclusive(*pair, n)


def _over(blank: Value, name: str, groups: Sequence[T], of: Callable[[T], float | None], missing: str) -> Value:
    """The mean of a measure over groups; missing where no group has a value."""
    found = [value for group in groups if (value := of(group)) is not None]
    if not found:
        return replace(blank, measure=name, missing=missing if groups else NOTHING)
    return replace(blank, measure=name, value=fmean(found))


def _dist(
    blank: Value, name: str, said: Sequence[Sequence[ngrams.Dialogue]], n: int, most: int | None, *, equal: bool
) -> Value:
    if not equal:
        return replace(blank, measure=name, missing=UNEQUAL)
    if most is not None:
        said = [[ngrams.cut(one, most) for one in group] for group in said]
    return _over(blank, name, said, lambda group: dist(group, n), NO_GRAM)


def _left_out(blank: Value, every: Sequence[Dialogue], *, pruned: bool) -> Value:
    known = [one.left_out for one in every if one.left_out is not None]
    words = sum(one.words for one in known)
    if words:
        return replace(blank, measure="words_left_out", value=sum(one.removed for one in known) / words)
    value, missing = (None, "not recorded") if pruned else (0.0, "")
    return replace(blank, measure="words_left_out", value=value, missing=missing)


def _gain(blank: Value, own: float | None, before: float | None) -> Value:
    if own is None or before is None:
        return replace(blank, measure=GAIN, missing="dist_3 is missing on one side")
    return replace(blank, measure=GAIN, value=own - before)


# ── over cases ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _means(cases: Cases, values: Sequence[Value]) -> Iterator[Mean]:
    found: dict[tuple[str, str, str, str], dict[str, float | None]] = {}
    for one in values:
        found.setdefault((one.setting, one.measure, one.unit, one.who), {})[one.case] = one.value
    labels, names = [one.label for one in cases.settings], [*MEASURES]

    def place(key: tuple[str, str, str, str]) -> tuple[int, int, int]:
        setting, name, _, who = key
        return int(who or 0), labels.index(setting), names.index(name)

    for setting, name, unit, who in sorted(found, key=place):
        own = found[setting, name, unit, who]
        against = cases.reference(setting)
        claim, kind = None, _KINDS.get(name, UNIT)
        if against is not None and name not in RELATIVE:
            other = found.get((against, name, unit, who), {})
            both = [(own[case], other.get(case)) for case in own]
            each = [None if a is None or b is None else a - b for a, b in both]
            claim = difference(name, each) if unit == CASE else None
        yield Mean(
            setting, name, _estimate(list(own.values()), kind if unit == CASE else None), against, claim, unit, who
        )


def difference(measure: str, each: Sequence[float | None]) -> Claim:
    """The differences of a measure's values by case, and whether they may be called one."""
    return paired(each, _KINDS.get(measure, UNIT))


def claims_of(means: Iterable[Mean]) -> list[Claim]:
    """The differences of means, in order."""
    return [one.claim for one in means if one.claim is not None]


def with_claims(means: Iterable[Mean], claims: Iterable[Claim]) -> list[Mean]:
    """The means, with these differences in place of their own."""
    new = iter(claims)
    return [one if one.claim is None else replace(one, claim=next(new)) for one in means]


def _estimate(values: Sequence[float | None], kind: Kind | None) -> Estimate:
    """The mean over cases with its interval; none of one case, nor of positions, which are many."""
    if kind is not None:
        found = mean_over_tasks(values, kind)
        return replace(found, low=None, high=None, note="one case has no interval") if found.n == 1 else found
    there = [value for value in values if value is not None]
    mean = fmean(there) if there else None
    return Estimate(value=mean, method="none", n=len(there), dropped=len(values) - len(there), note="not computed")
