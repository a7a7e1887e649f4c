"""The figures of docs/concepts.md as SVG: boxes and arrows, drawn here, so the site needs no script to show them.

python tools/site_figures.py            write docs/pictures/<name>.svg
python tools/site_figures.py --check    change nothing; exit code 1 if one is stale
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
LINE = 17
"""Pixels from one line of text to the next."""
FILLS = {"model": "#e8eaf6", "plain": "#ffffff", "store": "#e0f2f1", "end": "#fff3e0"}


@dataclass(frozen=True)
class Box:
    """One box: its centre and size in pixels, its lines of text, and its kind (a key of `FILLS`)."""

    x: int
    y: int
    text: str
    kind: str = "plain"
    width: int = 150
    height: int = 56


@dataclass(frozen=True)
class Figure:
    """A drawing: its size in pixels, what it shows in one sentence, boxes by name, and arrows between them.

    An arrow is (from, to) or (from, to, label); a label stands at the arrow's middle. Notes are (x, y, text).
    """

    width: int
    height: int
    title: str
    boxes: dict[str, Box]
    arrows: list[tuple[str, ...]]
    notes: list[tuple[int, int, str]] = field(default_factory=list)


TURN = Figure(
    820,
    300,
    "One turn: the next speaker is chosen; it speaks while the others think; all hear and appraise.",
    {
        "choose": Box(85, 130, "who needs most\nto talk?", width=130),
        "speak": Box(260, 70, "speak\n(one agent)", "model"),
        "think": Box(260, 190, "reflect or plan\n(all the others)", "model"),
        "hear": Box(450, 130, "hear: perceive,\nremember, recall\n(all)", "model", 160, 74),
        "appraise": Box(650, 130, "appraise: need to talk,\nopenness, action,\nemotion (all)", "model", 180, 74),
        "judge": Box(650, 250, "judge\n(debates only)", "model", 180),
        "end": Box(85, 250, "end, or one\nmore turn?", "end", 130),
    },
    [
        ("choose", "speak"),
        ("choose", "think"),
        ("speak", "hear"),
        ("think", "hear"),
        ("hear", "appraise"),
        ("appraise", "judge"),
        ("judge", "end"),
        ("end", "choose", "next turn"),
    ],
    [(410, 24, "Blue: a language model is asked")],
)

MEMORY = Figure(
    820,
    320,
    "Memory: a new memory pushes the old one from short-term into long-term memory; the score has five parts.",
    {
        "new": Box(100, 80, "perception, insight\nor plan", "model", 160),
        "short": Box(330, 80, "short-term memory\n(one memory)", "store", 170),
        "long": Box(590, 80, "long-term memory\n(at most 100 alive)", "store", 180),
        "points": Box(100, 235, "three questions\n(focal points)", "model", 160),
        "score": Box(
            370,
            235,
            "score of every memory:\nrecency + importance\n+ relevance + emotional\n+ stm_relevance",
            width=210,
            height=94,
        ),
        "recalled": Box(660, 235, "recalled: the best 30\nof each question,\nand short-term memory", "end", 200, 74),
    },
    [
        ("new", "short"),
        ("short", "long", "pushed out"),
        ("points", "score"),
        ("long", "score"),
        ("score", "recalled"),
    ],
    [(410, 24, "Green: a store. Blue: a language model is asked")],
)

REFLECTION = Figure(
    820,
    290,
    "A tree of reflections: perceptions and plans support insights, and insights support deeper insights.",
    {
        "top": Box(410, 55, "depth 2: “We argue about\nmoney, and mean trust.”", "model", 230),
        "left": Box(220, 145, "depth 1: “Petr counts\nwhat he may lose.”", "model", 200),
        "right": Box(600, 145, "depth 1: “Nobody here\nknows the bill.”", "model", 200),
        "a": Box(110, 245, "heard: Petr\nasked the price", width=170),
        "b": Box(310, 245, "heard: Petr\nfears the rain", width=170),
        "c": Box(510, 245, "heard: Hana\nguessed a sum", width=170),
        "d": Box(710, 245, "plan: ask\nfor the bill", width=170),
    },
    [("left", "top"), ("right", "top"), ("a", "left"), ("b", "left"), ("c", "right"), ("d", "right")],
)

DEBATE = Figure(
    820,
    270,
    "A debate: agents talk; after each utterance a judge who takes no part gets their scores and decides.",
    {
        "agents": Box(130, 130, "agents talk;\neach judges its openness\nand its need to talk", "model", 200, 76),
        "judge": Box(410, 130, "judge: reasoning,\nthen: consensus?", "model", 170),
        "answer": Box(705, 60, "consensus:\nthe answer", "end", 180),
        "majority": Box(705, 215, "limit: the majority’s\nposition, no consensus", "end", 180),
        "on": Box(250, 232, "the debate goes on", width=150, height=36),
    },
    [
        ("agents", "judge", "utterances"),
        ("judge", "answer", "yes"),
        ("judge", "majority", "no, at the limit"),
        ("judge", "on", "no"),
        ("on", "agents"),
    ],
)

FIGURES = {"turn": TURN, "memory": MEMORY, "reflection": REFLECTION, "debate": DEBATE}


def svg(figure: Figure) -> str:
    """The figure as an SVG document with a white ground, so that it reads on a dark page as well."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {figure.width} {figure.height}" '
        f'width="{figure.width}" height="{figure.height}" font-family="sans-serif" font-size="13" role="img">',
        f"<title>{escape(figure.title)}</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="#37474f"/></marker></defs>',
        f'<rect width="{figure.width}" height="{figure.height}" rx="8" fill="#fafafa"/>',
    ]
    for arrow in figure.arrows:
        parts += _arrow(figure.boxes[arrow[0]], figure.boxes[arrow[1]], "".join(arrow[2:]))
    for box in figure.boxes.values():
        left, top = box.x - box.width // 2, box.y - box.height // 2
        parts.append(
            f'<rect x="{left}" y="{top}" width="{box.width}" height="{box.height}" rx="6" '
            f'fill="{FILLS[box.kind]}" stroke="#37474f"/>'
        )
        parts += _lines(box.x, box.y, box.text)
    for x, y, text in figure.notes:
        parts += _lines(x, y, text)
    return "\n".join([*parts, "</svg>", ""])


