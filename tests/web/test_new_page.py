"""The first screen: every setting is there and explained, what is wrong is marked, and what is right starts a run."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from typing import get_args

import pytest
from loopback.server import free_port
from nicegui import ui
from nicegui.elements.upload_files import SmallFileUpload
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction
from pydantic import Field
from pydantic.fields import FieldInfo
from web.conftest import begin, until
from web.first_screen import begun, choose, fields, fill, more_settings, one, setting, started

from persimchat.app.commands.option_groups import Wanted
from persimchat.app.commands.setting_command import offered, with_options
from persimchat.app.web.chat.run_dialogs import changeable
from persimchat.app.web.context import WebContext
from persimchat.app.web.personas import generating
from persimchat.app.web.personas.chooser import Chosen
from persimchat.app.web.personas.library import Library
from persimchat.app.web.setup import faces
from persimchat.app.web.setup.draft import Draft
from persimchat.app.web.setup.faces import sides
from persimchat.app.web.setup.files_menu import ELSEWHERE, listed
from persimchat.app.web.setup.form import specs
from persimchat.app.web.setup.new_page import EXAMPLES
from persimchat.app.web.setup.scenario_files import SavedSetups
from persimchat.app.web.setup.setting_field import explanation_of, label_of
from persimchat.app.web.shared.runs import WITH_PEOPLE_S
from persimchat.personas.catalogue import shipped
from persimchat.personas.scenario import load_scenario
from persimchat.runs.folder.reading import read_manifest
from persimchat.state.kinds import groups
from persimchat.state.persona import Persona
from persimchat.state.setting import About
from persimchat.state.settings import ABOUT, Settings
from persimchat.state.wording import LANGUAGES, catalogue

pytestmark = pytest.mark.proof


def test_no_setting_lacks_its_words():
    wanted = [key for name in specs() for key in (name, f"{name}.help")]
    wanted += [f"{name}.{option}" for name, spec in specs().items() for option in spec.options]
    lacking = [key for key in wanted if set(catalogue().get(f"settings.{key}", {})) != set(LANGUAGES)]
    assert lacking == []
    known = {*wanted, "baseline.none"}
    assert [key for key in catalogue() if key.startswith("settings.") and key[9:] not in known] == []


def test_every_text_is_there_in_every_language():
    ours = {key: entry for key, entry in catalogue().items() if key.startswith(("setup.", "settings."))}
    assert [key for key, entry in ours.items() if set(entry) != set(LANGUAGES)] == []
    assert all(sides().values())
    assert len(EXAMPLES) == 6


def _held(wanted: Wanted) -> None:
    """A command."""


def test_a_new_setting_appears_by_itself(monkeypatch: pytest.MonkeyPatch):
    schema = Settings.model_json_schema()
    schema["properties"]["shouting"] = {"type": "integer", "minimum": 1, "description": "how loud", "default": 3}
    monkeypatch.setattr(Settings, "model_json_schema", lambda: schema)
    field = FieldInfo.from_annotated_attribute(int, Field(default=3, description="how loud"))
    monkeypatch.setitem(Settings.__pydantic_fields__, "shouting", field)
    monkeypatch.setitem(ABOUT, "shouting", About(group="speaking", option="N"))
    monkeypatch.setitem(groups.USUAL, "shouting", 3)
    specs.cache_clear()
    try:
        assert listed("speaking")[-1] == "shouting"
        assert "shouting" in changeable()
        assert "shouting" in offered("branch")
        assert "shouting" not in offered("resume")
        option = get_args(inspect.signature(with_options(_held, ["shouting"])).parameters["shouting"].annotation)[1]
        assert (option.metavar, option.help) == ("N", "How loud. [dim]default: 3[/dim]")
        assert specs()["shouting"].kind == "integer"
        assert (label_of("shouting"), explanation_of("shouting")) == ("Shouting", "how loud")
    finally:
        specs.cache_clear()


async def test_every_setting_is_on_the_page(user: User):
    await user.open("/")
    assert fields(user) == {"max_messages", "answer_format", "choices"}
    await user.should_not_see(marker="setting-answer_format")  # only debates have one
    for persona in shipped()[:4]:
        await user.should_see(persona.name)
    await user.should_see("Offline model: for trying out, says nothing real")
    await more_settings(user)
    assert fields(user) | set(ELSEWHERE) == set(Settings.model_fields)


async def test_a_discussion_is_set_up_and_started(user: User, web: WebContext):
    await user.open("/")
    await more_settings(user)
    fill(user, "topic", "Tea or coffee?")
    setting(user, "max_messages", "3")
    setting(user, "pattern", "round_robin")
    setting(user, "emotional_retrieval", False)
    setting(user, "budget_calls", "5000")
    assert one(user, "setting-ablation").options["focal_points"] == "Questions"
    setting(user, "ablation", ["planning", "focal_points"])
    setting(user, "joined", ["action"])
    assert "only action of its step" in one(user, "setting-joined").error
    setting(user, "joined", ["action", "need_to_talk"])
    await user.should_not_see(marker="setting-modules")  # no package is installed
    assert "openness" not in one(user, "setting-joined").options  # only debates judge it
    fill(user, "rules", "Be brief.\n\nBe kind.\n")
    manifest = read_manifest(web.runs.folder(await started(user, web)))
    held = manifest.settings.model_dump()
    assert manifest.scenario.topic == "Tea or coffee?"
    assert manifest.scenario.model_extra["rules"] == ["Be brief.", "Be kind."]
    chosen = ("max_messages", "pattern", "emotional_retrieval", "budget_calls", "model", "ablation", "joined")
    modules = (["focal_points", "planning"], ["need_to_talk", "action"])
    assert [held[name] for name in chosen] == [3, "round_robin", False, 5000, "offline", *modules]


async def test_a_double_click_starts_one_run(user: User, web: WebContext):
    await user.open("/")
    fill(user, "topic", "Tea?")
    setting(user, "max_messages", "1")
    live = await begun(web, lambda: user.find(marker="start").click().click())
    await live.ended()
    assert len((await web.runs.runs()).runs) == 1


async def test_the_demo_starts_by_one_click(user: User, web: WebContext):
    await user.open("/")
    live = await begun(web, lambda: user.find(marker="demo").click())
    settings = read_manifest(web.runs.folder(live.run)).settings
    assert (settings.model, settings.max_messages) == ("offline", 12)


WRONG = {
    "max_messages": ("0", "greater than or equal to 1"),
    "utterance_words": ("many", "valid integer"),
    "repetition_overlap": ("0", "greater than or equal to 0.01"),
    "listeners": ("few", "or all"),
    "embedding": ("wordy", "lexical"),
    "prices": ("a: [", "YAML"),
    "seed": ("-3", "greater than or equal to 0"),
}


async def test_a_wrong_value_is_marked_where_it_is(user: User, web: WebContext):
    await user.open("/")
    await more_settings(user)
    fill(user, "topic", "Tea?")
    for name, (value, says) in WRONG.items():
        setting(user, name, value)
        assert says in one(user, f"setting-{name}").error
    user.find(marker="start").click()
    await user.should_see("Please correct: ")
    told = one(user, "wrong").text
    assert [name for name in WRONG if label_of(name) not in told] == []
    assert {name: one(user, f"setting-{name}").value for name in WRONG} == {n: value for n, (value, _) in WRONG.items()}
    assert one(user, "topic").value == "Tea?"  # nothing is lost
    assert not web.runs.active
    for name in WRONG:
        setting(user, name, "")
        assert not one(user, f"setting-{name}").error


async def test_a_topic_is_asked_for_only_at_the_start(user: User):
    await user.open("/")
    assert one(user, "topic").error is None
    user.find(marker="start").click()
    await user.should_see("Please correct: Topic")
    assert one(user, "topic").error == "Say what the conversation is about."


async def test_a_wrong_server_is_told_where_the_model_stands(user: User, web: WebContext):
    await user.open("/")
    fill(user, "topic", "Tea or coffee?")
    user.find(marker="model-change").click()
    fill(user, "model-provider", "server")
    fill(user, "model-address", f"http://127.0.0.1:{free_port()}/v1")
    fill(user, "model-name", "any")
    user.find(marker="start").click()
    await until(lambda: one(user, "model-name").error)
    told = one(user, "model-name").error
    assert told.startswith("Nothing listens at http://127.0.0.1")
    assert "Is the server started?" in told and "Errno" not in told
    assert not user.notify.messages, "it is told once"
    await user.should_see("Please correct: Language model")
    assert web.runs.active == []


async def test_a_model_that_cannot_be_used_is_marked(user: User, web: WebContext, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    await user.open("/")
    fill(user, "topic", "Tea?")
    user.find(marker="model-change").click()
    fill(user, "model-provider", "openai")
    await user.should_see("Language model: openai:")
    user.find(marker="start").click()
    await user.should_see("needs the environment variable")
    assert "OPENAI_API_KEY" in one(user, "model-name").error
    assert not web.runs.active


async def test_a_seed_keeps_all_its_digits(user: User, web: WebContext):
    await user.open("/")
    fill(user, "topic", "Tea?")
    await more_settings(user)
    setting(user, "max_messages", "1")
    setting(user, "seed", str(2**63 - 1))
    assert read_manifest(web.runs.folder(await started(user, web))).seed == 2**63 - 1


async def test_the_mode_brings_its_own_fields_and_limits(user: User):
    await user.open("/")
    await more_settings(user)
    await user.should_not_see(marker="setting-judge")
    assert one(user, "setting-max_messages").value == "10"
    await choose(user, "debate")
    await user.should_see(marker="setting-judge")
    assert one(user, "setting-max_messages").value == "60"
    await user.should_not_see(marker="setting-choices")
    setting(user, "answer_format", "choice")
    assert one(user, "setting-choices").error == "Enter at least two answers to choose from, one per line."
    setting(user, "choices", "trams\nbuses")
    assert one(user, "setting-choices").error is None
    setting(user, "answer_format", "free")
    user.find(marker="start").click()
    await user.should_see("Please correct: Topic")  # and not the choices, which wait there
    setting(user, "answer_format", "choice")
    assert one(user, "setting-choices").value == "trams\nbuses"


async def test_a_debate_asks_for_the_form_of_its_answer_where_it_is_chosen(user: User):
    await user.open("/")
    await choose(user, "debate")
    await user.should_see(marker="setting-answer_format")
    await user.should_not_see(marker="setting-choices")
    setting(user, "answer_format", "choice")
    await user.should_see(marker="setting-choices")
    await choose(user, "discussion")
    await user.should_not_see(marker="setting-answer_format")


async def test_a_person_joins_with_the_enter_key_and_gets_time_to_read(user: User, web: WebContext):
    await user.open("/")
    fill(user, "topic", "Tea or coffee?")
    user.find(marker="me").click()
    await user.should_see(marker="me-about")
    fill(user, "me-name", "Eva")
    user.find(marker="me-about").trigger("keydown.enter")
    await user.should_see("5 participants")
    await more_settings(user)
    assert one(user, "pace").value == WITH_PEOPLE_S
    live = await begun(web, lambda: user.find(marker="start").click())
    assert live.control.pace_s == WITH_PEOPLE_S
    live.control.stop()
    await live.ended()


async def test_the_pace_is_chosen_beforehand(user: User, web: WebContext):
    await user.open("/")
    await more_settings(user)
    fill(user, "topic", "Tea or coffee?")
    assert one(user, "pace").value == 0
    fill(user, "pace", "one")
    await user.open("/")
    await user.should_see(marker="part-talk")  # what was open is open again
    assert one(user, "pace").value == "one"
    live = await begun(web, lambda: user.find(marker="start").click())
    await until(lambda: live.board.paused)
    assert live.board.turn == 1
    live.control.stop()
    await live.ended()


async def test_a_debate_says_when_it_ends_at_the_latest(user: User):
    await user.open("/")
    await user.should_see("until a judge finds consensus, in at most 60 messages")
    await choose(user, "debate")
    assert one(user, "length-about").text == "Until the verdict, at most 60 messages."
    assert one(user, "echo").text == "at most 60 messages, 4 participants"
    setting(user, "max_messages", "30")
    assert one(user, "length-about").text == "Until the verdict, at most 30 messages."
    await user.should_see("until a judge finds consensus, in at most 30 messages")
    await choose(user, "discussion")
    assert one(user, "length-about").text == ""
    assert one(user, "echo").text == "30 messages, 4 participants"


async def test_the_estimate(user: User):
    await user.open("/")
    await more_settings(user)
    await user.should_see("free")
    setting(user, "budget_calls", "20")
    await user.should_see("end the conversation early: Budget: calls")
    user.find(marker="model-change").click()
    fill(user, "model-provider", "ollama")
    fill(user, "model-name", "unheard-of")
    await user.should_see("price not known (ollama:unheard-of)")
    fill(user, "model-provider", "openai")
    fill(user, "model-name", "gpt-4o-mini")
    await user.should_see("$0.")
    setting(user, "max_messages", "x")
    await user.should_see("No estimate yet")


async def test_a_set_up_is_saved_and_opened(user: User, web: WebContext):
    await user.open("/")
    await more_settings(user)
    fill(user, "topic", "Tea or coffee?")
    setting(user, "utterance_words", "33")
    user.find(marker="files").click()
    user.find(marker="files-save").click()
    await user.should_see(marker="save-name")
    fill(user, "save-name", "../../My café")
    user.find(marker="save-do").click()
    await user.should_see("Saved as my-cafe.")
    assert [str(path.relative_to(web.library)) for path in web.library.rglob("*.yaml")] == ["scenarios/my-cafe.yaml"]
    assert load_scenario(web.library / "scenarios/my-cafe.yaml").settings == {
        "model": "offline",
        "utterance_words": 33,
    }
    await user.open("/?setup=my-cafe")
    await more_settings(user)
    assert one(user, "topic").value == "Tea or coffee?"
    assert one(user, "setting-utterance_words").value == "33"


@pytest.mark.parametrize("address", ["/?setup=..%2Fsecret", "/?setup=nobody", "/?like=..%2Fsecret", "/?like=nobody"])
async def test_what_cannot_be_taken_over_is_said(user: User, address: str):
    await user.open(address)
    await user.should_see("There is no")
    await user.should_see(shipped()[0].name)


async def test_a_run_is_set_up_again(user: User, web: WebContext):
    live = await begin(web, messages=2, topic="Cats?", utterance_words=41)
    await live.ended()
    await user.open(f"/?like={live.run}")
    await more_settings(user)
    assert one(user, "topic").value == "Cats?"
    assert one(user, "setting-utterance_words").value == "41"
    await user.should_see(marker="seat-2")
    await user.should_not_see(marker="seat-3")


async def test_a_file_is_taken_over(user: User):
    await user.open("/")
    await more_settings(user)
    setting(user, "utterance_words", "12")
    user.find(marker="files").click()
    user.find(marker="files-upload").click()
    await user.should_see(marker="upload")
    wrong = b"topic: Cats?\nparticipants: [Ha, Rowan]\nsettings:\n  utterance_words: 1\n"
    await one(user, "upload").handle_uploads([SmallFileUpload("cats.yaml", "text/yaml", wrong)])
    await user.should_see("cats.yaml:4, field settings.utterance_words")
    assert one(user, "setting-utterance_words").value == "12"
    right = wrong.replace(b": 1\n", b": 19\n  ablation: planning, emotion\n")
    await one(user, "upload").handle_uploads([SmallFileUpload("cats.yaml", "text/yaml", right)])
    await user.should_see("The file was loaded.")
    assert one(user, "topic").value == "Cats?"
    assert one(user, "setting-utterance_words").value == "19"
    assert one(user, "setting-ablation").value == ["planning", "emotion"]
    await user.should_see(marker="seat-1")
    await user.should_not_see(marker="seat-2")


async def test_what_is_downloaded_is_a_scenario_file(user: User, tmp_path: Path):
    await user.open("/")
    fill(user, "topic", "Tea?")
    await choose(user, "debate")
    user.find(marker="files").click()
    user.find(marker="files-download").click()
    response = await user.download.next()
    path = tmp_path / "tea.yaml"
    path.write_bytes(response.content)
    draft = Draft.of(load_scenario(path))
    assert (draft.topic, draft.settings) == ("Tea?", {"model": "offline", "mode": "debate"})


# The participants on the first screen: their goals and relationships, who comes and goes, and hostile names


async def test_a_participant_has_goals_and_relationships(user: User, web: WebContext):
    first, second = shipped()[0].name, shipped()[1].name
    await user.open("/")
    user.find(marker="seat-0").click()
    user.find(marker="settings-0").click()
    await user.should_see(marker="seat-goals")
    fill(user, "model-provider", "other")
    fill(user, "model-name", "nonsense")
    user.find("Done").click()
    assert "nonsense" in one(user, "model-name").error
    fill(user, "model-provider", "ollama")
    fill(user, "model-name", "qwen2.5:7b")
    fill(user, "seat-goals", "win\n\nbe liked")
    fill(user, f"tie-{second}", "parent_child.to")
    user.find("Done").click()
    await user.should_see("2 goals")
    await user.should_see("ollama:qwen2.5:7b")
    fill(user, "topic", "Tea?")
    user.find(marker="files").click()
    user.find(marker="files-save").click()
    await user.should_see(marker="save-name")
    user.find(marker="save-do").click()
    await user.should_see("Saved as tea.")
    draft = SavedSetups(web.library).load("tea")
    assert (draft.seats[0].model, draft.seats[0].goals) == ("ollama:qwen2.5:7b", ["win", "be liked"])
    (tie,) = draft.relationships
    assert (tie.from_, tie.to, tie.type) == (second, first, "parent_child")


async def test_participants_come_and_go(user: User, monkeypatch: pytest.MonkeyPatch):
    asked: list[list[str]] = []

    async def chosen(web: WebContext, taken: list[str]) -> Chosen:
        asked.append(list(taken))
        return Chosen([shipped()[6], shipped()[0]])

    monkeypatch.setattr(faces, "choose_personas", chosen)  # a dialog of its own, with tests of its own
    await user.open("/")
    user.find(marker="add").click()
    await user.should_see(shipped()[6].name)
    assert asked == [[persona.name for persona in shipped()[:4]]]
    for persona in shipped()[:4]:
        user.find(marker="seat-0").click()
        user.find(marker="remove-0").click()
        await user.should_see(marker="seat-0")
        assert persona.name not in one(user, "seat-0").props["data-who"]
    user.find(marker="start").click()
    await user.should_see("Please correct: Topic, Participants")


async def test_choosing_nobody_draws_nothing(user: User, monkeypatch: pytest.MonkeyPatch):
    asked: list[WebContext] = []

    async def nobody(web: WebContext, _taken: list[str]) -> Chosen:
        asked.append(web)
        return Chosen()

    monkeypatch.setattr(faces, "choose_personas", nobody)  # so it ends, too, when the page is closed
    await user.open("/")
    await user.should_see(marker="seat-0")
    before = one(user, "seat-0")
    user.find(marker="add").click()
    for _ in range(20):
        await asyncio.sleep(0.01)
    assert (len(asked), one(user, "seat-0")) == (1, before)


GROUP = [Persona(name=name, description="A commuter.") for name in ("Eva Malá", "Ivo Šír", "Ota Bor")]
USUAL = [persona.name for persona in shipped()[:4]]


def names(user: User) -> list[str]:
    """Who takes part."""
    marks = sorted(
        mark for element in user.client.elements.values() for mark in element._markers if mark.startswith("seat-")
    )
    return [str(one(user, mark).props["data-who"]).split(",")[0] for mark in marks]


class Made:
    """The dialog that generates a group, which is made at once."""

    number = 3

    def __init__(self, _library: Library) -> None:
        self.kept = GROUP[: self.number]

    async def run(self) -> int:
        return len(self.kept)


async def test_a_generated_group_takes_the_place_of_those_whom_nobody_touched(
    user: User, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(generating, "GenerateDialog", Made)
    group = [persona.name for persona in GROUP]
    await user.open("/")
    assert names(user) == USUAL
    user.find(marker="generate").click()
    await user.should_see(f"They take the place of {', '.join(USUAL)}.")
    assert names(user) == group
    user.find(marker="keep-too").click()
    await user.should_not_see(marker="keep-too")
    assert names(user) == [*group, *USUAL]
    user.find(marker="files-reset").click()
    user.find(marker="seat-0").click()
    user.find(marker="remove-0").click()
    user.find(marker="generate").click()
    await user.should_see("Ota Bor")
    await user.should_not_see(marker="keep-too")
    assert names(user) == [*USUAL[1:], *group]


async def test_people_of_files_take_their_place_too_and_one_alone_does_not(user: User, monkeypatch: pytest.MonkeyPatch):
    async def chosen(_web: WebContext, _taken: list[str]) -> Chosen:
        return Chosen(GROUP, of_files=True)

    monkeypatch.setattr(faces, "choose_personas", chosen)
    monkeypatch.setattr(generating, "GenerateDialog", Made)
    monkeypatch.setattr(Made, "number", 1)
    await user.open("/")
    user.find(marker="generate").click()
    await user.should_see("Eva Malá")
    assert names(user) == [*USUAL, "Eva Malá"]
    user.find(marker="files-reset").click()
    user.find(marker="add").click()
    await user.should_see(marker="keep-too")
    assert names(user) == [persona.name for persona in GROUP]
    user.find(marker="files-reset").click()
    await user.should_not_see(marker="keep-too")
    assert names(user) == USUAL


async def test_hostile_names_are_text(user: User, web: WebContext):
    hostile = '<img src=x onerror=alert(1)>" onclick="alert(2)'
    text = f"topic: '{hostile}'\nparticipants:\n  - {{name: '{hostile}', description: a}}\n  - Ha\n"
    (web.library / "scenarios").mkdir(parents=True)
    (web.library / "scenarios/evil.yaml").write_text(text, encoding="utf-8")
    await user.open("/?setup=evil")
    await user.should_see(hostile)
    keys = [key for element in user.client.elements.values() for key in element.props]
    assert "onclick" not in keys


# Settings that give names a value each: rows that come and go, checked when their field is left


def leave(user: User, marker: str, text: str) -> None:
    """Write into a field, and leave it."""
    fill(user, marker, text)
    user.find(marker=marker).trigger("blur")


def told(user: User, setting: str, row: str) -> str:
    """What is said below the rows; empty if the row is not the one that is marked."""
    marked = one(user, f"value-{setting}-{row}").props["error"]
    return str(one(user, f"fault-{setting}").text) if marked else ""


def remove_first(user: User) -> None:
    """Press the first button that removes a row."""
    buttons = [b for b in user.find(kind=ui.button).elements if b.props.get("aria-label") == "Remove this row"]
    UserInteraction(user, {min(buttons, key=lambda button: button.id)}, None).click()


async def test_weights_have_a_field_each(user: User, web: WebContext):
    await user.open("/")
    await more_settings(user)
    fill(user, "topic", "Tea?")
    fill(user, "setting-max_messages", "1")
    assert one(user, "value-weights-recency").value == "1"
    fill(user, "value-weights-recency", "1000")
    assert not told(user, "weights", "recency")  # nobody is told before the field is left
    user.find(marker="value-weights-recency").trigger("blur")
    assert told(user, "weights", "recency").startswith("Recency: should be less than or equal to 100")
    leave(user, "value-weights-importance", "much")
    leave(user, "value-weights-recency", "0,5")
    assert not told(user, "weights", "recency")
    assert "valid number" in told(user, "weights", "importance")
    leave(user, "value-weights-importance", "2")
    assert not told(user, "weights", "importance")
    live = await begun(web, lambda: user.find(marker="start").click())
    await live.ended()
    weights = read_manifest(web.runs.folder(live.run)).settings.model_dump()["weights"]
    assert (weights["recency"], weights["importance"], weights["relevance"]) == (0.5, 2, 1)


async def test_rows_come_and_go(user: User):
    await user.open("/")
    await more_settings(user)
    await user.should_not_see(marker="value-module_models-0")
    for row, (name, model) in enumerate((("judge", "nonsense"), ("planning", "offline"))):
        user.find(marker="add-module_models").click()
        fill(user, f"name-module_models-{row}", name)
        leave(user, f"value-module_models-{row}", model)
    assert "judge" not in one(user, "name-module_models-1").options  # it has a row
    assert "model 'nonsense'" in told(user, "module_models", "0")
    assert not told(user, "module_models", "1")
    remove_first(user)
    leave(user, "value-module_models-1", "")
    assert told(user, "module_models", "1") == "Fill in the value, or remove the row."
    leave(user, "value-module_models-1", "offline")
    await user.open("/")
    await user.should_see(marker="value-module_models-0")
    assert (one(user, "name-module_models-0").value, one(user, "value-module_models-0").value) == (
        "planning",
        "offline",
    )
    user.find(marker="files-reset").click()
    await user.should_not_see(marker="value-module_models-0")
