"""The card of what a prompt lacked: its pieces of information with their scores, those left out struck through."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nicegui import ui

from persimchat.app.web.looks import BLOCK_COLOURS
from persimchat.app.web.minds.cards import small, words
from persimchat.app.web.shared.formats import block_name
from persimchat.app.web.widgets import bar, card
from persimchat.app.web.words import number, t
from persimchat.runs.reports.pruning_figures import bars, check_mean, dominant, piece
from persimchat.state.plain_text import one_line
from persimchat.state.pruning import Check, Pruned, PrunedItem


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
    return t(
        f"minds.left_{kind}", name=name, removed=number(pruned.removed), units=number(pruned.units), n=pruned.units
    )


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
            button = (
                ui.button(t("minds.would_ask"), icon="tune", on_click=ask)
                .props("flat dense no-caps")
                .classes("text-sm self-start")
            )
            button.mark("would-ask")


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
