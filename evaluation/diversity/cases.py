"""From runs to cases and settings: which runs repeat one set-up, and which settings stand side by side.

A setting whose value differs between runs of one scenario is what is compared; it and all others like it make the
*setting* of a run. What is the same for all runs of a scenario belongs to the *case*. The seed is neither.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from ...runs.events import OWN_ENDS, Uttered
from ...runs.folder.manifest import Manifest
from ...runs.folder.reading import Record, read_run
from ...state.errors import InputError
from ...state.minds.pruning import Check, Pruned, Pruning, letters_of
from ...state.settings import ABOUT, Settings
from ...state.wording import localised, said, t

# What of a recorded run counts as a dialogue

Note = Callable[[], str]
"""Gives a sentence, in the language of who reads it."""

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
    named = ", ".join(f"{said(why)} {localised(f'{number:,}')}" for why, number in sorted(apart.items()))
    return [t("findings.do_not_count", what=named)] if named else []


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


# Cases and settings

SEED: Final = "seed"
ALIKE: Final = "as given"
"""The setting of runs that differ in nothing but case and seed."""
NO_BLOCK: Final = "nothing"
"""The blocks that always go whole, where none does."""
_PRUNING: Final = "pruning"
_NOT_THE_CASE: Final = ("settings",)
"""Fields of a recorded scenario that are no part of the set-up by themselves."""

Sets = Mapping[str, Sequence[Dialogue]]
"""The dialogues of a case, by setting."""


@dataclass(frozen=True)
class Setting:
    """What runs are compared by.

    Attributes:
        label: how it is called in tables.
        pruned: whether pruning leaves anything out.
        checked: whether wordings are checked against what was left out.
        others: the other settings that are compared, as JSON in one form.
    """

    label: str
    pruned: bool
    checked: bool
    others: str


@dataclass(frozen=True)
class Cases:
    """Dialogues by case and setting.

    Attributes:
        settings: the first one is the reference of those without one of their own.
        sets: by case, then by setting; a case may lack settings.
        notes: what was done so that settings can be compared, a sentence each.
    """

    settings: Sequence[Setting]
    sets: Mapping[str, Sets]
    notes: tuple[Note, ...] = ()

    def reference(self, label: str) -> str | None:
        """The setting with which one is compared; None for the first one.

        It is the one without pruning that is the same in all else, and the first one where there is none.
        """
        own = next(one for one in self.settings if one.label == label)
        same = [one for one in self.settings if not one.pruned and one.others == own.others and one is not own]
        found = same[0] if own.pruned and same else self.settings[0]
        return None if found is own else found.label

    def is_gain(self, label: str) -> bool:
        """Whether the reference of a setting is the same without pruning."""
        by_label = {one.label: one for one in self.settings}
        own, other = by_label[label], self.reference(label)
        return other is not None and own.pruned and not by_label[other].pruned and own.others == by_label[other].others


def scenario_key(manifest: Manifest) -> str:
    """A run's scenario in one form: who talks about what, under which rules."""
    scenario = manifest.scenario.model_dump(mode="json", by_alias=True)
    return _canonical({name: value for name, value in scenario.items() if name not in _NOT_THE_CASE})


def flat_settings(manifest: Manifest) -> dict[str, Any]:
    """The settings that shape a run, by name, those of groups as `group.name`; without the seed."""
    given = manifest.settings.model_dump(mode="json")
    usual = Settings.model_validate({"mode": manifest.settings.mode}).model_dump(mode="json")
    found: dict[str, Any] = {}
    for name, about in ABOUT.items():
        if about.shapes and name not in (SEED, _PRUNING):
            value, default = given.get(name, usual.get(name)), usual.get(name)
            if isinstance(value, Mapping) and isinstance(default, Mapping) and default:
                found |= {f"{name}.{key}": item for key, item in {**default, **value}.items()}
            else:
                found[name] = value
    return found | {f"{_PRUNING}.{key}": value for key, value in _that_count(_pruning_of(manifest)).items()}


