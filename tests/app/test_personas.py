"""Commands on personas: converting descriptions, generating people."""

from __future__ import annotations

import json
import signal
import time
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml
from fixtures import Run, Serve, Write
from loopback.answering import Fault, schema_of
from loopback.scripted import Scripted
from run_files import logged

from persimchat.models.offline.persona_making import Request, persona
from persimchat.personas.catalogue import load_persona
from persimchat.personas.conversion.mapping import ORDER

# `persimchat personas convert`, from files to a conversation of those who are described in them


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


@pytest.mark.proof
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
    said = logged(folder, "utterance")
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
    minds = str(logged(folder, "mind"))
    assert "Logan Roy" in minds
    assert len(logged(folder, "utterance")) == 6


def test_a_model_reads_what_no_mapping_fits(command: Run, write: Write, serve: Serve):
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


@pytest.mark.proof
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


def test_a_failing_model_leaves_nothing(command: Run, write: Write, tmp_path: Path, serve: Serve):
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


@pytest.mark.long
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


# `persimchat personas generate`: what it shows, what it leaves, and that it leaves nothing where it fails


EXAMPLE = str(Path(__file__).resolve().parents[2] / "examples/quotas.yaml")


numbers = count(1)


def inventing(body: dict[str, Any]) -> dict[str, Any]:
    """A server behind which somebody invents people that are unlike each other."""
    person = persona(Request("nurses in Brno", next(numbers)), body.get("seed") or 0)
    return {name: value for name, value in person.items() if name in schema_of(body)["properties"]}


@pytest.mark.proof
def test_files_that_a_conversation_reads(command: Run, tmp_path: Path):
    done = command(
        "personas", "generate", "-n", "3", "--about", "nurses in Brno", "--out", "town", "--model", "offline"
    )
    assert (done.code, done.err) == (0, "")
    files = sorted((tmp_path / "town").iterdir())
    people = [load_persona(file) for file in files]
    assert len({person.name for person in people}) == 3
    assert all(person.characteristic("residence") == "Brno, Czech Republic" for person in people)
    for file, person in zip(files, people, strict=True):
        assert file.name in done.out
        assert person.name in done.out
        head = file.read_text(encoding="utf-8").partition("name:")[0].splitlines()
        assert all(line.startswith("# ") for line in head)
        assert "no real person" in head[0]
        assert "model offline, seed 0" in head[1]
        assert any("nurses in Brno" in line for line in head)
    assert "Kept in town" in done.out
    assert "3 model calls" in done.out
    used = done.out.strip().rpartition("--participants ")[2]
    assert sorted(used.split(",")) == [f"town/{file.name}" for file in files]
    talk = command("run", "Tea or coffee?", "--participants", used, "--messages", "1", "--model", "offline", "--quiet")
    assert talk.code == 0


@pytest.mark.proof
def test_quotas_are_kept_and_named(command: Run, tmp_path: Path):
    done = command("personas", "generate", "--n", "10", "--quotas", EXAMPLE, "--out", "town", "--model", "offline")
    assert done.code == 0
    people = [load_persona(file) for file in (tmp_path / "town").iterdir()]
    assert sorted(str(person.characteristic("gender")) for person in people) == ["man"] * 5 + ["woman"] * 5
    assert sum(person.characteristic("occupation") == "retired" for person in people) == 2
    heads = [file.read_text(encoding="utf-8") for file in (tmp_path / "town").iterdir()]
    assert all(f"# Quotas: {EXAMPLE}; fixed by them for this person: " in head for head in heads)
    assert "Let the first 6 talk" in done.out


def test_the_same_seed_makes_the_same_files(command: Run, tmp_path: Path):
    for folder, seed in (("a", "5"), ("b", "5"), ("c", "6")):
        assert command("personas", "generate", "--seed", seed, "--out", folder, "--model", "offline").code == 0
    first, second, other = (
        {file.name: file.read_bytes() for file in (tmp_path / folder).iterdir()} for folder in ("a", "b", "c")
    )
    assert first == second
    assert not set(first) & set(other)


def test_without_a_folder_each_group_gets_its_own(command: Run, tmp_path: Path):
    for _ in range(2):
        done = command("personas", "generate", "-n", "1", "--about", "Bus drivers", "--model", "offline")
        assert "persimchat personas show generated/" in done.out
    folders = sorted((tmp_path / "generated").iterdir())
    assert len(folders) == 2
    assert all("-bus-drivers-" in folder.name for folder in folders)


