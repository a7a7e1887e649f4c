"""`persimchat personas convert`, from files to a conversation of those who are described in them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback.scripted import Scripted
from loopback.server import LoopbackServer
from run_files import read_records

from persimchat.personas.conversion.mapping import ORDER
from persimchat.personas.files import load_persona

Run = Callable[..., Any]
Write = Callable[..., Path]
ROWS = "name,age,occupation,bio,shoes\nAna Mora,34,baker,Ana bakes bread.,38\nBo Říha,61,driver,Bo drives a bus.,44\n"


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_table_becomes_persona_files(command: Run, write: Write, tmp_path: Path):
    write("people.csv", ROWS)
    done = command("personas", "convert", "people.csv")
    assert (done.code, done.err) == (0, "")
    ana = tmp_path / "converted/people/ana-mora.yaml"
    assert load_persona(ana).characteristics == {"age": "34", "occupation": "baker"}
    assert ana.read_text(encoding="utf-8").startswith("# Converted from people.csv (line 2) with the mapping plain.\n")
    lines = done.out.splitlines()
    assert lines[0].split() == ["name", "age", "occupation", "from", "file"]
    assert lines[1].split() == ["Ana", "Mora", "34", "baker", "people.csv", "ana-mora.yaml"]
    for line in (
        "people.csv: 2 people, with the mapping plain",
        "  taken      description ← bio",
        "  left out   shoes: '38'",
        "  empty      traits, knowledge, speaking_style, social_goals",
        "Kept in converted/people",
    ):
        assert line in lines
    assert lines[-1] == (
        'Let them talk: persimchat run "…" --participants converted/people/ana-mora.yaml,converted/people/bo-riha.yaml'
    )


def test_good_rows_are_taken_and_bad_ones_listed(command: Run, write: Write, tmp_path: Path):
    write("people.csv", "Respondent;E-mail;Views\nAna Mora;a@x;Cars out.\n;b@x;None.\nBo Říha;c@x;Keep them.;more\n")
    done = command("personas", "convert", "people.csv", "--column", "Respondent=name", "--column", "views=description")
    assert (done.code, done.err) == (0, "")
    assert [path.name for path in (tmp_path / "converted/people").iterdir()] == ["ana-mora.yaml"]
    lines = done.out.splitlines()
    at = lines.index("2 rows could not be taken:")
    assert "the name is empty (people.csv:3)" in lines[at + 1]
    assert "more than 3 fields (people.csv:4)" in lines[at + 2]
    assert "  left out   E-mail: 'a@x'" in lines


def test_those_who_are_converted_can_talk(command: Run, write: Write, tmp_path: Path):
    write("people.csv", ROWS)
    assert command("personas", "convert", "people.csv", "--out", "cast").code == 0
    shown = command("personas", "show", "cast/bo-riha.yaml")
    assert "Bo drives a bus." in shown.out
    done = command(
        "run", "Tea or coffee?", "--participants", "cast/ana-mora.yaml,cast/bo-riha.yaml", "--messages", "2",
        "--model", "offline", "--quiet",
    )  # fmt: skip
    assert done.code == 0, done.err
    (folder,) = (tmp_path / "conversations").iterdir()
    said = read_records(folder / "transcript.jsonl")
    assert {line["speaker"] for line in said} == {"Ana Mora", "Bo Říha"}


@pytest.mark.proof
def test_a_real_story_is_converted_and_talked_about(command: Run, shared: Path, tmp_path: Path):
    files = sorted((shared / "data/stories/succession/initial_version/characters").glob("*.json"))
    done = command("personas", "convert", *map(str, files), "--out", "roys")
    assert done.code == 0, done.err
    assert "9 files (C0000.json, " in done.out
    assert "  left out   belief: 'Sell your own company: 60;" in done.out
    cast = ",".join(f"roys/{name}.yaml" for name in ("logan-roy", "roman-roy", "shiv-roy"))
    done = command(
        "run", "Who follows Logan?", "--participants", cast, "--messages", "6", "--model", "offline", "--quiet"
    )
    assert done.code == 0, done.err
    (folder,) = (tmp_path / "conversations").iterdir()
    minds = (folder / "minds.jsonl").read_text(encoding="utf-8")
    assert "Logan Roy" in minds
    assert len((folder / "transcript.jsonl").read_text(encoding="utf-8").splitlines()) == 6


def test_a_model_reads_what_no_mapping_fits(command: Run, write: Write, serve: Callable[..., LoopbackServer]):
    write("a.txt", "Ana Mora bakes bread.")
    person = {"name": "Ana Mora", "description": "Ana Mora bakes bread.", "characteristics": [], "traits": ["shy"]}
    answer = {"people": [{**person, "speaking_style": "", "social_goals": []}]}
    server = serve(Scripted(persona_conversion=answer))
    done = command("personas", "convert", "a.txt", "--model", server.model())
    assert done.code == 0, done.err
    assert done.err == f"persimchat: {server.model()} reads 1 description\n"
    assert "Note: Ana Mora: check traits: 'shy' is not in the text in these words" in done.out
    assert "Used: 1 model call, " in done.out
    assert "Read it: persimchat personas show converted/a/ana-mora.yaml" in done.out
    head = Path("converted/a/ana-mora.yaml").read_text(encoding="utf-8").splitlines()[:2]
    assert head == [
        f"# Converted from a.txt with the model {server.model()}.",
        "# check traits: 'shy' is not in the text in these words",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("good.csv", "bad.csv"), ("there is no field for the name among age", "bad.csv:2", "--mapping", "--model")),
        (("good.csv", "good.csv"), ("two people are called 'Ana Mora'", "good.csv:2")),
        (("none.csv",), ("no such file (none.csv)",)),
        (("good.csv", "--mapping", "sotopa"), ("no ready mapping 'sotopa'", "'sotopia'")),
        (("good.csv", "--mapping", "wrong.yaml"), ("unknown field 'nam'", "wrong.yaml:1", "'name'")),
        (("good.csv", "--mapping", "tinytroupe"), ("not what the mapping tinytroupe is for", "good.csv:2")),
        (("good.csv", "--mapping", "plain", "--model", "offline"), ("contradict",)),
        (("good.csv", "--model", "offline"), ("offline model is no language model", "good.csv:2")),
        (("good.csv", "--model", "opnai:x"), ("opnai",)),
        (("good.csv", "--pick", "Eve"), ("no person 'Eve'", "--pick")),
        (("good.csv", "--pick", " "), ("--pick is empty",)),
        (("broken.json",), ("not JSON", "broken.json:1:2")),
        (("empty.csv",), ("empty", "empty.csv")),
        (("text.txt",), ("text without fields", "text.txt", "--model")),
        (("good.csv", "--column", "shoes"), ("'shoes' does not say", "--column", "Respondent=name")),
        (("good.csv", "--column", "shoe=size"), ("no table has a column 'shoe'", "'shoes'")),
        (("good.csv", "--column", "name=-"), ("no column is the name",)),
        ((), ("FILE",)),
    ],
)  # fmt: skip
def test_one_line_and_nothing_written(
    command: Run, write: Write, tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]
):
    write("good.csv", ROWS)
    write("bad.csv", "age\n3\n")
    write("broken.json", "{")
    write("empty.csv", "\n")
    write("text.txt", "She bakes.")
    write("wrong.yaml", "nam: a\ndescription: b\n")
    before = everything(tmp_path)
    done = command("personas", "convert", *arguments)
    assert done.code == 2
    assert [word for word in words if word not in done.error] == [], done.error
    assert done.out == ""
    assert everything(tmp_path) == before


def test_an_unreadable_pdf(command: Run, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write("a.pdf", b"%PDF-1.4 nothing of the kind")
    with monkeypatch.context() as without:
        without.setattr("persimchat.personas.conversion.loading.find_spec", lambda name: None)
        done = command("personas", "convert", "a.pdf")
    assert (done.code, everything(tmp_path)) == (2, ["a.pdf"])
    assert "pip install 'persimchat[pdf]'" in done.error
    pytest.importorskip("pypdf", reason="needs the extra pdf")
    done = command("personas", "convert", "a.pdf")
    assert (done.code, everything(tmp_path)) == (2, ["a.pdf"])
    assert "the PDF cannot be read" in done.error


def test_nothing_is_ever_overwritten(command: Run, write: Write, tmp_path: Path):
    write("people.csv", ROWS)
    kept = write("cast/ana-mora.yaml", "mine")
    done = command("personas", "convert", "people.csv", "--out", "cast")
    assert done.code == 2
    assert "not empty" in done.error
    assert everything(tmp_path) == ["cast", "cast/ana-mora.yaml", "people.csv"]
    assert kept.read_text(encoding="utf-8") == "mine"
    assert command("personas", "convert", "people.csv").code == 0
    assert command("personas", "convert", "people.csv").code == 0
    assert (tmp_path / "converted/people-2/ana-mora.yaml").is_file()


def test_a_failing_model_leaves_nothing(
    command: Run, write: Write, tmp_path: Path, serve: Callable[..., LoopbackServer]
):
    write("a.txt", "Ana Mora bakes bread.")
    server = serve(Scripted(persona_conversion="no"))
    done = command("personas", "convert", "a.txt", "--model", server.model(), "--out", "deep/cast")
    assert done.code == 3
    assert "a.txt: wrong answer twice" in done.err
    assert everything(tmp_path) == ["a.txt"]


def test_names_that_steer_terminals_do_not(command: Run, write: Write):
    write("a.json", json.dumps({"name": "\x1b[31mAna\x1b[0m <b>x</b>", "bio": "b", "zzz": "\x1b[2J[bold]{{x}}"}))
    done = command("personas", "convert", "a.json")
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "Ana <b>x</b>" in done.out
    assert "  left out   zzz: '[bold]{{x}}'" in done.out


@pytest.mark.proof
def test_a_thousand_people_are_a_short_report(command: Run, write: Write, tmp_path: Path):
    write("a.json", json.dumps([{"name": f"Person N{n}", "bio": "b" * (n % 7 + 1)} for n in range(1000)]))
    done = command("personas", "convert", "a.json")
    assert done.code == 0, done.err
    assert "… and 970 more" in done.out
    assert len(done.out.splitlines()) < 60
    assert len(list((tmp_path / "converted/a").iterdir())) == 1000


def test_help_names_the_ready_mappings(command: Run):
    done = command("personas", "convert", "--help")
    assert all(name in done.out for name in ORDER)
    assert "persimchat[pdf]" in done.out.replace("\n", " ")
