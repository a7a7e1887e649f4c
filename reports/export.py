"""Exports runs as tables for analysis: many runs into one set of files; all files are written, or none."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Final

from ..personas.names import full_name
from ..runs.events import Happened, Uttered
from ..runs.folder.answers import RecordedJudgement
from ..runs.folder.lines import DISCLAIMER, RecordedIntervention
from ..runs.folder.manifest import Manifest, Participant, RecordedScenario, RecordedSettings
from ..runs.folder.reading import Record, read_judgements, read_run
from ..state.errors import InputError, suggestion
from ..state.plain_text import one_line
from ..state.visibility import is_heard
from .export_rows import rows_of
from .export_tables import RARE, SEEN, SHARED, TABLES
from .tables import READING, columns, explained, file_of, listed, markdown, need, writers


def seen_by(record: Record, wanted: str) -> Record:
    """The part of a run that a participant may have seen: what it heard, its own mind, and what all know.

    Args:
        record: of the run.
        wanted: the participant's name, or part of it.

    Raises:
        InputError: no participant of this run has the name, or several may be meant.
    """
    manifest = record.manifest
    names = [participant.name for participant in manifest.scenario.participants]
    name = full_name(wanted, names, what="participant", where=str(record.path))
    return replace(
        record,
        manifest=_manifest(manifest),
        utterances=[_said(said, name) for said in record.utterances if is_heard(_marked(said), name)],
        minds=[mind for mind in record.minds if mind.agent == name],
        judge_minds=[],
        verdicts=[],
        scores=[],
        silences=[],
        interventions=[seen for done in record.interventions if (seen := _done(done)) is not None],
        happenings=[
            one for one in record.happenings if is_heard({"speaker": one.speaker, "heard_by": one.heard_by}, name)
        ],
        told=False,
    )


def _manifest(manifest: Manifest) -> Manifest:
    """What all participants know: who talked about what, with which set-up, and when and why it ended."""
    settings = {key: value for key, value in manifest.settings.model_dump().items() if key in SHARED.model_fields}
    scenario = manifest.scenario
    return Manifest(
        run=manifest.run,
        started=manifest.started,
        ended=manifest.ended,
        stop_reason=manifest.stop_reason,
        seed=manifest.seed,
        scenario=RecordedScenario(
            topic=scenario.topic,
            participants=[Participant(name=p.name, human=p.human) for p in scenario.participants],
        ),
        settings=RecordedSettings(**settings),
        prompt_hash=manifest.prompt_hash,
        versions=manifest.versions,
    )


def _marked(said: Uttered | Happened) -> dict[str, object]:
    return {"speaker": said.speaker, "heard_by": said.heard_by}


def _said(said: Uttered, name: str) -> Uttered:
    """An utterance as the participant heard it; its own utterances keep its emotions and need to talk."""
    heard = Uttered(
        turn=said.turn,
        speaker=said.speaker,
        text=said.text,
        addressees=said.addressees,
        heard_by=said.heard_by,
        edited_by=said.edited_by,
        question=said.question,
    )
    if said.is_given:  # these figures only show that a person wrote the words
        heard = heard.model_copy(update={"tokens": said.tokens, "response_time_s": said.response_time_s})
    if said.speaker != name:
        return heard
    own = {key: level for key, level in said.need_to_talk.items() if key == name}
    return heard.model_copy(
        update={"emotion": said.emotion, "need_to_talk": own, "answer": said.answer, "conditional": said.conditional}
    )


def _done(done: RecordedIntervention) -> RecordedIntervention | None:
    """A new topic, which all learn of. Words are among the utterances; other interventions are left out."""
    topic = done.more.get("topic")
    if done.do != "topic" or not isinstance(topic, str):
        return None
    return RecordedIntervention(turn=done.turn, do=done.do, topic=topic)


_REMEDY = "Choose another folder with --out, or add --force to replace its tables."


@dataclass(frozen=True)
class Exported:
    """The files that were written.

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
    tables: Sequence[str] | None = None,
    judged: Callable[[Record], Sequence[RecordedJudgement]] = lambda record: read_judgements(record.path),
) -> Exported:
    """Write runs as tables, one file per table, and a codebook. Tables of `RARE` are left out if they have no rows.

    Args:
        folders: of the runs; their order is the order of the rows.
        out: the folder for the files; made if it is missing.
        form: one of `tables.FORMATS`.
        bom: csv: begin files with a byte order mark, for Excel.
        force: whether existing files are replaced.
        eyes: a participant; the tables then have only what they may have seen. None for everything.
        tables: only these; None for all.
        judged: the judgements on a run's conversation; all that its folder has by default.

    Raises:
        InputError: a run cannot be read or is given twice, there is no such table, or the files cannot be written;
            then none is left.
        MissingExtraError: the format needs a library that is not installed.
    """
    need(form)
    every = {table: file_of(table, form) for table in TABLES}
    _check(out, list(dict.fromkeys([*every.values(), CODEBOOK])), force=force)
    names = {table: name for table, name in every.items() if table in _wanted(tables, eyes)}
    try:
        with _staged(out) as stage:
            counts, notes = _write(folders, stage, names, form, bom=bom, eyes=eyes, judged=judged)
            names = {table: name for table, name in names.items() if counts[table] or table not in RARE}
            counts = {table: counts[table] for table in names}
            text = codebook(form, names, counts, notes, runs=len(folders), eyes=eyes)
            (stage / CODEBOOK).write_text(text, encoding="utf-8", newline="\n")
            new = list(dict.fromkeys([*names.values(), CODEBOOK]))
            _install(stage, out, new, gone=[name for name in every.values() if name not in new])
    except OSError as error:
        raise InputError(
            f"the tables cannot be written: {error.strerror or error}",
            where=str(out),
            remedy="Choose another folder with --out, or check permissions and free space.",
        ) from error
    return Exported({table: out / name for table, name in names.items()}, counts, out / CODEBOOK, notes)


