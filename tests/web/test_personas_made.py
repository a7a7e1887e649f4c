"""Generating and importing personas in the page: what is shown before anything is kept, and what is kept."""

from __future__ import annotations

import base64
import json
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from nicegui import ui
from nicegui.elements.upload_files import LargeFileUpload, SmallFileUpload
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction

from persimchat.app.web.context import WebContext
from persimchat.app.web.personas import importing
from persimchat.app.web.personas.library import Library

pytestmark = pytest.mark.proof

PEOPLE = """name,age,occupation,city,description,shoe size
Petr Malý,44,baker,Brno,A baker who counts loaves.,44
Jana <b>Velká</b>,31,teacher,Olomouc,She teaches chemistry.,38
"""


@pytest.fixture(autouse=True)
def no_model_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PERSIMCHAT_MODEL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def field(user: User, label: str, kind: Any = ui.input) -> Any:
    """The first field of this label."""
    found = [element for element in user.find(kind=kind).elements if element.props.get("label") == label]
    return min(found, key=lambda element: element.id)


def last(user: User, text: str) -> None:
    """Press the newest button of this text: the one in the dialog."""
    button = max(user.find(kind=ui.button, content=text).elements, key=lambda element: element.id)
    UserInteraction(user, {button}, None).click()


def untick(user: User, name: str) -> None:
    (box,) = (b for b in user.find(kind=ui.checkbox).elements if b.props["aria-label"] == f"Select {name}" and b.value)
    UserInteraction(user, {box}, None).click()


async def sent(user: User, label: str, *files: Any) -> None:
    (upload,) = (upload for upload in user.find(kind=ui.upload).elements if upload.props.get("label") == label)
    await upload.handle_uploads(list(files))


def csv(name: str = "people.csv", text: str = PEOPLE) -> SmallFileUpload:
    return SmallFileUpload(name, "text/csv", text.encode())


FILES = "Choose files, or drop them here"


@pytest.mark.proof
async def test_a_group_is_generated_to_quotas(user: User, web: WebContext):
    await user.open("/personas")
    user.find("Generate").click()
    await user.should_see("Quotas (optional)")
    field(user, "Who are they? (one sentence)", ui.textarea).value = "commuters"
    field(user, "How many", ui.number).value = 4
    user.find(kind=ui.button, content="gender").click()
    await user.should_see("Total: 100%")
    field(user, "Share").value = "1/4"
    await user.should_see("Total: 75%, not 100%")
    last(user, "Generate")
    await user.should_see("The shares of gender sum to 0.75, less than one (gender)")
    field(user, "Share").value = "half"
    assert field(user, "Share").error == "25%, 0.25 or 1/4"
    field(user, "Share").value = "50%"
    last(user, "Generate")
    await user.should_see("4 personas were made")
    await user.should_see("no cost")
    assert Library(web.library).personas() == {}
    last(user, "Save selected")
    await user.should_see("4 personas were saved")
    kept = Library(web.library).personas()
    assert Counter(one.characteristic("gender") for one in kept.values()) == {"woman": 2, "man": 2}
    head = next(iter(kept)).read_text(encoding="utf-8")
    assert "# Invented by a program: this is no real person" in head
    assert "# The group's description: commuters" in head
    assert "fixed by them for this person: gender." in head


@pytest.mark.proof
async def test_some_are_left_out_and_others_not_lost_unasked(user: User, web: WebContext):
    await user.open("/personas")
    user.find("Generate").click()
    await user.should_see("Quotas (optional)")
    field(user, "How many", ui.number).value = 2
    last(user, "Generate")
    await user.should_see("2 personas were made")
    user.find(kind=ui.dialog).trigger("keydown.escape")
    await user.should_see("Close anyway?")
    user.find("Go back").click()
    await user.should_not_see("Close anyway?")
    first = min((b for b in user.find(kind=ui.checkbox).elements if b.value), key=lambda box: box.id)
    UserInteraction(user, {first}, None).click()
    last(user, "Save selected")
    await user.should_see("1 persona was saved")
    (kept,) = Library(web.library).personas().values()
    assert first.props["aria-label"] != f"Select {kept.name}"


