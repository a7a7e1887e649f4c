"""Reading descriptions from files: tables, JSON, labelled text and PDF, and files that are not right."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.personas.conversion.loading import load, load_table
from persimchat.personas.conversion.record import MAX_BYTES, Record
from persimchat.state.errors import MissingExtraError

Write = Callable[..., Path]
Refused = Callable[..., str]


def records(path: Path) -> tuple[Record, ...]:
    return load(path)[0].records


def pdf(text: str) -> bytes:
    """A PDF of one page with this line on it."""
    stream = f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode()
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 200] /Contents 4 0 R "
        b"/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    whole, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, start=1):
        places.append(len(whole))
        whole += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(whole)
    return whole + b"xref\n0 5\n0000000000 65535 f \n%strailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        table,
        start,
    )


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_rows_of_a_table(write: Write, delimiter: str):
    rows = ["name;age;bio", 'Ana;34;"Bakes,\r\n; at night"', "", "Bo;61;"]
    text = "\r\n".join(rows).replace(";", delimiter)
    found = records(write("a.csv", text))
    assert [r.data["name"] for r in found] == ["Ana", "Bo"]
    assert found[0].data["bio"].split(" ") == [f"Bakes,\r\n{delimiter}", "at", "night"]
    assert found[1].data == {"name": "Bo", "age": "61", "bio": ""}
    assert [r.line for r in found] == [2, 5]
    assert found[1].where("age").endswith("a.csv:5, field age")


def test_columns_called_like_the_loaders_own_and_columns_without_a_name(write: Write):
    (one,) = records(write("a.csv", "\ufeffsource,row,,name\nx,y,z,Ana\n".encode()))
    assert one.data == {"source": "x", "row": "y", "column 3": "z", "name": "Ana"}


def test_lines_that_end_as_on_old_macs(write: Write):
    (one,) = records(write("a.csv", "name,age\rAna,3\r"))
    assert one.data == {"name": "Ana", "age": "3"}


def test_a_tsv_is_parted_by_tabs(write: Write):
    (one,) = records(write("a.tsv", "name\tlikes\nAna\ttea, fog, rain\n"))
    assert one.data == {"name": "Ana", "likes": "tea, fog, rain"}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", "", ("empty", "a.csv")),
        ("a.csv", " \n\t\n", ("empty", "a.csv")),
        ("a.csv", "name,age\n", ("no row", "a.csv")),
        ("a.csv", "name,age\nAna,3,4\n", ("more than 2 fields", "a.csv:2")),
        ("a.csv", "name,name\nAna,3\n", ("two columns are called 'name'", "a.csv:1")),
        ("a.csv", 'name,bio\nAna,"Bakes.\nBo,Drives.\n', ("not CSV", "a.csv:2", "quotes")),
        ("a.csv", f"name,age\nAna,{'x' * 200_000}\n", ("not CSV", "field larger", "a.csv:2")),
        ("a.csv", f"name,{'x' * 200_000}\nAna,3\n", ("not CSV", "field larger", "a.csv:1")),
        ("a.csv", "name,age\nJos\xe9,3\n".encode("latin-1"), ("not UTF-8", "a.csv:2")),
        ("a.csv", "name,age\nAna,3\n".encode("utf-16"), ("not UTF-8", "a.csv:1")),
        ("a.txt", b"Name: \xff", ("not UTF-8", "a.txt:1")),
        ("a.txt", "", ("empty",)),
        ("a.json", "", ("empty",)),
        ("a.json", "{", ("not JSON", "a.json:1:2")),
        ("a.json", '{"name": "A",\n "age": }', ("not JSON", "a.json:2")),
        ("a.json", "[]", ("lists no one",)),
        ("a.json", "3", ("holds no fields",)),
        ("a.json", "null", ("holds no fields",)),
        ("a.json", '[{"name": "A"}, "B"]', ("not a mapping", "entry 2")),
        ("a.json", '{"name": "A", "name": "B"}', ("given twice", "field name")),
        ("a.json", '{"age": NaN}', ("NaN is not a number",)),
        ("a.json", "[" * 100_000, ("nested too deeply",)),
        ("a.json", '{"a":' * 150 + "1" + "}" * 150, ("nested too deeply",)),
        ("a.json", '{"a": ' + "9" * 5000 + "}", ("endless numbers",)),
        ("a.jsonl", '{"name": "A"}\n["B"]\n', ("not a mapping", "a.jsonl:2")),
        ("a.jsonl", '{"name": "A"}\n{"name": }\n', ("not JSON", "a.jsonl:2")),
        ("a.docx", "x", ("files of this kind cannot be converted", ".pdf")),
        ("a.yaml", "name: A", ("needs no conversion",)),
    ],
)  # fmt: skip
def test_files_that_are_not_right(write: Write, refused: Refused, name: str, text: Any, words: tuple[str, ...]):
    path = write(name, text)
    refused(lambda: load(path), *words)


def test_rows_that_are_too_long_are_refused_and_the_others_read(write: Write):
    (form,) = load(write("a.csv", "name,age\nAna,3\n\nBo,3,4\nLi,5\n"))
    assert [r.data["name"] for r in form.records] == ["Ana", "Li"]
    (wrong,) = form.refused
    assert (wrong.record.line, wrong.error.what) == (4, "the row has more than 2 fields")


def test_a_missing_file_a_folder_and_a_null_character(tmp_path: Path, refused: Refused):
    (tmp_path / "f.csv").mkdir()
    refused(lambda: load(tmp_path / "f.csv"), "this is a folder", "f.csv/*.json")
    refused(lambda: load(tmp_path / "none.csv"), "no such file")
    refused(lambda: load(tmp_path / "none.pdf"), "no such file")
    refused(lambda: load(Path("a\0b.csv")), "Check")


def test_a_file_that_is_too_large(tmp_path: Path, refused: Refused):
    path = tmp_path / "a.json"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    refused(lambda: load(path), "too large", "a.json")


def test_json_lists_and_dumps(write: Write):
    whole, by_key = load(write("a.json", json.dumps({"x": {"name": "A"}, "y": {"name": "B"}})))
    assert [len(form.records) for form in (whole, by_key)] == [1, 2]
    assert by_key.mixed
    assert by_key.records[1].place == "entry 'y'"
    (entries,) = load(write("b.json", json.dumps([{"n": 1}, {"n": 2}])))
    assert entries.records[1].where("n").endswith("b.json, entry 2, field n")


def test_labelled_text(write: Write):
    text = (
        "Name: Ana Mora\nAge: 34\nLikes:\n  tea\n  and fog\n\nShe bakes: bread, mostly, and never on Mondays.\n"
        "Nobody knows why.\n\nFull name: Bo\nAge: 3\n"
    )
    ana, bo = records(write("a.txt", text))
    assert ana.data == {
        "Name": "Ana Mora",
        "Age": "34",
        "Likes": "tea and fog",
        "She bakes": "bread, mostly, and never on Mondays. Nobody knows why.",
    }
    assert (bo.data, bo.line) == ({"Full name": "Bo", "Age": "3"}, 10)


def test_prose_below_labels_is_no_part_of_them(write: Write):
    (one,) = records(write("a.md", "Name: Ana\n\nAna has baked for years.\nShe sings.\n"))
    assert one.data == {"Name": "Ana", "text": "Ana has baked for years. She sings."}


@pytest.mark.parametrize("text", ["Ana bakes.", "Interview\nName: Ana", "Date: May\nName: Ana", "Ana: Hello\nBo: Hi"])
def test_other_text_has_no_fields(write: Write, text: str):
    (form,) = load(write("a.txt", text))
    assert [(r.data, r.text) for r in form.records] == [({}, text)]


def test_a_pdf_without_the_library(write: Write, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("persimchat.personas.conversion.loading.find_spec", lambda name: None)
    path = write("a.pdf", pdf("Ana bakes"))
    with pytest.raises(MissingExtraError, match=r"pip install 'persimchat\[pdf\]'"):
        load(path)


def test_a_pdf(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("pypdf", reason="needs the extra pdf")
    path = write("a.pdf", pdf("Ana bakes bread"))
    assert records(path)[0].text.strip() == "Ana bakes bread"
    monkeypatch.chdir(tmp_path)
    write("~a.pdf", pdf("Bo sails"))
    assert records(Path("~a.pdf"))[0].text.strip() == "Bo sails"  # a tilde is no home folder here


@pytest.mark.parametrize("content", [b"not a PDF", b"", b"%PDF-1.4\n", pdf("x")[:200], b"%PDF-1.7\n" + b"x" * 999])
def test_a_pdf_that_cannot_be_read(write: Write, refused: Refused, capfd: pytest.CaptureFixture[str], content: bytes):
    pytest.importorskip("pypdf", reason="needs the extra pdf")
    path = write("a.pdf", content)
    refused(lambda: load(path), "a.pdf", ".txt")
    assert capfd.readouterr() == ("", "")


def test_a_pdf_without_text(write: Write, refused: Refused):
    pytest.importorskip("pypdf", reason="needs the extra pdf")
    path = write("a.pdf", pdf(" "))
    refused(lambda: load(path), "holds no text", "scanned")


def test_a_pdf_with_a_password(write: Write, refused: Refused, tmp_path: Path):
    pypdf = pytest.importorskip("pypdf", reason="needs the extra pdf")
    writer = pypdf.PdfWriter()
    writer.add_blank_page(100, 100)
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(tmp_path / "a.pdf")
    refused(lambda: load(tmp_path / "a.pdf"), "not been decrypted")


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0\ufeff"), max_size=12)


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=4))
def test_any_cell_is_read_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]):
    path = tmp_path_factory.mktemp("t") / "a.csv"
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
    path.write_text("\n".join(["name,bio", *quoted]), encoding="utf-8", newline="")
    (form,) = load_table(path)
    assert [(r.data["name"], r.data["bio"]) for r in form.records] == rows
    assert [r.line for r in form.records] == list(range(2, 2 + len(rows)))
