"""Every published number is what the paper says, and what is inferred from them fits them."""

from __future__ import annotations

import json
import re
from decimal import ROUND_HALF_UP, Decimal
from itertools import combinations_with_replacement
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
import scipy.stats  # noqa: F401  loaded here, so that no test pays for it
from pydantic import ValidationError

from persimchat.evaluation.published.figures import FigurePaper, FigureTable, figures
from persimchat.evaluation.published.paper import (
    Accuracy,
    DimensionTable,
    Own,
    Paper,
    in_words,
    nearest,
    published,
    what_differed,
)
from persimchat.evaluation.statistics.significance import sign_test
from persimchat.state.configuration import load_settings
from persimchat.state.settings import Settings

THESIS = published("thesis")
TABLES = {table.table: table for table in THESIS.dimensions}
PAIRS = [(table.table, table.tasks * table.rounds, row) for table in THESIS.pairs for row in table.rows]
SHORT = {
    "Single-Agent Zero-Shot": "zero_shot",
    "Single-Agent Zero-Shot CoT": "cot",
    "MAD": "mad",
    "MAD with Judge": "mad_judge",
    "ReConcile": "reconcile",
    "PerSimChat": "need_to_talk",
}

Cells = dict[tuple[str, str, str], tuple[float, float]]


def rounded(value: float, digits: int) -> float:
    """Rounded as people do it, halves up."""
    return float(Decimal(repr(round(value, 9))).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def cells() -> Cells:
    """Table, system and measure of every mean and SD."""
    found: Cells = {}
    for table in THESIS.dimensions:
        for system, scores in table.scores.items():
            for measure, mean, sd in zip(table.measures, scores.mean, scores.sd, strict=True):
                found[table.table, system, measure] = (mean, sd)
    for method, benchmarks in THESIS.accuracy.scores.items():
        for benchmark, accuracy in benchmarks.items():
            found["6.11", method, benchmark] = (accuracy.mean, accuracy.sd)
    return found


# ── what only the design has in words, which was transcribed by somebody else ──────────────────────────────────────


@pytest.fixture(scope="module")
def design(shared: Path) -> str:
    """The section of the design with the published results."""
    path = shared / "design/evaluation.md"
    if not path.is_file():
        pytest.skip(f"there is no {path}")
    text = path.read_text(encoding="utf-8")
    return text[text.index("## 6. The published results") : text.index("## 7.")]


def test_what_people_said_is_that_of_the_design(design: str):
    said, people = design[design.index("Section 6.4:") :], THESIS.people
    for words in (
        f"α {people.krippendorff_alpha}",
        f"p {people.wilcoxon.p} (level {people.wilcoxon.level};",
        f"{people.raters} raters, {people.prefer_short.count} ({people.prefer_short.percent:.0f} %) prefer short",
        "single agent about {SA}, AutoGen {AG}, PerSimChat {Base}".format(**people.words_a_message),
    ):
        assert words in said
    assert people.prefer_short.percent == 100 * people.prefer_short.count / people.raters


def test_conditions_and_models_are_those_of_the_design(design: str):
    assert f"judge {THESIS.judge}" in design
    assert {(t.tasks, t.rounds, t.messages) for t in (*THESIS.dimensions, *THESIS.pairs)} == {(30, 1, 10), (15, 3, 20)}
    assert [t.table for t in (*THESIS.dimensions, *THESIS.pairs) if t.rounds == 3] == ["B.3", "6.10"]
    for part, whole in re.findall(r"\b(B\.\d) \((6\.\d)", design):
        table = TABLES[part]
        assert table.part is not None and table.part.table == whole
    models = {system.model for system in THESIS.systems.values() if system.model}
    assert len(models) == 3
    assert [model for model in models if model not in design] == []


# ── against the paper itself ───────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def paper(shared: Path) -> str:
    found = sorted((shared / "papers").glob("000_*.txt"))
    if not found:
        pytest.skip(f"the thesis is not in {shared / 'papers'}")
    return found[0].read_text(encoding="utf-8")


def table_before(paper: str, caption: str) -> list[list[str]]:
    """The rows of the table that stands before its caption, cells without their marks."""
    above = paper[: paper.index(f"\nTable {caption}:")].rstrip("\n").splitlines()
    rows: list[list[str]] = []
    for line in reversed(above):
        if "\t" not in line:
            break
        rows.append([re.sub(r"</?\w+>|\$|\\pm", " ", cell).strip() for cell in line.split("\t")])
    return rows[::-1]


def names() -> dict[str, str]:
    return {system.title: name for name, system in THESIS.systems.items()}


@pytest.mark.parametrize("caption", ["6.3", "6.4", "6.5", "6.6", "6.7", "B.1", "B.2", "B.3", "6.11"])
def test_means_are_those_of_the_paper(paper: str, caption: str):
    parts = {table.part.table: table for table in THESIS.dimensions if table.part}
    here = parts[caption].table if caption in parts else caption
    head, *rows = table_before(paper, caption)
    known = cells()
    found = {}
    for title, *row in rows:
        for measure, cell in zip(head[1:], row, strict=True):
            mean, sd = (float(n) for n in re.findall(r"\d+\.\d+", cell))
            at = (here, SHORT[title], measure.lower()) if here == "6.11" else (here, names()[title], measure)
            found[at] = (mean, sd)
    part = parts[caption].part if caption in parts else None
    assert found == {
        at: value for at, value in known.items() if at[0] == here and (part is None or at[2] in part.measures)
    }


@pytest.mark.parametrize("caption", ["6.8", "6.9", "6.10"])
def test_pairs_are_those_of_the_paper(paper: str, caption: str):
    _, *rows = table_before(paper, caption)
    wanted = [(names()[first], names()[second], tuple(map(float, percent))) for first, second, *percent in rows]
    assert wanted == [(row.first, row.second, row.percent) for table, _, row in PAIRS if table == caption]


# ── what is inferred fits what is published ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("table", "planned", "row"), PAIRS, ids=lambda v: f"{v.first}-{v.second}" if hasattr(v, "p") else str(v)
)
def test_counts_give_percentages_and_p(table: str, planned: int, row: Any):
    wins, ties, losses = row.counts
    n = wins + ties + losses
    assert n <= planned
    assert tuple(rounded(100 * count / n, 2) for count in row.counts) == row.percent
    found = sign_test(wins, losses, ties)
    assert found.p == pytest.approx(row.p, abs=5e-4)
    assert row.p > 0.05, "no published difference is significant by itself"
    for larger in range(n + 1, planned + 1):
        fits = [any(rounded(100 * k / larger, 2) == share for k in range(larger + 1)) for share in row.percent]
        assert not all(fits), f"{larger} pairs would give the percentages, too"


