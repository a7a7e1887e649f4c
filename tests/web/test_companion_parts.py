"""Small parts of the companion's page: what words show where help is, the line of trust, the worlds of a folder."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("nicegui", reason="the extra [web] is not installed")

from offenders import check_each

from persimchat.app.web.care import needs_care
from persimchat.app.web.companion.beside import path_of
from persimchat.app.web.companion.face import COLOURS, EXPRESSIONS
from persimchat.app.web.companion.worlds import worlds_in
from persimchat.app.web.words import catalogue
from persimchat.state.companion import LABELS

CARE = [
    "I want to die.",
    "Sometimes I think of SUICIDE",
    "he’s going to kill   her",
    "I don’t want to live any more",
    "My father hits me.",
    "Chci umřít.",
    "už nechci\nžít",
    "Přemýšlím o sebevraždě",
    "Ich will mich umbringen",
    "No quiero vivir así",
    "J'ai envie de mourir",
]
NO_CARE = [
    "",
    "Good morning!",
    "The wind kills my plants, but I like to cut paper myself.",
    "That film was to die for. Want to dine?",
    "Nechci žitný chléb.",
    "Die Sonne scheint.",
    "Je voudrais nettoyer le tueur.",
]


def test_words_that_show_where_help_is() -> None:
    def fires(text: str) -> None:
        assert needs_care(text)

    def is_quiet(text: str) -> None:
        assert not needs_care(text)

    check_each(CARE, fires)
    check_each(NO_CARE, is_quiet)


def test_the_line_of_trust() -> None:
    assert path_of([5]) == "M5.0 32.0L295.0 32.0"
    assert path_of([0, 10, 5]) == "M5.0 59.0L150.0 5.0L295.0 32.0"


def test_every_expression_is_drawn_and_named() -> None:
    assert set(EXPRESSIONS) == set(COLOURS) == set(LABELS)
    assert {f"companion.emotion_{label}" for label in LABELS} <= set(catalogue())
    shapes = ["".join(f"<{tag}{sorted(of.items())}/>" for tag, of in shapes) for shapes in EXPRESSIONS.values()]
    assert len(set(shapes)) == len(LABELS)  # seven different ones
    for shapes in EXPRESSIONS.values():
        for tag, attributes in shapes:
            ElementTree.Element(tag, dict(attributes))
            assert tag in ("path", "circle", "ellipse")


def test_worlds_of_a_folder(tmp_path: Path) -> None:
    assert worlds_in(tmp_path / "none") == []
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "world.json").write_text("{}", encoding="utf-8")
    (tmp_path / "no world").mkdir()
    (tmp_path / "file").write_text("", encoding="utf-8")
    (found,) = worlds_in(tmp_path)
    assert (found.folder.name, found.held) == ("lake", False)
