"""The report: one file that needs nothing, shows what the run has and hides nothing behind colour or script."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from page_parts import Page
from run_folders import (
    EMOTIONS,
    HOSTILE,
    PEOPLE,
    lines,
    mind,
    score,
    utterance,
    verdict,
    write_debate,
    write_run,
    write_steered,
)

from persimchat.runs.folder.lines import DISCLAIMER
from persimchat.runs.folder.reading import read_run
from persimchat.runs.reports.charts.model import MOST_POINTS
from persimchat.runs.reports.report import report_html, write_report
from persimchat.state.plain_text import clean

Refused = Callable[..., str]


def page_of(folder: Path) -> Page:
    return Page(report_html(read_run(folder)))


@pytest.fixture(scope="module")
def debate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_debate(tmp_path_factory.mktemp("debate"), 14)


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
        "Group debate", "consensus was reached, after 14 utterances (source: judge)", "Tea at four, coffee at eight.",
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
    assert "the message limit was reached, after 3 utterances" in words
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
    (folder / "judge_mind.jsonl").write_text(lines([thought]), encoding="utf-8")
    page = page_of(folder)
    assert "They only seem to agree" in page.words
    assert page.words.count("The Judge") == 1


@pytest.mark.parametrize("reason", [None, "closed", "budget", "stopped", "error", "of a kind to come"])
def test_every_ending_has_words(tmp_path: Path, reason: str | None) -> None:
    page = page_of(write_run(tmp_path, [], [], stop_reason=reason, usage={}, detail="Nobody was left."))
    assert "after 0 utterances" in page.words
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
    assert "the budget was used up, after 6 utterances" in words
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
    assert "3 utterances, 1.00 s on average" in page.words[times:]


def test_what_happened_before_anything_was_said(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [], [])
    (folder / "silences.jsonl").write_text(
        lines([{"turn": 1, "agent": PEOPLE[0], "step": "speak", "why": HOSTILE}]), encoding="utf-8"
    )
    (folder / "control.jsonl").write_text(
        lines([{"turn": 0, "do": "topic", "topic": HOSTILE}, {"turn": 0, "do": HOSTILE, HOSTILE: [{"a": HOSTILE}]}]),
        encoding="utf-8",
    )
    page = page_of(folder)
    assert "Nothing was said." in page.words
    assert f"{PEOPLE[0]} is silent: </script>" in page.words
    assert {tag for tag, _ in page.elements} & {"script", "img"} == set()
    (folder / "transcript.jsonl").write_text(lines([utterance(1, PEOPLE[0])]), encoding="utf-8")
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
    assert "Each point is the mean of 13 utterances." in page.words
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
    for name in ("no/where.html", "x" * 5000, "run.json/r.html"):
        refused(lambda name=name: write_report(record, record.path / name), "cannot be written", name)  # type: ignore[misc]
    refused(lambda: write_report(record, Path("/")), "folder")


# The style sheet


def luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    digits = "".join(c * 2 for c in digits) if len(digits) == 3 else digits
    parts = [int(digits[n : n + 2], 16) / 255 for n in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


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
    rules = [
        (rule.strip(), float(size)) for rule, size in re.findall(r"([^{}]+)\{[^{}]*font-size: ?([.0-9]+)rem", style)
    ]
    small = [(rule, size) for rule, size in rules if size < 0.75 and "avatar" not in rule]  # initials beside the name
    assert rules and not small