def rounds_that_fit(mean: float, sd: float, *, first_rounded: bool) -> set[int]:
    """How many of 90 can be right, if three rounds of 30 give this mean and sample SD in percent."""
    fitting = set()
    for right in combinations_with_replacement(range(31), 3):
        shares = [100 * k / 30 for k in right]
        shares = [rounded(share, 1) for share in shares] if first_rounded else shares
        if rounded(fmean(shares), 1) == mean and rounded(stdev(shares), 1) == sd:
            fitting.add(sum(right))
    return fitting


@pytest.mark.proof
@pytest.mark.parametrize(
    "accuracy",
    [
        pytest.param(accuracy, id=f"{method} {benchmark}")
        for method, benchmarks in THESIS.accuracy.scores.items()
        for benchmark, accuracy in benchmarks.items()
    ],
)
def test_right_answers_give_mean_and_deviation(accuracy: Accuracy):
    plain = rounds_that_fit(accuracy.mean, accuracy.sd, first_rounded=False)
    after = rounds_that_fit(accuracy.mean, accuracy.sd, first_rounded=True)
    if accuracy.right is None:
        assert plain == after == set()
    else:
        assert (after if accuracy.rounded else plain) == {accuracy.right}
        assert plain == set() or not accuracy.rounded


@pytest.mark.parametrize(
    ("tables", "n", "least", "whole", "all_of_them"), [(("6.3", "6.4"), 30, 28, 39, 42), (("B.3",), 45, 40, 19, 24)]
)
def test_means_are_whole_numbers_over_conversations(
    tables: tuple[str, ...], n: int, least: int, whole: int, all_of_them: int
):
    """One integer a conversation, and now and then one missing: why the scale is an integer a conversation."""
    means = [mean for (table, _, _), (mean, _) in cells().items() if table in tables]
    assert len(means) == all_of_them
    fitting = {size: {rounded(k / size, 2) for k in range(10 * size + 1)} for size in range(least, n + 1)}
    assert sum(mean in fitting[n] for mean in means) == whole
    assert all(any(mean in fitting[size] for size in fitting) for mean in means)


