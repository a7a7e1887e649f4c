"""Judges as measures of an experiment: what they find, what it costs, what is asked again, and what is refused."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
import scipy.stats
from evaluation.judging import TIES, Planned, first_words, topic_in
from experiment_tables import rows
from fixtures import Refused, Serve
from loopback.answering import Fault, natural_answer
from loopback.scripted import task_of
from run_files import drop, logged
from run_folders import write_events
from small_experiment import Command, Make, report_of

from persimchat.evaluation import asking
from persimchat.experiments import run_experiment
from persimchat.experiments.api import prepare
from persimchat.experiments.asking import spent_on_judging
from persimchat.experiments.place import LOG, Place

NOBODY = "m@http://127.0.0.1:9/v1"
TOPICS = {"list": [{"id": f"t{n}", "topic": f"Topic {n}?"} for n in range(4)]}
MORE_TOPICS = {"list": [{"id": f"t{n}", "topic": f"Topic {n}?"} for n in range(8)]}
"""So many that a difference in each of them is more than chance, also after correction."""
METHODS = {"method": ["single_agent", "group_chat"]}
SEEDS = [1, 2, 3, 5, 6]
"""With these both methods say different things; equal conversations are a tie that nobody is asked about."""


def begun(folder: Path) -> list[str]:
    """The cells that were begun, as often as they were."""
    return [one.cell for one in Place(folder).told() if one.status == "started"]


SCRIPTS = {"topic": "Tea?", "participants": ["Jarmila", "Zeynep"], "settings": {"model": "offline"}}
LENGTHS = {"variant": {f"n{n}": {"max_messages": n, "baseline": "single_agent"} for n in (2, 3, 4)}}
"""Conversations that a judge who sees no more than the transcript can tell apart."""


def variant_of(words: str) -> str:
    """The variant of a transcript, which its length tells."""
    return f"n{len(words.strip().splitlines())}"


# ── what they find ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proof
def test_scores_means_intervals_and_holm(make: Make, serving: Serve, tmp_path: Path):
    """Scores scripted by cell: means, SD, intervals and p as by hand."""
    first, second = [6, 7, 8, 9], [5, 5, 8, 7]
    scores = {"n2": first, "n3": second}

    def score(body: dict[str, Any]) -> int:
        return scores[variant_of(first_words(body, "transcript"))][int(topic_in(body)[6])]

    judge = Planned(score)
    measures = {"dimensions": {"by": serving(judge).model(), "only": ["BEL"]}}
    grid = {"variant": {name: LENGTHS["variant"][name] for name in scores}}
    compare = [{"by": "variant"}]
    results = run_experiment(make(base=SCRIPTS, tasks=TOPICS, grid=grid, compare=compare, measures=measures), tmp_path)
    assert judge.asked == 8
    one, two = (row for row in results.rows("groups") if row["measure"] == "BEL")
    assert (one["variant"], one["mean"], one["n"], one["tasks"]) == ("n2", 7.5, 4, 4)
    assert one["sd"] == pytest.approx(1.2910, abs=5e-5)
    assert (one["low"], one["high"]) == pytest.approx((5.446, 9.554), abs=5e-4)
    assert (two["mean"], two["sd"]) == (fmean(second), stdev(second))
    (row,) = [row for row in results.rows("comparisons") if row["measure"] == "BEL"]
    differences = [b - a for a, b in zip(first, second, strict=True)]
    assert (row["a"], row["difference"], row["tasks"]) == ("n3", fmean(differences), 4)
    half = scipy.stats.t.ppf(0.975, 3) * stdev(differences) / 2
    assert row["high"] == pytest.approx(fmean(differences) + half)
    assert row["p_holm"] == row["p"]
    assert results.compare("BEL", "variant")[0].difference.value == row["difference"]
    measured = [row for row in results.rows("measures") if row["measure"] == "BEL"]
    assert {(row["judge"], row["repeat"]) for row in measured} == {(measures["dimensions"]["by"], 1)}


@pytest.mark.proof
def test_a_score_out_of_range_is_asked_for_again_then_missing(make: Make, serving: Serve, tmp_path: Path):
    judge = Planned(lambda _: -6)
    base = {
        "topic": "Tea?", "participants": [{"name": n, "description": "Somebody."} for n in ("Ada", "Bo")],
        "relationships": [{**TIES[0], "from": "Ada", "to": "Bo"}],
        "settings": {"model": "offline", "max_messages": 2, "baseline": "single_agent"},
    }  # fmt: skip
    measures = {"dimensions": {"by": serving(judge).model(), "only": ["REL", "GOAL"]}}
    results = run_experiment(make(base=base, grid={}, measures=measures), tmp_path)
    assert judge.asked == 2
    found = {row["measure"]: (row["value"], row["missing"]) for row in results.rows("measures")}
    assert found == {"REL": (None, "unparseable"), "GOAL": (None, "does not apply")}
    (rel,) = [row for row in results.rows("groups") if row["measure"] == "REL"]
    assert (rel["n"], rel["missing"], rel["mean"]) == (0, 1, None)
    assert "1 of 1 (100 %) answers of the judge for dimensions are missing (unparseable 1)" in report_of(results)


@pytest.mark.proof
def test_a_judge_that_favours_the_first_place(make: Make, serving: Serve, tmp_path: Path):
    """All ties, conflict rate 1, position effect +2; what was answered is not asked again."""
    judge = Planned(pair=lambda _: (8, 6))
    grid = {**METHODS, "seed": SEEDS[:3]}
    measures = {"pairs": {"by": serving(judge).model(), "axis": "method", "k": 1}}
    results = run_experiment(make(grid=grid, measures=measures), tmp_path)
    (one,) = results.rows("contests")
    assert (one["a"], one["b"]) == ("group_chat", "single_agent")
    assert (one["wins"], one["ties"], one["losses"], one["tasks"]) == (0, 3, 0, 3)
    assert (one["win_rate"], one["p_holm"], one["conflicts"], one["position"]) == (0.5, 1, 1, 2)
    assert (one["position_low"], one["position_high"]) == (None, None), "what does not vary has no interval"
    pairs = results.rows("pairs")
    assert [(row["verdict"], row["a_first"], row["b_first"], row["score_a"]) for row in pairs] == [
        ("tie", "win", "loss", 7)
    ] * 3
    assert [row["seed"] for row in pairs] == SEEDS[:3]
    report = report_of(results)
    assert "Pairs by method" in report and "3 tasks (pairs by method)" in report
    assert judge.asked == 6
    turned = {"method": ["group_chat", "single_agent"], "seed": SEEDS[:3]}
    again = run_experiment(make(grid=turned, measures=measures), tmp_path)
    assert judge.asked == 6
    assert (again.rows("contests")[0]["a"], again.rows("contests")[0]["ties"]) == ("single_agent", 3)


@pytest.mark.proof
def test_nonsense_is_counted_and_never_imputed(make: Make, serving: Serve, tmp_path: Path):
    served = {"n": 0}

    def pair(body: dict[str, Any]) -> Any:
        served["n"] += "could not be used" not in str(body["messages"][-1])
        return "nonsense" if served["n"] % 5 == 0 else (8, 6)

    measures = {
        "pairs": {"by": serving(Planned(pair=pair)).model(), "axis": "method", "k": 1},
        "settings": {"concurrent": False},
    }
    results = run_experiment(make(grid={**METHODS, "seed": SEEDS}, measures=measures), tmp_path)
    (one,) = results.rows("contests")
    assert (one["ties"], one["missing"], one["tasks"]) == (3, "one order only 2", 3)
    missing = [row["answers_missing"] for row in results.rows("pairs") if row["answers_missing"]]
    assert missing == ["unparseable 1"] * 2  # every fifth of ten
    assert "2 of 10 (20 %) answers of the judge for pairs are missing in method group_chat" in report_of(results)


@pytest.mark.long
@pytest.mark.proof
def test_three_variants_in_a_circle(make: Make, serving: Serve, tmp_path: Path):
    """Each beats the next: a matrix, and the circle by name where it is more than chance; lengths are told."""
    order = [*LENGTHS["variant"]]

    def pair(body: dict[str, Any]) -> tuple[int, int]:
        a, b = (variant_of(first_words(body, tag)) for tag in ("first_conversation", "second_conversation"))
        return (9, 4) if order.index(b) == (order.index(a) + 1) % 3 else (4, 9)

    measures = {"pairs": {"by": serving(Planned(pair=pair)).model(), "axis": "variant", "k": 1}}
    wanted = {"base": SCRIPTS, "grid": LENGTHS, "measures": measures}
    few = run_experiment(make(tasks=TOPICS, **wanted), tmp_path / "few")
    assert {(row["wins"], row["losses"]) for row in few.rows("contests")} == {(0, 4), (4, 0)}
    assert {row["p"] for row in few.rows("contests")} == {2 / 2**4}
    assert {row["p_holm"] for row in few.rows("contests")} == {6 / 2**4}
    assert "n2 beats" not in report_of(few) and "Only 4 tasks" in report_of(few)
    results = run_experiment(make(tasks=MORE_TOPICS, **wanted), tmp_path)
    assert {row["p_holm"] for row in results.rows("contests")} == {6 / 2**8}
    report = report_of(results)
    assert "n2 beats n3 beats n4 beats n2" in report
    assert "Win rate of the row against the column" in report
    assert "Words an utterance by variant: n2 " in report


@pytest.mark.proof
def test_a_judge_that_prefers_the_longer_text_is_told_of(make: Make, serving: Serve, tmp_path: Path):
    def by_length(body: dict[str, Any]) -> tuple[float, ...]:
        own = [len(first_words(body, tag).split()) for tag in ("first_conversation", "second_conversation")]
        return tuple(round(min(10, max(1, 5 + (each - sum(own) / 2) / 10)), 1) for each in own)

    words = {"variant": {f"w{n}": {"utterance_words": n, "baseline": "single_agent"} for n in (10, 30)}}
    settings = {"model": "offline", "max_messages": 2}
    measures = {"pairs": {"by": serving(Planned(pair=by_length)).model(), "axis": "variant", "k": 1}}
    base = {**SCRIPTS, "settings": settings}
    results = run_experiment(make(base=base, tasks=MORE_TOPICS, grid=words, measures=measures), tmp_path)
    (one,) = results.rows("contests")
    assert one["length"] is not None and one["length"] > 0.3
    assert "w30 against w10: scores rise with the length of utterances" in report_of(results)


# ── what it costs, and what is asked again ─────────────────────────────────────────────────────────────────────────


@pytest.mark.proof
def test_an_estimate_counts_what_is_asked(make: Make, serving: Serve, command: Command):
    judge = Planned()
    by = serving(judge).model()
    measures = {"dimensions": {"by": by, "repeats": 2}, "pairs": {"by": by, "axis": "method", "k": 2}}
    make(grid={**METHODS, "seed": SEEDS[:2]}, measures=measures)
    told = json.loads(command("estimate", "small.yaml", "--json").out)
    assert {one["measure"]: one["calls"] for one in told["judging"]} == {"dimensions": 4 * 8 * 2, "pairs": 2 * 4}
    assert told["in_all"]["calls"] == told["missing"]["calls"] + 72
    assert told["in_all"]["cost_usd"] is None
    assert judge.asked == 0
    said = command("run", "small.yaml", "--yes").out
    assert "judging, pairs, test-model@" in said and "price unknown" in said
    assert "judging: 72 questions answered, 72 calls" in said
    assert judge.asked == 72
    assert spent_on_judging(Path("results/small")).calls == 72
    assert "4 of 4 done, 0 calls" in command("run", "small.yaml", "--yes").out
    assert judge.asked == 72


@pytest.mark.proof
def test_other_measures_hold_nothing_again(make: Make, serving: Serve, tmp_path: Path, command: Command):
    judge = Planned()
    by = serving(judge).model()
    grid = {**METHODS, "seed": [0, 1]}
    first = run_experiment(make(grid=grid), tmp_path)
    held = begun(first.folder)
    assert "persimchat experiment run FILE" in report_of(first)
    assert "pairs: {by: MODEL, axis: method}" in report_of(first)
    run_experiment(make(grid=grid, measures={"dimensions": {"by": by, "only": ["BEL"]}}), tmp_path)
    assert judge.asked == 4
    more = {"dimensions": {"by": by, "only": ["BEL", "CRE"], "repeats": 2}, "evaluators": ["balance"]}
    results = run_experiment(make(grid=grid, measures=more, compare=[{"by": "method"}]), tmp_path)
    assert judge.asked == 4 * 2 * 2
    assert begun(results.folder) == held and len(held) == 4
    assert len([row for row in results.rows("measures") if row["measure"] == "CRE"]) == 8
    runs = [results.folder / "runs" / cell for cell in held]
    assert sum(len(logged(run, "judgement")) for run in runs) == 16
    for run in runs:  # the wording of the questions was another: kept, not shown, asked again
        kept = logged(run, "judgement")
        drop(run, "kind = 'judgement'")
        write_events(run, [("judgement", {**row, "request": f"0{row['request']}"}) for row in kept])
    command("report", str(results.folder))
    assert {row["missing"] for row in rows(results.folder, "measures") if row["measure"] == "BEL"} == {"not asked"}
    assert judge.asked == 16
    run_experiment(make(grid=grid, measures=more), tmp_path)
    assert judge.asked == 32


@pytest.mark.proof
def test_a_budget_is_for_conversations_and_judges_together(make: Make, serving: Serve, tmp_path: Path):
    judge = Planned()
    by = serving(judge).model()
    grid = {"method": ["single_agent"], "seed": [0, 1, 2, 3]}
    measures = {"dimensions": {"by": by, "only": ["BEL", "CRE"]}}
    results = run_experiment(make(grid=grid, measures=measures, limits={"budget_calls": 9}), tmp_path)
    assert results.judged is not None and results.outcome is not None
    assert results.outcome.spent.calls + judge.asked == 9
    assert (results.judged.answered, results.judged.left) == (5, 3)
    assert "budget of 9 calls" in results.judged.exhausted
    missing = [row["missing"] for row in results.rows("measures") if row["missing"]]
    assert missing == ["not asked"] * 3
    assert "Some questions were not asked" in report_of(results)
    same = run_experiment(make(grid=grid, measures=measures, limits={"budget_calls": 9}), tmp_path)
    assert same.judged is not None and same.judged.made == 0 and judge.asked == 5
    more = run_experiment(make(grid=grid, measures=measures, limits={"budget_calls": 12}), tmp_path)
    assert more.judged is not None and more.judged.left == 0 and judge.asked == 8


@pytest.mark.long
@pytest.mark.proof
def test_the_server_counts_no_more_than_the_budget(make: Make, serving: Serve, tmp_path: Path):
    """Conversations and judging on one server: at most 200 requests, the rest is planned; a higher budget goes on."""
    judge = Planned()

    def answer(body: dict[str, Any]) -> Any:
        return judge(body) if task_of(body) in ("dimension", "pair") else natural_answer(body)

    server = serving(answer)
    model = server.model()
    base = {
        "topic": "Tea?", "participants": ["Jarmila", "Zeynep"], "settings": {"model": model, "max_messages": 4}
    }  # fmt: skip
    grid = {"method": ["need_to_talk", "round_robin"], "seed": list(range(3))}
    measures = {"dimensions": {"by": model, "only": ["BEL", "CRE"]}, "pairs": {"by": model, "axis": "method"}}
    given = {"base": base, "grid": grid, "measures": measures}
    first = run_experiment(make(**given, limits={"budget_calls": 200}), tmp_path)
    assert len(server.bodies()) <= 200
    assert first.outcome is not None and first.judged is not None
    assert len(server.bodies()) == first.outcome.spent.calls + first.judged.spent.calls
    assert first.outcome.left
    assert "planned" in {row["status"] for row in first.rows("cells")}
    second = run_experiment(make(**given, limits={"budget_calls": 5000}), tmp_path)
    assert {row["status"] for row in second.rows("cells")} == {"done"}
    assert second.judged is not None and second.judged.left == 0
    assert {row["missing"] for row in [*second.rows("measures"), *second.rows("pairs")]} == {None}
    assert judge.asked == 6 * 2, "its model says the same in both ways, and equal conversations are a tie, unasked"
    assert {row["verdict"] for row in second.rows("pairs")} == {"tie"}
    assert "judges words of its own" in report_of(second)


@pytest.mark.proof
def test_a_judge_that_fails_costs_no_report(
    make: Make, serving: Serve, monkeypatch: pytest.MonkeyPatch, command: Command
):
    monkeypatch.setattr(asking, "TRANSIENT", asking.TRANSIENT._replace(initial_interval=0.001, max_interval=0.002))
    wrong = {"now": True}
    judge = Planned(lambda _: Fault(401, {"error": {"message": "no"}}) if wrong["now"] else 7)
    measures = {"dimensions": {"by": serving(judge).model(), "only": ["BEL"]}}
    make(grid={"method": ["single_agent"], "seed": [0, 1]}, measures=measures)
    said = command("run", "small.yaml", "--yes", code=3).err
    assert "a judge failed" in said and "does not accept the key" in said
    assert {row["missing"] for row in rows(Path("results/small"), "measures")} == {"not asked"}
    wrong["now"] = False
    command("run", "small.yaml", "--yes")
    assert {row["value"] for row in rows(Path("results/small"), "measures")} == {"7.0"}


@pytest.mark.proof
def test_the_length_of_judges_prompts_is_foreseen(make: Make, tmp_path: Path):
    """Before conversations are held, they are taken to be of typical length."""
    dimensions = {"by": NOBODY, "only": ["BEL", "CRE"]}
    measures = {"dimensions": dimensions, "pairs": {"by": NOBODY, "axis": "method"}}
    base = {**SCRIPTS, "settings": {"model": "offline", "max_messages": 8}}
    wanted = make(base=base, grid=METHODS, measures=measures)
    foreseen = [work.total for work in prepare(wanted, tmp_path).judging]
    run_experiment(make(base=base, grid=METHODS), tmp_path)
    known = [work.total for work in prepare(wanted, tmp_path).judging]
    assert [cost.calls for cost in foreseen] == [cost.calls for cost in known] == [4, 6]
    for before, after in zip(foreseen, known, strict=True):
        assert before.input_tokens == pytest.approx(after.input_tokens, rel=0.15)


def test_tables_in_another_form_beside_csv(make: Make, serving: Serve, tmp_path: Path):
    import pyarrow.parquet

    measures = {"dimensions": {"by": serving(Planned()).model(), "only": ["BEL"]}}
    results = run_experiment(make(grid={"method": ["single_agent"]}, measures=measures), tmp_path, form="parquet")
    (row,) = pyarrow.parquet.read_table(results.folder / "tables" / "measures.parquet").to_pylist()
    assert (row["measure"], row["value"], row["repeat"]) == ("BEL", 7.0, 1)
    assert (results.folder / "tables" / "measures.csv").is_file()
    assert not (results.folder / "tables" / "pairs.csv").exists()


@pytest.mark.proof
def test_pairs_are_kept_in_the_folder_of_the_experiment(make: Make, serving: Serve, tmp_path: Path):
    measures = {"pairs": {"by": serving(Planned()).model(), "axis": "method", "k": 1}}
    grid = {"method": ["single_agent", "need_to_talk"]}
    results = run_experiment(make(grid=grid, measures=measures), tmp_path)
    with sqlite3.connect(results.folder / LOG) as log:
        assert log.execute("SELECT count(*) FROM pairs").fetchall() == [(2,)]
    log.close()
    plain = run_experiment(make(grid=grid), tmp_path)
    assert not (plain.folder / "tables" / "contests.csv").exists()


@pytest.mark.proof
def test_the_example(root: Path, tmp_path: Path, serving: Serve, monkeypatch: pytest.MonkeyPatch, command: Command):
    """It judges and compares three methods; published values stand beside its own."""
    judge = Planned()
    monkeypatch.setenv("OPENAI_BASE_URL", serving(judge).url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    said = command("run", str(root / "examples/experiments/judged.yaml"), "--yes", "--out", ".").out
    assert judge.asked == 9 * 2 + 8 * 2  # the conversations of one pair are equal
    assert "judging, pairs, openai:gpt-4o-mini: about 18 calls" in said and "cost: $" in said
    assert "judging: 34 questions answered, 34 calls" in said
    report = (tmp_path / "judged" / "report.html").read_text(encoding="utf-8")
    assert "8.76 ± 0.59 (Table B.3)" in report and "What differed from Chocholatý" in report
    assert "3 tasks (by method), 3 tasks (pairs by method)" in report


# What is wrong with judges of an experiment is said before the first call, on one line


REFUSED: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"measures": {"dimensions": {"by": "offline"}}}, ("offline model cannot judge", "measures.dimensions.by", "by:")),
    ({"measures": {"pairs": {"by": "offline", "axis": "method"}}}, ("measures.pairs.by",)),
    ({"measures": {"dimensions": {"by": "nobody:"}}}, ("nobody",)),
    ({"measures": {"dimensions": {"by": NOBODY, "only": ["BEI"]}}}, ("'BEI'", "measures.dimensions.only", "'BEL'")),
    ({"measures": {"dimensions": {"by": NOBODY, "only": []}}}, ("no dimension", "measures.dimensions.only")),
    ({"measures": {"dimensions": {"by": NOBODY, "repeats": 0}}}, ("repeats", "1")),
    ({"measures": {"dimensions": {"judge": NOBODY}}}, ("judge",)),
    ({"measures": {"pairs": {"by": NOBODY, "axis": "model"}}}, ("'model' is no axis", "The grid has: method, seed")),
    ({"measures": {"pairs": {"by": NOBODY, "axis": "method", "within": {"seed": 9}}}}, ("no level 9", "0, 1")),
    (
        {"measures": {"pairs": {"by": NOBODY, "axis": "method"}}, "grid": {"method": ["group_chat"]}},
        ("one level", "measures.pairs.axis"),
    ),
    (
        {
            "measures": {"pairs": {"by": NOBODY, "axis": "wording"}},
            "grid": {"wording": {"asked": "", "softer": "What if?"}},
        },
        ("other topics", "Pair by another axis"),
    ),
    (
        {"measures": {"dimensions": {"by": NOBODY}}, "limits": {"budget_usd": 1}},
        ("price of", "is not known", "measures.dimensions.by", "prices"),
    ),
    (
        {"measures": {"dimensions": {"by": NOBODY}, "settings": {"budget_calls": 5}}},
        ("budget_calls", "limits: {budget_calls"),
    ),
    ({"measures": {"dimensions": {"by": NOBODY}, "settings": {"contxt": 5}}}, ("contxt", "measures.settings")),
    ({"preset": "thesys"}, ("preset", "thesis")),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "words"), REFUSED)
def test_what_is_wrong_is_refused(
    make: Make, tmp_path: Path, refused: Refused, fields: dict[str, Any], words: tuple[str, ...]
):
    refused(lambda: prepare(make(**fields), tmp_path / "out"), *words)
    assert not (tmp_path / "out").exists()


def test_a_judge_without_a_key_is_refused_before_the_first_call(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused
):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    wanted = make(measures={"dimensions": {"by": "openai:gpt-4o"}})
    refused(lambda: run_experiment(wanted, tmp_path / "out"), "OPENAI_API_KEY")
    assert not (tmp_path / "out").exists()
