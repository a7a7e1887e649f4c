"""One's own personas as files: what is kept reads back, nothing is overwritten, damaged files break nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.app.web.personas.library import Library
from persimchat.app.web.personas.uploads import safe_name
from persimchat.personas.catalogue import shipped
from persimchat.state.errors import InputError
from persimchat.state.persona import Persona

ANNA = Persona(name="Anna Nová", description="A baker.", characteristics={"age": "41"}, traits=["early riser"])


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path)


def test_what_is_kept_reads_back_and_nothing_is_overwritten(library: Library):
    first = library.add(ANNA, ["Invented."])
    other = ANNA.model_copy(update={"description": "Another Anna."})
    second = library.add(other)
    assert [first.name, second.name] == ["anna-nova.yaml", "anna-nova-2.yaml"]
    assert library.personas() == {second: other, first: ANNA}
    assert {path.name for path in library.folder.iterdir()} == {first.name, second.name}  # no half files


def test_every_shipped_persona_can_be_one_s_own(library: Library):
    paths = [library.add(persona) for persona in shipped()]
    found = library.personas()
    assert [found[path] for path in paths] == shipped()


def test_a_change_keeps_the_file_and_its_head(library: Library):
    path = library.add(ANNA, ["Invented by a program.", "Made with seed 3."])
    changed = ANNA.model_copy(update={"name": "Anna Stará"})
    assert library.replace(path, changed) == path
    assert library.personas() == {path: changed}
    assert path.read_text(encoding="utf-8").startswith(
        "# Invented by a program.\n# Made with seed 3.\nname: Anna Stará"
    )


def test_a_json_file_becomes_yaml_when_it_is_changed(library: Library):
    library.folder.mkdir(parents=True)
    old = library.folder / "anna.json"
    old.write_text('{"name": "Anna Nová", "description": "A baker."}', encoding="utf-8")
    new = library.replace(old, ANNA)
    assert library.personas() == {new: ANNA}
    assert not old.exists()


def test_damaged_files_are_listed_with_what_is_wrong(library: Library):
    kept = library.add(ANNA)
    (library.folder / "wrong.yaml").write_text("name: Ben\ndescription: A smith.\nage: 3\n", encoding="utf-8")
    (library.folder / "binary.json").write_bytes(b"\xff\xfe\x00")
    (library.folder / "notes.txt").write_text("not read", encoding="utf-8")
    shelf = library.read()
    assert list(shelf.personas) == [kept]
    errors = {path.name: str(error) for path, error in shelf.damaged.items()}
    assert set(errors) == {"wrong.yaml", "binary.json"}
    assert "wrong.yaml:3, field age" in errors["wrong.yaml"]


def test_only_its_own_files_are_touched(library: Library, tmp_path: Path):
    outside = tmp_path / "secret.yaml"
    outside.write_text("name: Eva\ndescription: Not yours.\n", encoding="utf-8")
    for act in (library.delete, library.text, lambda path: library.replace(path, ANNA)):
        with pytest.raises(InputError, match="not in the library"):
            act(outside)
        with pytest.raises(InputError, match="not in the library"):
            act(library.folder / ".." / "secret.yaml")
    assert outside.exists()


def test_where_nothing_can_be_written_it_says_so(tmp_path: Path):
    (tmp_path / "personas").write_text("in the way", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be kept"):
        Library(tmp_path).add(ANNA)


@given(st.text(max_size=200))
def test_a_safe_name_stays_in_its_folder(name: str):
    safe = safe_name(name)
    assert safe
    assert len(safe) < 100
    assert not set(safe) & set("/\\:\0\n")
    assert not safe.startswith(".")
    assert (Path("folder") / safe).parent == Path("folder")
