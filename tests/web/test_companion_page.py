"""The page of the companion with a real world and the offline model: talk, face, trust, day, memory. Text is text."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from nicegui import ui
from nicegui.testing import User
from web.companion_worlds import ODA, lake
from web.conftest import until
from web.past_pages import named, press

from persimchat.app.web.context import WebContext
from persimchat.app.web.pairs import Pair
from persimchat.app.web.serving import web_context

pytest.importorskip("nicegui", reason="the extra [web] is not installed")
from offenders import check_each

from persimchat.app.web.chat.companion import COLOURS, expressions, worlds_in
from persimchat.app.web.chat.companion_memory import path_of
from persimchat.app.web.crisis import speaks_of_harm
from persimchat.state.companion import LABELS
from persimchat.state.wording import catalogue

PETR = f"/companion?agent={ODA.replace(' ', '+')}&person=Petr"
HOSTILE = "<img src=x onerror=window.__x=1>"


@pytest.fixture
async def web(tmp_path: Path) -> AsyncIterator[WebContext]:
    """A server's context with an open world."""
    context = web_context(tmp_path / "runs", tmp_path / "library", tmp_path / "results")
    async with lake(tmp_path / "lake") as world:
        yield replace(context, world=world)


async def talked(web: WebContext, *words: str, person: str = "Petr") -> Pair:
    """The pair after the person has said all this, and everything is digested."""
    assert web.world is not None
    pair = await web.pairs.of(web.world, ODA, person)
    for text in words:
        pair.say(text)
        await until(lambda: not pair.answering)
    await pair.companion.settled()
    await pair.load()
    return pair


def field(user: User, marker: str) -> ui.input | ui.textarea:
    (found,) = user.find(marker=marker).elements
    assert isinstance(found, ui.input | ui.textarea)
    return found


@pytest.mark.proof
async def test_a_name_and_an_agent_are_chosen(user: User) -> None:
    await user.open("/companion")
    await user.should_see("World: Lake.")
    await user.should_see("Tomasz Wrona")
    press(user, named(user, f"Talk with {ODA}"))
    await user.should_see("The person's name is empty")
    field(user, "person").set_value("Petr")
    press(user, named(user, f"Talk with {ODA}"))
    await user.should_see(f"You have not talked with {ODA} yet.")


@pytest.mark.proof
async def test_no_such_agent(user: User) -> None:
    await user.open("/companion?agent=Odo&person=Petr")
    await user.should_see("Your name")
    await user.should_see(ODA)


@pytest.mark.proof
async def test_words_are_answered(user: User, web: WebContext) -> None:
    await user.open(PETR)
    field(user, "words").set_value("My sister is called Mira.")
    user.find(marker="send").click()
    await user.should_see("My sister is called Mira.")
    pair = await talked(web)
    assert [one["said"] for one in pair.exchanges] == ["My sister is called Mira."]
    await user.should_see(pair.exchanges[0]["utterance"])
    await user.should_see(f"{pair.trust} of 10")
    assert named(user, "Trust").props["aria-valuenow"] == pair.trust
    assert field(user, "words").value == ""


@pytest.mark.proof
async def test_what_is_remembered(user: User, web: WebContext) -> None:
    pair = await talked(web, "My sister is called Mira.", "Goodbye!")
    await until(lambda: pair.over is not None)
    assert pair.over is not None
    await user.open(PETR)
    await user.should_see("“My sister is called Mira.”")
    await user.should_see(pair.over.summary)
    await user.should_see("1 talk before")
    await talked(web, "Actually my sister is called Mara.", "Goodbye!")
    await user.should_see("1 line is no longer in force")


@pytest.mark.proof
async def test_a_line_is_corrected_kept_and_forgotten(user: User, web: WebContext) -> None:
    pair = await talked(web, "My sister is called Mira.", "Goodbye!")
    assert pair.tie is not None
    (old,) = pair.tie.facts
    await user.open(PETR)
    press(user, named(user, f"Pin: {old.statement}"))
    await until(lambda: pair.tie is not None and pair.tie.facts[0].pinned)
    press(user, named(user, f"Edit: {old.statement}"))
    await user.should_see("Correct a line")
    field(user, "statement").set_value(f"Her name is Mara {HOSTILE}")
    user.find("Save").click()
    await until(lambda: pair.tie is not None and len(pair.tie.facts) == 2)
    await user.should_see(f"Her name is Mara {HOSTILE}")
    await user.should_see("edited by Petr")
    assert pair.tie.facts[0].replaced_by == pair.tie.facts[1].id
    press(user, named(user, f"Forget this one: Her name is Mara {HOSTILE}"))
    await user.should_see("Forget this line?")
    user.find(marker="forget-one").click()
    await user.should_see("Nothing yet.")
    assert pair.tie.facts == []


