"""The report of an experiment in the languages of the catalogue: whole, and no English left in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from evaluation.judging import Planned
from fixtures import Refused, Serve
from page_languages import OTHERS, english_left, shown
from small_experiment import SMALL, Command, Make, planned, report_of

from persimchat.evaluation.published.figures import figures
from persimchat.evaluation.published.paper import published
from persimchat.experiments import Experiment, run_experiment
from persimchat.experiments.api import Results, report_on
from persimchat.experiments.place import Place
from persimchat.state.wording import in_language, said

SETTINGS = SMALL["base"]["settings"]
OURS, NAMES = re.compile("[a-z]{2,} [a-z]{2,}"), "Koskela"
"""Two words that are no name, and what the names of the story's characters have in common."""


def judged(make: Make, serving: Serve) -> Experiment:
    by = serving(Planned(lambda _: 7, pair=lambda _: (8, 6))).model()
    poll = {"id": "tea", "ask": "Tea?", "at": ["start", "end"]}
    measures = {"evaluators": ["balance", "repetition"], "dimensions": {"by": by}, "polls": [poll]}
    measures |= {"pairs": {"by": by, "axis": "method", "k": 1}, "stances": True}
    grid = {**SMALL["grid"], "wording": {"plain": "", "softer": "Cocoa?"}}
    return make(grid=grid, measures=measures, compare=[{"by": "method"}])


def of_stories(make: Make, serving: Serve) -> Experiment:
    story = Path(__file__).parents[2] / "personas" / "stories" / "tiny.yaml"
    grid = {"variant": {"one": {}, "other": {"planning_and_reflection": False}}, "seed": [0]}
    measures = {"story": ["winners", "supporters", "guesses", "talks", "reciprocity", "ends", "form", "entropy"]}
    base = {"scenario": str(story), "settings": {"model": "offline"}}
    return make(base=base, grid=grid, measures=measures, compare=[{"by": "variant"}])


def of_diversity(make: Make, serving: Serve) -> Experiment:
    base = {**SMALL["base"], "settings": {**SETTINGS, "cognition": "fixed", "pruning": {"method": "embedding"}}}
    return make(base=base, grid={"pruning.lambda": [0.0, 0.6], "seed": [0, 1]}, measures={"diversity": True})


@pytest.mark.proof
@pytest.mark.parametrize("kind", [judged, of_stories, of_diversity])
def test_no_english_is_left_in_it(kind: Callable[..., Experiment], make: Make, serving: Serve, tmp_path: Path) -> None:
    experiment = kind(make, serving)
    results = run_experiment(experiment, tmp_path)
    before, tables = report_of(results), results.folder / "tables"
    written = {path.name: path.read_bytes() for path in tables.iterdir()}
    named = {"method", "pairs", *(["words"] if kind is of_diversity else [])}
    for tag in OTHERS:
        after = report_of(report_on(experiment, Place(results.folder), tag=tag))
        assert english_left(before, after, tag) <= named, "but for names of an axis and of measures"
        same = {text for text in shown(before) & shown(after) if OURS.search(text) and NAMES not in text}
        assert same <= {"persimchat experiment run FILE"}
        assert {path.name: path.read_bytes() for path in tables.iterdir()} == written


def test_what_papers_say_is_in_other_languages() -> None:
    texts = [*published("thesis").preset.differs]
    for paper in map(figures, ("agentgroupchat", "pruning")):
        texts += [*paper.differs, *(text for table in paper.tables if table.rows[0].settings for text in table.differs)]
        texts += [text for way in paper.directions for text in (way.about, way.table)]
    for tag in OTHERS:
        with in_language(tag):
            assert [text for text in texts if said(text) == text] == []


@pytest.mark.parametrize(
    ("languages", "tag"), [(["cs"], "cs"), (["de-AT"], "de"), (["ja"], "en"), (["cs", "de"], "en"), (["en"], "en")]
)
def test_it_has_the_language_of_the_conversations(make: Make, tmp_path: Path, languages: list[str], tag: str) -> None:
    results: Results = planned(make(grid={"language": languages}), tmp_path / "small")
    assert f'<html lang="{tag}">' in report_of(results)


def test_another_language_is_asked_for_or_refused(
    make: Make, tmp_path: Path, refused: Refused, command: Command
) -> None:
    experiment: Any = make()
    folder = planned(experiment, tmp_path / "small").folder
    command("report", str(folder), "--language", "de-AT")
    assert "Gespräche" in (folder / "report.html").read_text(encoding="utf-8")
    refused(lambda: report_on(experiment, Place(folder), tag="fr"), "no reports in 'fr'", "en, cs, de")
    assert "there are no reports in 'fr'" in command("report", str(folder), "--language", "fr", code=2).err
