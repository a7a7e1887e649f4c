"""The dialog that shows what would be left out of a past utterance's prompt: any λ, any method, without a request."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import Any, Final, get_args

from nicegui import context, ui

from persimchat.app.web.context import Viewing
from persimchat.app.web.minds.cards import small
from persimchat.app.web.minds.left_out import pieces
from persimchat.app.web.scorer import scorer_missing
from persimchat.app.web.shared.would_go import Scored, open_record
from persimchat.app.web.widgets import FIELD, icon_button, named
from persimchat.app.web.words import number, t
from persimchat.runs.run.past_prompts import PastPrompt, foreseen_from, past_prompts
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import one_line
from persimchat.state.pruning import Fill, Pruned, Pruning, select

USUAL: Final = 0.6
"""λ that is shown first, if the run left nothing out."""
_LOOK_S: Final = 0.2
STEP: Final = 0.05


def at_strength(scored: Pruned, strength: float, fill: Fill = "skip") -> Pruned:
    """What another λ would leave out, by the same scores.

    Args:
        scored: what was scored; pieces without a score stay as they are.
        strength: λ.
        fill: of the settings.
    """
    places = [n for n, item in enumerate(scored.items) if item.score is not None]
    scores = [item.score for item in scored.items if item.score is not None]
    chosen = {places[k] for k in select(scores, strength, fill=fill)}
    items = [
        item if item.score is None else item.model_copy(update={"removed": n in chosen})
        for n, item in enumerate(scored.items)
    ]
    gone = [item for item in items if item.removed]
    total = math.fsum(scores)
    return scored.model_copy(
        update={
            "strength": strength,
            "items": items,
            "removed": len(gone),
            "words_removed": sum(item.words for item in gone),
            "share": math.fsum(item.score or 0.0 for item in gone) / total if total > 0 else None,
        }
    )


async def show_what_would_go(viewing: Viewing, agent: str, turn: int, now: Pruned | None) -> None:
    """Open the dialog.

    Args:
        viewing: the run.
        agent: the speaker.
        turn: the utterance's number.
        now: what its prompt lacked; None if nothing was to be left out.
    """
    client = context.client
    missing = await asyncio.to_thread(scorer_missing)
    with client.content:
        dialog = _Dialog(viewing, agent, turn, now, missing)
    await dialog.score()


class _Dialog:
    def __init__(
        self, viewing: Viewing, agent: str, turn: int, now: Pruned | None, missing: PerSimChatError | None
    ) -> None:
        self._viewing, self._agent, self._turn, self._missing = viewing, agent, turn, missing
        self._past: PastPrompt | None = None
        self._scored: dict[str, Pruned] = {}
        self._drawn: tuple[str, float] | None = None
        self._asked = 0
        methods = [one for one in get_args(Scored) if one != "attention" or missing is None]
        method = now.method if now is not None and now.method in methods else methods[0]
        heading = t("minds.would_title", name=one_line(agent), turn=turn)
        with ui.dialog(value=True) as self._dialog, ui.element("div").classes("surface would-go").mark("would-go"):
            named(self._dialog, heading)
            with ui.row().classes("w-full items-center gap-2 no-wrap px-3 py-2 bar"):
                title = ui.label(heading).classes("text-sm font-semibold grow min-w-0 words")
                title.props("role=heading aria-level=2")
                icon_button("close", t("common.close"), self._dialog.close)
            with ui.element("div").classes("scroll would-body").props("tabindex=0") as body:
                named(body, heading)
                self._choices(methods, method, now.strength if now is not None and now.strength else USUAL)
                self._status = ui.label().classes("text-sm words").props("role=status").mark("would-status")
                self._wait = ui.spinner("dots", size="36px", color="primary").props("aria-hidden=true")
                self._result = ui.column().classes("w-full gap-2")
            ui.timer(_LOOK_S, self._draw)
        self._dialog.on("hide", self._dialog.delete)

    def _choices(self, methods: list[str], method: str, strength: float) -> None:
        small(t("minds.would_how"))
        with ui.element("div").classes("would-choices w-full"):
            with ui.row().classes("items-center gap-3 no-wrap min-w-0"):
                self._slider = ui.slider(min=0, max=1, step=STEP, value=strength).classes("grow min-w-0 mx-1")
                named(self._slider, t("minds.would_strength")).mark("would-strength")
                shown = ui.label().classes("text-sm tabular-nums whitespace-nowrap")
                shown.bind_text_from(self._slider, "value", lambda value: f"λ {number(float(value or 0), 2)}")
            words = {one: t(f"setup.pruning_method_{one}") for one in methods}
            self._method = ui.select(words, label=t("setup.pruning_method"), value=method, on_change=self.score)
            self._method.props(f"{FIELD} options-dense").classes("w-full").mark("would-method")
        if self._missing is not None:
            why = t("setup.pruning_why", what=self._missing.what, remedy=self._missing.remedy)
            small(why).mark("would-missing")

    async def score(self) -> None:
        """Score the pieces by the chosen method, once each, and show what would go."""
        self._asked += 1
        asked, method = self._asked, str(self._method.value)
        if method not in self._scored:
            self._result.clear()
            self._drawn = None
            self._say(t("minds.would_reading" if method == "attention" else "minds.would_working"), waits=True)
            try:
                scored = await self._scores(method)
            except PerSimChatError as error:
                if asked == self._asked and not self._result.is_deleted:
                    self._say(error.sentence)
                return
            self._scored[method] = scored
        if asked == self._asked and not self._result.is_deleted:
            self._say("")
            self._draw()

    async def _scores(self, method: str) -> Pruned:
        """All pieces with their scores: λ = 1 leaves out every one that has any."""
        forecasts = self._viewing.web.forecasts
        past = self._past
        if past is None:
            folder = self._viewing.web.runs.folder(self._viewing.run)
            record = await asyncio.to_thread(open_record, folder)
            (past,) = await forecasts.one(lambda: past_prompts(record, [self._turn]))
            self._past = past
        given: Any = {"lambda": 1.0, "method": method, "remove": past.settings.pruning.remove}
        pruning = Pruning.model_validate(given)
        return await forecasts.one(_asking(past, pruning))

    def _draw(self) -> None:
        method, strength = str(self._method.value), round(float(self._slider.value or 0), 4)
        if method not in self._scored or self._drawn == (method, strength) or self._past is None:
            return
        self._drawn = (method, strength)
        found = at_strength(self._scored[method], strength, self._past.settings.pruning.fill)
        self._result.clear()
        with self._result:
            pieces(self._agent, found, would=True)

    def _say(self, text: str, *, waits: bool = False) -> None:
        self._status.set_text(text)
        self._status.set_visibility(bool(text))
        self._wait.set_visibility(waits)


def _asking(past: PastPrompt, pruning: Pruning) -> Callable[[], Awaitable[Pruned]]:
    return lambda: foreseen_from(past, pruning)
