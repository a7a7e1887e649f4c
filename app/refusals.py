"""What the operating system refuses, as errors of the user's input."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..state.errors import InputError


@contextmanager
def refusals_told(what: str, where: Path | str, remedy: str = "") -> Iterator[None]:
    """Let what is done within fail with an InputError if the operating system refuses it.

    Args:
        what: what could not be done, such as "the folder cannot be made"; the reason is added.
        where: the file, folder or address.
        remedy: what to do about it.
    """
    try:
        yield
    except OSError as error:
        raise InputError(f"{what}: {error.strerror}", where=str(where), remedy=remedy) from error
