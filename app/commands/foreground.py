"""Runs a conversation in the foreground; shared by all commands that do so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ...state.errors import InputError
from ..output import MODEL_FAILURE, Interrupted, waits_shown
from ..views.lead import Lead
from .option_groups import Shown, Wanted

if TYPE_CHECKING:
    from ...runs.control import Control
    from ...runs.events import Event
    from ...state.settings import Settings
    from ..views.view import Form


_NO_LEAD: Final = Lead()
_Result = TypeVar("_Result")


def run_with_models(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run work that may ask models to its end, and close their connections; raises Interrupted if it is cancelled."""
    from ...models.registry import close_models

    async def whole() -> _Result:
        try:
            return await work
        except asyncio.CancelledError:
            raise Interrupted from None
        finally:
            await close_models()

    return asyncio.run(whole())


def form_of(*, as_json: bool, quiet: bool) -> Form:
    """The form of the output.

    Raises:
        InputError: both were given.
    """
    if as_json and quiet:
        raise InputError("--json and --quiet contradict each other", remedy="Leave one of them out.")
    return "json" if as_json else "quiet" if quiet else "text"


def hold(wanted: Wanted, shown: Shown, *, must_be_story: bool = False) -> None:
    """Run the conversation that the user asked for, to its end.

    Args:
        wanted: the conversation.
        shown: how it is shown.
        must_be_story: whether the scenario must have a section story.

    Raises:
        InputError: an option, a file or a name is wrong.
        typer.Exit: it ended with an error.
    """
    form = form_of(as_json=shown.as_json, quiet=shown.quiet)
    # The rooms that a run needs take a second to load; --help and a wrong option should not wait for them.
    from ...runs.run.simulation import run_simulation
    from .request import understood

    scenario, settings = understood(wanted)
    if must_be_story and scenario.story is None:
        raise InputError(
            "the scenario has no section story",
            where=str(wanted.scenario),
            remedy="Hold it with: persimchat run FILE; docs/stories.md says how a story is written.",
        )
    hold_run(
        lambda control: run_simulation(scenario, settings, out=shown.out, control=control),
        kept=lambda run: shown.out / run,
        form=form,
        asks=settings,
        people=any(persona.human for persona in scenario.participants),
        moderate=shown.moderate,
    )


def hold_run(
    begun: Callable[[Control | None], AsyncGenerator[Event, None]],
    *,
    kept: Callable[[str], Path] | None,
    form: Form,
    asks: Settings | None = None,
    people: bool = False,
    moderate: bool = False,
    lead: Lead = _NO_LEAD,
) -> None:
    """Follow a run to its end, with the people who take part in it.

    Args:
        begun: makes the run's events; it gets a control if people take part.
        kept: gives a run's folder by its id; None if the run is not kept.
        form: the form of the output.
        asks: the run's settings, whose models must be there before it begins; None if it asks none.
        people: whether any participant is a person.
        moderate: whether the user is the moderator.
        lead: the text around the past of a resumed run or a branch.

    Raises:
        InputError: a model or an embedding cannot be used; nothing has begun.
        ModelError: a model's server refuses, or says nothing within `timeout_s`; nothing has begun.
        typer.Exit: it ended with an error.
    """
    import asyncio
    import gc

    import typer

    from ...models.health_check import reach_all
    from ..following import follow
    from ..views.view import view_for

    async def held() -> str | None:
        if asks is not None:
            with waits_shown():
                await reach_all(asks)
        view, taking_part = view_for(form, people=people, moderate=moderate, lead=lead)
        events = begun(taking_part.control if taking_part else None)
        stopped = await follow(events, view, kept=kept, people=taking_part)
        return stopped.reason if stopped else None

    gc.freeze()  # what is loaded by now stays: collecting it again and again took a quarter of a long run's CPU
    if asyncio.run(held()) == "error":
        raise typer.Exit(MODEL_FAILURE)
