"""The look into a mind: the right one at the right turn, nothing of a later turn, and words where there is nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from nicegui import ui
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction
from run_folders import HOSTILE, MARKER, PEOPLE, lines, manifest, mind, recalled, utterance, write_run, write_steered
from web.conftest import begin

from persimchat.app.web.context import Viewing, WebContext
from persimchat.app.web.minds.mind_part import mind_part

pytestmark = pytest.mark.proof

EVA, BO, LI = PEOPLE
SHOWN: dict[str, Any] = {
    "percept": {"theme": "Tea came up", "keywords": ["kettle", "leaf"], "importance": 8},
    "focal_points": ["What do I know of kettles?"],
    "need_reasoning": "I must say something.",
    "openness": 3,
    "openness_reasoning": "Not yet.",
    "did": "reflect",
    "action": "plan",
    "plan": {"theme": "Praise the kettle", "identity": "I am a kettle man.", "react": False, "reaction": "I wait."},
}


def write(out: Path, **about: Any) -> Path:
    minds = [mind(turn, name, need_reasoning=f"{name} at {turn}") for turn in range(4) for name in PEOPLE]
    insight = {"id": "i1", "kind": "reflection", "turn": 1, "theme": "Kettles matter", "evidence": ["m1"]}
    feelings = {"happiness": 4, "anger": 0}
    minds.append(mind(2, BO, recalled=[recalled("The old kettle")], insights=[insight], emotion=feelings, **SHOWN))
    minds.append(mind(3, BO, focal_points=["Later question?"], recalled=[recalled("Later memory", "m9")]))
    return write_run(out, None, minds, **about)


async def show(user: User, web: WebContext, folder: Path, agent: str, turn: int) -> Viewing:
    """Draw the part alone on a page, as the panel does."""
    viewing = Viewing(web, folder.name, await web.runs.board(folder.name), turn)
    viewing.look_at(agent)

    @ui.page("/mind")
    async def _page() -> None:
        draw = mind_part(viewing)
        await draw()
        ui.timer(0.05, draw)

    await user.open("/mind")
    return viewing


def enabled(user: User, name: str) -> bool:
    (button,) = (one for one in user.find(kind=ui.button).elements if one.props.get("aria-label") == name)
    return button.props["aria-disabled"] != "true"


def press(user: User, name: str) -> None:
    (button,) = (one for one in user.find(kind=ui.button).elements if one.props.get("aria-label") == name)
    UserInteraction(user, {button}, None).click()


async def test_everything_of_a_mind(user: User, web: WebContext):
    await show(user, web, write(web.runs.out), BO, 2)
    for text in (
        *("After message 2 of 3", "Tea came up", "kettle", "Importance 8 of 10", "What do I know of kettles?"),
        *(
            "I must say something.",
            "5 of 10",
            "3 of 10",
            "Not yet.",
            f"{BO} reflected",
            f"Unless {BO} speaks, planning comes next.",
        ),
        *("Tea was praised", "Praise the kettle", "I am a kettle man.", f"Why {BO} will not react", "The old kettle"),
        *(
            "Kettles matter",
            "supported by 1 memory",
            "5 memories in long-term memory",
            "2.50",
            "short-term relevance",
        ),
    ):
        await user.should_see(text)
    await user.should_see("+3")  # happiness, from 1
    await user.should_see("−1")  # anger, from 1
    for text in ("Later question?", "Later memory", f"{EVA} at 2"):
        await user.should_not_see(text)


async def test_who_was_not_asked_remembers_the_words(user: User, web: WebContext):
    minds = [mind(turn, name, listened=name == EVA) for turn in range(1, 4) for name in PEOPLE]
    folder = write_run(web.runs.out, None, minds)
    await show(user, web, folder, BO, 2)
    await user.should_see(marker="mind-not-asked")
    await show(user, web, folder, EVA, 2)
    await user.should_not_see(marker="mind-not-asked")


@pytest.mark.proof
async def test_from_turn_to_turn_and_from_mind_to_mind(user: User, web: WebContext):
    await show(user, web, write(web.runs.out), BO, 2)
    press(user, "Next message")
    await user.should_see("Later question?")
    await user.should_see("Praise the kettle")  # the plan holds
    assert not enabled(user, "Next message")
    for turn in (2, 1, 0):
        press(user, "Previous message")
        await user.should_see(f"After message {turn} of 3" if turn else "Before the first message")
    await user.should_see(f"{BO} at 0")
    await user.should_not_see("Praise the kettle")
    assert not enabled(user, "Previous message")
    (who,) = user.find(kind=ui.select).elements
    who.set_value(0)
    await user.should_see(f"{EVA} at 0")


async def test_the_part_follows_the_slider(user: User, web: WebContext):
    viewing = await show(user, web, write(web.runs.out), BO, 2)
    await user.should_see("After message 2 of 3")
    await user.should_not_see("Later question?")
    viewing.go_to(1)
    await user.should_see("After message 1 of 3")
    await user.should_not_see("Praise the kettle")
    viewing.go_to(None)
    await user.should_see("Later question?")
    press(user, "Previous message")
    await user.should_see("After message 2 of 3")
    assert viewing.turn == 2  # the whole page went back


async def test_the_last_speaker_is_shown_unless_somebody_was_chosen(user: User, web: WebContext):
    viewing = await show(user, web, write(web.runs.out), BO, 3)
    viewing.mind_of = None
    for turn in (1, 2, 3):
        viewing.go_to(turn)
        speaker = viewing.board.utterances[turn - 1].speaker
        await user.should_see(f"After message {turn} of 3")
        (who,) = user.find(kind=ui.select).elements
        assert who.options[who.value] == speaker
    viewing.look_at(BO, 1)
    assert (viewing.part, viewing.mind_of, viewing.turn) == ("mind", BO, 1)


async def test_whispers_that_it_did_not_hear_are_not_shown(user: User, web: WebContext):
    await show(user, web, write_steered(web.runs.out), EVA, 2)
    await user.should_see(f"{EVA} perceived nothing")
    await user.should_not_see(MARKER)


async def test_a_person_has_no_mind_to_look_into(user: User, web: WebContext):
    folder = write_steered(web.runs.out)
    (folder / "minds.jsonl").write_text(lines([mind(turn, EVA) for turn in range(7)]), encoding="utf-8")
    await show(user, web, folder, LI, 3)
    await user.should_see("A person takes this part.")


async def test_baselines_have_no_minds(user: User, web: WebContext):
    settings = manifest()["settings"] | {"baseline": "mad", "mode": "debate"}
    await show(user, web, write_run(web.runs.out, None, [], settings=settings), EVA, 1)
    await user.should_see("It uses no minds")


async def test_a_torn_last_line_is_no_error(user: User, web: WebContext):
    folder = write(web.runs.out)
    board = await web.runs.board(folder.name)
    with (folder / "minds.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"turn": 3, "agent": "Eva')
    viewing = Viewing(web, folder.name, board)
    viewing.look_at(EVA)

    @ui.page("/mind")
    async def _page() -> None:
        await mind_part(viewing)()

    await user.open("/mind")
    await user.should_see(f"{EVA} at 3")


async def test_hostile_words_are_text(user: User, web: WebContext):
    minds = [mind(1, EVA, need_reasoning=HOSTILE, recalled=[recalled(HOSTILE)], focal_points=[HOSTILE])]
    await show(user, web, write_run(web.runs.out, [utterance(1, EVA)], minds), EVA, 1)
    await user.should_see("<img src=x onerror=alert(2)>")
    await user.should_not_see(kind=ui.html)
    await user.should_not_see("\u202e")


@pytest.mark.proof
async def test_the_judge_has_a_mind(user: User, web: WebContext):
    live = await begin(web, messages=4, mode="debate", judge="persona")
    await live.ended()
    await show(user, web, web.runs.folder(live.run), "Judge", 3)
    (who,) = user.find(kind=ui.select).elements
    assert who.value == -1
    assert list(who.options.values())[-1] == "Judge"
    await user.should_see("After message 3 of")
    await user.should_see("Heard and perceived")
    await user.should_not_see("Need to talk")


async def test_the_mind_has_its_owners_name_and_the_plan_its_age(user: User, web: WebContext):
    viewing = await show(user, web, write(web.runs.out), BO, 2)
    for at, age in ((2, "Made during this message."), (3, "Made during message 2, 1 message ago.")):
        viewing.go_to(at)
        await user.should_see(age)
    viewing.go_to(0)
    await user.should_see(f"{BO} has made no plan so far.")
    texts = [one.text for one in user.find(kind=ui.label).elements]
    assert not [text for text in texts if re.search(r"\b(it|its)\b", text, re.IGNORECASE)]
