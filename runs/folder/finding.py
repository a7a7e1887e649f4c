"""Finds a run by the path of its folder, its id, the beginning of its id, `latest`, or its cell of an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from persimchat.state.errors import InputError, nearest_word
from persimchat.state.plain_text import quoted

EXPERIMENT, CELLS = "experiment.lock.json", "runs"
"""In an experiment's folder: the file by which it is known, and the folder of its cells' runs."""
LATEST: Final = "latest"
_MOST_NAMED: Final = 3
_MOST_SHOWN: Final = 80


def find_run(wanted: str, out: Path) -> Path:
    """The folder of a run.

    Args:
        wanted: what the user wrote. A folder with this path comes before a run with this id. `results/town:1f07` is the
            cell of an experiment's folder whose id begins like this.
        out: the folder that holds runs.

    Raises:
        InputError: there is no such run, or there are several.
    """
    if wanted.strip() and _is_there(Path(wanted)):
        return Path(wanted)
    experiment, colon, cell = wanted.rpartition(":")
    if colon and (runs_of := _cells_of(Path(experiment))) is not None:
        return find_run(cell, runs_of)
    runs = [folder for folder in _folders(out) if (folder / "run.json").is_file()]
    if not runs:
        raise InputError(
            f"there is no run {quoted(wanted, _MOST_SHOWN)}: there is no folder with this path, and no run to choose "
            "from",
            where=str(out),
            remedy="Make one with: persimchat run TOPIC; or name the folder that holds runs with --out.",
        )
    if wanted == LATEST:
        return max(runs, key=lambda folder: (_started(folder), folder.name))
    exact = [folder for folder in runs if folder.name == wanted]
    found = exact or [folder for folder in runs if wanted.strip() and folder.name.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if not found:
        near = nearest_word(wanted, [folder.name for folder in runs])
        raise InputError(
            f"there is no run {quoted(wanted, _MOST_SHOWN)}: no folder has this path, and no run's id begins with it",
            where=str(out),
            remedy=f"Did you mean {near!r}?" if near else "List the runs with: persimchat runs",
        )
    names = [folder.name for folder in sorted(found)]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    raise InputError(
        f"{len(names)} runs have ids that begin with {quoted(wanted, _MOST_SHOWN)}: "
        f"{', '.join(names[:_MOST_NAMED])}{more}",
        where=str(out),
        remedy="Write more of the id.",
    )


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # not a valid file name, or no permission to look
        return False


def _cells_of(folder: Path) -> Path | None:
    """Where the runs of an experiment's cells are; None where this is no experiment's folder."""
    return folder / CELLS if _is_there(folder / EXPERIMENT) else None


def _folders(out: Path) -> list[Path]:
    try:
        return [path for path in out.iterdir() if path.is_dir()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(
            f"the folder of runs cannot be read: {error.strerror}", where=str(out), remedy="Choose another with --out."
        ) from error


def _started(folder: Path) -> str:
    """When a run began, by its run.json; empty, which sorts before all others, if that cannot be read."""
    from persimchat.runs.folder.jsonl import parsed

    try:
        started = parsed((folder / "run.json").read_bytes(), "")["started"]
    except (OSError, InputError, KeyError, TypeError):
        return ""
    return started if isinstance(started, str) else ""
