"""Tests a model for the page and the REST API: is it there, and does it answer one small question."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Final

from persimchat.app.web.live_runs import refuse_model_files
from persimchat.models.checking import check_model
from persimchat.models.naming import parse_model_name
from persimchat.models.reaching import reach
from persimchat.state.errors import ModelError
from persimchat.state.settings import Settings

_LONGEST_S: Final = 120.0
"""Seconds that a model may take for its answer: a file may have to be loaded first."""
_TIMEOUT_S: Final = 60.0


@dataclass(frozen=True)
class Tested:
    """A model that works.

    Attributes:
        model: its name.
        seconds: until it had answered.
    """

    model: str
    seconds: float


async def test_model(name: str) -> Tested:
    """Ask a model one small question; first, within three seconds, whether its server is there.

    Raises:
        InputError: the name is wrong, or a key, a file or a library is missing.
        ModelError: the model does not answer, or not usefully.
    """
    refuse_model_files({"model": name})
    settings = Settings(timeout_s=_TIMEOUT_S)
    began = time.perf_counter()
    by_address = parse_model_name(name).provider == "compatible"
    await reach(name, settings, ask=by_address)  # such a request follows no redirect, wherever the address came from
    if not by_address:
        try:
            async with asyncio.timeout(_LONGEST_S):
                await check_model(name, settings)
        except TimeoutError as error:
            raise ModelError(
                f"no answer within {_LONGEST_S:g} seconds", model=name, remedy="Use a faster or a smaller model."
            ) from error
    return Tested(name, time.perf_counter() - began)
