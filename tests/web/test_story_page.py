"""The page of a story: stages, rooms, standings and the vote, as everybody or as one character knows them."""

from __future__ import annotations

import json

import pytest
from nicegui import ui
from nicegui.testing import User
from story_records import ADA, BO, CY, HAPPENED, OUTCOME, SAID, own, story, write_story
from story_talks import WORD
from web.conftest import until
from web.first_screen import choose, more_settings
from web.past_pages import named, press

from persimchat.app.web.chat.story import StoryView, outcome_sentence, short_names
from persimchat.app.web.chat.story_panel import belief_styles, edges
from persimchat.app.web.context import Viewing, WebContext
from persimchat.app.web.setup.draft import Draft
from persimchat.app.web.setup.scenario_files import scenario_text, uploaded
from persimchat.app.web.shared.navigation import comparison_of, like, page_of
from persimchat.app.web.shared.runs import closed, closed_runs, is_played, read_plan
from persimchat.personas.scenario import load_story
from persimchat.reports.charts.story import belief_lines, graph
from persimchat.reports.palette import people
from persimchat.reports.story_course import course
from persimchat.runs.events import Happened
from persimchat.state.kinds import is_open
from persimchat.state.settings import Settings
from persimchat.state.stories.support import outcome_in_words

RUN = "a-story"
PRIVATE = (SAID[0].text, SAID[1].text)
MEETING = (SAID[2].text, SAID[3].text)
GROUP = SAID[5].text


@pytest.fixture
def kept(web: WebContext) -> str:
    """The story made by hand, over."""
    write_story(web.runs.out / RUN)
    return RUN


def source(user: User) -> str:
    """All that the page has sent to the browser."""
    client = user.client
    assert client is not None
    return json.dumps([element._to_dict() for element in client.elements.values()], default=str)


def words(user: User) -> set[str]:
    return set(WORD.findall(source(user)))


@pytest.mark.proof
async def test_the_whole_story(user: User, kept: str) -> None:
    await user.open(f"/run/{kept}")
    for text in ("Round 1", "Private talks", "Meetings", "Group", "Vote", f"{ADA} with {BO}", f"{BO} with {CY}"):
        await user.should_see(text)
    for text in (*PRIVATE, *MEETING, GROUP):
        await user.should_see(text)
    await user.should_see("Private: nobody else knows that they talk.")
    await user.should_see("Confidential: everybody knows that they meet, nobody else what they say.")
    await user.should_see("The vote is a draw between Ada Lind and Bo Vik. Open ballots: Ada Lind 1, Bo Vik 1.")
    await user.should_see("Closed ballots: Bo Vik 1.")
    await user.should_see("Mill")
    for text in ("Need to talk", "Emotions", "Openness to consensus"):
        await user.should_not_see(text)


@pytest.mark.proof
async def test_ballots_that_nobody_has_cast_yet_are_no_dashes(user: User, web: WebContext) -> None:
    before = [one for one in HAPPENED if one.do not in ("ballot", "closed_ballot", "outcome")]
    write_story(web.runs.out / RUN, ended=False, happened=before)
    await user.open(f"/run/{RUN}")
    await user.should_see("not yet")
    assert "–" not in source(user)


@pytest.mark.proof
async def test_seen_by_one_character(user: User, kept: str) -> None:
    await user.open(f"/run/{kept}")
    (eyes,) = user.find(marker="seen-by").elements
    assert isinstance(eyes, ui.select)
    eyes.set_value(CY)
    await user.should_not_see(PRIVATE[0])
    await user.should_see("After round 1, seen by Cy Dahl")
    known = {one.text for one in SAID[2:]} | {"zyx0902q"}
    assert words(user) == known
    eyes.set_value(ADA)
    await user.should_see(PRIVATE[0])
    await user.should_not_see(MEETING[0])
    assert words(user) == {one.text for one in (*SAID[:2], *SAID[4:])} | {"zyx0900q", "zyx0901q"}
    eyes.set_value("")
    await user.should_see(MEETING[0])


@pytest.mark.proof
async def test_the_slider_and_the_bar_go_to_a_stage(user: User, kept: str) -> None:
    await user.open(f"/run/{kept}?turn=2")
    assert words(user) == {*PRIVATE, "zyx0900q", "zyx0901q"}
    await user.should_see("At the beginning, seen by Everybody (researcher)")
    assert named(user, "Meetings, round 1").props["aria-current"] == "step"
    press(user, named(user, "Private talks, round 1"))
    await user.should_not_see(PRIVATE[1])
    await until(lambda: "aria-current" in named(user, "Private talks, round 1").props)
    assert "aria-current" not in named(user, "Meetings, round 1").props


