"""Choices that a branch has made, on the page and in the course: marked, and known to the host alone."""

from __future__ import annotations

import pytest
from nicegui import ui
from nicegui.testing import User
from story_records import ADA, BO, CY, HAPPENED, SAID, own, story, write_story

from persimchat.app.web.context import WebContext
from persimchat.runs.events import Happened
from persimchat.runs.reports.story_course import course

RUN = "a-branch"
TO_BO = f"Chosen by the branch: {ADA} is to talk to {BO}."
TO_NOBODY = f"Chosen by the branch: {BO} is to talk to nobody."


def forced() -> list[Happened]:
    """The story made by hand, in which a branch has sent Ada to Bo, and then Bo to nobody."""
    chosen = [one.model_copy(update={"chosen_by": "branch"}) if one.do == "choice" else one for one in HAPPENED]
    at = next(place for place, one in enumerate(chosen) if one.do == "stage" and one.stage == "confidential")
    return [*chosen[:at], own(2, "choice", BO, stage="private", chosen_by="branch"), *chosen[at:]]


@pytest.mark.parametrize(
    ("who", "rooms", "nobody"),
    [
        (None, ["branch", ""], [{BO: 2}]),
        (ADA, ["branch", ""], []),
        (BO, ["", ""], [{BO: 2}]),
        (CY, [""], []),
    ],
)
def test_the_course_tells_the_host_alone(who: str | None, rooms: list[str], nobody: list[dict[str, int]]) -> None:
    found = course(story(), forced(), SAID, rounds=1, seen_by=who)
    assert [room.chosen_by for room in found.rooms] == rooms
    assert [stage.left_out for stage in found.stages if stage.left_out] == nobody
    plain = course(story(), HAPPENED, SAID, rounds=1, seen_by=who)
    assert not any(room.chosen_by for room in plain.rooms) and not any(stage.left_out for stage in plain.stages)


@pytest.mark.proof
async def test_a_line_marks_them(user: User, web: WebContext) -> None:
    write_story(web.runs.out / RUN, happened=forced())
    await user.open(f"/run/{RUN}")
    await user.should_see(TO_BO)
    await user.should_see(TO_NOBODY)
    (eyes,) = user.find(marker="seen-by").elements
    assert isinstance(eyes, ui.select)
    eyes.set_value(BO)
    await user.should_not_see(TO_BO)
    await user.should_see(TO_NOBODY)
    eyes.set_value(CY)
    await user.should_not_see(TO_NOBODY)
