"""Polls as measures of an experiment: what is asked, what is never asked twice, and what the answers come to."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from threading import Lock
from types import SimpleNamespace
from typing import Any

import pandas
import pytest
from experiment_tables import rows as table_of
from fixtures import Refused, Serve
from loopback.scripted import prompt_of, task_of
from run_files import logged, read_table
from small_experiment import SMALL, Command, Make, report_of

from persimchat.experiments import run_experiment
from persimchat.experiments.api import Results, prepare, report_on
from persimchat.experiments.asking import spent_on_judging
from persimchat.experiments.measuring import EVALUATORS, evaluators_of
from persimchat.experiments.place import Place
from persimchat.experiments.robustness import poll_answers_of
from persimchat.reports.export import export_runs
from persimchat.reports.stances import VALUES

CARS = {"id": "cars", "ask": "Should the centre close to cars?"}
WARMTH = {"id": "warmth", "ask": "How warm is this group?", "answer": "scale:1-5"}
SCRIPT = {"method": ["single_agent"], "seed": [0, 1]}


class Answering:
    """A model that answers polls as planned, and counts."""

    def __init__(self, answer: Callable[[str], Any]) -> None:
        self.answer, self.asked = answer, 0
        self._lock = Lock()

    def __call__(self, body: dict[str, Any]) -> Any:
        assert task_of(body) == "poll"
        with self._lock:
            self.asked += 1
        return {"reasoning": "So.", "answer": self.answer(prompt_of(body))}


def polls(*given: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"polls": list(given), **more}


def values(results: Results) -> dict[str, list[tuple[float | None, str | None]]]:
    """Values and reasons by measure, in order of the cells."""
    found: dict[str, list[tuple[float | None, str | None]]] = {}
    for row in results.rows("measures"):
        found.setdefault(row["measure"], []).append((row["value"], row["missing"]))
    return found


def lines(results: Results) -> list[dict[str, Any]]:
    """All answers to polls."""
    return [row for run in sorted((results.folder / "runs").iterdir()) for row in logged(run, "poll_answer")]


def is_over(prompt: str) -> bool:
    """Whether somebody is asked who has heard something."""
    transcript = prompt.partition("<transcript>")[2].partition("</transcript>")[0]
    return ":" in transcript


def is_of_jarmila(prompt: str) -> bool:
    """Whether Jarmila is asked."""
    return "Jarmila" in prompt.partition("</basic_information>")[0]


@pytest.mark.proof
def test_shares_means_and_changes(make: Make, serving: Serve, tmp_path: Path) -> None:
    def answer(prompt: str) -> Any:
        if "How warm" in prompt:
            return 4 if is_over(prompt) else 2
        return "yes" if is_over(prompt) and is_of_jarmila(prompt) else "no"

    model = Answering(answer)
    by = serving(model).model()
    asked = polls({**CARS, "by": by}, {**WARMTH, "by": by, "repeats": 2, "at": ["start", 1, "end", 9]})
    results = run_experiment(make(grid=SCRIPT, measures=asked), tmp_path)
    assert {name: found[0] for name, found in values(results).items()} == {
        "cars:yes@start": (0.0, None),
        "cars:yes@end": (0.5, None),
        "cars:yes:change": (0.5, None),
        "cars:no@start": (1.0, None),
        "cars:no@end": (0.5, None),
        "cars:no:change": (-0.5, None),
        "warmth@start": (2.0, None),
        "warmth@1": (4.0, None),
        "warmth@end": (4.0, None),
        "warmth@9": (None, "no such turn"),
        "warmth:change": (2.0, None),
    }
    assert model.asked == 2 * (2 * 2 + 2 * 3 * 2)
    assert {row["judge"] for row in results.rows("measures")} == {by}
    rows = results.rows("polls")
    assert [(row["at"], row["turn"], row["answer"]) for row in rows if row["poll"] == "cars"][:4] == [
        *[("start", 0, "no")] * 2,
        ("end", 2, "yes"),
        ("end", 2, "no"),
    ]
    assert (rows[0]["seed"], rows[0]["question"], rows[0]["answered_by"]) == (0, CARS["ask"], by)
    assert len(read_table(results.folder / "tables" / "polls.csv")) == len(rows) == model.asked
    assert "## polls" in (results.folder / "tables" / "codebook.md").read_text(encoding="utf-8")
    report = report_of(results)
    assert 'id="polls"' in report and "drawn by lot" not in report
    assert "polls: 32 calls" in report
    found = poll_answers_of(results.tables.rows["polls"])
    assert {question: {*given.values()} for question, given in found.items()} == {
        "poll cars": {None},  # yes and no are tied
        "poll warmth": {"4"},
    }


@pytest.mark.proof
def test_answers_below_zero_are_numbers(make: Make, serving: Serve, tmp_path: Path) -> None:
    model = serving(Answering(lambda prompt: -3 if is_of_jarmila(prompt) else 5))
    asked = polls(
        {**WARMTH, "answer": "scale:-5-5", "by": model.model()}, {**CARS, "answer": "choice", "options": ["-3", "5"]}
    )
    results = run_experiment(make(grid=SCRIPT, measures=asked), tmp_path)
    found = table_of(results.folder, "polls")
    warmth = [row for row in found if row["poll"] == "warmth"]
    assert {(row["answer"], row["number"]) for row in warmth} == {("-3", "-3.0"), ("5", "5.0")}
    assert {row["number"] for row in found if row["poll"] == "cars"} == {""}
    assert fmean(float(row["answer"]) for row in warmth) == 1.0
    read = pandas.read_csv(results.folder / "tables" / "polls.csv")
    assert [str(read[name].dtype) for name in ("answer", "number")] == ["int64", "float64"], "without a question"
    assert read[read["poll"] == "warmth"]["answer"].mean() == 1 and read["number"].mean() == 1
    for name in ("answer", "number"):  # R's read.csv makes a column numeric where each field is like this, or empty
        assert all(re.fullmatch(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*|NA|", row[name]) for row in found)
    done = export_runs([*(results.folder / "runs").iterdir()], tmp_path / "out")
    assert {row["number"] for row in read_table(done.files["polls"])} == {"-3.0", "5.0", ""}


@pytest.mark.proof
def test_the_offline_model_answers_by_lot_and_nothing_is_asked_twice(make: Make, tmp_path: Path) -> None:
    given = {"grid": SCRIPT, "measures": polls(CARS)}
    assert [work.total.calls for work in prepare(make(**given), tmp_path).judging] == [8]
    results = run_experiment(make(**given), tmp_path)
    assert results.judged is not None and (results.judged.made, results.judged.what) == (8, "polls")
    assert spent_on_judging(results.folder).calls == len(lines(results)) == 8
    assert "8 answers. They are drawn by lot: the offline model has no opinions of its own." in report_of(results)
    elsewhere = run_experiment(make(**given), tmp_path / "elsewhere")
    assert elsewhere.rows("polls") == results.rows("polls")
    tables = {path.name: path.read_bytes() for path in (results.folder / "tables").iterdir()}
    again = run_experiment(make(**given), tmp_path)
    assert again.judged is not None and (again.judged.made, again.judged.answered) == (0, 0)
    assert {path.name: path.read_bytes() for path in (results.folder / "tables").iterdir()} == tables
    report_on(make(grid=SCRIPT), Place(results.folder))
    assert not (results.folder / "tables" / "polls.csv").exists()


@pytest.mark.proof
def test_other_polls_hold_nothing_again(make: Make, tmp_path: Path) -> None:
    first = run_experiment(make(grid=SCRIPT, measures=polls(CARS)), tmp_path)
    held = Place(first.folder).told()
    kept = values(first)
    reworded = polls({**CARS, "ask": "Should they?"}, {**WARMTH, "at": ["end"]})
    shown = report_on(make(grid=SCRIPT, measures=reworded), Place(first.folder))
    assert set(values(shown)["cars:yes@end"]) == {(None, "not asked")}
    assert not shown.rows("polls")
    second = run_experiment(make(grid=SCRIPT, measures=reworded), tmp_path)
    assert second.judged is not None and second.judged.made == 8 + 4
    assert {row["question"] for row in second.rows("polls") if row["poll"] == "cars"} == {"Should they?"}
    third = run_experiment(make(grid=SCRIPT, measures=polls(CARS)), tmp_path)
    assert third.judged is not None and third.judged.made == 0
    assert values(third) == kept
    assert len(lines(third)) == 20
    assert Place(third.folder).told() == held


@pytest.mark.proof
def test_a_budget_is_for_conversations_and_polls_together(make: Make, serving: Serve, tmp_path: Path) -> None:
    model = Answering(lambda _: "yes")
    cars = {"id": "cars", "ask": "Cars?", "at": ["end"], "by": serving(model).model()}
    given = {"grid": SCRIPT, "measures": polls(cars)}
    first = run_experiment(make(**given, limits={"budget_calls": 5}), tmp_path)
    assert first.outcome is not None and first.judged is not None
    assert first.outcome.spent.calls + model.asked == 5
    assert "budget of 5 calls" in first.judged.exhausted and first.judged.left == 1
    assert sorted(values(first)["cars:yes@end"], key=str) == [(1.0, None), (None, "not asked")]
    more = run_experiment(make(**given, limits={"budget_calls": 20}), tmp_path)
    assert more.judged is not None and (more.judged.left, more.judged.made) == (0, 1)
    assert values(more)["cars:yes@end"] == [(1.0, None)] * 2


@pytest.mark.proof
def test_what_is_no_answer_is_asked_for_again_then_missing(make: Make, serving: Serve, tmp_path: Path) -> None:
    model = Answering(lambda prompt: "yes" if is_of_jarmila(prompt) else "maybe")
    results = run_experiment(
        make(grid=SCRIPT, measures=polls({**CARS, "at": ["end"], "by": serving(model).model()})), tmp_path
    )
    assert model.asked == 2 + 2 * 2
    assert values(results)["cars:yes@end"] == [(1.0, None)] * 2
    told = "2 of 4 answers to the poll cars (end) are missing in method single_agent (unparseable 2)"
    assert told in report_of(results)


@pytest.mark.proof
def test_minds_are_asked_as_they_were(make: Make, tmp_path: Path) -> None:
    grid = {"method": ["need_to_talk"], "seed": [0]}
    wanted = make(grid=grid, measures=polls({**CARS, "at": ["start", "end"]}))
    (foreseen,) = prepare(wanted, tmp_path).judging
    results = run_experiment(wanted, tmp_path)
    assert results.judged is not None
    used = results.judged.spent
    assert foreseen.total.calls == used.calls == 4
    assert foreseen.total.input_tokens == pytest.approx(used.input_tokens, rel=0.25)


@pytest.mark.proof
def test_a_branch_is_asked_from_where_it_leaves_its_run(make: Make, tmp_path: Path) -> None:
    first = run_experiment(make(grid={"seed": [0]}), tmp_path)
    run = next((first.folder / "runs").iterdir())
    base = {"branch": {"run": str(run), "at": 1, "say": "Jarmila: I have changed my mind."}}
    asked = polls({**CARS, "at": ["start", 0, "end"]})
    results = run_experiment(make(name="branches", base=base, grid={"seed": [1]}, measures=asked), tmp_path)
    assert {row["at"]: row["turn"] for row in results.rows("polls")} == {"start": 1, "end": 2}
    assert values(results)["cars:yes@0"] == [(None, "no such turn")]


@pytest.mark.proof
def test_the_command_tells_of_polls(make: Make, command: Command) -> None:
    make(grid=SCRIPT, measures=polls(CARS))
    told = json.loads(command("estimate", "small.yaml", "--json").out)
    assert [(one["measure"], one["judge"], one["calls"]) for one in told["judging"]] == [("poll cars", "offline", 8)]
    said = command("run", "small.yaml", "--yes").out
    assert "poll cars, offline: about 8 calls" in said and "polls: 8 questions answered, 8 calls" in said
    assert "poll cars: 8 questions answered before" in command("run", "small.yaml", "--yes").out


def test_the_most_frequent_answer_at_the_end() -> None:
    def row(cell: str, at: str, answer: str | None) -> Any:
        return SimpleNamespace(poll="cars", cell=cell, at=at, answer=answer)

    rows = [row("a", "start", "no"), *[row("a", "4, end", one) for one in ("yes", "no", "yes", None)]]
    rows += [row("b", "end", one) for one in ("yes", "no")] + [row("c", "end", None), row("d", "start", "yes")]
    assert poll_answers_of(rows) == {"poll cars": {"a": "yes", "b": None, "c": None}}


SETTINGS: dict[str, Any] = SMALL["base"]["settings"]
REFUSED: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"measures": polls({**CARS, "answer": "choice"})}, ("two or more different options", "measures.polls[0]")),
    ({"measures": polls({**CARS, "answer": "scale:5-1"})}, ("from low to high", "scale such as")),
    ({"measures": polls({**CARS, "at": ["middle"]})}, ("measures.polls[0].at[0]", "'middle'")),
    ({"measures": polls({**CARS, "at": ["end", "end"]})}, ("a point twice",)),
    ({"measures": polls({**CARS, "at": []})}, ("measures.polls[0].at",)),
    ({"measures": polls({**CARS, "of": ["Jarmila"], "without": ["Zeynep"]})}, ("of and without both say",)),
    ({"measures": polls({**CARS, "id": "a b"})}, ("measures.polls[0].id", "letters")),
    ({"measures": polls({**CARS, "id": "verdicts"})}, ("source of positions",)),
    ({"measures": polls(CARS, CARS)}, ("two polls have the id cars",)),
    ({"measures": polls({**CARS, "by": "nobody:"})}, ("nobody:", "measures.polls[0]")),
    (
        {"measures": polls({**CARS, "by": "m@http://127.0.0.1:9/v1"}), "limits": {"budget_usd": 1}},
        ("price of", "is not known", "measures.polls[0]"),
    ),
    (
        {"measures": polls(CARS), "base": {**SMALL["base"], "settings": {**SETTINGS, "checkpoints": "memory"}}},
        ("checkpoints=memory", "nobody can be asked"),
    ),
    ({"measures": {"stances": ["verdict"]}}, ("'verdict'", "measures.stances[0]", "'verdicts'")),
    ({"measures": {"stances": ["polls"]}}, ("none is put at several points", "measures.stances")),
]


@pytest.mark.parametrize(("fields", "words"), REFUSED)
def test_what_is_wrong_is_refused(
    make: Make, tmp_path: Path, refused: Refused, fields: dict[str, Any], words: tuple[str, ...]
) -> None:
    refused(lambda: prepare(make(**fields), tmp_path / "out"), *words)


CONFEDERATE: dict[str, Any] = {
    "base": {**SMALL["base"], "participants": ["Jarmila", "Zeynep", "Rowan"]},
    "grid": {"variant": {"with": {}, "without": {"scenario": {"participants": {"Rowan": None}}}}, "seed": [0]},
}


@pytest.mark.proof
@pytest.mark.parametrize(
    ("poll", "share", "asked"),
    [({}, 0.0, 5), ({"of": ["Rowan", "Zeynep"]}, 0.5, 3), ({"without": ["Rowan", "Zeynep"]}, 0.0, 2)],
)
def test_groups_that_are_compared_have_the_same_people(
    make: Make, serving: Serve, tmp_path: Path, poll: dict[str, Any], share: float, asked: int
) -> None:
    """The confederate says yes, and takes part at one level only."""
    model = Answering(lambda prompt: "yes" if "Rowan" in prompt.partition("</basic_information>")[0] else "no")
    measures = {**polls({**CARS, "by": serving(model).model(), "at": ["end"], **poll}), "stances": True}
    results = run_experiment(make(**CONFEDERATE, measures=measures), tmp_path)
    assert values(results)["cars:yes@end"] == [(share, None), (0.0, None)]
    assert (len(results.rows("polls")), model.asked) == (asked, asked)
    written = report_of(results)
    assert ("of those who take part at every level" in written) == (not poll)


@pytest.mark.parametrize("poll", [{"of": ["Rowen"]}, {"without": ["Rowen"]}])
def test_nobody_of_that_name(make: Make, tmp_path: Path, refused: Refused, poll: dict[str, Any]) -> None:
    experiment = make(**CONFEDERATE, measures=polls({**CARS, **poll}))
    refused(lambda: prepare(experiment, tmp_path), "there is no participant", "Rowen", "measures.polls[0]", "Rowan")


# Positions as measures of an experiment: arithmetic from the ledger, or missing with a reason


DEBATE = {"mode": "debate", "answer_format": "yesno", "model": "offline", "max_messages": 4}


def in_debate(**fields: Any) -> dict[str, Any]:
    base = {**SMALL["base"], "settings": DEBATE}
    return {"base": base, "grid": {"method": ["group_chat", "mad"], "seed": [0]}, **fields}


@pytest.mark.proof
def test_each_source_has_numbers_of_its_own(make: Make, tmp_path: Path) -> None:
    results = run_experiment(make(**in_debate(measures={"stances": True})), tmp_path)
    rows = {(row["method"], row["measure"]): (row["value"], row["missing"]) for row in results.rows("measures")}
    assert {measure for _, measure in rows} == {f"{of}_{name}" for of in ("verdicts", "answers") for name in VALUES}
    assert rows["group_chat", "answers_moves"] == rows["mad", "verdicts_kept"] == (None, "does not apply")
    value, missing = rows["mad", "answers_moves"]
    assert value is not None and missing is None
    seen = results.rows("stances")
    assert {(row["method"], row["source"]) for row in seen} <= {("group_chat", "verdicts"), ("mad", "answers")}
    moves = sum(bool(row["moved"]) for row in seen if row["method"] == "mad")
    assert value == moves
    (group,) = [row for row in results.rows("groups") if (row["method"], row["measure"]) == ("mad", "answers_moves")]
    assert (group["n"], group["mean"]) == (1, moves)
    assert "## stances" in (results.folder / "tables" / "codebook.md").read_text(encoding="utf-8")


@pytest.mark.proof
def test_polls_at_several_points_are_a_source(make: Make, serving: Serve, tmp_path: Path) -> None:
    """Jarmila moves to what Zeynep said before, and to nobody else's."""

    def answer(body: dict[str, Any]) -> Any:
        own, _, rest = prompt_of(body).partition("</basic_information>")
        began = ":" not in rest.partition("<transcript>")[2].partition("</transcript>")[0]
        return {"reasoning": "So.", "answer": "no" if began and "Jarmila" in own else "yes"}

    cars = {"id": "cars", "ask": "Cars?", "by": serving(answer).model()}
    measures = {"polls": [cars, {**cars, "id": "once", "at": ["end"]}], "stances": True}
    results = run_experiment(make(grid={"method": ["group_chat"], "seed": [0]}, measures=measures), tmp_path)
    found = {row["measure"]: row["value"] for row in results.rows("measures") if "@" not in row["measure"]}
    assert {name: found[name] for name in ("cars_moves", "cars_kept")} == {"cars_moves": 1.0, "cars_kept": 0.5}
    assert not any(name.startswith(("once_moves", "verdicts")) for name in found)
    assert [row["poll"] for row in results.rows("stances")] == ["cars"] * 4


