"""An agent's face: seven expressions, drawn here, with the expression's name for those who do not see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from nicegui import ui

from persimchat.app.web.looks import EMOTION_COLOURS
from persimchat.app.web.widgets import named
from persimchat.app.web.words import t
from persimchat.state.companion import Label

Shape = tuple[str, Mapping[str, str]]
"""An element of SVG and its attributes."""

COLOURS: Final[Mapping[Label, str]] = {
    "happy": EMOTION_COLOURS["happiness"],
    "angry": EMOTION_COLOURS["anger"],
    "disgust": EMOTION_COLOURS["disgust"],
    "fear": EMOTION_COLOURS["fear"],
    "surprised": EMOTION_COLOURS["surprise"],
    "sad": EMOTION_COLOURS["sadness"],
    "neutral": "#64748b",
}


def _line(path: str) -> Shape:
    return "path", {"d": path}


def _eyes(radius: str, white: str = "") -> list[Shape]:
    """Two pupils; with `white`, the radius of the white around them, wide eyes."""
    around = [("circle", {"cx": x, "cy": "29", "r": white, "class": "white"}) for x in ("22", "42") if white]
    return [*around, *(("circle", {"cx": x, "cy": "29", "r": radius, "class": "pupil"}) for x in ("22", "42"))]


EXPRESSIONS: Final[Mapping[Label, list[Shape]]] = {
    "neutral": [_line("M17 20H27M37 20H47"), *_eyes("2.8"), _line("M23 45H41")],
    "happy": [
        _line("M17 18Q22 14 27 18M37 18Q42 14 47 18"),
        _line("M17 30Q22 24 27 30M37 30Q42 24 47 30"),
        ("path", {"d": "M20 39Q32 56 44 39Z", "class": "mouth"}),
    ],
    "sad": [
        _line("M16 22Q22 21 27 16M37 16Q42 21 48 22"),
        *_eyes("2.8"),
        _line("M22 48Q32 39 42 48"),
        ("path", {"d": "M46 34Q50 40 46 42Q42 40 46 34Z", "class": "tear"}),
    ],
    "angry": [_line("M16 17L28 23M48 17L36 23"), *_eyes("2.8"), _line("M22 47Q32 41 42 47M22 47H42")],
    "fear": [
        _line("M15 18Q20 12 28 13M36 13Q44 12 49 18"),
        *_eyes("1.9", "6"),
        _line("M20 47Q23 42 26 47T32 47T38 47T44 47"),
    ],
    "disgust": [
        _line("M16 20Q22 22 28 21M36 17Q42 13 48 18"),
        _line("M17 29H27M37 28Q42 25 47 28"),
        _line("M29 35L27 39M35 35L37 39"),
        _line("M20 46Q26 40 32 45T45 43"),
    ],
    "surprised": [
        _line("M16 16Q22 9 28 16M36 16Q42 9 48 16"),
        *_eyes("2.6", "6"),
        ("ellipse", {"cx": "32", "cy": "47", "rx": "4.5", "ry": "6.5", "class": "mouth"}),
    ],
}


class Face:
    """The face on a page.

    Args:
        agent: whose face it is; part of its name for screen readers.
        size: its width and height in pixels.
    """

    def __init__(self, agent: str, size: int) -> None:
        self._agent = agent
        self._shown: Label | None = None
        self._drawing = ui.element("svg").classes("face shrink-0").style(f"width:{size}px; height:{size}px")
        self._drawing.props("viewBox='0 0 64 64' role=img")

    def show(self, emotion: Label) -> None:
        """Draw an expression."""
        if emotion == self._shown:
            return
        self._shown = emotion
        named(self._drawing, t("companion.face", who=self._agent, emotion=t(f"companion.emotion_{emotion}")))
        self._drawing.style(f"--c:{COLOURS[emotion]}").clear()
        with self._drawing:
            ui.element("circle").props("cx=32 cy=32 r=30").classes("head")
            for tag, attributes in EXPRESSIONS[emotion]:
                shape = ui.element(tag)
                for name, value in attributes.items():
                    if name == "class":
                        shape.classes(value)
                    else:
                        shape.props[name] = value
