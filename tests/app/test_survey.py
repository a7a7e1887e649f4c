"""`persimchat survey`: from an experiment or from runs to a form for raters, and from their answers to a result."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import scipy.stats  # noqa: F401  loaded here, so that no test pays for it
import yaml
from evaluation.surveys import csv_of, held_runs
from fixtures import Run
from run_files import read_table
from run_folders import PEOPLE, rewrite, utterance, write_run, write_steered
from small_experiment import SMALL

from persimchat.evaluation.statistics import intervals as library
from persimchat.experiments import Experiment
from persimchat.experiments.place import Place
from persimchat.experiments.plan import plan

METHODS = ("need_to_talk", "round_robin")
GRID = {"method": list(METHODS), "wording": {"a": "Tea?", "b": "Cars?"}, "seed": [0, 1, 2]}


def experiment(path: Path, left_out: int = 0, **fields: Any) -> Path:
    """An experiment's folder, as it is when all cells but some are complete."""
    file = path.with_suffix(".yaml")
    file.write_text(yaml.safe_dump({**SMALL, "grid": GRID, **fields}, sort_keys=False), encoding="utf-8")
    place, made = Place(path), plan(Experiment.load(file))
    with place.driven():
        place.keep(made)
    for number, planned in enumerate(made.cells[left_out:]):
        said = [utterance(turn, PEOPLE[turn % 3], f"I am number {number}.") for turn in range(1, 7)]
        scenario = planned.scenario.model_dump(mode="json", by_alias=True, exclude={"settings"})
        folder = write_run(place.runs, said, run=f"{planned.cell.id}-0123", scenario=scenario)
        folder.rename(place.runs / planned.cell.id)
    return path


