"""Which run is meant: the path of its folder, its id, the beginning of its id, or `latest`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from persimchat.state.errors import InputError, nearest_word
from persimchat.state.plain_text import quoted

LATEST: Final = "latest"
_MOST_NAMED: Final = 3
_MOST_SHOWN: Final = 80


def find_run(wanted: str, out: Path) -> Path:
    """The folder of a run.

    Args:
        wanted: what the user wrote. A folder of this path goes first.
        out: the folder that holds runs.

    Raises:
        InputError: there is no such run, or there are several.
    """
    if wanted.strip() and _is_there(Path(wanted)):
        return Path(wanted)
    runs = [folder for folder in _folders(out) if (folder / "run.json").is_file()]
    if not runs:
        raise InputError(
            f"there is no run {quoted(wanted, _MOST_SHOWN)}: no folder of this path, and no runs to choose from",
            where=str(out),
            remedy="Make one with: persimchat run TOPIC; or say with --out where runs are.",
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
            f"there is no run {quoted(wanted, _MOST_SHOWN)}: no folder of this path, and no id that begins so",
            where=str(out),
            remedy=f"Did you mean {near!r}?" if near else "See which runs there are: persimchat runs",
        )
    names = [folder.name for folder in sorted(found)]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    raise InputError(
        f"{quoted(wanted, _MOST_SHOWN)} begins the ids of {len(names)} runs: {', '.join(names[:_MOST_NAMED])}{more}",
        where=str(out),
        remedy="Write more of the id.",
    )


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # no name of a file at all, or one that may not be looked at
        return False


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
    """When a run began, as it says itself; empty, which is before all others, where its run.json cannot be read."""
    from persimchat.runs.folder.jsonl import parsed

    try:
        started = parsed((folder / "run.json").read_bytes(), "")["started"]
    except (OSError, InputError, KeyError, TypeError):
        return ""
    return started if isinstance(started, str) else ""