@pytest.mark.parametrize(
    ("number", "model", "wrong"),
    [(0, "", "0 personas cannot be made. Ask for 1 to 100."), (2, "opnai:x", "Did you mean 'openai'?")],
)
async def test_what_cannot_be_generated(user: User, web: WebContext, number: int, model: str, wrong: str):
    await user.open("/personas")
    user.find("Generate").click()
    await user.should_see("Quotas (optional)")
    field(user, "How many", ui.number).value = number
    field(user, "Model").value = model
    last(user, "Generate")
    await user.should_see(wrong)
    assert field(user, "Model").value == model  # the request is still there to be corrected


@pytest.mark.proof
async def test_a_table_is_converted_and_some_are_kept(user: User, web: WebContext):
    await user.open("/personas")
    user.find("Import").click()
    await user.should_see("How to read the files")
    last(user, "Read them")
    await user.should_see("Choose a file first.")
    await sent(user, FILES, csv("../../people.csv"))
    await user.should_see("people.csv")
    last(user, "Read them")
    await user.should_see("2 personas were read")
    await user.should_see("with the mapping of its columns")
    await user.should_see("left out: shoe size: '44'")
    await user.should_see("residence ← city")
    untick(user, "Petr Malý")
    assert Library(web.library).personas() == {}
    last(user, "Save selected")
    await user.should_see("1 persona was saved")
    ((path, kept),) = Library(web.library).personas().items()
    assert kept.name == "Jana <b>Velká</b>"
    assert kept.characteristic("residence") == "Olomouc"
    head = path.read_text(encoding="utf-8").splitlines()[0]
    assert head == "# Converted from people.csv (line 3) with the mapping of its columns."


@pytest.mark.proof
async def test_columns_with_other_names_are_chosen_and_wrong_rows_are_listed(user: User, web: WebContext):
    await user.open("/personas")
    user.find("Import").click()
    await user.should_see("How to read the files")
    rows = "Kdo;Věk;Názor\nEva Malá;31;Auta ven.\n;44;Nic.\nIvo Šír;52;Ať zůstanou.\nEva Malá;20;Znovu.\n"
    await sent(user, FILES, csv("ankéta.csv", rows))
    await user.should_see("Columns of ankéta.csv (4 rows)")
    await user.should_see("Ať zůstanou.")
    choices = {s.props["aria-label"]: s for s in user.find(kind=ui.select).elements if "aria-label" in s.props}
    assert choices["What the column Věk becomes"].value == "age"
    last(user, "Read them")
    await user.should_see(marker="window-fault", content="No column is the name")
    choices["What the column Kdo becomes"].value = "name"
    choices["What the column Názor becomes"].value = "own"
    last(user, "Read them")
    await user.should_see("2 personas were read")
    await user.should_see("2 entries could not be taken")
    await user.should_see("ankéta.csv, line 3: the name is empty")
    await user.should_see("ankéta.csv, line 5: two people are called")
    await user.should_not_see("/tmp/")
    last(user, "Save selected")
    await user.should_see("2 personas were saved")
    eva = next(one for one in Library(web.library).personas().values() if one.name == "Eva Malá")
    assert eva.characteristics == {"age": "31", "Názor": "Auta ven."}
    assert eva.description == "31 years old"


@pytest.mark.proof
async def test_a_character_card_is_shown_before_it_is_kept(user: User, web: WebContext):
    card = {"name": "Sera <b>", "description": "{{char}} keeps a light.", "system_prompt": "Obey.", "first_mes": "Hi."}
    text = base64.b64encode(json.dumps({"spec": "chara_card_v2", "data": card}).encode())
    parts = ((b"IHDR", b"\0" * 13), (b"tEXt", b"chara\0" + text), (b"IEND", b""))
    made = (len(data).to_bytes(4) + kind + data + zlib.crc32(kind + data).to_bytes(4) for kind, data in parts)
    await user.open("/personas")
    user.find("Import").click()
    await user.should_see("How to read the files")
    await sent(user, FILES, SmallFileUpload("sera.png", "image/png", b"\x89PNG\r\n\x1a\n" + b"".join(made)))
    last(user, "Read them")
    await user.should_see("1 persona was read")
    await user.should_see("left out: system_prompt: 'Obey.'")
    assert Library(web.library).personas() == {}
    last(user, "Save selected")
    await user.should_see("1 persona was saved")
    (kept,) = Library(web.library).personas().values()
    assert (kept.name, kept.description) == ("Sera <b>", "Sera <b> keeps a light.")


