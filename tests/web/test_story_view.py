"""What the page of a story draws from: its view, graph and lines, the words of an outcome, the draft of a story."""

from __future__ import annotations

import pytest
from story_records import ADA, BO, CY, OUTCOME, write_story

from persimchat.app.web.context import Viewing, WebContext
from persimchat.app.web.setup.draft import Draft
from persimchat.app.web.setup.scenario_files import scenario_text, uploaded
from persimchat.app.web.setup.specs import NOT_OF_STORIES
from persimchat.app.web.shared.stories import read_plan
from persimchat.app.web.story.closeness import edges
from persimchat.app.web.story.standing import belief_styles
from persimchat.app.web.story.transcript import doing
from persimchat.app.web.story.view import StoryView
from persimchat.app.web.story.wording import outcome_sentence, short_names
from persimchat.personas.scenario import load_story
from persimchat.runs.reports.charts.graph import graph
from persimchat.runs.reports.charts.story import belief_lines
from persimchat.runs.reports.report_people import people
from persimchat.state.settings import Settings
from persimchat.state.settlement import outcome_in_words

RUN = "a-story"


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
    assert doing(view) == "The characters are at work…"
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
    assert name in NOT_OF_STORIES
    with pytest.raises(ValueError, match="story"):
        Settings.model_validate({"mode": "story", name: value})
