"""The terminal view of a run with people: the conversation scrolls by above the line in which they type."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Final

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.shortcuts import CompleteStyle
from prompt_toolkit.styles import Style
from rich.cells import cell_len, set_cell_size
from rich.console import Console as RichConsole
from rich.console import RenderableType
from rich.text import Text

from ...runs.control import Control
from ...runs.events import Event, Started
from ...state.errors import InputError
from ...state.plain_text import one_line
from ..output import CtrlC, CtrlD, Interrupted, is_unicode
from ..views.lead import Lead
from ..views.picture import Picture
from ..views.text import cost, tokens
from ..views.transcript import Transcript
from .console_lines import completions
from .taking_part import TakingPart, carry_out

TURN: Final = "turn"
PLAIN: Final = ""
_QUESTIONS: Final = {
    "utterance": " Your turn, {} ",
    "need_to_talk": " {}: need to talk, 0 to 10? ",
    "choice": " {}: whom do you talk to? ",
    "ballot": " {}: whom do you name? ",
    "position": " {}: where do you stand? ",
}
"""The toolbar's words by what a person is asked for."""

Line = tuple[str, str]
"""A style (`TURN` or `PLAIN`), and text of one line."""


class Area:
    """The state of a run that the toolbar shows."""

    def __init__(self) -> None:
        self._now = Picture()

    def show(self, event: Event) -> None:
        """Update the state with an event."""
        self._now.take(event)

    def lines(self, asked: tuple[str, str] | None, width: int) -> list[Line]:
        """The toolbar's two lines: who is asked or who speaks, and how far the conversation is.

        Args:
            asked: who is asked for what.
            width: cells of a line.
        """
        first = (PLAIN, self._doing(width))
        if asked is not None:
            name, what = one_line(asked[0]), asked[1]
            first = (TURN, _QUESTIONS[what].format(name))
        needs = ", ".join(
            f"{one_line(name)} {need}" for name, need in sorted(self._now.needs.items(), key=lambda one: -one[1])
        )
        parts = [
            f"turn {self._now.said}/{self._now.limit}" if self._now.limit else "",
            f"need to talk: {needs}" if needs else "",
            self._now.agreement,
            f"{tokens(self._now.totals)}, {cost(self._now.totals)}" if self._now.totals.calls else "",
        ]
        return [(style, _cut(text, width)) for style, text in (first, (PLAIN, " | ".join(filter(None, parts))))]

    def _doing(self, width: int) -> str:
        if self._now.words:
            name, words = one_line(self._now.speaker), one_line(self._now.words)
            room = width - cell_len(name) - 2
            return f"{name}: {_end(words, room)}"
        if self._now.speaker:
            return f"{one_line(self._now.speaker)} is thinking"
        if self._now.paused:
            return "paused; /go continues"
        return "the agents listen and think" if self._now.needs else "everybody wakes up"


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else set_cell_size(text, max(0, width - 1)).rstrip() + "…"


def _end(text: str, width: int) -> str:
    """The last words of a text that fit into the width."""
    while text and cell_len(text) > max(1, width):
        text = text[1 + (len(text) > 2 * width) * (len(text) - 2 * width) :]
    return text


_REFRESH_S: Final = 0.5
_STYLE: Final = Style.from_dict({"bottom-toolbar": "noreverse dim", TURN: "reverse bold nodim"})


class Console(TakingPart):
    """Shows a run and reads a line at the same time, in one terminal."""

    def __init__(self, control: Control, *, moderating: bool, lead: Lead | None = None) -> None:
        super().__init__(control, moderating=moderating)
        self._rich = RichConsole(file=io.StringIO(), force_terminal=True, highlight=False, markup=False, emoji=False)
        self._transcript = Transcript(self._print, unicode=is_unicode(), lead=lead)
        self._area = Area()
        self._session: PromptSession[str] = PromptSession(
            message=self._prompt,
            bottom_toolbar=self._toolbar,
            style=_STYLE,
            completer=_Names(self),
            complete_style=CompleteStyle.READLINE_LIKE,
            complete_while_typing=False,
            reserve_space_for_menu=0,
            erase_when_done=True,
            refresh_interval=_REFRESH_S,
            interrupt_exception=CtrlC,
            eof_exception=CtrlD,
        )

    # The view

    def show(self, event: Event) -> None:
        """Update the state with an event."""
        self._area.show(event)
        self._transcript.show(event)
        if isinstance(event, Started):
            self._transcript.note("Type what you want to say; /help lists the commands.")
        self._session.app.invalidate()

    def note(self, line: str) -> None:
        """Print a line that is not an utterance."""
        self._transcript.note(line)

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _print(self, shown: RenderableType) -> None:
        whole = isinstance(shown, Text) and bool(shown.no_wrap)
        with self._rich.capture() as captured:
            self._rich.print(shown, soft_wrap=whole)
        self._write(captured.get())

    def _write(self, text: str) -> None:
        """Write above the line in one step, without giving up the terminal's input, so that no key is lost."""
        app, output = self._session.app, self._session.output
        if app.is_running:
            app.renderer.erase()
        output.enable_autowrap()
        output.write_raw(text)
        output.flush()
        if app.is_running:
            app.renderer.reset()
            app.renderer.request_absolute_cursor_position()
            app.invalidate()

    # The line

    async def read(self) -> None:
        """Carry out what people type, until they leave.

        Raises:
            Interrupted: Ctrl-C.
        """
        with patch_stdout(raw=True):
            await self._lines()

    async def _lines(self) -> None:
        while True:
            try:
                line = await self._session.prompt_async(handle_sigint=False)
            except CtrlC:
                raise Interrupted from None
            except CtrlD:
                self._transcript.note("You have left: the run stops when a person has to answer.")
                return
            try:
                told = carry_out(line, self.talk, self.control)
            except InputError as error:
                told = f"{one_line(str(error))} (Press Up to get back what you typed.)"
            if told:
                self._transcript.note(told)

    def _prompt(self) -> str:
        asked = self.control.asked
        return f"{one_line(asked[0])}> " if asked else "> "

    def _toolbar(self) -> StyleAndTextTuples:
        width = self._session.output.get_size().columns
        found: StyleAndTextTuples = []
        for style, text in self._area.lines(self.control.asked, width):
            found += [("", "\n")] if found else []
            found.append((f"class:{style}" if style else "", text))
        return found


class _Names(Completer):
    """Completes commands and names."""

    def __init__(self, listening: TakingPart) -> None:
        self._listening = listening

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Completions of the line."""
        for text, replaced in completions(document.text_before_cursor, self._listening.talk):
            yield Completion(text, start_position=-replaced)