@pytest.mark.proof
def test_a_conversation_without_positions_has_none(make: Make, tmp_path: Path) -> None:
    grid = {"method": ["single_agent"], "seed": [0]}
    results = run_experiment(make(grid=grid, measures={"stances": ["verdicts"]}), tmp_path)
    rows = results.rows("measures")
    assert [row["measure"] for row in rows] == [f"verdicts_{name}" for name in VALUES]
    assert {(row["value"], row["missing"]) for row in rows} == {(None, "does not apply")}
    assert results.rows("stances") == []
    plain = run_experiment(make(grid=grid), tmp_path)
    assert not (plain.folder / "tables" / "stances.csv").exists()


# Measures by name; what does not apply is missing with a reason


def test_evaluators_are_known_by_name(make: Make, refused: Refused):
    assert {"balance", "repetition", "consensus", "correct"} <= set(EVALUATORS)
    found = evaluators_of(make(measures={"evaluators": ["balance", "correct"]}))
    assert [measure.name for measure in found] == ["balance", "correct"]
    assert all(named.about for measure in found for named in measure.named)
    refused(lambda: evaluators_of(make(measures={"evaluators": ["balanc"]})), "'balanc'", "evaluators[0]", "'balance'?")
    refused(lambda: evaluators_of(make(measures={"evaluators": ["goodbye"] * 2})), "named twice")


@pytest.mark.proof
def test_what_does_not_apply_is_missing(make: Make, tmp_path: Path):
    base = {**SMALL["base"], "settings": {"model": "offline", "max_messages": 1}}
    wanted = make(base=base, grid={}, measures={"evaluators": ["consensus"]})
    (row,) = run_experiment(wanted, tmp_path).rows("measures")
    assert (row["value"], row["missing"]) == (None, "no debate")
