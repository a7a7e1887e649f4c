"""scipy, loaded when a statistic first needs it."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from persimchat.state.errors import MissingExtraError


@cache
def stats() -> Any:
    """The module `scipy.stats`.

    Raises:
        MissingExtraError: the extra `evaluation` is not installed.
    """
    return _loaded("scipy.stats")


@cache
def distance() -> Any:
    """The module `scipy.spatial.distance`.

    Raises:
        MissingExtraError: the extra `evaluation` is not installed.
    """
    return _loaded("scipy.spatial.distance")


def _loaded(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "scipy":
            raise
        raise MissingExtraError("the statistics of comparisons", "evaluation") from None
