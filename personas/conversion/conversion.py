"""Converts foreign descriptions of people into personas: with a mapping if their fields are known, else with a model.

The report says what a mapping or a model used and what it left out; nothing is invented to fill a field. All input is
read and checked before the first persona is returned. Of a table or list, the good rows are taken and the others named.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NoReturn

from ...state.document import MAX_BYTES, parse_value
from ...state.errors import InputError
from ...state.minds.mind import Call
from ...state.persona import Persona
from ...state.plain_text import folded, matching, one_line, quoted
from ...state.settings import Settings
from ...state.validation_errors import valid_fields
from ..files import file_names, persona_text
from ..names import full_name, validated
from . import drafts as reading
from .columns import Table, as_mapping, check_columns, guessed, table_in
from .drafts import Described, Draft
from .loading import Record, Refused
from .mapping import Mapping as FieldsMapping
from .mapping import find_mapping

OUT: Final = Path("converted")
"""The default folder of conversions, relative to the working directory."""
NAMED: Final = 6
"""The most files that a summary names."""


@dataclass(frozen=True)
class Converted:
    """One converted description: the persona, its source, what was mapped and what was left out."""

    persona: Persona
    draft: Draft

    @property
    def empty(self) -> list[str]:
        """The persona's fields that stayed empty."""
        values = self.persona.model_dump()
        return [name for name in valid_fields(Persona) if name in values and values[name] in (None, "", [], {})]


@dataclass(frozen=True)
class Conversion:
    """The result of converting some files.

    Attributes:
        people: in the order of the files and of what is in them.
        skipped: file → how many of its entries describe no person, as in a database's dump.
        calls: of the model that read descriptions; none if mappings were enough.
        refused: the rows and entries of which no persona could be made, in their order.
    """

    people: tuple[Converted, ...]
    skipped: dict[Path, int]
    calls: tuple[Call, ...] = ()
    refused: tuple[Refused, ...] = ()


async def convert(
    files: Sequence[Path],
    settings: Settings,
    *,
    mapping: str | None = None,
    columns: Mapping[str, str] | None = None,
    read: bool = False,
    pick: Sequence[str] = (),
    told: Callable[[str], None] = lambda _: None,
) -> Conversion:
    """Convert descriptions of people into personas; all of them, or an error.

    Args:
        files: see `loading.load` for their kinds.
        settings: which model reads the descriptions that no mapping fits.
        mapping: a ready mapping's name or a mapping file's path; None to choose by the shape of each file.
        columns: of tables: name of a column → what it becomes, as `as_mapping` has it; the others go by their names.
        read: let the model read everything, even descriptions that a ready mapping fits.
        pick: full names or parts of names; only these are converted, or all if it is empty.
        told: called with one line when a model begins to read.

    Raises:
        InputError: a file, mapping or name is wrong, two people of different files have the same name, or no row of a
            table is right; naming place and remedy.
        ModelError: a model fails, answers wrongly twice, or invents a person.
    """
    given = {"--mapping": mapping is not None, "--column": columns is not None, "--model": read}
    twice = [option for option, there in given.items() if there]
    if len(twice) > 1:
        remedy = "Leave one out: a mapping needs no model."
        raise InputError(f"{twice[0]} and {twice[1]} contradict each other", remedy=remedy)
    found = await asyncio.to_thread(_described, files, mapping, columns, read)
    names = {id(one.record): _name(one) for one in found}
    refused = [row for one in found for row in one.refused if not pick]
    drafts = _with_different_names(_mapped(found, names, pick, refused), refused)
    unread = [one for one in found if one.mapping is None and _may_be(one, pick)]
    calls: list[Call] = []
    if unread:
        if refused and not drafts:
            _refuse_all(refused)  # before a model is paid
        records = [one.record for one in unread]
        await reading.check_readable(records, settings, unread[0].why)
        what = "1 description" if len(unread) == 1 else f"{len(unread)} descriptions"
        told(f"{reading.reader(settings)} reads {what}{'' if read else ' that no mapping fits'}")
        more, calls = await reading.read_all(records, settings)
        drafts += more
    if pick:
        known = [name for name in dict.fromkeys([*names.values(), *(draft.values["name"] for draft in drafts)]) if name]
        if not known:
            remedy = "Leave --pick out to convert all descriptions."
            raise InputError(f"there is no description of {pick[0]!r}", where="--pick", remedy=remedy)
        wanted = {full_name(one, known, what="person", where="--pick") for one in pick}
        drafts = [draft for draft in drafts if draft.values["name"] in wanted]
    order = {id(one.record): n for n, one in enumerate(found)}
    drafts.sort(key=lambda draft: order[id(draft.record)])
    people = []
    for draft in map(reading.shortened, _with_different_names(drafts, refused)):
        with _taking_down(draft.record, refused):  # what exceeds a persona's limits
            people.append(Converted(validated(Persona, draft.values, where=draft.record.where()), draft))
    if not people:
        _refuse_all(refused)
    refused.sort(key=lambda row: (files.index(row.record.file), row.record.line or order[id(row.record)]))
    skipped = {one.record.file: one.skipped for one in found if one.skipped}
    return Conversion(tuple(people), skipped, tuple(calls), tuple(refused))


