"""labels.json in a run's folder: the name and the tags that its user gave it afterwards, for the lists of runs.

They are notes about a run, not a part of it: `run.json` and the transcript know nothing of them, no prompt has them, a
branch does not inherit them, and replaying compares none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from persimchat.runs.folder.jsonl import checked, parsed, unreadable
from persimchat.runs.folder.run_folder import MANIFEST, write_whole
from persimchat.runs.folder.stored import Stored, is_empty
from persimchat.state.errors import InputError
from persimchat.state.normalise import folded
from persimchat.state.plain_text import one_line, quoted

LABELS: Final = "labels.json"
LONGEST_NAME: Final = 120
LONGEST_TAG: Final = 40
"""Characters."""
MOST_TAGS: Final = 20
_MOST_BYTES: Final = 65_536
_MOST_SHOWN: Final = 60


Name = Annotated[str, AfterValidator(one_line), Field(max_length=LONGEST_NAME)]
Tag = Annotated[str, AfterValidator(one_line), Field(min_length=1, max_length=LONGEST_TAG)]


class Labels(Stored):
    """What a user calls a run, as plain text of one line each."""

    name: Name = Field(default="", exclude_if=is_empty, description="shown in place of the topic")
    tags: Annotated[list[Tag], Field(max_length=MOST_TAGS)] = Field(
        default=[], exclude_if=is_empty, description="by which runs are found, in the order given"
    )

    def with_tags(self, add: Iterable[str] = (), remove: Iterable[str] = ()) -> Labels:
        """The same with more and fewer tags; case and diacritics do not tell two tags apart.

        Raises:
            InputError: a tag is too long, or there are too many.
        """
        gone = {folded(tag) for tag in remove}
        return labels(self.name, [tag for tag in [*self.tags, *add] if folded(tag) not in gone])


def labels(name: str, tags: Iterable[str]) -> Labels:
    """Labels as a user gives them: each on one line; empty tags and repeated ones are left out.

    Raises:
        InputError: name or tag is too long, there are too many tags, or a tag has a comma.
    """
    name = one_line(name)
    if len(name) > LONGEST_NAME:
        raise InputError(
            f"the name has {len(name)} characters", where="name", remedy=f"Use at most {LONGEST_NAME} characters."
        )
    kept: dict[str, str] = {}
    for tag in map(one_line, tags):
        if len(tag) > LONGEST_TAG or "," in tag:
            raise InputError(
                f"{quoted(tag, _MOST_SHOWN)} cannot be a tag",
                where="tags",
                remedy=f"Use at most {LONGEST_TAG} characters, without commas.",
            )
        if tag:
            kept.setdefault(folded(tag), tag)
    if len(kept) > MOST_TAGS:
        raise InputError(f"there are {len(kept)} tags", where="tags", remedy=f"Use at most {MOST_TAGS}.")
    return Labels(name=name, tags=list(kept.values()))


def read_labels(folder: Path) -> Labels:
    """The labels of a run; none where it has no file of them.

    Raises:
        InputError: the file cannot be read, or is damaged.
    """
    path = folder / LABELS
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return Labels()
    except OSError as error:
        raise unreadable(path, error) from error
    if len(data) > _MOST_BYTES:
        raise InputError("the file is too large for labels", where=str(path), remedy="Delete the file.")
    return checked(Labels, parsed(data, str(path)), str(path))


def write_labels(folder: Path, given: Labels) -> None:
    """Keep the labels of a run; without any, it has no file of them. Everything else in the folder stays as it is.

    Raises:
        InputError: this is not a run's folder, or the file cannot be written.
    """
    path = folder / LABELS
    if not (folder / MANIFEST).is_file():
        raise InputError("this is not a run's folder", where=str(folder), remedy="Give the folder of a run.")
    told = given.model_dump(mode="json")
    try:
        if told:
            write_whole(path, json.dumps(told, ensure_ascii=False, indent=2).encode() + b"\n")
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"the labels cannot be kept: {error.strerror}", where=str(path), remedy="Check the folder's permissions."
        ) from error
