"""`persimchat story`, and stories with the other commands: what they print, and how they refuse."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from persimchat.app.cli import main

pytestmark = pytest.mark.usefixtures("quiet_folder")


@pytest.fixture
def quiet_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Call the command: exit code, standard output, standard error."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.mark.proof
def test_a_story_runs_from_its_file_and_can_be_read_shown_exported_and_replayed(
    said: Callable[..., tuple[int, str, str]], root: Path, tmp_path: Path
) -> None:
    tiny = str(root / "personas" / "stories" / "tiny.yaml")
    code, out, _ = said("run", tiny, "--model", "offline", "--seed", "1")
    assert code == 0
    for words in ("# Round 1, private", "meet alone; nobody else knows.", "votes for", "the story was settled"):
        assert words in out
    code, out, _ = said("show", "latest")
    assert code == 0
    assert "winner" in out
    assert "Where they stand at the end" in out
    assert said("export", "latest", "--out", "tables")[0] == 0
    with (tmp_path / "tables" / "happenings.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {"met", "standing", "ballot", "outcome"} <= {row["do"] for row in rows}
    assert "`heard_by`" in (tmp_path / "tables" / "codebook.md").read_text(encoding="utf-8")
    assert said("export", "latest", "--for", "Olle", "--out", "eyes")[0] == 0
    with (tmp_path / "eyes" / "happenings.csv").open(encoding="utf-8") as file:
        known = list(csv.DictReader(file))
    assert {row["agent"] for row in known if row["heard_by"] == "[]"} == {"Olle Granat"}
    assert said("show", "latest", "--html")[0] == 0
    report = next((tmp_path / "conversations").glob("*/report.html")).read_text(encoding="utf-8")
    assert "meet alone" in report
    assert said("replay", "latest", "--quiet")[0] == 0


@pytest.mark.proof
def test_the_story_command_takes_the_generated_options(said: Callable[..., tuple[int, str, str]], root: Path) -> None:
    tiny = str(root / "personas" / "stories" / "tiny.yaml")
    code, out, _ = said("story", "run", tiny, "--rounds", "1", "--model", "offline", "--json")
    assert code == 0
    events = [json.loads(line) for line in out.splitlines()]
    assert {event["event"] for event in events} >= {
        "started",
        "happening",
        "utterance",
        "mind",
        "turn_ended",
        "stopped",
    }
    assert events[0]["mode"] == "story"
    assert events[0]["max_messages"] == 20
    assert events[-1]["outcome"]["winners"]


def test_an_estimate_of_a_story_counts_its_calls(said: Callable[..., tuple[int, str, str]], root: Path) -> None:
    examples = {"ferries": 471, "thinkers": 498, "festival": 415, "museum": None}
    for name, calls in examples.items():
        code, out, _ = said("estimate", str(root / "examples" / "stories" / f"{name}.yaml"), "--json")
        assert code == 0
        found = json.loads(out)["at_most"]["total"]["calls"]
        assert calls is None or found == calls, name


BAD = {
    "no story": (("story", "run", "{root}/examples/family.yaml"), "no section story"),
    "a debate": (("run", "{tiny}", "--mode", "debate"), "cannot be held as a debate"),
    "a mode alone": (("run", "Tea?", "--mode", "story"), "needs characters and stages"),
    "somebody without a part": (("run", "{tiny}", "--human", "Petr"), "'Petr' has no part in the story"),
    "people alone": (
        ("story", "run", "{tiny}", *(o for n in ("Aino", "Veikko", "Tuuli", "Olle") for o in ("--human", n))),
        "all participants are people",
    ),
    "others": (("run", "{tiny}", "-n", "3"), "cannot be replaced"),
    "a limit": (("run", "{tiny}", "--max-messages", "9"), "Leave max_messages out"),
    "a missing file": (("run", "nothing.yaml"), "there is no such file"),
    "a folder that is no story": (("story", "convert", ".", "-o", "x.yaml"), "no released story"),
    "rooms of strategists": (
        ("run", "{root}/examples/stories/workshop.yaml", "--cognition", "strategist"),
        "or leave the stages plenary and rooms out",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_is_refused_in_one_line(
    case: str, said: Callable[..., tuple[int, str, str]], root: Path, tmp_path: Path
) -> None:
    arguments, words = BAD[case]
    given = [one.format(root=root, tiny=root / "personas" / "stories" / "tiny.yaml") for one in arguments]
    code, out, err = said(*given)
    assert code == 2
    assert out == ""
    assert words in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_released_folder_is_converted_and_not_over_an_existing_file(
    said: Callable[..., tuple[int, str, str]], shared: Path, tmp_path: Path
) -> None:
    folder = shared / "data" / "stories" / "succession"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    code, out, err = said("story", "convert", str(folder), "-o", "made.yaml", "--decider", "Logan")
    assert code == 0
    assert "persimchat run made.yaml" in out
    assert "was inferred" in err
    assert "decider: Logan Roy" in (tmp_path / "made.yaml").read_text(encoding="utf-8")
    assert said("story", "convert", str(folder), "-o", "made.yaml")[0] == 2


def test_the_graph_of_a_story_is_drawn(said: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = said("graph", "story", "--outer")
    assert code == 0
    assert "agenda -.-> stocktake" in out