@contextmanager
def _taking_down(record: Record, refused: list[Refused]) -> Iterator[None]:
    """List what is wrong with one of several records; what is wrong with a file's only one is raised."""
    try:
        yield
    except InputError as error:
        if not record.is_one_of_several:
            raise
        refused.append(Refused(record, error))


def _refuse_all(refused: Sequence[Refused]) -> NoReturn:
    """Raise what is wrong with the first row, and say how many others are wrong."""
    first, more = refused[0].error, len(refused) - 1
    if not more:
        raise first
    what = f"no row is right: {first.what}, and {more:,} more {'is' if more == 1 else 'are'} wrong"
    raise InputError(what, where=first.where, remedy=first.remedy) from first


def _described(
    files: Sequence[Path], mapping: str | None, columns: Mapping[str, str] | None, read: bool
) -> list[Described]:
    chosen = None if mapping is None else find_mapping(mapping)
    if columns is None:
        return [one for file in files for one in reading.described(file, chosen, read=read)]
    tables = {file: table for file in files if (table := table_in(file)) is not None}
    said = check_columns(list(tables.values()), columns)
    return [one for file in files for one in reading.described(file, _of_columns(tables.get(file), said))]


def _of_columns(table: Table | None, said: Mapping[str, str]) -> FieldsMapping | None:
    """The mapping of a table's columns; None for a file that is read by its shape: no table, or of a known program."""
    if table is None or (table.known and said.keys().isdisjoint(table.columns)):
        return None
    return as_mapping({name: said.get(name, target) for name, target in guessed(table.columns).items()})


def _name(one: Described) -> str:
    """The name in a mapped record; empty if it has none, which is an error only if the record is picked."""
    return "".join(one.mapping.rules[("name",)].text(one.record.data).items) if one.mapping else ""


def _mapped(
    found: Sequence[Described], names: Mapping[int, str], pick: Sequence[str], refused: list[Refused]
) -> list[Draft]:
    """The drafts of the mappings, for records that may be picked; names by the identity of their records."""
    drafts: list[Draft] = []
    for one in found:
        if one.mapping is None or (pick and not any(matching(name, [names[id(one.record)]]) for name in pick)):
            continue
        with _taking_down(one.record, refused):
            draft = reading.drafted(one.record, one.mapping)
            if one.mapping.ids:
                others = [(o.record, names[id(o.record)]) for o in found if o.mapping is one.mapping]
                draft = reading.with_names(draft, others, one.mapping.ids)
            drafts.append(draft)
    return drafts


def _may_be(one: Described, pick: Sequence[str]) -> bool:
    """Whether a description contains a picked name, so that the model need not read the others."""
    words = folded(one.record.text)
    return not pick or any(all(word in words for word in folded(name).split()) for name in pick)


def _with_different_names(drafts: Iterable[Draft], refused: list[Refused]) -> list[Draft]:
    """The drafts without those whose name another one has: both could not take part in one conversation.

    Raises:
        InputError: the two are in different files, or a file is given twice.
    """
    kept: dict[str, Draft] = {}
    for draft in drafts:
        other = kept.setdefault(folded(draft.values["name"]), draft)
        if other is draft:
            continue
        name = quoted(draft.values["name"], reading.SHOWN)
        what = f"two people are called {name}, the other is in {other.record.where()}"
        remedy = "Give each a name of its own, or convert the files apart."
        error = InputError(what, where=draft.record.where(), remedy=remedy)
        if other.record.file != draft.record.file or other.record.where() == draft.record.where():
            raise error
        refused.append(Refused(draft.record, error))
    return list(kept.values())


# Converted personas as files, and what is said of them