def setting_of(label: str, manifest: Manifest, names: Iterable[str]) -> Setting:
    """A setting, as one of its runs has it.

    Args:
        label: how it is called.
        manifest: of the run.
        names: the settings that are compared (`differing`).
    """
    values = flat_settings(manifest)
    others = {name: values.get(name) for name in names if not name.startswith(f"{_PRUNING}.")}
    pruning = _pruning_of(manifest)
    return Setting(label, pruning.active, bool(pruning.checks), _canonical(others))


def _pruning_of(manifest: Manifest) -> Pruning:
    return Pruning.model_validate(manifest.settings.model_dump(mode="json").get(_PRUNING) or {})


def _that_count(pruning: Pruning) -> dict[str, Any]:
    """The settings of pruning that change anything: without λ no piece is scored, and without both nothing goes."""
    given = pruning.model_dump(mode="json", by_alias=True)
    given["remove"] = letters_of(pruning.remove) or NO_BLOCK
    if pruning.strength > 0:
        return given
    return {name: given[name] for name in ("lambda", "remove", *["revision"] * pruning.active)}


def differing(runs: Iterable[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """The names whose values differ between runs of one scenario, in order of the first run that has them.

    Args:
        runs: a scenario, and values by name.
    """
    seen: dict[tuple[str, str], str] = {}
    found: dict[str, bool] = {}
    for scenario, values in runs:
        for name, value in values.items():
            written = _canonical(value)
            found.setdefault(name, False)
            found[name] |= seen.setdefault((scenario, name), written) != written
    return [name for name, differs in found.items() if differs]


def cases_of(runs: Sequence[tuple[Dialogue, Manifest]]) -> Cases:
    """Runs by case and setting, by what their logs say."""
    scenarios = [scenario_key(manifest) for _, manifest in runs]
    values = [flat_settings(manifest) for _, manifest in runs]
    names = differing(zip(scenarios, values, strict=True))
    titles = _titles(scenarios, [manifest for _, manifest in runs])
    settings: dict[str, Setting] = {}
    sets: dict[str, dict[str, list[Dialogue]]] = {}
    every = sorted(
        zip(scenarios, values, runs, strict=True), key=lambda one: (_place(one[1], one[2][1], names), one[2][0].key)
    )
    for scenario, own, (dialogue, manifest) in every:
        label = ", ".join(f"{name}={_plain(own[name])}" for name in names if name in own) or ALIKE
        settings.setdefault(label, setting_of(label, manifest, names))
        sets.setdefault(titles[scenario], {}).setdefault(label, []).append(dialogue)
    sets = {title: sets[title] for title in sorted(sets)}
    return Cases(list(settings.values()), sets, tuple(_dependent(sets, [manifest for _, manifest in runs])))


def _place(values: Mapping[str, Any], manifest: Manifest, names: Sequence[str]) -> tuple[bool, list[tuple[int, Any]]]:
    """Where a run's setting stands: without pruning first, then by the values that are compared."""

    def placed(value: Any) -> tuple[int, Any]:
        if value is None:
            return 0, ""
        return (1, value) if isinstance(value, int | float) else (2, _canonical(value))

    return _pruning_of(manifest).active, [placed(values.get(name)) for name in names]


def _dependent(sets: Mapping[str, Sets], manifests: Sequence[Manifest]) -> Iterator[Note]:
    """What a reader must know of runs that are no independent dialogues."""
    twice = []
    for case, by_setting in sets.items():
        for label, each in by_setting.items():
            numbers = Counter(one.seed for one in each if one.seed is not None)
            seeds = ", ".join(str(seed) for seed, number in numbers.items() if number > 1)
            twice += [f"{case}, {label}: {seeds}"] if seeds else []
    if twice:
        yield partial(t, "findings.seeds_again", seeds="; ".join(twice))
    known, branches = {one.run for one in manifests}, [(one.run, one.branch.of) for one in manifests if one.branch]
    origins = Counter(of for _, of in branches)
    tied = sorted(f"{run} (of {of})" for run, of in branches if of in known or origins[of] > 1)
    if tied:
        yield partial(t, "findings.branches_sharing", runs=", ".join(tied))


@dataclass(frozen=True)
class Chosen:
    """The runs that are measured, and what of them is not.

    Attributes:
        cases: the dialogues.
        left_out: runs that do not count, each with the reason.
        apart: utterances that do not count, by the reason.
    """

    cases: Cases
    left_out: Mapping[str, str]
    apart: Mapping[str, int]


def choose(folders: Sequence[Path]) -> Chosen:
    """Read runs, leave out those that failed or are not over, and divide the rest.

    Raises:
        InputError: fewer than two runs are given or can be measured, one is given twice or is no run, or no two are of
            one scenario.
    """
    if len(folders) < 2:
        raise InputError(
            "diversity is how runs differ, and one run is given", where="RUN", remedy="Give at least two of a scenario."
        )
    kept: dict[str, tuple[Dialogue, Manifest]] = {}
    left_out: dict[str, str] = {}
    apart: Counter[str] = Counter()
    for folder in folders:
        record = read_run(folder)
        run = record.manifest.run
        if run in kept or run in left_out:
            raise InputError(f"the run {run} is given twice", remedy="Leave one of them out.")
        if why := why_left_out(record):
            left_out[run] = why
            continue
        kept[run] = dialogue_of(record), record.manifest
        apart.update(kept[run][0].apart)
    if len(kept) < 2:
        told = ", ".join(f"{run} ({why})" for run, why in left_out.items())
        raise InputError(
            f"{len(kept)} of {len(folders)} runs can be measured", where=told, remedy="Give at least two that are over."
        )
    cases = cases_of(list(kept.values()))
    if all(sum(map(len, by_setting.values())) < 2 for by_setting in cases.sets.values()):
        raise InputError(
            "no two runs are of one scenario: each has another topic, other participants or other rules",
            where="RUN",
            remedy="Hold a scenario several times with different seeds: persimchat run FILE --seed 1, 2, …",
        )
    return Chosen(cases, left_out, apart)


def balanced(cases: Cases) -> Cases:
    """Cases in which all settings have equally many dialogues, as far as equal seeds allow that.

    dist-N falls with the amount of text, so settings with unequal numbers cannot stand side by side. Where at least two
    seeds are the same in all settings of a case, only their dialogues count; otherwise the case stays as it is.
    """
    sets, notes = dict(cases.sets), list(cases.notes)
    for case, by_setting in cases.sets.items():
        if len({len(each) for each in by_setting.values()}) > 1:
            seeds = [[one.seed for one in each] for each in by_setting.values()]
            shared = set(seeds[0]).intersection(*seeds[1:]) - {None}
            told_apart = all(len(set(each)) == len(each) for each in seeds)
            if len(shared) > 1 and told_apart:
                kept = {name: [one for one in each if one.seed in shared] for name, each in by_setting.items()}
                gone = sum(map(len, seeds)) - sum(map(len, kept.values()))
                sets[case] = kept
                notes.append(partial(t, "findings.lacks_seed", case=case, n=gone))
            else:
                numbers = ", ".join(f"{name} {len(each)}" for name, each in by_setting.items())
                notes.append(partial(t, "findings.unequal", case=case, numbers=numbers))
    return replace(cases, sets=sets, notes=tuple(notes))


def _titles(scenarios: Sequence[str], manifests: Sequence[Manifest]) -> dict[str, str]:
    """What each scenario is called: its topic, with a number where several have the same."""
    by_key = dict(zip(scenarios, manifests, strict=True))
    topics = {key: by_key[key].scenario.topic for key in sorted(by_key)}
    found: dict[str, str] = {}
    for key, topic in topics.items():
        same = [other for other, its in topics.items() if its == topic]
        found[key] = f"{topic} ({same.index(key) + 1})" if len(same) > 1 else topic
    return found


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