def _wanted(tables: Sequence[str] | None, eyes: str | None) -> Sequence[str]:
    """The tables that are written, where they have rows.

    Raises:
        InputError: one of them does not exist, or nobody has seen what is in it.
    """
    able = list(TABLES) if eyes is None else list(SEEN)
    for table in tables or ():
        if table in TABLES and table not in able:
            raise InputError(
                f"no participant has seen what is in the table {table}",
                where="--tables",
                remedy=f"Choose some of: {', '.join(able)}; or leave --for out.",
            )
        if table not in able:
            raise InputError(f"there is no table {table!r}", where="--tables", remedy=suggestion(table, able))
    return able if tables is None else tables


def _check(out: Path, names: Sequence[str], *, force: bool) -> None:
    if out.exists() and not out.is_dir():
        raise InputError("this is a file, not a folder", where=str(out), remedy="Choose a folder with --out.")
    folders = [name for name in names if (out / name).is_dir()]
    if folders:
        raise InputError("a folder has the name of a table", where=str(out / folders[0]), remedy="Choose another.")
    there = [name for name in names if os.path.lexists(out / name)]
    if there and not force:
        more = f" and {len(there) - 1} more" if len(there) > 1 else ""
        raise InputError(f"the file exists already{more}", where=str(out / there[0]), remedy=_REMEDY)


def _write(
    folders: Sequence[Path],
    stage: Path,
    names: dict[str, str],
    form: str,
    *,
    bom: bool,
    eyes: str | None,
    judged: Callable[[Record], Sequence[RecordedJudgement]],
) -> tuple[dict[str, int], list[str]]:
    """Write all tables; rows of each table, and notes."""
    counts, notes = dict.fromkeys(names, 0), []
    seen: dict[str, Path] = {}
    with writers(form, stage, {table: TABLES[table] for table in names}, bom=bom) as made:
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
                notes.append(f"{run}: No ending is recorded; it is still running, or was killed.")
            for table, row in rows_of(record, judged(record) if eyes is None else (), afterwards=eyes is None):
                if table in made:
                    made[table].write(row)
                    counts[table] += 1
    return counts, notes


