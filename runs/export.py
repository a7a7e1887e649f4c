"""Runs as tables for analysis: many runs into one set of files, whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from persimchat.runs import codebook
from persimchat.runs.export_eyes import SEEN, seen_by
from persimchat.runs.export_rows import rows_of
from persimchat.runs.export_tables import RARE, TABLES
from persimchat.runs.export_writing import need, writer
from persimchat.runs.reading import read_run
from persimchat.state.errors import InputError

_REMEDY = "Choose another folder with --out, or add --force to replace what is there."


@dataclass(frozen=True)
class Exported:
    """What was written.

    Attributes:
        files: table: its file.
        counts: table: rows in it.
        codebook: the file that explains the columns.
        notes: what is missing in the runs, a sentence each, with the run's id.
    """

    files: dict[str, Path]
    counts: dict[str, int]
    codebook: Path
    notes: list[str]


def export_runs(
    folders: Sequence[Path],
    out: Path,
    form: str = "csv",
    *,
    bom: bool = False,
    force: bool = False,
    eyes: str | None = None,
) -> Exported:
    """Write runs as tables, one file a table, and a codebook. Tables of `RARE` are left out where they have no rows.

    Args:
        folders: of the runs; their order is the order of the rows.
        out: the folder for the files; made where it is missing.
        form: csv, jsonl, md, html or parquet.
        bom: csv: begin files with a byte order mark, for Excel.
        force: whether files that are there are replaced.
        eyes: a participant, for whose eyes the tables are: only what they may have seen is in them.

    Raises:
        InputError: a run cannot be read or is given twice, or the files cannot be written; then none is.
        MissingExtraError: the format needs a library that is not installed.
    """
    need(form)
    every = {table: f"{table}.{form}" for table in TABLES}
    _check(out, [*every.values(), codebook.NAME], force=force)
    names = {table: name for table, name in every.items() if eyes is None or table in SEEN}
    try:
        with _staged(out) as stage:
            counts, notes = _write(folders, stage, names, form, bom=bom, eyes=eyes)
            names = {table: name for table, name in names.items() if counts[table] or table not in RARE}
            counts = {table: counts[table] for table in names}
            text = codebook.codebook(form, names, counts, notes, eyes=eyes)
            (stage / codebook.NAME).write_text(text, encoding="utf-8", newline="\n")
            new = [*names.values(), codebook.NAME]
            _install(stage, out, new, gone=[name for name in every.values() if name not in new])
    except OSError as error:
        raise InputError(
            f"the tables cannot be written: {error.strerror or error}",
            where=str(out),
            remedy="Choose a folder with --out that you may write to, with room in it.",
        ) from error
    return Exported({table: out / name for table, name in names.items()}, counts, out / codebook.NAME, notes)


def _check(out: Path, names: Sequence[str], *, force: bool) -> None:
    if out.exists() and not out.is_dir():
        raise InputError("this is a file, not a folder", where=str(out), remedy="Choose a folder with --out.")
    folders = [name for name in names if (out / name).is_dir()]
    if folders:
        raise InputError("a folder is in the place of a table", where=str(out / folders[0]), remedy="Choose another.")
    there = [name for name in names if os.path.lexists(out / name)]
    if there and not force:
        more = f" and {len(there) - 1} more" if len(there) > 1 else ""
        raise InputError(f"there is a file already{more}", where=str(out / there[0]), remedy=_REMEDY)


def _write(
    folders: Sequence[Path], stage: Path, names: dict[str, str], form: str, *, bom: bool, eyes: str | None
) -> tuple[dict[str, int], list[str]]:
    """Write all tables; rows of each table, and notes."""
    counts, notes = dict.fromkeys(names, 0), []
    seen: dict[str, Path] = {}
    with ExitStack() as open_files:
        writers = {}
        for table, name in names.items():
            writers[table] = writer(form, stage / name, TABLES[table], bom=bom)
            open_files.callback(writers[table].close)
        for folder in folders:
            record = read_run(folder, whole=True)
            if eyes is not None:
                record = seen_by(record, eyes)
            run = record.manifest.run
            if run in seen:
                raise InputError(
                    f"the run {run} is given twice, so its rows could not be told apart",
                    where=f"{seen[run]} and {folder}",
                    remedy="Leave one of them out.",
                )
            seen[run] = folder
            notes += [f"{run}: {note}" for note in record.notes]
            if record.manifest.stop_reason is None:
                unknown = eyes is None and record.calls is None and not record.manifest.usage.rows
                calls = " It has no calls." if unknown else ""
                notes.append(f"{run}: No ending is recorded; it is still running, or was killed.{calls}")
            for table, row in rows_of(record):
                writers[table].write(row)
                counts[table] += 1
    return counts, notes


@contextmanager
def _staged(out: Path) -> Iterator[Path]:
    """A folder beside or in `out` where files are made before they take their places; it goes in any case."""
    place = out.absolute()
    while not place.is_dir():
        place = place.parent
    stage = Path(tempfile.mkdtemp(prefix=".persimchat-export-", dir=place))
    try:
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _install(stage: Path, out: Path, names: Sequence[str], gone: Sequence[str]) -> None:
    """Put the files into their places, and take away those of an export before; where one fails, all is as before."""
    new = [folder for folder in (out, *out.parents) if not folder.exists()]
    old = stage / "replaced"
    old.mkdir()
    done: list[str] = []
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name in (*names, *gone):
            if os.path.lexists(out / name):
                (out / name).rename(old / name)
            if name in names:
                done.append(name)
                (stage / name).rename(out / name)
    except BaseException:
        for name in done:
            (out / name).unlink(missing_ok=True)
        for path in old.iterdir():
            path.rename(out / path.name)
        for folder in new:
            if folder.is_dir():
                folder.rmdir()
        raise
