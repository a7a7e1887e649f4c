"""The card after the last line: what the conversation came to, who stands where, and why it ended."""

from __future__ import annotations

from collections import Counter

from nicegui import ui

from persimchat.app.web.board import Board
from persimchat.app.web.looks import colour
from persimchat.app.web.shared.formats import listed
from persimchat.app.web.words import t
from persimchat.runs.events import Concluded, Standing, Stopped
from persimchat.state.plain_text import capitalised, one_line
from persimchat.state.settings import BASELINES


def ended(stopped: Stopped) -> str:
    """Why a run has ended, in a sentence."""
    if stopped.source in BASELINES:
        return t("chat.ended_baseline")
    if stopped.reason == "stopped" and stopped.source in ("user", "moderator", "person"):
        return t(f"chat.stopped_by_{stopped.source}")
    return t(f"chat.ended_{stopped.reason}")


def failed(board: Board) -> bool:
    """Whether an error has ended the run."""
    return bool(board.error) or board.stopped is not None and board.stopped.reason == "error"


def standings(board: Board) -> list[Standing]:
    """Where everybody stands at the end of a debate: their position, and their last words that all heard.

    Conclusions under conditions say so themselves; else the positions are those of the judge's last verdict, or the
    participants' own answers. Empty for a conversation without positions.
    """
    if board.stopped is None or board.stopped.conclusion is None:
        return []
    if board.stopped.conclusion.positions:
        return board.stopped.conclusion.positions
    words = {said.speaker: said.text for said in board.utterances if said.heard_by is None}
    positions = {said.speaker: said.answer for said in board.utterances if said.answer is not None}
    if board.verdicts:
        positions |= {one.agent: one.position for one in board.verdicts[-1].positions}
    return [
        Standing(agent=name, position=positions[name], words=words.get(name, ""))
        for name in board.participants
        if name in positions
    ]


def draw_end(board: Board, *, result: str = "", counted: bool = True) -> None:
    """Draw the card of a run that has ended.

    Args:
        board: the run's.
        result: a sentence on the result of a story's vote; empty if there is none.
        counted: whether to say how much was said.
    """
    stopped = board.stopped
    if failed(board):
        _failure(board)
        return
    with ui.column().classes("surface w-full gap-2 p-4 the-end"):
        why = ended(stopped) if stopped is not None else ""
        detail = _detail(stopped)
        with ui.row().classes("w-full items-center gap-2 no-wrap"):
            ui.icon("flag", size="20px").classes("muted").props("aria-hidden=true")
            heading = t("chat.the_end", why=why)
            ui.label(heading).classes("text-sm font-semibold").props("role=heading aria-level=2")
        if stopped is not None and stopped.conclusion is not None:
            _conclusion(stopped.conclusion)
            _standings(board)
            _reasons(stopped.conclusion)
        if result:
            ui.label(result).classes("conclusion w-full p-3 text-base font-semibold break-words")
        if detail and not result:
            ui.label(detail).classes("text-sm muted break-words whitespace-pre-wrap")
        if stopped is not None and counted:
            ui.label(t("chat.summary", n=board.turn)).classes("text-xs muted")


def _failure(board: Board) -> None:
    """The red card of a run that an error ended: what went wrong, what is kept, and what to do."""
    what = board.error or (board.stopped.detail if board.stopped is not None else "")
    with ui.column().classes("w-full gap-2 p-4 the-end failure").props("role=alert"):
        with ui.row().classes("w-full items-center gap-2 no-wrap"):
            ui.icon("error", size="22px").props("aria-hidden=true")
            ui.label(t("chat.failed")).classes("text-base font-semibold").props("role=heading aria-level=2")
        if what:
            ui.label(capitalised(what)).classes("text-sm break-words whitespace-pre-wrap")
        kept = t("chat.failed_kept", n=board.turn) if board.turn else ""
        ui.label(f"{kept} {t('chat.failed_todo')}".strip()).classes("text-sm")


def _detail(stopped: Stopped | None) -> str:
    """The rule's explanation, unless the heading says the same."""
    if stopped is None or stopped.reason == "stopped":
        return ""
    said = stopped.reason in ("consensus", "message_limit", "guide") and not stopped.source.startswith("mad")
    return "" if said else stopped.detail


def _conclusion(found: Concluded) -> None:
    """The answer; one that holds under conditions is an outcome of its own."""
    if found.consensus:
        heading = "chat.agreed_conditionally" if found.conditional else "chat.agreed_on"
    else:
        heading = "chat.majority_conditionally" if found.conditional else "chat.majority"
    with ui.column().classes("conclusion w-full gap-1 p-3" + (" conditional" if found.conditional else "")):
        ui.label(t(heading)).classes("text-xs font-semibold")
        ui.label(found.answer).classes("text-lg font-semibold break-words whitespace-pre-wrap")
        if found.conditional:
            ui.label(t("chat.condition", what=one_line(found.conditional))).classes("font-semibold break-words")
        if found.supporters:
            ui.label(t("chat.held_by", who=listed(found.supporters))).classes("text-sm break-words")


def _standings(board: Board) -> None:
    """Everybody's position, with their last words and how often they spoke."""
    held = standings(board)
    if not held:
        return
    spoken = Counter(said.speaker for said in board.utterances)
    ui.label(t("chat.positions")).classes("text-xs font-semibold muted pt-1").props("role=heading aria-level=3")
    with ui.element("ul").classes("plain w-full standings"):
        for one in held:
            with ui.element("li").style(f"--c:{colour(one.agent, board.participants)}"):
                with ui.row().classes("w-full items-baseline gap-2 no-wrap"):
                    ui.label(one_line(one.agent)).classes("text-sm font-semibold break-words min-w-0")
                    ui.label(t("chat.summary", n=spoken[one.agent])).classes("text-xs muted whitespace-nowrap")
                ui.label(one_line(one.position)).classes("text-sm break-words")
                if one.words:
                    ui.label(f"“{one_line(one.words)}”").classes("text-sm muted break-words clamped")


def _reasons(found: Concluded) -> None:
    by = t("chat.said_by_judge") if found.by == "judge" else t("chat.said_by", by=one_line(found.by))
    if found.reasoning:
        ui.label(found.reasoning).classes("text-sm muted words")
    ui.label(by).classes("text-sm muted break-words")