# ── the reader ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_find():
    found = THESIS.find("BEL", "need_to_talk", "Base")
    assert [(row.table, row.value, row.sd, row.messages) for row in found] == [
        ("6.3", 8.53, 0.94, 10),
        ("B.2", 8.67, 0.88, 10),
        ("B.3", 8.76, 0.59, 20),
    ]
    assert [row.table for row in THESIS.find("REL", "single_agent", "Base")] == ["B.1"]
    (accuracy,) = THESIS.find("gsm8k", "cot")
    assert (accuracy.value, accuracy.sd, accuracy.judge, accuracy.messages) == (90.0, 6.7, None, None)
    assert THESIS.find("BEL", "mad") == []
    assert len(list(THESIS.values())) == len(cells()) == 152
    assert published("thesis") is THESIS


def test_a_paper_that_is_not_there():
    with pytest.raises(FileNotFoundError):
        published("nothing")


def changed(**values: Any) -> str:
    return json.dumps({**json.loads(THESIS.model_dump_json()), **values})


def test_the_file_is_read_strictly():
    assert Paper.model_validate_json(changed()) == THESIS
    for wrong in ({"paper": 3}, {"extra": 1}, {"systems": {}}, {"dimensions": [{}]}):
        with pytest.raises(ValidationError):
            Paper.model_validate_json(changed(**wrong))
    table = json.loads(TABLES["B.1"].model_dump_json())
    with pytest.raises(ValidationError, match="SA has not one mean and SD for each of the 3 measures"):
        DimensionTable.model_validate_json(json.dumps({**table, "measures": ["GOAL", "BEL", "KNO"]}))


# The published figures on stories are those of the paper, and are read strictly


PAPER = figures("agentgroupchat")
ATTITUDE, FORM, ENTROPY = PAPER.tables
OBSERVED = ("Logan Roy", "Conor Roy", "Kendall Roy", "Roman Roy", "Shiv Roy")


def text_of(path: Path) -> str:
    if not path.is_file():
        pytest.skip(f"there is no {path}")
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def groups(shared: Path) -> str:
    return text_of(shared / "papers/001_8fb1ce7cab37bfa8.txt")


def numbers(line: str) -> list[float]:
    return [float(found) for found in re.findall(r"(?<![\w.-])\d+\.\d+(?!\w)", line)]


def test_attitude_is_that_of_the_paper(groups: str):
    tables = groups[groups.index("Show Negative Attitude to") : groups.index("Table 2:")]
    for name in ATTITUDE.names:
        (line,) = (line for line in tables.splitlines() if re.search(rf"\b{re.escape(name)}\t", line))
        rows = [row for row in ATTITUDE.rows if row.name == name]
        assert tuple(row.of for row in rows) == OBSERVED
        assert [value for row in rows for value in row.values] == numbers(line.partition(name)[2])


def test_what_is_counted_fits_the_percentages():
    """Five rounds make multiples of 20, twenty changes multiples of 5."""
    for row in ATTITUDE.rows:
        for value, n in zip(row.values, ATTITUDE.n, strict=True):
            assert value * n % 100 == 0


def test_form_is_that_of_the_paper(groups: str):
    table = groups[groups.index("Instruction Understanding") : groups.index("Table 3:")]
    for row in FORM.rows:
        (line,) = (line for line in table.splitlines() if line.startswith(f"{row.name}\t"))
        assert list(row.values) == numbers(line.partition(row.name)[2])[:5]
    for measure, n in zip(FORM.measures, FORM.n, strict=True):
        assert f"{measure.removeprefix('form_')}\t{n:,}\t" in groups