@contextmanager
def _staged(out: Path) -> Iterator[Path]:
    """A temporary folder beside or in `out`, from which complete files are moved; it is removed in any case."""
    place = out.absolute()
    while not place.is_dir():
        place = place.parent
    stage = Path(tempfile.mkdtemp(prefix=".persimchat-export-", dir=place))
    try:
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _install(stage: Path, out: Path, names: Sequence[str], gone: Sequence[str]) -> None:
    """Move the files into place and remove those of an earlier export; if one fails, undo all."""
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


# The codebook: what each column of each table means

CODEBOOK: Final = "codebook.md"
"""The codebook's file."""

_EMPTY: Final = {
    "csv": "An empty cell",
    "jsonl": "`null`",
    "parquet": "A null",
    "xlsx": "An empty cell",
    "md": "An empty cell",
    "html": "An empty cell",
}
_FORMS: Final = {
    "csv": "Comma-separated values, UTF-8, one heading line; texts may hold line ends, in quotes. Lists and objects "
    "are JSON in one cell. **Formulas:** a spreadsheet must not run an utterance as a formula, so a text that begins "
    "with `=`, `+`, `-` or `@` (also full-width, also after spaces) has an apostrophe in front of it; so has one that "
    "begins with apostrophes before such a sign. To undo it, remove one apostrophe from the front of every text "
    "that matches `^'('*\\s*[=+\\-@＝＋－＠])`. Numbers are never changed, nor is a text that is a plain number, "
    f"such as -3.\n\n{READING}",
    "jsonl": "JSON Lines, UTF-8: one object a line, every column in every line.",
    "xlsx": "One workbook, a sheet a table; a table without rows has none. Texts are texts, never formulas; lists and "
    "objects are JSON in one cell, and so is a number that Excel would round.",
    "parquet": "Parquet. Lists and objects are JSON in a text column.",
    "md": "Markdown tables. Lists and objects are JSON in one cell; signs of Markdown are escaped.",
    "html": "HTML tables, without scripts. Lists and objects are JSON in one cell.",
}


def codebook(
    form: str,
    files: Mapping[str, str],
    counts: Mapping[str, int],
    notes: Sequence[str],
    *,
    runs: int,
    eyes: str | None = None,
) -> str:
    """The codebook as Markdown; the same for the same export.

    Args:
        form: the format of the tables (`tables.FORMATS`).
        files: table: name of its file; a table that is not written is not explained.
        counts: table: rows in it.
        notes: what is missing in the runs, a sentence each.
        runs: of how many runs the tables are.
        eyes: the participant to whose knowledge the export is limited.
    """
    parts = [
        "# Codebook",
        f"Tables of {runs:,} {'run' if runs == 1 else 'runs'}, made with PerSimChat "
        f"{version('persimchat')}. Each table has one row a case and the same first columns: the run's id and its "
        "main settings, explained once."
        + (" All settings are in the table `runs`." if eyes is None and "runs" in files else ""),
        f"> {DISCLAIMER}",
        f"**Format.** {_FORMS[form]}",
        f"**Missing values.** {_EMPTY[form]} means: not known, or does not apply. It is never 0.",
        "**Texts** are as they were written, without control characters and escape sequences. Every line end is one "
        "newline character, every tab a space.",
        "**Joining.** `run` and `turn`, and `agent` (or `speaker`), tell rows of the tables apart and belong together.",
    ]
    if eyes is not None:
        parts += [
            f"**For one participant's eyes.** The tables have only what {markdown(one_line(eyes))} may have seen: what "
            "they heard, their own mind and memories, and what all participants know. Others' needs, emotions and "
            "thoughts, whispers to others, verdicts, scores, requests and most settings are left out, so their columns "
            "are empty, and numbers of utterances may have gaps."
        ]
    if notes:
        parts += ["## What is missing", "\n".join(f"- {markdown(note)}" for note in notes)]
    shared = columns(SHARED)
    parts += ["## Columns of every table", listed(shared)]
    for name, file in files.items():
        parts += explained(name, file, TABLES[name], counts[name], without=shared)
    return "\n\n".join(parts) + "\n"
