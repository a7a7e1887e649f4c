"""While a person plays a story, no page tells of it what the person's character does not hear."""

from __future__ import annotations

import pytest
from nicegui import ui
from nicegui.testing import User
from story_records import ADA, BO, CY, SAID, write_story
from web.test_story_page import source, words

from persimchat.app.web.context import WebContext
from persimchat.app.web.shared.navigation import comparison_of, like, page_of
from persimchat.app.web.shared.stories import closed, closed_runs, is_played

RUN, OVER = "a-played-story", "a-story-that-is-over"
CLOSED = "People play this story. It opens here when the story has ended."


@pytest.fixture
def played(web: WebContext) -> str:
    """A story that Cy's player has not ended, and beside it one that is over."""
    write_story(web.runs.out / RUN, people=(CY,), ended=False)
    write_story(web.runs.out / OVER, people=(CY,))
    return RUN


@pytest.mark.parametrize(
    ("people", "ended", "secret"),
    [
        ([CY], None, True), ([CY], "budget", True), ([CY], "stopped", True), ([CY], "error", True),
        ([CY], "settled", False), ([CY], "finished", False), ([], None, False),
    ],
)  # fmt: skip
def test_it_is_played_until_its_own_end(people: list[str], ended: str | None, secret: bool) -> None:
    assert is_played(people, ended) is secret


async def test_which_runs_are_closed(web: WebContext, played: str) -> None:
    write_story(web.runs.out / "nobody-plays", ended=False)
    listed = (await web.runs.runs()).runs
    assert closed_runs(listed) == {str(web.runs.folder(played))}
    assert [closed(web.runs.folder(run)) for run in (played, OVER, "nobody-plays")] == [True, False, False]
    (web.runs.folder(played) / "run.json").write_text("{", encoding="utf-8")  # after it was listed
    assert closed_runs(listed) == {str(web.runs.folder(played))}


@pytest.mark.proof
@pytest.mark.parametrize(("a", "b"), [(RUN, OVER), (OVER, RUN), (RUN, RUN)])
async def test_it_is_compared_with_none(user: User, played: str, a: str, b: str) -> None:
    await user.open(comparison_of(a, b))
    await user.should_see(CLOSED)
    assert words(user) == set()
    assert f"{len(SAID)} messages · {played}" not in source(user)


@pytest.mark.proof
async def test_a_story_that_is_over_is_compared(user: User, played: str) -> None:
    await user.open(comparison_of(OVER, OVER))
    await user.should_see("The shared past (10 messages)")
    await user.should_not_see(CLOSED)


@pytest.mark.proof
async def test_the_list_tells_nothing_of_its_course(user: User, web: WebContext, played: str) -> None:
    await user.open("/runs")
    await user.should_see("people play it")
    told = source(user)
    assert told.count(f"{len(SAID)} messages") == 1  # the other one's
    links = [str(one.props.get("href")) for one in user.find(kind=ui.element).elements if "href" in one.props]
    assert page_of(played) in links and page_of(OVER, 0, play=True) in links
    assert page_of(played, 0, play=True) not in links
    for address in (like, comparison_of):
        assert address(OVER) in told and address(played) not in told


@pytest.mark.proof
async def test_its_set_up_is_not_copied(user: User, played: str) -> None:
    await user.open(like(played))
    await user.should_see(marker="kind-story")
    assert any("people play this story" in told for told in user.notify.messages)
    for name in (ADA, BO, CY):
        assert name not in source(user)
    await user.open(like(OVER))
    await user.should_see(marker="story-about")
    assert ADA in source(user)
