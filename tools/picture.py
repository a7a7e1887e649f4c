"""Draw the README's picture of the terminal from a real run: `python tools/picture.py`.

It runs an example with the offline model up to the middle of an utterance, as a reader of the terminal would see it,
and writes docs/pictures/terminal.svg. The picture loads nothing from anywhere.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

import persimchat
from persimchat.app.views.live_view import LiveView
from persimchat.runs.events import Speaking, Token, TurnEnded

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "pictures" / "terminal.svg"
EXAMPLE = ROOT / "examples" / "ice_cream.yaml"
SHOWN_TURN = 5
"""The utterance that is being made when the picture is taken."""
SHOWN_WORDS = 8


def main() -> None:
    """Run the example and write the picture."""
    # Not a terminal: the live area is printed once, at the end, and not at every refresh.
    console = Console(
        record=True,
        width=96,
        height=60,
        file=io.StringIO(),
        force_terminal=False,
        color_system="truecolor",
        highlight=False,
    )
    view = LiveView(console)
    words = 0
    for event in persimchat.stream_events(EXAMPLE, model="offline"):
        view.show(event)
        if isinstance(event, Speaking | TurnEnded):
            words = 0
        if isinstance(event, Token) and event.turn == SHOWN_TURN:
            words += 1
            if words == SHOWN_WORDS:
                break
    view.close()
    console.print(view.area())
    svg = console.export_svg(title="persimchat run --scenario examples/ice_cream.yaml")
    svg = svg.replace("<!-- Generated with Rich https://www.textualize.io -->", "")
    svg = re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL)
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