@pytest.mark.proof
async def test_a_room_is_folded(user: User, kept: str) -> None:
    await user.open(f"/run/{kept}")
    press(user, named(user, f"Fold the room: {ADA} with {BO}"))
    await user.should_not_see(PRIVATE[0])
    press(user, named(user, f"Unfold the room: {ADA} with {BO}"))
    await user.should_see(PRIVATE[0])


@pytest.mark.proof
async def test_a_word_is_found_in_a_folded_room(user: User, kept: str) -> None:
    await user.open(f"/run/{kept}")
    await user.should_see(PRIVATE[0])
    press(user, named(user, f"Fold the room: {ADA} with {BO}"))
    await user.should_not_see(PRIVATE[0])
    user.find(marker="search").click()
    (field,) = user.find(marker="search-field").elements
    assert isinstance(field, ui.input)
    field.value = PRIVATE[0]
    await user.should_see("1 of 1")
    await user.should_see(PRIVATE[0])
    user.find(marker="shortcuts").click()
    await user.should_see("Use single keys as shortcuts")


@pytest.mark.proof
async def test_a_player_finds_only_what_their_character_hears(user: User, web: WebContext) -> None:
    write_story(web.runs.out / RUN, people=(CY,), ended=False)
    await user.open(f"/run/{RUN}")
    user.find(marker="search").click()
    (field,) = user.find(marker="search-field").elements
    assert isinstance(field, ui.input)
    field.value = PRIVATE[0]
    await user.should_see("Nothing found")
    field.value = GROUP
    await user.should_see("1 of 1")


@pytest.mark.proof
async def test_the_rooms(user: User, kept: str) -> None:
    await user.open(f"/run/{kept}")
    (parts,) = user.find(kind=ui.tabs).elements
    parts.set_value("rooms")
    await user.should_see("Private talks, round 1")
    press(user, named(user, f"Go to {BO} with {CY}, round 1"))
    await user.should_see("1 message, still open")


@pytest.mark.proof
async def test_a_story_that_is_over_can_not_be_resumed(user: User, kept: str) -> None:
    await user.open(f"/run/{kept}")
    await user.should_see("The story is settled.")
    await user.should_not_see("Resume")


@pytest.mark.proof
async def test_while_a_person_plays_the_page_keeps_secrets(user: User, web: WebContext) -> None:
    write_story(web.runs.out / RUN, people=(BO,), ended=False)
    await user.open(f"/run/{RUN}?turn=9")
    await user.should_see(PRIVATE[0])
    secret = {"zyx0900q", "zyx0901q", "zyx0902q"}
    assert words(user) == {one.text for one in SAID} - secret  # Bo has heard all of the words, and no thoughts
    await user.should_not_see(marker="seen-by")
    for name in ("Set-up", "Export", "Branch from here"):
        assert not [one for one in user.find(kind=ui.button).elements if one.props.get("aria-label") == name]
    assert "message 5" not in source(user)


@pytest.mark.proof
async def test_another_player_sees_less(user: User, web: WebContext) -> None:
    write_story(web.runs.out / RUN, people=(CY,), ended=False)
    await user.open(f"/run/{RUN}")
    await user.should_see(GROUP)
    assert words(user) == {one.text for one in SAID[2:]} | {"zyx0902q"}
    assert "10 of" not in source(user)  # how much was said elsewhere


@pytest.mark.proof
async def test_a_story_is_set_up(user: User) -> None:
    await user.open("/")
    await more_settings(user)
    user.find(marker="kind-story").click()
    await user.should_see("Who leads the ferry company when Aino steps down?")
    await user.should_see("Main characters: 3, others: 1. A round has 3 stages. At the end there is a vote.")
    await user.should_not_see(marker="setting-pattern")
    await user.should_not_see(marker="setting-max_messages")
    await user.should_not_see(marker="add")
    await user.should_see(marker="setting-rounds")
    await choose(user, "discussion")
    await user.should_see(marker="setting-pattern")


async def view_of(web: WebContext, *people: str) -> StoryView:
    write_story(web.runs.out / RUN, people=people)
    plan = read_plan(web.runs.folder(RUN))
    assert plan is not None
    return StoryView(Viewing(web, RUN, await web.runs.board(RUN)), plan)


