"""Converts foreign descriptions of people into personas: with a mapping if their fields are known, else with a model.

The report says what a mapping or a model used and what it left out; nothing is invented to fill a field. All input is
read and checked before the first persona is returned. Of a table or list, the good rows are taken and the others named.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from persimchat.personas.conversion.columns import Table, as_mapping, check_columns, guessed, table_in
from persimchat.personas.conversion.draft import SHOWN, Draft, drafted, empty_fields, persona_of, shortened
from persimchat.personas.conversion.mapping import Mapping as FieldsMapping
from persimchat.personas.conversion.mapping import find_mapping
from persimchat.personas.conversion.reading import check_readable, read_all, reader
from persimchat.personas.conversion.record import Record, Refused
from persimchat.personas.conversion.shape import Described, described, with_names
from persimchat.personas.names import full_name
from persimchat.state.errors import InputError
from persimchat.state.mind import Call
from persimchat.state.names import matching
from persimchat.state.normalise import folded
from persimchat.state.persona import Persona
from persimchat.state.plain_text import quoted
from persimchat.state.settings import Settings


@dataclass(frozen=True)
class Converted:
    """One converted description.

    Attributes:
        persona: the persona.
        draft: its source, what was mapped and what was left out.
    """

    persona: Persona
    draft: Draft

    @property
    def empty(self) -> list[str]:
        """The persona's fields that stayed empty."""
        return empty_fields(self.persona.model_dump())


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
        await check_readable(records, settings, unread[0].why)
        what = "1 description" if len(unread) == 1 else f"{len(unread)} descriptions"
        told(f"{reader(settings)} reads {what}{'' if read else ' that no mapping fits'}")
        more, calls = await read_all(records, settings)
        drafts += more
    if pick:
        known = [*names.values(), *(draft.values["name"] for draft in drafts)]
        wanted = _picked([name for name in dict.fromkeys(known) if name], pick)
        drafts = [draft for draft in drafts if draft.values["name"] in wanted]
    order = {id(one.record): n for n, one in enumerate(found)}
    drafts.sort(key=lambda draft: order[id(draft.record)])
    people = list(_made(_with_different_names(drafts, refused), refused))
    if not people:
        _refuse_all(refused)
    refused.sort(key=lambda row: (files.index(row.record.file), row.record.line or order[id(row.record)]))
    skipped = {one.record.file: one.skipped for one in found if one.skipped}
    return Conversion(tuple(people), skipped, tuple(calls), tuple(refused))


def _made(drafts: Iterable[Draft], refused: list[Refused]) -> Iterator[Converted]:
    """The personas of drafts; those that exceed a persona's limits are refused."""
    for cut in map(shortened, drafts):
        with _taking_down(cut.record, refused):
            yield Converted(persona_of(cut), cut)


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
        return [one for file in files for one in described(file, chosen, read=read)]
    tables = {file: table for file in files if (table := table_in(file)) is not None}
    said = check_columns(list(tables.values()), columns)
    return [one for file in files for one in described(file, _of_columns(tables.get(file), said))]


def _of_columns(table: Table | None, said: Mapping[str, str]) -> FieldsMapping | None:
    """The mapping of a table's columns; None for a file that is read by its shape: no table, or of a known program."""
    if table is None or (table.known and said.keys().isdisjoint(table.columns)):
        return None
    return as_mapping({name: said.get(name, target) for name, target in guessed(table.columns).items()})


def _name(one: Described) -> str:
    """The name in a mapped record; empty if it has none, which is an error only if the record is picked."""
    taken = one.mapping.rules[("name",)].text(one.record.data) if one.mapping else None
    return taken.items[0] if taken and taken.items else ""


def _mapped(
    found: Sequence[Described], names: Mapping[int, str], pick: Sequence[str], refused: list[Refused]
) -> list[Draft]:
    """The drafts of the mappings, for records that may be picked; names by the identity of their records."""
    drafts: list[Draft] = []
    for one in found:
        if one.mapping is None or (pick and not any(matching(name, [names[id(one.record)]]) for name in pick)):
            continue
        with _taking_down(one.record, refused):
            draft = drafted(one.record, one.mapping)
            if one.mapping.ids:
                others = [(o.record, names[id(o.record)]) for o in found if o.mapping is one.mapping]
                draft = with_names(draft, others, one.mapping.ids)
            drafts.append(draft)
    return drafts


def _may_be(one: Described, pick: Sequence[str]) -> bool:
    """Whether a description contains a picked name, so that the model need not read the others."""
    words = folded(one.record.text)
    return not pick or any(all(word in words for word in folded(name).split()) for name in pick)


def _picked(known: Sequence[str], pick: Sequence[str]) -> set[str]:
    """The full names that `pick` means."""
    if not known:
        remedy = "Leave --pick out to convert all descriptions."
        raise InputError(f"there is no description of {pick[0]!r}", where="--pick", remedy=remedy)
    return {full_name(wanted, known, what="person", where="--pick") for wanted in pick}


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
        name = quoted(draft.values["name"], SHOWN)
        what = f"two people are called {name}, the other is in {other.record.where()}"
        remedy = "Give each a name of its own, or convert the files apart."
        error = InputError(what, where=draft.record.where(), remedy=remedy)
        if other.record.file != draft.record.file or other.record.where() == draft.record.where():
            raise error
        refused.append(Refused(draft.record, error))
    return list(kept.values())