def test_entropy_is_that_of_the_paper(groups: str):
    table = groups[groups.index("Structure Ablation") : groups.index("Table 5:")]
    assert [value for row in ENTROPY.rows for value in row.values] == numbers(table)


def test_the_file_is_read_strictly_in_published_figures():
    assert PAPER.table_of("form_CS") is FORM
    assert PAPER.table_of("balance") is None
    plain: dict[str, Any] = json.loads(FORM.model_dump_json())
    assert FigureTable.model_validate_json(json.dumps(plain)) == FORM
    for wrong, why in (({"n": [1]}, "not one value"), ({"more": 1}, "Extra"), ({"table": 3}, "string")):
        with pytest.raises(ValidationError, match=why):
            FigureTable.model_validate_json(json.dumps({**plain, **wrong}))
    with pytest.raises(ValidationError):
        FigurePaper.model_validate_json("{}")
    with pytest.raises(FileNotFoundError):
        figures("nothing")


# The published figures on pruning are complete: those of the paper, and read strictly


CUT_PAPER = figures("pruning")
CUT_TABLES = {table.table: table for table in CUT_PAPER.tables}
CALLED = {
    "Full default": "Full", "RMm default": "RMm", "Full to Full": "Full", "Full to RMm": "RMm",
    "Basic Info": "b", "Human Needs*": "h", "Memory": "m", "Previous Dialogues": "p", "Environment": "e",
    "Current Dialogue": "c", "RMbmpe (= λ 1)": "RMbmpe", "Full (λ = 0)": "Full", "order bpmec": "bpmec",
}  # fmt: skip
"""Rows of the paper and of the design by what they are called here."""


@pytest.fixture(scope="module")
def cut(shared: Path) -> str:
    return text_of(shared / "papers/003_231b8301c487ee5e.txt")


def rows_above(cut: str, caption: str) -> dict[str, tuple[float, ...]]:
    """The rows of a table, which stands before its caption or, of the first, before the first caption of all."""
    lines = cut[: cut.index(f"\nTable {caption}:")].splitlines()
    found: dict[str, tuple[float, ...]] = {}
    for line in reversed(lines):
        matched = re.fullmatch(r"(\D.*?) ((?:[\d.]+ ?)+)", line)
        if matched:
            found[CALLED.get(matched[1], matched[1])] = tuple(float(part) for part in matched[2].split())
        elif found and line not in ("Order", "Length", "Frequency"):
            break
    return found


@pytest.mark.parametrize(("caption", "rows"), [("2", 6), ("3", 8), ("4", 2), ("5", 13)])
def test_tables_are_those_of_the_paper(cut: str, caption: str, rows: int):
    here = {row.name: row.values for row in CUT_TABLES[caption].rows}
    assert here == rows_above(cut, caption)
    assert len(here) == rows


def test_blocks_are_those_of_the_paper(cut: str):
    lines = dict(re.findall(r"^([^\d\n]+) ((?:\d+~)?\d+ [\d.]+) (?:Fixed|Trajectory|Context)", cut, re.MULTILINE))
    found: dict[str, list[float]] = {}
    for title, numbers in lines.items():
        items, words = numbers.split()
        found[CALLED[title]] = [float(items.split("~")[0]), float(items.split("~")[-1]), float(words)]
    assert {row.name: list(row.values) for row in CUT_TABLES["1"].rows} == found


@pytest.mark.parametrize(
    ("table", "said", "values"),
    [
        ("section 3.2", "attention decreases by only 19%", (0.19,)),
        ("section 3.2, HA", "dist-3 increases from 0.535 to 0.546", (0.546,)),
        ("section 3.2, one kept", "dist-3 drops from 0.800 to 0.595 for m1Hi", (0.8, 0.595)),
        ("section 6, repeated ends", "the rate is 66.5%, compared to 7.9% in the original Full", (0.079, 0.665)),
        ("section 6, names", "appears 762,023 times, while “Tifa Lockhart” appears only 432 times", (762023, 432)),
    ],
)
def test_single_numbers_are_those_of_the_text(cut: str, table: str, said: str, values: tuple[float, ...]):
    assert said in re.sub(r"\s+", " ", cut)
    assert tuple(row.values[0] for row in CUT_TABLES[table].rows) == values


