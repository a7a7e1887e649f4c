"""The report of a run: its page, its charts, what was left out of prompts, a story's figures."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from fixtures import Refused
from hypothesis import given
from hypothesis import strategies as st
from page_parts import Page
from run_folders import (
    EMOTIONS,
    HOSTILE,
    PEOPLE,
    mind,
    put,
    score,
    utterance,
    verdict,
    write_debate,
    write_run,
    write_steered,
)
from runs.test_palette import contrast

from persimchat.reports.charts.bars import bars
from persimchat.reports.charts.drawing import picture, svg
from persimchat.reports.charts.lines import Lane, Series, lanes, levels
from persimchat.reports.charts.model import (
    MOST_POINTS,
    Chart,
    Scale,
    area,
    bin_size,
    binned,
    path,
    spread,
    step_for,
    ticks,
)
from persimchat.reports.charts.strips import Felt, emotions, held, stances
from persimchat.reports.palette import people
from persimchat.reports.report import report_html, write_report
from persimchat.reports.stances import Position
from persimchat.runs.folder.lines import DISCLAIMER
from persimchat.runs.folder.reading import read_run
from persimchat.state.plain_text import clean

# The report: one file that needs nothing, shows what the run has and hides nothing behind colour or script


def page_of(folder: Path) -> Page:
    return Page(report_html(read_run(folder)))


@pytest.fixture(scope="module")
def debate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_debate(tmp_path_factory.mktemp("debate"), 14)


@pytest.mark.proof
def test_it_needs_nothing_and_runs_nothing(debate: Path) -> None:
    page = page_of(debate)
    tags = {tag for tag, _ in page.elements}
    assert tags & {"script", "iframe", "object", "embed", "img", "form", "base", "video", "audio"} == set()
    for _, attributes in page.elements:
        assert [name for name in attributes if name.startswith("on")] == []
        for name in ("src", "href", "xlink:href", "action", "srcset"):
            assert (attributes.get(name) or "#").startswith(("#", "data:,"))
    (policy,) = [m["content"] for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert re.findall(r"https?:|//|url\(|@import|@font-face", report_html(read_run(debate))) == []


def test_it_is_in_order_for_those_who_do_not_see_it(debate: Path) -> None:
    page = page_of(debate)
    assert page.all("html")[0]["lang"] == "en"
    assert [len(page.all(tag)) for tag in ("h1", "main", "title")][:2] == [1, 1]
    assert [key for key, number in Counter(page.ids).items() if number > 1] == []
    for _, attributes in page.elements:
        for name in ("aria-labelledby", "aria-describedby"):
            assert set((attributes.get(name) or "").split()) <= set(page.ids)
    links = [a["href"] for a in page.all("a")]
    assert {link[1:] for link in links if link} <= set(page.ids)
    plots = [svg for svg in page.all("svg") if svg.get("role") == "img"]
    assert len(plots) >= 5
    assert len(page.all("desc")) == len(plots)
    assert [svg for svg in page.all("svg") if svg not in plots and svg.get("aria-hidden") != "true"] == []
    assert len(page.all("caption")) == len(page.all("table")) > 3
    assert [th for th in page.all("th") if th.get("scope") not in ("row", "col")] == []


def test_every_utterance_stands_in_it_once(debate: Path) -> None:
    record, page = read_run(debate), page_of(debate)
    for said in record.utterances:
        assert page.text.count(said.text) == 1
    assert [i for i in page.ids if re.fullmatch(r"u\d+", i)] == [f"u{n}" for n in range(1, 15)]


def test_what_a_debate_shows(debate: Path) -> None:
    words = page_of(debate).words
    for expected in (
        "Group debate", "consensus was reached, after 14 messages (source: judge)", "Tea at four, coffee at eight.",
        "Held by 3 of 3", "All of them came round.", DISCLAIMER, "2026-01-01 12:00 UTC",
        "Openness to consensus", "Need to talk",
        "Scores of the analysis", "Response times", "Messages sent", "Verdicts of the judge",
        "Tokens and cost by module",
        "Tokens and cost by agent", "consensus overruled", "natural language", "$0.0151", "Highest coherence",
        "Insight 4 of turn", "long-term memory",
    ):  # fmt: skip
        assert expected in words, expected


def test_what_a_discussion_of_the_first_version_does_not_show(tmp_path: Path) -> None:
    words = page_of(write_run(tmp_path)).words
    assert "Free discussion" in words
    assert "the message limit was reached, after 3 messages" in words
    for absent in ("Openness", "Verdicts", "Scores", "coherence", "Put right", "Held by"):
        assert absent not in words


def test_a_debate_without_consensus_says_so(tmp_path: Path) -> None:
    conclusion = {"answer": "Tea", "consensus": False, "reasoning": "Two do.", "supporters": PEOPLE[:2], "by": "judge"}
    words = page_of(write_debate(tmp_path, 5, stop_reason="message_limit", conclusion=conclusion)).words
    assert "No consensus. The majority's position Tea" in words
    assert "Held by 2 of 3" in words


def test_a_baseline_without_minds(tmp_path: Path) -> None:
    said = [utterance(n, PEOPLE[n - 1], need_to_talk={}, emotion={}, answer="yes", confidence=0.75) for n in (1, 2, 3)]
    folder = write_run(tmp_path, said, [], settings={"mode": "debate", "baseline": "reconcile"})
    page = page_of(folder)
    assert "answers: yes, confidence 0.75" in page.words
    assert "baseline reconcile" in page.words
    assert "Emotions" not in page.words
    assert "happiness" not in page.words


def test_the_mind_of_a_judge_is_shown_and_is_no_participant(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    thought = mind(2, "The Judge", insights=[{"theme": "They only seem to agree"}])
    put(folder, "judge_mind", [thought])
    page = page_of(folder)
    assert "They only seem to agree" in page.words
    assert page.words.count("The Judge") == 1


@pytest.mark.parametrize("reason", ["closed", "budget", "stopped", "error", "of a kind to come"])
def test_every_ending_has_words(tmp_path: Path, reason: str | None) -> None:
    page = page_of(write_run(tmp_path, [], [], stop_reason=reason, usage={}, detail="Nobody was left."))
    assert "after 0 messages" in page.words
    assert "Nothing was said." in page.words
    assert "Nobody was left." in page.words


def test_what_people_did_stands_at_its_place(tmp_path: Path) -> None:
    eva, bo, li = PEOPLE
    page = page_of(write_steered(tmp_path))
    words = page.words
    places = [
        "Tea, I say.",
        f"whispered to {bo} only",
        "Coffee keeps one awake.",
        f"{eva} did not hear this: the server is down",
        f"{li} raised a hand.",
        "I would rather have water.",
        "The topic is now: Water or wine?",
        "Eva, stay calm.",
        f"{li} passes.",
        f"{eva} was given the floor.",
        "Let us hear the others.",
        "wave: with",
    ]
    found = [words.index(place) for place in places]
    assert found == sorted(found)
    assert len([a for a in page.all("li") if a.get("class") == "whisper"]) == 2
    assert "the budget was used up, after 6 messages" in words
    assert "a branch of tea-0000 at turn 1 (branch); changed: say" in words
    assert "resumed at turn 3 (changed: note xylophone)" in words


def test_people_have_no_curves_and_no_minds(tmp_path: Path) -> None:
    _, bo, li = PEOPLE
    page = page_of(write_steered(tmp_path))
    assert f"{li} person" in page.words
    assert "Moderator moderator" in page.words
    needs = page.words[page.words.index("Need to talk") :]
    assert f"{bo}: from " in needs
    for name in (li, "Moderator"):
        assert f"{name}: from " not in page.words
        assert f"{name}: at first " not in page.words
    times = page.words.index("Response times")
    assert "3 messages, 1.00 s on average" in page.words[times:]


def test_what_happened_before_anything_was_said(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [], [])
    put(folder, "silenced", [{"turn": 1, "agent": PEOPLE[0], "step": "speak", "why": HOSTILE}])
    deeds = [{"turn": 0, "do": "topic", "topic": HOSTILE}, {"turn": 0, "do": HOSTILE, HOSTILE: [{"a": HOSTILE}]}]
    put(folder, "intervention", deeds)
    page = page_of(folder)
    assert "Nothing was said." in page.words
    assert f"{PEOPLE[0]} is silent: </script>" in page.words
    assert {tag for tag, _ in page.elements} & {"script", "img"} == set()
    put(folder, "utterance", [utterance(1, PEOPLE[0])])
    words = page_of(folder).words
    assert words.index("is silent: ") < words.index("I like tea.")


def test_a_run_that_is_one_utterance_long(tmp_path: Path) -> None:
    page_of(write_run(tmp_path, [utterance(1, PEOPLE[0], "", response_time_s=0.0)], [mind(0, PEOPLE[0])]))


def test_hostile_text_is_text(tmp_path: Path) -> None:
    name = f"Eva {HOSTILE}"
    scenario = {"topic": HOSTILE, "participants": [{"name": name}, {"name": "B"}]}
    conclusion = dict.fromkeys(("answer", "reasoning", "by"), HOSTILE) | {"consensus": True, "supporters": [name]}
    thought = {"theme": HOSTILE, "reaction": HOSTILE}
    folder = write_run(
        tmp_path,
        [utterance(1, name, HOSTILE, addressees=[HOSTILE], corrections=[HOSTILE], answer=HOSTILE)],
        [mind(0, name, plan=thought, insights=[thought], short_term_memory=thought, openness=3)],
        verdicts=[
            verdict(1, reasoning=HOSTILE, answer=HOSTILE, overruled=HOSTILE, progress=HOSTILE, positions=[
                {"agent": HOSTILE, "position": HOSTILE, "agrees": True}])
        ],
        scores=[score(1, name, reasoning=HOSTILE)],
        scenario=scenario, conclusion=conclusion, detail=HOSTILE, stop_source=HOSTILE, stop_reason=HOSTILE,
        started=HOSTILE, prompt_hash=HOSTILE, versions={HOSTILE: HOSTILE},
        settings={"mode": HOSTILE, "model": HOSTILE, "baseline": HOSTILE, HOSTILE: [HOSTILE]},
    )  # fmt: skip
    page = page_of(folder)
    assert {tag for tag, _ in page.elements} & {"script", "img"} == set()
    assert [a for _, a in page.elements if any(key.startswith("on") for key in a)] == []
    assert "39483" not in page.words
    whole = "".join(page.text)
    assert whole.count(clean(HOSTILE)) > 15
    assert "\x1b" not in whole
    assert "\u202e" not in whole


def test_equal_runs_give_equal_bytes(tmp_path: Path) -> None:
    pages = [report_html(read_run(write_debate(tmp_path / name, 9))) for name in "ab"]
    assert pages[0] == pages[1]


@pytest.mark.proof
def test_a_run_of_two_thousand_utterances(tmp_path: Path) -> None:
    text = report_html(read_run(write_debate(tmp_path, 2000)))
    assert len(text.encode()) < 8_000_000
    page = Page(text)
    folds = [d for d in page.all("details") if d.get("class") == "fold"]
    chunks = folds[:20]
    assert [("open" in d) for d in chunks] == [True, *[False] * 18, True]
    assert len([i for i in page.ids if re.fullmatch(r"u\d+", i)]) == 2000
    points = [len(re.findall("[ML]", p["d"] or "")) for p in page.all("path") if p.get("class") == "c-line"]
    assert max(points) <= MOST_POINTS
    assert "Each point is the mean of 13 messages." in page.words
    emotions = [svg for svg in page.all("svg") if "emotions-t" in (svg.get("aria-labelledby") or "")]
    assert len(emotions) == 1
    assert len(page.all("rect")) < MOST_POINTS * (len(PEOPLE) * len(EMOTIONS) + 1) + 50


# Writing


def test_it_never_writes_over_a_file(tmp_path: Path, refused: Refused) -> None:
    record = read_run(write_run(tmp_path))
    path = tmp_path / "r.html"
    write_report(record, path)
    path.write_text("mine")
    refused(lambda: write_report(record, path), "r.html", "--force")
    assert path.read_text() == "mine"
    write_report(record, path, force=True)
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_it_is_written_whole_or_not_at_all(tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    record = read_run(write_run(tmp_path))
    there = tmp_path / "r.html"
    there.write_text("mine")

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    refused(lambda: write_report(record, there, force=True), "No space left", "r.html")
    assert there.read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_file()) == ["r.html"]


def test_places_where_no_report_can_be(tmp_path: Path, refused: Refused) -> None:
    record = read_run(write_run(tmp_path))
    refused(lambda: write_report(record, tmp_path), "folder", str(tmp_path))
    for name in ("no/where.html", "x" * 5000, "run.sqlite/r.html"):
        refused(lambda name=name: write_report(record, record.path / name), "cannot be written", name)  # type: ignore[misc]
    refused(lambda: write_report(record, Path("/")), "folder")


# The style sheet


def test_everything_can_be_read_in_light_and_dark(debate: Path) -> None:
    blocks = re.findall(r":root \{(.*?)\}", report_html(read_run(debate)), re.DOTALL)
    assert len(blocks) == 3  # light, dark, print
    light = dict(re.findall(r"--(\w+): (#[0-9a-f]+)", blocks[0]))
    assert light.keys() >= {"p0", "p9", "e0", "a0", "neutral", "on"}
    for block in blocks:
        colours = light | dict(re.findall(r"--(\w+): (#[0-9a-f]+)", block))
        shown = ["ink", "mute", "accent", *(name for name in colours if re.fullmatch(r"[pea]\d+|neutral", name))]
        for name in shown:
            for ground in ("surf", "sunk", "page") if name in ("ink", "mute") else ("surf",):
                assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)


def test_its_type_is_not_too_small_to_read(debate: Path):
    style = report_html(read_run(debate)).split("</style>")[0]
    rules = re.findall(r"([^{}]+)\{[^{}]*font-size: ?([.0-9]+)rem", style)
    small = [(rule, size) for rule, size in rules if float(size) < 0.75 and ".face" not in rule]  # a name stands there
    assert rules and not small


# The arithmetic of the report's plots, and who is who in it


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.floats(0, 1), st.floats(0, 1))
def test_a_scale_keeps_order_and_ends(low: float, length: float, one: float, other: float) -> None:
    scale = Scale(low, low + length, 200.0, 10.0)
    assert (scale(low), scale(low + length)) == (200.0, 10.0)
    first, second = sorted((one, other))
    assert scale(low + first * length) >= scale(low + second * length)


def test_a_scale_of_one_value_has_it_in_the_middle() -> None:
    assert Scale(3, 3, 0, 100)(3) == 50


@given(st.floats(1e-6, 1e9), st.integers(1, 12))
def test_steps_are_round_and_few(length: float, most: int) -> None:
    step = step_for(length, most)
    assert length / step <= most * (1 + 1e-6)
    digits = round(step / 10 ** math.floor(math.log10(step) + 1e-9), 6)
    assert digits in (1, 2, 5)


@given(st.integers(-500, 500), st.integers(0, 5000), st.integers(1, 12))
def test_ticks_lie_within(low: int, length: int, most: int) -> None:
    found = ticks(low, low + length, most, least_step=1)
    assert len(found) <= most + 1
    assert all(low <= value <= low + length and value == int(value) for value in found)
    assert found == sorted(set(found))


POINTS = st.lists(st.tuples(st.floats(0, 5000), st.floats(0, 10)), min_size=1, max_size=400)


@given(POINTS, st.integers(1, 50))
def test_thinning_keeps_to_the_limit_and_to_the_mean(points: list[tuple[float, float]], most: int) -> None:
    size = bin_size(len(points), most)
    thin = binned(points, size)
    assert len(thin) <= most
    assert (thin == points) == (len(points) <= most) or size > 1
    if len(points) % size == 0:
        assert sum(y for _, y in thin) / len(thin) == pytest.approx(sum(y for _, y in points) / len(points))
    assert all(min(y for _, y in points) - 1e-9 <= y <= max(y for _, y in points) + 1e-9 for _, y in thin)


@given(st.lists(st.floats(0, 100), max_size=8))
def test_labels_do_not_overlap(places: list[float]) -> None:
    moved = spread(places, 12, 0, 100)
    order = sorted(range(len(places)), key=lambda n: places[n])
    assert all(moved[b] - moved[a] >= 12 - 0.11 for a, b in zip(order, order[1:], strict=False))
    assert all(-0.1 <= place <= 100 for place in moved)


def test_labels_that_are_apart_stay_where_they_are() -> None:
    assert spread([50, 10, 90], 12, 0, 100) == [50, 10, 90]


def test_paths() -> None:
    assert path([(0, 1.5), (2, 3)]) == "M0 1.5L2 3"
    assert area([(0, 1), (2, 3)], 9) == "M0 9L0 1L2 3L2 9Z"
    assert path([]) == area([], 9) == ""


def within(chart: Chart) -> None:
    for line in chart.lines:
        numbers = [float(n) for n in re.findall(r"-?\d+\.?\d*", line.path)]
        assert all(chart.left - 0.1 <= x <= chart.right + 0.1 for x in numbers[::2])
        assert all(chart.top - 5 <= y <= chart.bottom + 5 for y in numbers[1::2])
        assert chart.top <= line.label_y <= chart.height
    for cell in chart.cells:
        assert -0.1 <= cell.x <= cell.x + cell.width <= chart.width + 0.1
        assert 0 <= cell.y <= cell.y + cell.height <= chart.height


LEVELS = st.lists(st.integers(0, 10), min_size=1, max_size=500)


@given(LEVELS, st.integers(1, 24), st.floats(250, 1200))
def test_every_chart_stays_within_its_picture(heights: list[int], lines: int, width: float) -> None:
    series = [Series(f"S{n}", f"S{n}", "p0", list(enumerate(heights))) for n in range(lines)]
    within(levels("T", series))
    within(lanes("T", [Lane(one.name, one.style, [one]) for one in series], width=width))


@given(LEVELS, st.booleans(), st.integers(0, 600))
def test_emotions_stay_within_their_picture(heights: list[int], each: bool, last: int) -> None:
    felt = [(turn, {"happiness": value, "fear": 10 - value}) for turn, value in enumerate(heights)]
    person = people(["Eva"])["Eva"]
    chart = emotions("T", [(person, felt)], last=max(last, len(felt) - 1), each=each)
    within(chart)
    assert len(chart.cells) <= len(EMOTIONS) * (MOST_POINTS + 1)
    assert chart.table[1:] == [[turn, "Eva", at["happiness"], None, None, at["fear"], None, None] for turn, at in felt]


def test_emotions_of_turns_are_cells_in_the_colour_of_the_strongest() -> None:
    person = people(["Eva"])["Eva"]
    felt: Felt = [(0, {}), (1, {"happiness": 2, "anger": 7}), (2, {"happiness": 9})]
    chart = emotions("T", [(person, felt)], last=2)
    assert [cell.style for cell in chart.cells[:3]] == ["calm", "e2", "e0"]
    assert chart.cells[1].strength < chart.cells[2].strength
    assert chart.cells[1].title == "Eva, turn 1: happiness 2, anger 7"
    assert chart.cells[0].title == "Eva, turn 0: calm"
    assert [text.text for text in emotions("T", [(person, felt)], last=2, each=True).texts[:3]] == [
        "Eva",
        "happiness",
        "anger",
    ]


def position(turn: int, stance: str | None, before: str | None = None, **more: Any) -> Position:
    moved = None if before is None or stance is None else before != stance
    return Position("verdicts", "", "Eva", turn, stance, before, moved, **more)


def test_a_strip_shows_what_somebody_held_and_where_they_turned() -> None:
    rows = [position(1, "no"), position(3, "no", "no"), position(5, None), position(7, "yes", "no", candidates=(4,))]
    rows[-1] = replace(rows[-1], credit={"Bo": 1.0})
    assert [(one.turn, one.until, one.stance) for one in held(rows, 9)] == [(1, 4, "no"), (5, 6, None), (7, 9, "yes")]
    chart = stances("T", [(people(["Eva"])["Eva"], rows)], last=9)
    within(chart)
    assert [mark.turn for mark in chart.marks] == [7]
    assert chart.description == "Eva turned at 7 from “no” to “yes”, after Bo (4)."
    assert [cell.turn for cell in chart.cells[:3]] == [1, 5, 7]
    assert "A  no" in [text.text for text in chart.texts]
    assert len({cell.style for cell in chart.cells if cell.style.startswith("s")}) == 2


def test_bars_have_their_speakers_colours_until_they_are_thinned() -> None:
    who = people(["Eva", "Bo"])
    few = bars("T", [(1, 2.0, who["Eva"]), (2, 4.0, who["Bo"])], lambda value: f"{value:g} s")
    within(few)
    assert [cell.style for cell in few.cells] == [who["Eva"].style, who["Bo"].style]
    assert [cell.below for cell in few.cells] == ["E", "B"]
    assert few.description == "2 messages, 3 s on average, at most 4 s."
    many = bars("T", [(n, 1.0, who["Eva"]) for n in range(1, 2001)], lambda value: f"{value:g} s")
    within(many)
    assert len(many.cells) <= MOST_POINTS
    assert {cell.style for cell in many.cells} == {"many"}


def test_a_line_that_is_compared_is_dashed_and_a_click_knows_its_turn() -> None:
    one = Series("Eva", "", "p0", [(0, 1), (1, 5), (2, 3)], frozenset({1}), "then spoke")
    other = Series("Eva in the branch", "", "p0", [(0, 1), (1, 2)])
    chart = lanes("T", [Lane("Eva", "p0", [one, other])], last=4)
    assert [line.style for line in chart.lines] == ["p0 solid", "p0 dashed"]
    assert [dot.turn for dot in chart.lines[0].dots] == [0, 1, 2]
    assert chart.lines[0].dots[1].title == "Eva, turn 1: 5, then spoke"
    assert chart.table[1:] == [[0, 1, 1], [1, 5, 2], [2, 3, None]]
    places = re.findall(r'data-(\w+)="([\d.]+)"', svg(chart, "k"))
    assert dict(places[:5]) == {"first": "0", "last": "4", "left": "20", "right": "374", "width": "400"}


@pytest.mark.proof
@given(st.text(max_size=60))
def test_texts_in_a_chart_are_data(name: str) -> None:
    hostile = f"</text><script>alert(1)</script>\"' onclick=x {{{{ 7*7 }}}} {name}"
    series = Series(hostile, hostile, "p0", [(0, 1), (1, 5)])
    person = replace(people([hostile])[hostile], name=hostile)
    moves = [position(1, hostile), position(2, f"not {hostile}", hostile)]
    for chart in (
        lanes(hostile, [Lane(hostile, "p0", [series])], marks=[(1, "consensus", hostile)]),
        levels(hostile, [series], note=hostile),
        stances(hostile, [(person, moves)], last=2),
        emotions(hostile, [(person, [(0, {"fear": 3})])], last=1),
        bars(hostile, [(1, 2.0, person)], lambda _: hostile),
    ):
        for drawn in (str(svg(chart, "k", slider=True)), picture(chart)):
            parsed = ElementTree.fromstring(drawn)
            tags = {one.tag.rpartition("}")[2] for one in parsed.iter()}
            assert tags <= {"svg", "title", "desc", "line", "rect", "text", "g", "path", "circle", "style"}
            assert not [name for one in parsed.iter() for name in one.attrib if name.startswith("on")]