@pytest.mark.proof
async def test_one_s_own_mapping(user: User, web: WebContext):
    await user.open("/personas")
    user.find("Import").click()
    await user.should_see("How to read the files")
    field(user, "How to read the files", ui.select).value = "own"
    await sent(user, FILES, csv(text="who,story\nEva,Sings.\n"))
    last(user, "Read them")
    await user.should_see("Choose your mapping file first.")
    mapping = SmallFileUpload("mine.yaml", "", b"name: who\ndescription: story\n")
    await sent(user, "Your mapping (YAML): choose or drop here", mapping)
    last(user, "Read them")
    await user.should_see("1 persona was read")
    last(user, "Save selected")
    await user.should_see("1 persona was saved")
    ((_, kept),) = Library(web.library).personas().items()
    assert (kept.name, kept.description) == ("Eva", "Sings.")


async def test_what_no_mapping_fits_needs_a_model(user: User, web: WebContext):
    await user.open("/personas")
    user.find("Import").click()
    await user.should_see("How to read the files")
    await sent(user, FILES, csv("story.txt", "Once there was somebody in a house by the river."))
    last(user, "Read them")
    await user.should_see("it cannot read descriptions (story.txt). Choose what each column")
    await user.should_see("How to read the files")
    assert list(web.library.glob("**/*.yaml")) == []


async def test_too_large_or_of_another_kind(user: User, tmp_path: Path):
    await user.open("/personas")
    user.find("Import").click()
    await user.should_see("How to read the files")
    large = tmp_path / "spooled"
    large.write_bytes(b"x" * 5_000_001)
    await sent(user, FILES, LargeFileUpload("large.csv", "", large))
    await user.should_see("The file is too large (large.csv)")
    await sent(user, FILES, csv("program.exe"))
    await user.should_see("Files of this kind are not read (program.exe)")
    last(user, "Read them")
    await user.should_see("Choose a file first.")


async def test_persona_files_and_a_table_together(user: User, web: WebContext):
    await user.open("/personas")
    user.find("Import").click()
    await user.should_see("How to read the files")
    own = '{"name": "Ota Bor", "human": true}'
    written = "# Invented.\nname: Ida Kos\ndescription: A smith.\n"
    wrong = SmallFileUpload("wrong.yaml", "", b"name: [")
    await sent(user, FILES, csv("ota.json", own), csv("../ida.yml", written), csv(), wrong)
    last(user, "Read them")
    await user.should_see("4 personas were read")
    await user.should_see("1 entry could not be taken")
    await user.should_see("wrong.yaml:1")
    await user.should_not_see("/tmp/")
    untick(user, "Petr Malý")
    last(user, "Save selected")
    await user.should_see("3 personas were saved")
    kept = {persona.name: path for path, persona in Library(web.library).personas().items()}
    assert set(kept) == {"Ota Bor", "Ida Kos", "Jana <b>Velká</b>"}
    assert kept["Ida Kos"].read_text(encoding="utf-8").startswith("# Invented.\nname: Ida Kos")


async def test_what_went_wrong_stays_until_one_tries_again(user: User):
    await user.open("/personas")
    user.find("Import").click()
    await user.should_see("How to read the files")
    await sent(user, FILES, csv("wrong.yaml", "name: ["))
    last(user, "Read them")
    await user.should_see(marker="window-fault", content="wrong.yaml:1")
    await sent(user, FILES, csv())
    await user.should_not_see(marker="window-fault")


async def test_a_fault_of_the_program_leads_back_to_the_files(user: User, monkeypatch: pytest.MonkeyPatch):
    async def broken(*_given: Any, **_options: Any) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(importing, "convert", broken)
    await user.open("/personas")
    user.find("Import").click()
    await user.should_see("How to read the files")
    await sent(user, FILES, csv())
    last(user, "Read them")
    await user.should_not_see("Reading…")
    await user.should_see("How to read the files")
