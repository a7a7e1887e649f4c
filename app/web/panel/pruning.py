"""The card of what a prompt lacked: its pieces of information with their scores, those left out struck through."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, get_args

from nicegui import context, ui

from ....reports.pruning_figures import bars, check_mean, dominant, piece
from ....reports.words import block_name
from ....runs.run.at_turn import PastPrompt, foreseen_from, past_prompts
from ....state.errors import PerSimChatError
from ....state.minds.pruning import Check, Fill, Pruned, PrunedItem, Pruning, select
from ....state.plain_text import one_line
from ..context import Viewing
from ..live_runs import scorer_missing
from ..shared.runs import Scored, open_record
from ..widgets import BLOCK_COLOURS, anew, bar, card, named, say_in, tall_dialog, text_button
from ..words import number, t
from .mind_cards import small, words


def sentence(agent: str, pruned: Pruned, *, would: bool = False) -> str:
    """What an utterance was, or would be, worded without.

    Args:
        agent: the speaker.
        pruned: what the prompt lacked.
        would: whether nobody said it so.
    """
    name = one_line(agent)
    if not pruned.units:
        return t("minds.left_no_units", name=name)
    kind = ("would" if would else "was") if pruned.removed else "nothing"
    removed, units = number(pruned.removed), number(pruned.units)
    return t(f"minds.left_{kind}", name=name, removed=removed, units=units, n=pruned.units)


def left_out_card(agent: str, pruned: Pruned | None, ask: Callable[[], object] | None = None) -> None:
    """Draw the card of one utterance's prompt.

    Args:
        agent: the speaker.
        pruned: the record; None if nothing was to be left out.
        ask: called to show what would go with other values; None if that is not offered.
    """
    with card(t("minds.left_out")) as box:
        box.mark("left-out")
        if pruned is None:
            small(t("minds.left_not_pruned", name=one_line(agent)))
        else:
            pieces(agent, pruned)
            _checks(pruned.checks)
        if ask is not None:
            button = text_button(t("minds.would_ask"), ask, icon="tune", look="flat dense")
            button.classes("text-sm self-start").mark("would-ask")


def pieces(agent: str, pruned: Pruned, *, would: bool = False) -> None:
    """Draw the sentence, what was counted, and all pieces by block."""
    ui.label(sentence(agent, pruned, would=would)).classes("text-sm font-medium words").mark("left-sentence")
    if not pruned.units:
        return
    facts = [t("minds.left_words", removed=number(pruned.words_removed), words=number(pruned.words), n=pruned.words)]
    if pruned.share is not None:
        facts.append(t("minds.left_share", percent=round(pruned.share * 100)))
    method = pruned.method if pruned.strength else "none"
    small(" ".join([t(f"minds.left_by_{method}", value=number(pruned.strength, 2)), *facts]))
    if (most := dominant(pruned)) is not None:
        small(t("minds.left_dominant", percent=round(most[1] * 100), text=piece(most[0].text))).mark("left-dominant")
    blocks: dict[str, list[tuple[PrunedItem, float]]] = {}
    for item, share in bars(pruned):
        blocks.setdefault(item.block, []).append((item, share))
    with ui.element("div").classes("left-blocks w-full"):
        for block, items in blocks.items():
            _block(block, items)


def _block(block: str, items: Sequence[tuple[PrunedItem, float]]) -> None:
    gone = sum(item.removed for item, _ in items)
    with ui.element("section").classes("w-full flex flex-col gap-1"):
        with ui.row().classes("w-full items-baseline gap-2 no-wrap"):
            ui.label(block_name(block)).classes("text-xs font-semibold grow min-w-0").props("role=heading aria-level=4")
            small(t("minds.left_of_block", removed=number(gone), units=number(len(items))))
        with ui.element("ul").classes("plain w-full flex flex-col gap-1"):
            for item, share in items:
                with ui.element("li").classes("w-full"):
                    _piece(item, share)


def _piece(item: PrunedItem, share: float) -> None:
    with ui.row().classes("w-full items-center gap-2 no-wrap"):
        with ui.element("div").classes("left-bar"):
            bar(share, BLOCK_COLOURS.get(item.block, "var(--ring)"))
        score = t("minds.left_unscored") if item.score is None else t("minds.left_score", value=f"{item.score:.3g}")
        if item.removed:
            ui.label(t("minds.left_gone")).classes("sr-only")
        with ui.element("del" if item.removed else "span").classes("left-text words text-xs grow min-w-0") as text:
            ui.label(piece(item.text)).classes("clamped")
        text.props["title"] = score
        ui.label(score).classes("sr-only")


def _checks(checks: Sequence[Check]) -> None:
    """The scores of each wording's checks, in order."""
    if not checks:
        return
    small(t("minds.left_checks"))
    with ui.element("ol").classes("list-decimal pl-5 text-sm"):
        for check in checks:
            with ui.element("li"):
                mean = check_mean(check)
                if mean is None:
                    told = t("minds.left_unchecked")
                else:
                    scores = ", ".join(map(str, check.scores))
                    told = t("minds.left_checked", mean=number(mean, 1), scores=scores)
                kept = t("minds.left_taken" if check.taken else "minds.left_dropped")
                ui.label(f"{told} {kept}").classes("text-sm")
                if check.comment:
                    words(check.comment, "text-xs muted clamped")


# The dialog that shows what would be left out of a past utterance's prompt: any λ, any method, without a reques


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
        with tall_dialog(heading, "would-go"):
            self._choices(methods, method, now.strength if now is not None and now.strength else USUAL)
            self._status = ui.label().classes("text-sm words").props("role=status").mark("would-status")
            self._wait = ui.spinner("dots", size="36px", color="primary").props("aria-hidden=true")
            self._result = ui.column().classes("w-full gap-2")
            ui.timer(_LOOK_S, self._draw)

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
            self._method.props("options-dense").classes("w-full").mark("would-method")
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
        with anew(self._result):
            pieces(self._agent, found, would=True)

    def _say(self, text: str, *, waits: bool = False) -> None:
        say_in(self._status, text)
        self._wait.set_visibility(waits)


def _asking(past: PastPrompt, pruning: Pruning) -> Callable[[], Awaitable[Pruned]]:
    return lambda: foreseen_from(past, pruning)