def _lines(x: float, y: float, text: str) -> list[str]:
    """Lines of text, centred at a point."""
    lines = text.split("\n")
    first = y - LINE * (len(lines) - 1) / 2 + 4
    return [
        f'<text x="{x:g}" y="{first + LINE * i:g}" text-anchor="middle" fill="#212121">{escape(line)}</text>'
        for i, line in enumerate(lines)
    ]


def _arrow(begin: Box, end: Box, label: str) -> list[str]:
    """A straight arrow between the borders of two boxes, with its label above the middle, or beside an upright one."""
    (x1, y1), (x2, y2) = _border(begin, end), _border(end, begin)
    drawn = [
        f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="#37474f" stroke-width="1.4" '
        'marker-end="url(#tip)"/>'
    ]
    beside = 40 if x1 == x2 else 0
    above = 0 if beside else 12 if y1 == y2 else 20
    return drawn + (_lines((x1 + x2) / 2 + beside, (y1 + y2) / 2 - above, label) if label else [])


def _border(box: Box, towards: Box) -> tuple[float, float]:
    """Where the line from a box's centre to another's leaves the box."""
    dx, dy = towards.x - box.x, towards.y - box.y
    share = min(box.width / 2 / abs(dx) if dx else 1.0, box.height / 2 / abs(dy) if dy else 1.0)
    return round(box.x + dx * share, 1), round(box.y + dy * share, 1)


def main() -> int:
    """Write or check; see the module's docstring."""
    parser = argparse.ArgumentParser(description="Draw the figures of docs/concepts.md.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if one is stale")
    check = parser.parse_args().check
    stale = False
    for name, figure in FIGURES.items():
        path, drawn = PICTURES / f"{name}.svg", svg(figure)
        if path.is_file() and path.read_text(encoding="utf-8") == drawn:
            continue
        stale = True
        print(f"docs/pictures/{path.name}: {'is stale; run: make docs' if check else 'drawn'}")
        if not check:
            path.write_text(drawn, encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