def new_place(files: Sequence[Path]) -> Path:
    """A folder that does not exist yet, named after the one file, or the folder that the files are in."""
    name = files[0].stem if len(files) == 1 else files[0].absolute().parent.name
    slug = file_names([name])[0].removesuffix(".yaml")
    return next(path for n in range(1, 100_000) if not (path := OUT / (slug if n == 1 else f"{slug}-{n}")).exists())


def texts_of(people: Sequence[Converted]) -> dict[str, str]:
    """File name → text, in the people's order. The head says from which file and how; no path of this machine.

    Raises:
        InputError: a file would not read back as it was written.
    """
    names = file_names([one.persona.name for one in people])
    texts: dict[str, str] = {}
    for name, one in zip(names, people, strict=True):
        record = one.draft.record
        place = record.place or (f"line {record.line}" if record.line else "")
        source = f"{record.file.name} ({place})" if place else record.file.name
        text = persona_text(one.persona, [f"Converted from {source} with {one.draft.by}.", *one.draft.notes])
        if name in texts or not _is_kept(text, one.persona):
            what = f"the persona of {one.persona.name!r} cannot be kept in a file unchanged"
            remedy = "Leave this person out with --pick, or change the name."
            raise InputError(what, where=record.where(), remedy=remedy)
        texts[name] = text
    return texts


def _is_kept(text: str, persona: Persona) -> bool:
    """Whether a file's text reads back as the persona that was written."""
    try:
        return len(text.encode()) <= MAX_BYTES and Persona.model_validate(parse_value(text)) == persona
    except ValueError:
        return False


@dataclass
class Summary:
    """The result of one or several files.

    Attributes:
        by: the mapping or model that read them, in words.
        files: the files.
        people: how many were converted.
        facts: (kind, what) → for how many people it holds; kinds are "taken", "left out", "technical", "empty".
        values: left-out field → its first value, shortened.
        skipped: entries that describe no person.
    """

    by: str
    files: list[Path]
    people: int = 0
    facts: Counter[tuple[str, str]] = field(default_factory=Counter)
    values: dict[str, str] = field(default_factory=dict)
    skipped: int = 0

    def add(self, one: Converted) -> None:
        """Add one converted description."""
        draft = one.draft
        self.people += 1
        taken = [f"{ours} ← {', '.join(theirs) or 'the mapping itself'}" for ours, theirs in draft.mapped.items()]
        kinds = {"taken": taken, "left out": draft.left_out, "technical": draft.technical, "empty": one.empty}
        self.facts.update((kind, what) for kind, found in kinds.items() for what in found)
        self.values = {**draft.left_out, **self.values}

    def is_like(self, other: Summary) -> bool:
        """Whether both can share one summary: one person per file, and the same fields."""
        single = self.people == len(self.files) and other.people == len(other.files)
        same = self.by == other.by and set(self.facts) == set(other.facts)
        return single and same and not self.skipped and not other.skipped

    def lines(self) -> Iterator[str]:
        """The summary in words, its head first."""
        unlike = list(dict.fromkeys(file.name for file in self.files))
        names = ", ".join(unlike[:NAMED]) + (", …" if len(unlike) > NAMED else "")
        of = f"{len(self.files):,} files ({names})" if len(self.files) > 1 else names
        yield one_line(f"{of}: {'1 person' if self.people == 1 else f'{self.people:,} people'}, with {self.by}")
        for kind in ("taken", "left out", "technical", "empty"):
            found = [(what, number) for (of, what), number in self.facts.items() if of == kind]
            values = self.values if kind == "left out" else {}
            told = [
                one_line(f"{what}: {values[what]}" if what in values else what)
                + (f" ({number:,} of {self.people:,})" if number < self.people else "")
                for what, number in found
            ]
            if kind in ("technical", "empty"):
                told = [one_line(", ".join(told))] if told else []
            yield from (f"  {kind:<10} {line}" for line in told)
        if self.skipped:
            what = "1 entry that describes" if self.skipped == 1 else f"{self.skipped:,} entries that describe"
            yield f"  {'skipped':<10} {what} nobody"


def summaries(conversion: Conversion) -> list[Summary]:
    """The summaries of a conversion, in the order of the files."""
    by_file: dict[tuple[Path, str], Summary] = {}
    for one in conversion.people:
        file, by = one.draft.record.file, one.draft.by
        by_file.setdefault((file, by), Summary(by, [file], skipped=conversion.skipped.get(file, 0))).add(one)
    found: list[Summary] = []
    for summary in by_file.values():
        like = next((other for other in found if other.is_like(summary)), None)
        if like is None:
            found.append(summary)
            continue
        like.files += summary.files
        like.people += summary.people
        like.facts.update(summary.facts)
    return found
