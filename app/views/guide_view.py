"""What `persimchat evaluate guide` prints: positions before and after, and what came up for each question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from persimchat.app.views.run_tables import Look, table
from persimchat.runs.reports.guide import Positions, Stand
from persimchat.runs.reports.guide_summary import MOST_QUOTES, Answers, GroupSummary
from persimchat.runs.reports.words import UNKNOWN, count, decimal, listed
from persimchat.state.plain_text import one_line


def shown(found: GroupSummary, look: Look, notes: Iterable[str]) -> RenderableType:
    """The summary of a focus group."""
    return Group(*_parts(found, look), *map(look, notes))


def _parts(found: GroupSummary, look: Look) -> Iterator[RenderableType]:
    for one in found.positions:
        yield from _positions(one, look)
    for answers in found.answers:
        yield from _question(answers, look)
    for question in found.not_put:
        yield look(f"Not put: {question.ask}")
    if found.judges:
        left = f"; {count(found.invented, 'quote')} that nobody said left out" if found.invented else ""
        yield look(f"Themes by {listed(found.judges)}; every quote was checked against what was said{left}.")
    else:
        yield look("No model was asked for themes: shown are words that participants share. --by MODEL finds themes.")


def _positions(one: Positions, look: Look) -> Iterator[RenderableType]:
    if not one.known:
        yield look(f"{one.poll.ask}: nobody has been asked.")
        return

    def cells(stand: Stand) -> list[str]:
        before, after = (UNKNOWN if held is None else held for held in (stand.before, stand.after))
        return [stand.name, before, after, "moved" if stand.moved else ""]

    yield table(look, one_line(one.poll.ask), ("participant", "before", "after", ""), map(cells, one.stands))
    before, after = one.means()
    if before is not None and after is not None:
        yield look(f"Mean {decimal(before)} before, {decimal(after)} after.")
    yield Text("")


def _question(one: Answers, look: Look) -> Iterator[RenderableType]:
    part = one.section
    heading = look(f"{part.number}. {one_line(part.question.ask)}" if part.question else "Before the first question")
    heading.stylize("bold")
    yield heading
    spoke = [f"{voice.name} {voice.utterances}" for voice in part.voices if voice.utterances]
    silent = f" Said nothing: {listed(part.silent)}." if part.silent else ""
    yield look(f"{count(len(part.answers), 'answer')}: {listed(spoke)}.{silent}" if spoke else silent.strip())
    for theme in one.themes:
        about = f": {one_line(theme.about)}" if theme.about else ""
        yield Padding(look(f"{'•' if look.unicode else '-'} {one_line(theme.name)}{about}"), (0, 0, 0, 2))
        for quote in theme.quotes[:MOST_QUOTES]:
            yield Padding(look(f'"{one_line(quote.words)}" ({quote.speaker}, message {quote.turn})'), (0, 0, 0, 6))
    yield Text("")