async def test_the_view(web: WebContext) -> None:
    view = await view_of(web, CY)
    assert (view.played, view.eyes, view.choices) == (False, None, [ADA, BO, CY])
    assert view.sees(ADA)
    view.choose(CY)
    assert not view.sees(ADA)
    assert view.course.seen_by == CY
    assert view.course is view.course


async def test_the_graph_and_the_lines(web: WebContext) -> None:
    course = (await view_of(web)).course
    names = [one.name for one in course.cast]
    now = course.standings[-1].characters
    assert len(edges(now, 20)) == 6 and edges(now, 21) == []
    assert edges(course.standings[0].characters, 20) == []
    drawn = graph("Closeness", people(names), edges(now, 20), {one.name: one.influence for one in now}, "words")
    assert [line.dots[0].title for line in drawn.lines if line.dots] == names
    assert len([line for line in drawn.lines if line.path]) == 6
    assert short_names(["Ada Lind", "Ada Vik"]) == {"Ada Lind": "Ada Lind", "Ada Vik": "Ada Vik"}
    assert drawn.table[1] == edges(now, 20)[0]
    assert belief_lines(course.standings, ADA) == {
        "I should lead.": [(0, 60), (1, 61)],
        "Bo Vik should lead.": [(0, 10), (1, 10)],
    }
    assert len(set(belief_styles(now[0].beliefs, names))) == 2


def test_the_outcome_is_worded_as_elsewhere() -> None:
    kinds = [
        OUTCOME,
        OUTCOME.model_copy(update={"winners": [ADA]}),
        OUTCOME.model_copy(update={"winners": []}),
        OUTCOME.model_copy(update={"ceded": BO}),
        OUTCOME.model_copy(update={"decided": BO, "open": {}}),
    ]
    for kind in kinds:
        plain = outcome_in_words(kind.model_dump(), ADA)  # type: ignore[arg-type]
        assert outcome_sentence(kind, ADA) == plain.replace("; open ballots", ". Open ballots").replace(
            "; ballots of", ". Ballots of"
        )


def test_a_story_survives_a_file() -> None:
    draft = Draft.small_story(Settings())
    again = uploaded("mine.yaml", scenario_text(draft).encode())
    assert again.story == draft.story == load_story().story
    scenario, settings = again.simulation()
    assert (settings.mode, settings.rounds, settings.model, scenario.story) == ("story", 1, "offline", draft.story)


@pytest.mark.parametrize(
    ("name", "value"),
    [("baseline", "mad"), ("pattern", "round_robin"), ("judge", "persona"), ("analysis", True), ("max_messages", 5)],
)
def test_what_a_story_refuses_is_not_offered(name: str, value: object) -> None:
    assert not is_open(name, {"mode": "story"})
    with pytest.raises(ValueError, match="story"):
        Settings.model_validate({"mode": "story", name: value})


SECRET_RUN, OVER = "a-played-story", "a-story-that-is-over"
CLOSED = "People play this story. It opens here when the story has ended."


@pytest.fixture
def played(web: WebContext) -> str:
    """A story that Cy's player has not ended, and beside it one that is over."""
    write_story(web.runs.out / SECRET_RUN, people=(CY,), ended=False)
    write_story(web.runs.out / OVER, people=(CY,))
    return SECRET_RUN


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
    (web.runs.folder(played) / "run.sqlite").write_text("{", encoding="utf-8")  # after it was listed
    assert closed_runs(listed) == {str(web.runs.folder(played))}


@pytest.mark.proof
@pytest.mark.parametrize(("a", "b"), [(SECRET_RUN, OVER), (OVER, SECRET_RUN), (SECRET_RUN, SECRET_RUN)])
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
    assert any("People play this story" in told for told in user.notify.messages)
    for name in (ADA, BO, CY):
        assert name not in source(user)
    await user.open(like(OVER))
    await user.should_see(marker="story-about")
    assert ADA in source(user)


FORCED_RUN = "a-branch"
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
    write_story(web.runs.out / FORCED_RUN, happened=forced())
    await user.open(f"/run/{FORCED_RUN}")
    await user.should_see(TO_BO)
    await user.should_see(TO_NOBODY)
    (eyes,) = user.find(marker="seen-by").elements
    assert isinstance(eyes, ui.select)
    eyes.set_value(BO)
    await user.should_not_see(TO_BO)
    await user.should_see(TO_NOBODY)
    eyes.set_value(CY)
    await user.should_not_see(TO_NOBODY)