def test_without_a_model_the_offline_model_answers_and_says_so(command: Run, tmp_path: Path):
    done = command("personas", "generate", "-n", "2", "--out", "town")
    assert done.code == 0
    assert done.err.startswith("No model was chosen")
    (first, *_) = (tmp_path / "town").iterdir()
    assert "is no language model" in first.read_text(encoding="utf-8")
    assert "no cost" in done.out


def test_what_a_model_says_is_no_yaml_and_no_terminal_code(command: Run, serve: Run, tmp_path: Path):
    answer = {
        "name": "Eva Nová", "age": 30, "gender": "woman", "residence": "Brno", "occupation": "]: {cook} \x1b[31m#1",
        "education": "!!python/object:os.system", "family": "*none", "hobbies": "tea", "lifestyle": "- early",
        "financial_status": "'\"", "traits": ["a: b", "# no comment", "&anchor"],
        "speaking_style": "'Quotes' and \"quotes\": all of them.",
        "description": "---\n# She says: [this] {{ is }} no template, and she has been known to repeat it: often.",
    }  # fmt: skip
    done = command("personas", "generate", "-n", "1", "--out", "a", "--model", serve(lambda _: answer).model())
    assert "\x1b" not in done.out
    (file,) = (tmp_path / "a").iterdir()
    person = load_persona(file)
    assert person.traits == ["a: b", "# no comment", "&anchor"]
    assert person.characteristic("occupation") == "]: {cook} #1"
    assert yaml.safe_load(file.read_text(encoding="utf-8"))["characteristics"]["family"] == "*none"


WRONG = {
    "none": (["-n", "0"], "0 personas", "1 to 100"),
    "many": (["--n", "1000"], "1000 personas", "1 to 100"),
    "no number": (["-n", "some"], "-n/--n/--number", "--help"),
    "empty sentence": (["--about", " "], "--about is empty", "Say who"),
    "no quotas": (["--quotas", "nowhere.yaml"], "no such file (nowhere.yaml)", "Check the path"),
    "model": (["--model", "ofline"], "unknown model 'ofline'", "'offline'"),
    "setting": (["--set", "sed=1"], "'sed'", "'seed'"),
    "twice": (["--seed", "1", "--set", "seed=2"], "seed is given twice", "Leave one"),
    "folder": (["--out", "/proc/nowhere"], "cannot write there", "--out"),
    "option": (["--quota", "x"], "no such option --quota", "--quotas"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_request_is_one_line_and_nothing_written(name: str, command: Run, tmp_path: Path):
    arguments, what, remedy = WRONG[name]
    done = command("personas", "generate", *arguments)
    assert (done.code, done.out) == (2, "")
    assert what in done.error
    assert remedy in done.error
    assert list(tmp_path.iterdir()) == []


def test_shares_of_more_than_one(command: Run, write: Run, tmp_path: Path):
    write("q.yaml", "quotas:\n  gender: {woman: 0.7, man: 0.6}\n")
    done = command("personas", "generate", "--quotas", "q.yaml", "--out", "town")
    assert done.code == 2
    assert done.error == (
        "persimchat: error: the shares of gender sum to 1.3, more than one (q.yaml:2, field quotas.gender). "
        "Take 0.3 away."
    )
    assert not (tmp_path / "town").exists()


def test_a_folder_with_something_in_it(command: Run, write: Run, serve: Run):
    write("town/eva.yaml", "mine")
    server = serve(inventing)
    done = command("personas", "generate", "--out", "town", "--model", server.model())
    assert "the folder is not empty (town)" in done.error
    assert server.requests == []


@pytest.mark.parametrize("fails", [Fault(401), {"name": "Always Her"}, "no JSON at all"])
def test_a_model_that_fails_leaves_nothing(fails: Any, command: Run, serve: Run, tmp_path: Path):
    answers = [inventing, lambda _: fails, lambda _: fails]
    server = serve(lambda body: answers.pop(0)(body))
    done = command("personas", "generate", "-n", "3", "--out", "deep/town", "--model", server.model())
    assert done.code == 3
    assert "persona_generation" in done.error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
@pytest.mark.proof
def test_interrupted_it_leaves_nothing(process: Run, serve: Run, tmp_path: Path):
    server = serve(inventing, delay_s=0.5)
    child = process("personas", "generate", "-n", "50", "--out", "town", "--model", server.model())
    deadline = time.monotonic() + 60
    while len(server.requests) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (130, "persimchat: interrupted\n")
    assert list(tmp_path.iterdir()) == []
