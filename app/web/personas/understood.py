"""What was understood of files that were converted: what was taken, what was left out, what stayed empty."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.words import t
from persimchat.personas.conversion import Conversion, Converted
from persimchat.personas.conversion_summary import Summary, summaries
from persimchat.state.plain_text import one_line


def understood(conversion: Conversion) -> None:
    """Draw it, for each file or several of which the same is true."""
    for summary in summaries(conversion):
        with ui.column().classes("w-full gap-0"):
            files = ", ".join(dict.fromkeys(file.name for file in summary.files))
            head = t("personas.summary", files=files, n=summary.people, by=summary.by)
            ui.label(one_line(head)).classes("text-sm font-semibold break-words")
            for line in _lines(summary):
                ui.label(one_line(line)).classes("text-sm muted break-words pl-3")


def notes_on(one: Converted) -> list[str]:
    """Where each field of somebody comes from, what was left out and what stayed empty, a line each."""
    draft = one.draft
    left_out = [f"{name}: {value}" for name, value in draft.left_out.items()]
    taken = [f"{ours} ← {', '.join(theirs)}" for ours, theirs in draft.mapped.items() if theirs]
    lines = [_of_kind("taken", taken), _of_kind("left_out", left_out), _of_kind("empty", one.empty)]
    return [one_line(line) for line in (*lines, *draft.notes) if line]


def _lines(summary: Summary) -> list[str]:
    lines = []
    for kind in ("taken", "left out", "technical", "empty"):
        found = [(what, number) for (of, what), number in summary.facts.items() if of == kind]
        shown = [f"{what}: {summary.values[what]}" if kind == "left out" else what for what, _ in found]
        partial = [f" ({number}/{summary.people})" if number < summary.people else "" for _, number in found]
        lines.append(_of_kind(kind.replace(" ", "_"), [a + b for a, b in zip(shown, partial, strict=True)]))
    if summary.skipped:
        lines.append(t("personas.skipped", n=summary.skipped))
    return [line for line in lines if line]


def _of_kind(kind: str, what: list[str]) -> str:
    return t(f"personas.of_kind_{kind}", what="; ".join(what)) if what else ""