@pytest.mark.proof
async def test_everything_is_forgotten(user: User, web: WebContext) -> None:
    assert web.world is not None
    pair = await talked(web, "My dog is called Kiwi.", "Goodbye!")
    other = await talked(web, "My cat is called Nut.", "Goodbye!", person="Eva")
    await user.open(PETR)
    user.find(marker="forget-me").click()
    await user.should_see("To confirm, type your name: Petr")
    (button,) = user.find(marker="forget-now").elements
    assert isinstance(button, ui.button)
    assert not button.enabled
    field(user, "forget-name").set_value("Eva")
    assert not button.enabled
    field(user, "forget-name").set_value("PETR ")
    assert button.enabled
    user.find(marker="forget-now").click()
    await user.should_see(f"{ODA} has forgotten you.")
    assert pair.gone
    files = [path for path in web.world.folder.rglob("*") if path.is_file()]
    assert not any(b"Kiwi" in path.read_bytes() for path in files)
    other.say("What is my cat called?")
    await until(lambda: not other.answering)
    assert "Nut" in other.exchanges[-1]["utterance"]
    await user.open(PETR)
    await user.should_see(f"You have not talked with {ODA} yet.")


@pytest.mark.proof
async def test_the_end_of_a_talk(user: User, web: WebContext) -> None:
    await talked(web, "My dog is called Kiwi.")
    await user.open(PETR)
    user.find("End the talk").click()
    await user.should_see("The talk is over.")
    await user.should_see("“My dog is called Kiwi.”")


@pytest.mark.proof
async def test_another_person_sees_nothing_of_it(user: User, web: WebContext) -> None:
    await talked(web, "My dog is called Kiwi.", "Goodbye!")
    await user.open(PETR.replace("Petr", "Eva"))
    await user.should_see("Nothing yet.")
    await user.should_not_see("Kiwi")


@pytest.mark.proof
async def test_words_of_danger_show_help_and_are_answered(user: User, web: WebContext) -> None:
    await user.open(PETR)
    await user.should_not_see("findahelpline.com")
    pair = await talked(web, "I want to die.")
    assert pair.exchanges[0]["utterance"]
    await user.should_see("findahelpline.com")
    press(user, named(user, "Close"))
    await user.should_not_see("findahelpline.com")


@pytest.mark.proof
async def test_something_happens(user: User, web: WebContext) -> None:
    pair = await talked(web, "Good morning!")
    await user.open(PETR)
    user.find("Something happens").click()
    field(user, "event").set_value("The stove is on fire!")
    press(user, named(user, "Let it happen"))
    await until(lambda: not pair.answering)
    await pair.companion.settled()
    assert web.world is not None
    mind = await web.world.mind(ODA)
    assert mind is not None
    assert "fire" in str(mind["companion"].get("seen"))


@pytest.mark.proof
async def test_text_is_only_text(user: User, web: WebContext) -> None:
    await talked(web, f"My sister is called Mira {HOSTILE}.", HOSTILE, "Goodbye!", person="Petr")
    await user.open(PETR)
    await user.should_see(HOSTILE)
    elements = user.find(kind=ui.element).elements
    assert not [one for one in elements if one.tag == "img" or isinstance(one, ui.html | ui.markdown)]


@pytest.mark.proof
async def test_all_is_named_and_in_czech(user: User, web: WebContext) -> None:
    await talked(web, "My sister is called Mira.", "Goodbye!")
    user.http_client.headers["accept-language"] = "cs"
    await user.open(PETR)
    await user.should_see("Zapomeň na mě")
    await user.should_see("1 dřívější rozhovor")
    nameless = [
        one
        for one in user.find(kind=ui.button).elements
        if not (one.text or one.props.get("aria-label"))  # icons alone say nothing to a screen reader
    ]
    assert nameless == []


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
        assert speaks_of_harm(text)

    def is_quiet(text: str) -> None:
        assert not speaks_of_harm(text)

    check_each(CARE, fires)
    check_each(NO_CARE, is_quiet)


def test_the_line_of_trust() -> None:
    assert path_of([5]) == "M5.0 32.0L295.0 32.0"
    assert path_of([0, 10, 5]) == "M5.0 59.0L150.0 5.0L295.0 32.0"


def test_every_expression_is_drawn_and_named() -> None:
    assert set(expressions()) == set(COLOURS) == set(LABELS)
    assert {f"companion.emotion_{label}" for label in LABELS} <= set(catalogue())
    assert len({str(shapes) for shapes in expressions().values()}) == len(LABELS)  # seven different ones
    for shape in (shape for shapes in expressions().values() for shape in shapes):
        assert shape.get("tag", "path") in ("path", "circle", "ellipse")
        ElementTree.Element("shape", shape)


def test_worlds_of_a_folder(tmp_path: Path) -> None:
    assert worlds_in(tmp_path / "none") == []
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "world.sqlite").write_text("{}", encoding="utf-8")
    (tmp_path / "no world").mkdir()
    (tmp_path / "file").write_text("", encoding="utf-8")
    (found,) = worlds_in(tmp_path)
    assert (found.folder.name, found.held) == ("lake", False)
