"""The library of personas: its files, and its page: write, change, copy, delete, search, send, choose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nicegui import ui
from nicegui.elements.upload_files import FileUpload, SmallFileUpload
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction

from persimchat.app.web.context import WebContext
from persimchat.app.web.frame import Frame
from persimchat.app.web.personas.chooser import Chosen, choose_personas, take_pending_personas
from persimchat.app.web.personas.library import Library
from persimchat.app.web.personas.uploads import MOST_BYTES, check, kept_for_now, read_persona_file, safe_name
from persimchat.personas.catalogue import SUFFIXES, find_persona, shipped
from persimchat.state.errors import InputError
from persimchat.state.persona import Persona

HOSTILE = "<img src=x onerror=alert(1)> {{1+1}}"
ANNA = Persona(
    name="Anna Nová",
    description="A baker.",
    characteristics={"age": "41", "occupation": "baker"},
    traits=["early riser", "blunt"],
    knowledge={"overall": 2, "bread": 5},
    speaking_style="Short.",
    social_goals=["Sell."],
    human=True,
)


def sent(name: str, text: str | bytes) -> FileUpload:
    """A file as the browser sends it."""
    return SmallFileUpload(name, "text/plain", text.encode() if isinstance(text, str) else text)


async def keep(library: Library, file: FileUpload) -> str:
    """Save the persona of a file as the page does; its name."""
    check([file], SUFFIXES)
    async with kept_for_now([file]) as (path,):
        found = read_persona_file(path)
    library.add(found.persona, found.notes)
    return found.persona.name


def field(user: User, label: str) -> Any:
    """The one field of this label."""
    fields = user.find(kind=ui.input).elements | user.find(kind=ui.textarea).elements
    (found,) = (element for element in fields if element.props.get("label") == label)
    return found


def press(user: User, name: str) -> None:
    """Press the button, or tick the box, of this name for screen readers."""
    everything = user.find(kind=ui.button).elements | user.find(kind=ui.checkbox).elements
    (found,) = (element for element in everything if element.props.get("aria-label") == name)
    UserInteraction(user, {found}, None).click()


@pytest.mark.proof
async def test_a_persona_is_written_and_kept(user: User, web: WebContext):
    await user.open("/personas")
    user.find("New persona").click()
    await user.should_see("Characteristics")
    user.find("Save").click()
    await user.should_see("Some fields need correction")
    assert field(user, "Name").error == field(user, "Description").error == "Please fill this in."
    field(user, "Name").value = HOSTILE
    assert field(user, "Name").error is None
    field(user, "Description").value = "x" * 4001
    user.find("Save").click()
    assert field(user, "Description").error == "Too long: at most 4,000 characters."
    field(user, "Description").value = "Paints signs."
    field(user, "Traits, one per line").value = "patient\n\nloud "
    user.find("Save").click()
    await user.should_see(f"{HOSTILE} was saved")
    kept = Persona(name=HOSTILE, description="Paints signs.", traits=["patient", "loud"])
    assert list(Library(web.library).personas().values()) == [kept]


@pytest.mark.proof
async def test_only_what_is_changed_changes(user: User, web: WebContext):
    path = Library(web.library).add(ANNA, ["Where it comes from."])
    before = path.read_text(encoding="utf-8")
    await user.open("/personas")
    press(user, "Edit Anna Nová")
    await user.should_see("Edit persona")
    field(user, "Name").value = "Anna Malá"
    user.find("Save").click()
    await user.should_see("Anna Malá was saved")
    assert Library(web.library).personas() == {path: ANNA.model_copy(update={"name": "Anna Malá"})}
    assert path.read_text(encoding="utf-8") == before.replace("Nová", "Malá")


REMEMBERING = Persona.model_validate(
    {
        **ANNA.model_dump(),
        "name": "Remembering",
        "memories": ["The shop closed.", {"text": "I won\na prize.", "importance": 9, "keywords": ["prize"]}],
    }
)


@pytest.mark.proof
@pytest.mark.parametrize("persona", [find_persona("Jarmila"), ANNA, REMEMBERING], ids=lambda persona: persona.name)
async def test_what_is_opened_and_saved_is_the_same(user: User, web: WebContext, persona: Persona):
    library = Library(web.library)
    path = library.add(persona.model_copy(update={"name": "Copied"}))
    await user.open("/personas")
    press(user, "Copy and change Copied")
    await user.should_see("Edit persona")
    user.find("Save").click()
    await user.should_see("Copied was saved")
    both = library.personas()
    assert len(both) == 2
    assert all(one == both[path] for one in both.values())


@pytest.mark.proof
async def test_a_value_that_would_be_lost_is_marked(user: User, web: WebContext):
    Library(web.library).add(ANNA)
    await user.open("/personas")
    press(user, "Edit Anna Nová")
    await user.should_see("Edit persona")
    (name,) = (element for element in user.find(kind=ui.input).elements if element.value == "occupation")
    for wrong, words in (("Age", "This name is used twice."), ("", "Please fill this in.")):
        name.value = wrong
        user.find("Save").click()
        await user.should_see("Some fields need correction")
        assert name.error == words
    assert list(Library(web.library).personas().values()) == [ANNA]


@pytest.mark.proof
async def test_changes_are_not_lost_without_asking(user: User, web: WebContext):
    await user.open("/personas")
    user.find("New persona").click()
    await user.should_see("Characteristics")
    field(user, "Name").value = "Eva"
    user.find("Cancel").click()
    await user.should_see("Close anyway?")
    user.find("Go back").click()
    await user.should_not_see("Close anyway?")
    assert field(user, "Name").value == "Eva"
    user.find(kind=ui.dialog).trigger("keydown.escape")
    await user.should_see("Close anyway?")
    user.find("Discard").click()
    await user.should_not_see("Characteristics")
    assert Library(web.library).personas() == {}
    user.find("New persona").click()  # nothing is written, so nothing is asked
    await user.should_see("Characteristics")
    user.find("Cancel").click()
    await user.should_not_see("Characteristics")


@pytest.mark.proof
async def test_deleting_asks_and_damaged_files_break_nothing(user: User, web: WebContext):
    library = Library(web.library)
    library.add(ANNA)
    (library.folder / "wrong.yaml").write_text("name: Ben\nage: 3\n", encoding="utf-8")
    await user.open("/personas")
    await user.should_see("wrong.yaml:2, field age")
    await user.should_see("Anna Nová")
    press(user, "Delete Anna Nová")
    await user.should_see("Delete Anna Nová?")
    user.find("Cancel").click()
    await user.should_not_see("Delete Anna Nová?")
    assert len(library.personas()) == 1
    for name in ("Anna Nová", "wrong.yaml"):
        press(user, f"Delete {name}")
        await user.should_see(f"Delete {name}?")
        user.find(content="Delete", kind=ui.button).click()
        await user.should_see(f"{name} was deleted")
    assert list(library.folder.iterdir()) == []


@pytest.mark.proof
async def test_search_and_a_whole_persona(user: User):
    await user.open("/personas")
    user.find("Search by name").type("JARMILA dvorackova")
    await user.should_see("Jarmila Dvořáčková")
    await user.should_not_see("Inés Quiroga")
    press(user, "Read more: Jarmila Dvořáčková")
    jarmila = find_persona("Jarmila")
    for text in (jarmila.description, *jarmila.traits, *jarmila.characteristics.values()):
        await user.should_see(text)


@pytest.mark.proof
async def test_a_file_goes_out_and_comes_back(user: User, web: WebContext):
    await user.open("/personas")
    press(user, "Download the file of Inés Quiroga")
    response = await user.download.next()
    library = Library(web.library)
    assert await keep(library, sent("ines.yaml", response.content)) == "Inés Quiroga"
    assert list(library.personas().values()) == [find_persona("Inés")]


@pytest.mark.proof
@pytest.mark.parametrize(
    ("file", "wrong"),
    [
        (sent("a.yaml", "name: A\ndescription: B\nage: 3\n"), r"unknown field 'age' \(a\.yaml:3, field age\)"),
        (sent("a.json", '{"name": "A"'), r"not JSON.*\(a\.json:1"),
        (sent("../../a.exe", "x"), r"not read \(a\.exe\)|not read \(_"),
        (sent("a.yaml", b"#" * (MOST_BYTES + 1)), "too large"),
        (
            sent("a.yaml", "name: A\ndescription: B\ninclude: [../../../etc/passwd]\n"),
            "cannot be read from an uploaded file",
        ),
        (sent("a.yaml", "name: A\ndescription: B\ninclude: /etc/passwd\n"), "cannot be read from an uploaded file"),
    ],
)
async def test_files_that_are_no_personas(web: WebContext, file: FileUpload, wrong: str):
    with pytest.raises(InputError, match=wrong) as error:
        await keep(Library(web.library), file)
    assert "/tmp" not in str(error.value)
    assert Library(web.library).personas() == {}


@pytest.mark.proof
async def test_a_file_s_name_is_no_path(web: WebContext):
    library = Library(web.library)
    for name in ("../../../evil.yaml", "C:\\evil.yaml", "\x00e.yaml", "x" * 300 + ".yaml"):
        await keep(library, sent(name, "name: Eva\ndescription: A.\n"))
    assert all(path.parent == library.folder and path.stem.startswith("eva") for path in library.personas())
    assert not list(web.library.parent.rglob("*evil*"))


@pytest.mark.proof
async def test_chosen_personas_are_taken_along(user: User, web: WebContext):
    Library(web.library).add(find_persona("Inés"))
    found: list[list[str]] = []

    @ui.page("/taken")
    def _taken() -> None:
        found.extend([persona.name for persona in take_pending_personas()] for _ in range(2))

    await user.open("/personas")
    boxes = [box for box in user.find(kind=ui.checkbox).elements if box.props["aria-label"] == "Select Inés Quiroga"]
    for box in boxes:  # one's own and the shipped one: they cannot both take part
        UserInteraction(user, {box}, None).click()
    press(user, "Select Hà Nguyễn")
    await user.should_see("2 selected")
    user.find("Start a conversation with them").click()
    await user.open("/taken")
    assert found == [["Inés Quiroga", "Hà Nguyễn"], []]


@pytest.mark.proof
async def test_the_chooser(user: User, web: WebContext):
    Library(web.library).add(ANNA)
    chosen: list[Chosen] = []

    @ui.page("/choosing")
    def _choosing() -> None:
        Frame("")

        async def choose() -> None:
            chosen.append(await choose_personas(web, ["INÉS  quiroga"]))

        ui.button("Begin", on_click=choose)

    await user.open("/choosing")
    user.find("Begin").click()
    await user.should_see("Your personas")
    (blocked,) = (box for box in user.find(kind=ui.checkbox).elements if not box.enabled)
    assert blocked.props["aria-label"] == "Select Inés Quiroga"
    for _ in range(3):  # a click on the persona ticks and unticks it, too
        user.find(marker="pick-0").click()
    user.find("Search by name").type("marine biologist")
    await user.should_not_see("Anna Nová")
    press(user, "Select Hà Nguyễn")
    user.find("Add 2").click()
    await user.should_not_see("Your personas")
    user.find("Begin").click()
    await user.should_see("Your personas")
    user.find("Cancel").click()
    await user.should_not_see("Your personas")
    assert [[persona.name for persona in one.personas] for one in chosen] == [["Anna Nová", "Hà Nguyễn"], []]
    assert not any(one.of_files for one in chosen)


@pytest.mark.proof
async def test_the_chooser_takes_files(user: User, web: WebContext):
    chosen: list[Chosen] = []

    @ui.page("/choosing")
    def _choosing() -> None:
        Frame("")

        async def choose() -> None:
            chosen.append(await choose_personas(web, ["Hà Nguyễn"]))

        ui.button("Begin", on_click=choose)

    await user.open("/choosing")
    user.find("Begin").click()
    await user.should_see("Choose personas")
    user.find(kind=ui.button, content="Import").click()
    await user.should_see("How to read the files")
    (upload,) = (one for one in user.find(kind=ui.upload).elements if one.props["label"].startswith("Choose files"))
    table = "jméno;věk;povolání\nEva Malá;31;učitelka\nHà Nguyễn;40;řidička\n"
    await upload.handle_uploads([sent("lidé.csv", table)])
    user.find("Read them").click()
    await user.should_see("2 personas were read")
    user.find("Save selected").click()
    await user.should_see("Of your files")
    user.find("Add 1").click()  # one of the two takes part already
    await user.should_not_see("Choose personas")
    assert [[persona.name for persona in one.personas] for one in chosen] == [["Eva Malá"]]
    assert chosen[0].of_files
    assert len(Library(web.library).personas()) == 2


@pytest.mark.proof
@pytest.mark.parametrize("button", ["Generate", "Import"])
async def test_a_wrong_environment_is_told_of(user: User, monkeypatch: pytest.MonkeyPatch, button: str):
    await user.open("/personas")
    monkeypatch.setenv("PERSIMCHAT_MAX_MESSAGES", "many")
    user.find(kind=ui.button, content=button).click()
    await user.should_see("PERSIMCHAT_MAX_MESSAGES")


@pytest.mark.proof
@pytest.mark.parametrize(("keeping", "number"), [(True, 1), (False, 0)])
async def test_a_persona_made_in_the_set_up_is_kept_unless_the_user_says_no(
    user: User, web: WebContext, keeping: bool, number: int
):
    await user.open("/")
    user.find(marker="create").click()
    await user.should_see("Keep in my personas")
    field(user, "Name").value = "Anna Malá"
    field(user, "Description").value = "Paints signs."
    (box,) = user.find(marker="keep").elements
    assert box.value
    box.value = keeping
    user.find(marker="save-persona").click()
    await user.should_see(kind=ui.label, content="Anna Malá")
    assert [one.name for one in Library(web.library).personas().values()] == ["Anna Malá"] * number


@pytest.mark.proof
def test_keeping_replaces_the_persona_of_the_same_name(web: WebContext):
    library = Library(web.library)
    first = library.add(Persona(name="Anna Malá", description="Paints."), ["Where it comes from."])
    assert library.keep(Persona(name="anna  malá", description="Carves.")) == first
    assert library.keep(Persona(name="Anna", description="Sings.")) != first
    assert sorted(one.description for one in library.personas().values()) == ["Carves.", "Sings."]
    assert "# Where it comes from." in first.read_text(encoding="utf-8")


# One's own personas as files: what is kept reads back, nothing is overwritten, damaged files break nothing


BAKER = Persona(name="Anna Nová", description="A baker.", characteristics={"age": "41"}, traits=["early riser"])


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path)


def test_what_is_kept_reads_back_and_nothing_is_overwritten(library: Library):
    first = library.add(BAKER, ["Invented."])
    other = BAKER.model_copy(update={"description": "Another Anna."})
    second = library.add(other)
    assert [first.name, second.name] == ["anna-nova.yaml", "anna-nova-2.yaml"]
    assert library.personas() == {second: other, first: BAKER}
    assert {path.name for path in library.folder.iterdir()} == {first.name, second.name}  # no half files


def test_every_shipped_persona_can_be_one_s_own(library: Library):
    paths = [library.add(persona) for persona in shipped()]
    found = library.personas()
    assert [found[path] for path in paths] == shipped()


def test_a_change_keeps_the_file_and_its_head(library: Library):
    path = library.add(BAKER, ["Invented by a program.", "Made with seed 3."])
    changed = BAKER.model_copy(update={"name": "Anna Stará"})
    assert library.replace(path, changed) == path
    assert library.personas() == {path: changed}
    assert path.read_text(encoding="utf-8").startswith(
        "# Invented by a program.\n# Made with seed 3.\nname: Anna Stará"
    )


def test_a_json_file_becomes_yaml_when_it_is_changed(library: Library):
    library.folder.mkdir(parents=True)
    old = library.folder / "anna.json"
    old.write_text('{"name": "Anna Nová", "description": "A baker."}', encoding="utf-8")
    new = library.replace(old, BAKER)
    assert library.personas() == {new: BAKER}
    assert not old.exists()


def test_damaged_files_are_listed_with_what_is_wrong(library: Library):
    kept = library.add(BAKER)
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
    for act in (library.delete, library.text, lambda path: library.replace(path, BAKER)):
        with pytest.raises(InputError, match="not in the library"):
            act(outside)
        with pytest.raises(InputError, match="not in the library"):
            act(library.folder / ".." / "secret.yaml")
    assert outside.exists()


def test_where_nothing_can_be_written_it_says_so(tmp_path: Path):
    (tmp_path / "personas").write_text("in the way", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be kept"):
        Library(tmp_path).add(BAKER)


@given(st.text(max_size=200))
def test_a_safe_name_stays_in_its_folder(name: str):
    safe = safe_name(name)
    assert safe
    assert len(safe) < 100
    assert not set(safe) & set("/\\:\0\n")
    assert not safe.startswith(".")
    assert (Path("folder") / safe).parent == Path("folder")
