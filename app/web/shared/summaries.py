"""Asking about a focus group, from the page and from the REST API."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from persimchat.evaluation.guide.asking import ToAsk, ask, to_ask
from persimchat.evaluation.judging import MODULE, Judge
from persimchat.state.configuration import load_settings


async def questions_about(folder: Path, *, by: str, positions: bool, with_people: bool) -> list[ToAsk]:
    """What would be asked; raises as `to_ask`, or InputError if the model cannot judge.

    Args:
        folder: of the run.
        by: the model that finds themes; empty for none.
        positions: whether everybody is asked where they stood.
        with_people: whether the model may read words of people who took part.
    """
    judge = None
    if by:
        named: dict[str, Any] = {f"module_models.{MODULE}": by}
        judge = Judge(await asyncio.to_thread(lambda: load_settings(**named)))
    return await to_ask(folder, judge=judge, positions=positions, with_people=with_people)


async def asked_about(folder: Path, *, by: str, positions: bool, with_people: bool) -> list[str]:
    """Ask what has no answer yet; what a reader must know. Arguments and errors as `questions_about` and `ask`."""
    return await ask(await questions_about(folder, by=by, positions=positions, with_people=with_people))