def test_what_is_left_is_that_of_the_text(cut: str):
    left = [row.values[0] for row in CUT_TABLES["section 3.2, what is left"].rows]
    assert [f"{100 * value:.1f}%" for value in left] == ["83.4%", "59.3%", "1.6%"]
    said = cut[cut.index("approximately 83.4%") :].partition("\n")[0]
    assert [f"{100 * value:.1f}%" in said for value in left] == [True] * 3


def test_settings_that_stand_for_rows_are_settings():
    for table in CUT_PAPER.tables:
        for row in table.rows:
            for alternative in row.settings:
                merged = {**CUT_PAPER.settings, **alternative}
                del merged["model_top_p"]
                load_settings(environment={}, **merged)


def test_rows_are_found_by_settings():
    def named(**given: Any) -> list[tuple[str, str]]:
        return [(table.table, row.name) for table, row in CUT_PAPER.rows_for(given)]

    removed = {"pruning.remove": "m"}
    assert named(**removed) == [("2", "RMm"), ("3", "RMm"), ("4", "RMm"), ("5", "RMm")]
    assert ("2", "RMbmpe") in named(**{"pruning.lambda": 1.0})
    assert named(**removed, model_temperature=1.0) == [("3", "RMm T=1.0")]
    assert named(**{"pruning.lambda": 0.3}) == []
    assert [name for table, name in named() if table in "2345"] == ["Full"] * 4


def test_the_file_is_read_strictly_in_published_pruning():
    whole: dict[str, Any] = json.loads(CUT_PAPER.model_dump_json())
    assert FigurePaper.model_validate_json(json.dumps(whole)) == CUT_PAPER
    with pytest.raises(ValidationError, match="of which the paper's settings say nothing"):
        FigurePaper.model_validate_json(json.dumps({**whole, "settings": {}}))


# Published values beside one's own: the ones that belong there, printed in one way, with what differed


OWN = Own(models=["m"], judges=["j"], tasks=12, messages=[10], preset=True, changed=["utterance_words 20"])


def test_the_preset_is_made_of_settings():
    given = Settings.model_validate(THESIS.preset.settings)
    assert (given.cognition, given.listeners, given.closing, given.utterance_words) == ("full", "all", "off", 42)
    assert [word for word in ("prompt_order", "strict_answers") if word not in str(THESIS.preset.differs)] == []


def test_values_are_printed_with_their_tables():
    rows = THESIS.find("BEL", "need_to_talk", "Base")
    assert in_words(rows).startswith("8.53 ± 0.94 (Table 6.3), 8.67 ± 0.88 (Table B.2, with personas converted")
    assert in_words([]) == ""
    longest, shortest, other = nearest(rows, [20]), nearest(rows, [10]), nearest(rows, [7])
    assert longest and shortest and other
    assert (longest.table, shortest.table, other.table) == ("B.3", "6.3", "6.3")
    assert nearest([], [10]) is None


def test_pairs_are_found_in_both_directions():
    base, nopr = ("need_to_talk", "Base"), ("need_to_talk", "NoPR")
    assert in_words(THESIS.find_pair(base, nopr)) == "43 / 20 / 37 % (Table 6.8)"
    assert in_words(THESIS.find_pair(nopr, base)) == "37 / 20 / 43 % (Table 6.8)"
    found = THESIS.find_pair(("group_chat", None), ("single_agent", "anything"))
    assert [(row.win, row.loss) for row in found] == [(51.11, 40.0)]
    assert THESIS.find_pair(base, ("need_to_talk", "mine")) == []


def test_one_sentence_says_what_differed():
    rows = THESIS.find("BEL", "need_to_talk", "Base")[:1]
    told = what_differed(THESIS, rows, OWN)
    assert "models gpt-4o-2024-08-06, here m; judge gpt-4-turbo-2024-04-09, here j" in told
    assert "30 tasks of 10 messages, here 12 of 10 messages; settings that the file changed: utterance_words 20" in told
    assert "prompt_order" in told and "\n" not in told
    assert what_differed(THESIS, [], OWN) == ""