@pytest.fixture(scope="module")
def tea(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve conversations: two methods, two wordings, three seeds."""
    return experiment(tmp_path_factory.mktemp("results") / "tea")


def data(command: Run, *arguments: object) -> dict[str, Any]:
    return command("survey", *map(str, arguments), "--json").data


def rate(folder: Path, rating: Callable[[int, int], int], raters: int = 8) -> Path:
    """Fill the template in: a rating by the number of the rater and of the item."""
    rows: list[tuple[object, ...]] = []
    for rater in range(raters):
        for place, row in enumerate(read_table(folder / "responses_template.csv")):
            value = "" if row["item"] in ("realistic", "improve") else rating(rater, place)
            rows.append((f"R{rater}", row["item"], value, "" if value else f"<b>{rater}</b>"))
    path = folder.parent / "answers.csv"
    path.write_text(csv_of(rows), encoding="utf-8")
    return path


@pytest.mark.proof
def test_from_an_experiment_to_a_result(command: Run, tea: Path):
    done = command("survey", "make", str(tea), "--by", "method")
    assert done.code == 0, done.err
    assert "4 topics, 2 systems, 8 excerpts, about 5 minutes for a rater" in done.out
    assert done.out.endswith("survey: survey (keep key.json from raters)\n")
    assert "only 2 different ones" in done.err
    key = json.loads(Path("survey/key.json").read_text(encoding="utf-8"))
    assert (key["by"], key["source"], key["seed"], key["first"]) == ("method", "small", 0, 5)
    systems = {item["item"]: item["system"] for item in key["items"]}
    order = [row["item"] for row in read_table(Path("survey/responses_template.csv"))]
    answers = rate(
        Path("survey").resolve(), lambda rater, place: (8 if systems[order[place]] == METHODS[0] else 5) + rater % 2
    )
    found = data(command, "read", "survey", "--responses", answers, "--out", "rated")
    assert (found["raters"], found["ratings"]) == (8, 64)
    assert [(row["system"], row["mean"]) for row in found["summary"]] == [(METHODS[0], 8.5), (METHODS[1], 5.5)]
    used, published = found["comparisons"]
    assert (used["unit"], used["n"], used["difference"], used["effect"]) == ("rater", 8, 3.0, 1.0)
    assert used["p"] == used["p_holm"] == 2 / 2**8
    assert (published["n"], published["p_holm"]) == (32, None)
    assert found["published"]["krippendorff_alpha"] == 0.3674
    assert len(found["comments"]) == 16
    assert len(read_table(Path("rated/ratings.csv"))) == 64


@pytest.mark.proof
def test_what_the_terminal_shows(command: Run, tea: Path):
    data(command, "make", tea, "--by", "method")
    answers = rate(Path("survey").resolve(), lambda rater, place: 3 + (rater + place) % 5)
    shown = command("survey", "read", "survey", "--responses", str(answers)).out
    for words in (
        "Ratings, 1 to 10, of 8 raters", "need_to_talk − round_robin", "95 % interval", "8 excerpts with two ratings",
        "<b>0</b>", "What sounded like real people?", "section 6.4, 25 raters", "not used", "Only 8 raters",
    ):  # fmt: skip
        assert words in shown, words


@pytest.mark.proof
def test_the_acceptance_of_blinding(command: Run, tea: Path):
    """No file but the key names a method, a model, a run or a cell; each method stands first about equally often."""
    first: Counter[str] = Counter()
    told = {*METHODS, "offline", "gpt", "method", *(path.name for path in (tea / "runs").iterdir())}
    for seed in range(12):
        out = Path(f"survey-{seed}")
        data(command, "make", tea, "--by", "method", "--out", out, "--seed", seed)
        key = json.loads((out / "key.json").read_text(encoding="utf-8"))
        first.update(item["system"] for item in key["items"] if item["order"] == 1)
        for path in out.iterdir():
            text = path.read_text(encoding="utf-8")
            assert path.name == "key.json" or [word for word in told if word in text] == []
    assert sum(first.values()) == 48
    assert all(abs(times - 24) < 14 for times in first.values())  # four standard deviations


@pytest.mark.long
@pytest.mark.proof
def test_the_acceptance_with_real_conversations(command: Run, root: Path, tmp_path: Path):
    example = str(root / "examples/experiments/tea.yaml")
    assert command("experiment", "run", example, "--yes").code == 0
    made = data(command, "make", "results/tea", "--by", "method", "--topics", "6", "--first", "4")
    assert (len(made["items"]), made["topics"]) == (12, 6)
    told = {*METHODS, "offline", *(path.name for path in Path("results/tea/runs").iterdir())}
    for path in Path("survey").iterdir():
        text = path.read_text(encoding="utf-8")
        assert path.name == "key.json" or [word for word in told if word in text] == []
    rows = (
        "1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3", ". 3 3 3 2 3 4 2 2 5 1 .", "1 2 3 3 2 4 4 1 2 5 1 .",
    )  # fmt: skip
    given = [
        (f"R{rater}", item, value, "")
        for rater, row in enumerate(rows)
        for item, value in zip(made["items"], row.split(), strict=True)
        if value != "."
    ]
    (tmp_path / "answers.csv").write_text(csv_of(given), encoding="utf-8")
    found = data(command, "read", "survey", "--responses", "answers.csv")
    alphas = {row["measure"]: row["value"] for row in found["agreement"]}
    assert alphas["Krippendorff's α, ordinal"] == pytest.approx(0.8154, abs=5e-5)
    assert alphas["Krippendorff's α, interval"] == pytest.approx(0.8491, abs=5e-5)


@pytest.mark.proof
def test_part_of_an_experiment(command: Run, tmp_path: Path):
    grid = {"method": [*METHODS, "single_agent"], "utterance_words": [30, 40], "wording": {"a": "A?", "b": "B?"}}
    town = experiment(tmp_path / "town", grid=grid)
    made = data(command, "make", town, "--by", "method", "--only", "single_agent,round_robin", "--topics", "2")
    assert made["systems"] == ["single_agent", "round_robin"]
    assert made["notes"] == [
        "All levels of utterance_words are drawn from; --within utterance_words=LEVEL keeps to one."
    ]
    limited = ("--within", "utterance_words=30", "--within", "wording=b", "--topics", "1", "--out", "b")
    assert data(command, "make", town, "--by", "method", *limited)["notes"] == []
    key = json.loads(Path("b/key.json").read_text(encoding="utf-8"))
    assert [topic["about"] for topic in key["topics"]] == ["B?"]
    by_words = data(command, "make", town, "--by", "utterance_words", "--topics", "3", "--out", "c", "--only", "40,30")
    assert by_words["systems"] == ["40", "30"]


def test_cells_that_are_not_complete_are_left_out(command: Run, tmp_path: Path):
    part = experiment(tmp_path / "part", left_out=4)
    done = command("survey", "make", str(part), "--by", "method")
    assert done.code == 2
    assert "there are 2 tasks that all systems have, not 4" in done.error
    assert "need_to_talk 2, round_robin 6" in done.error
    assert not Path("survey").exists()


@pytest.mark.proof
def test_from_single_runs(command: Run, tmp_path: Path):
    held = held_runs(tmp_path / "all", topics=("Tea?", "Cars?"), systems=("group_chat", "single_agent"))
    for one in held:
        (tmp_path / one.system).mkdir(exist_ok=True)
        shutil.move(one.folder, tmp_path / one.system / one.folder.name)
    made = data(
        command, "make", "--system", "minds=group_chat", "--system", "script=single_agent/single_agent-0-secret",
        "--system", "script=single_agent/single_agent-1-secret", "--topics", "2",
    )  # fmt: skip
    assert made["systems"] == ["minds", "script"]
    assert len(made["items"]) == 4
    twice = ("--system", "a=group_chat/group_chat-0-secret", "--system", "b=group_chat", "--topics", "1")
    assert "is given twice" in command("survey", "make", *twice, "--out", "b").error


def test_words_of_people_need_consent(command: Run, tmp_path: Path):
    joined = write_steered(tmp_path / "joined")
    shutil.copytree(joined, tmp_path / "again" / "other")
    rewrite(tmp_path / "again" / "other", "begun", lambda begun: {**begun, "run": "other"})
    asked = ("make", "--system", f"a={joined}", "--system", "b=again", "--topics", "1")
    assert "raters would read their words" in command("survey", *asked).error
    assert len(data(command, *asked, "--with-people")["items"]) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("nothing to draw from", "--system NAME=RUN")),
        (("TEA",), ("not said what is compared", "method, wording, seed")),
        (("TEA", "--by", "metod"), ("'metod'", "Did you mean 'method'?")),
        (("TEA", "--by", "method", "--only", "round_robn,need_to_talk"), ("'round_robn'", "'round_robin'")),
        (("TEA", "--by", "method", "--only", "round_robin"), ("2 to 26 systems, not 1",)),
        (("TEA", "--by", "method", "--within", "sed=1"), ("'sed'", "'seed'")),
        (("TEA", "--by", "method", "--within", "seed=9"), ("no level of seed '9'", "0, 1, 2")),
        (("TEA", "--by", "wording"), ("different topics",)),
        (("TEA", "--by", "method", "--topics", "7"), ("6 tasks", "not 7")),
        (("TEA", "--by", "method", "--topics", "0"), ("too small", "--topics")),
        (("TEA", "--by", "method", "--system", "a=b"), ("both given",)),
        ((".", "--by", "method"), ("not an experiment's folder",)),
        (("--system", "a=b", "--by", "method"), ("--by, --only and --within",)),
        (("--system", "latest"), ("'latest' is not a name and a run",)),
        (("--system", "=latest"), ("is not a name and a run",)),
        (("--system", "a=nowhere"), ("no run 'nowhere'",)),
    ],
)
def test_what_cannot_be_made(command: Run, tea: Path, arguments: tuple[str, ...], words: tuple[str, ...]):
    done = command("survey", "make", *(str(tea) if each == "TEA" else each for each in arguments))
    assert (done.code, done.out) == (2, "")
    assert [word for word in words if word not in done.error] == [], done.error
    assert not Path("survey").exists()


@pytest.mark.proof
def test_what_cannot_be_read(command: Run, tea: Path):
    data(command, "make", tea, "--by", "method")
    data(command, "make", tea, "--by", "method", "--seed", "1", "--out", "other")
    answers = str(rate(Path("survey").resolve(), lambda rater, place: 5))
    for arguments, words in (
        (("survey",), "--responses"),
        (("survey", "--responses", "nowhere.csv"), "nowhere.csv"),
        (("other", "--responses", answers), "answers to another survey"),
        (("elsewhere", "--responses", answers), "survey make"),
        (("survey", "--responses", answers, "--out", "survey/tables"), "the survey's folder is for raters"),
    ):
        done = command("survey", "read", *arguments)
        assert (done.code, done.out) == (2, "")
        assert words in done.error
    shutil.copy("other/key.json", "survey/key.json")
    assert "key is of another survey" in command("survey", "read", "survey", "--responses", answers).error
    assert not Path("survey/tables").exists()


@pytest.mark.proof
def test_what_is_there_is_kept(command: Run, tea: Path):
    data(command, "make", tea, "--by", "method")
    before = Path("survey/key.json").read_bytes()
    assert "--force" in command("survey", "make", str(tea), "--by", "method", "--seed", "2").error
    assert Path("survey/key.json").read_bytes() == before
    data(command, "make", tea, "--by", "method", "--seed", "2", "--force")
    assert Path("survey/key.json").read_bytes() != before


@pytest.fixture
def without_scipy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    library.stats.cache_clear()

    def missing(name: str) -> object:
        raise ModuleNotFoundError(f"No module named {name!r}", name="scipy")

    monkeypatch.setattr(library, "import_module", missing)
    yield
    library.stats.cache_clear()


@pytest.mark.usefixtures("without_scipy")
def test_making_needs_no_scipy_and_reading_says_so(command: Run, tea: Path):
    data(command, "make", tea, "--by", "method")
    error = command("survey", "read", "survey", "--responses", "a.csv").error
    assert "pip install 'persimchat[evaluation]'" in error


def test_without_a_command_it_says_which_there_are(command: Run):
    done = command("survey")
    assert done.code == 0
    assert "make" in done.out and "read" in done.out
