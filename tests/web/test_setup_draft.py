"""A draft comes back from a scenario file, and from the browser, as it was, and holds no secrets."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as trying
from hypothesis import strategies as st
from nicegui.testing import User
from offenders import check_each
from web.conftest import begin, until
from web.first_screen import begun, choose, fill, more_settings, one, setting

from persimchat.app.web.context import WebContext
from persimchat.app.web.setup.draft import (
    LARGEST,
    Asked,
    Draft,
    GuideDraft,
    Seat,
    Stand,
    draft_text,
    moderator,
    read_draft,
    usual,
)
from persimchat.app.web.setup.form import problems, specs
from persimchat.app.web.setup.scenario_files import (
    NameTaken,
    SavedSetups,
    file_name,
    scenario_text,
    servers_in,
    uploaded,
)
from persimchat.personas.catalogue import shipped
from persimchat.personas.scenario import load_scenario, load_story
from persimchat.runs.folder.reading import read_manifest
from persimchat.state.errors import InputError
from persimchat.state.persona import RELATIONSHIP_TYPES, Persona, Relationship
from persimchat.state.plain_text import is_visible
from persimchat.state.poll import Guide
from persimchat.state.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
LETTERS = ["Ada", "Bob", "Čeněk", "Dörte", "Éva", "Fu", "Gül", "Hồ"]
ODD = ["no", "1e3", "null", "2026-01-01", "- a", "a: b", "#", "'", "{x}"]
text = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=40).map(str.strip)
words = st.one_of(text.filter(is_visible), st.sampled_from(ODD))
prices = st.floats(0, 9).map(lambda usd: round(usd, 6))  # nobody asks for less, and exponents of three digits are text
settings = st.fixed_dictionaries(
    {},
    optional={
        "mode": st.sampled_from(["discussion", "debate"]),
        "max_messages": st.integers(1, 500),
        "selection_temperature": st.floats(0.01, 100),
        "closing": st.sampled_from(["off", "on", "near_limit"]),
        "memory_filtering": st.booleans(),
        "budget_usd": st.floats(0.001, 100),
        "seed": st.integers(0, 2**63 - 1),
        "model": st.sampled_from(["offline", "ollama:a", "m@http://127.0.0.1:9/v1"]),
        "prices": st.dictionaries(st.sampled_from(["a", "b-1"]), st.lists(prices, min_size=2, max_size=2)),
    },
)


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    own = [
        Persona(name=name, description=draw(words), speaking_style=draw(words), human=draw(st.booleans()))
        for name in draw(st.lists(st.sampled_from(LETTERS), unique=True, max_size=3))
    ]
    known = draw(st.lists(st.sampled_from(shipped()), unique_by=lambda p: p.name, min_size=2, max_size=4))
    seats = [
        Seat(
            persona,
            "" if persona.human else draw(st.sampled_from(["", "offline", "openai:x"])),
            draw(st.lists(words, max_size=2)),
        )
        for persona in draw(st.permutations([*own, *known]))
    ]
    first, second = seats[0].name, seats[1].name
    ties = [Relationship(from_=first, to=second, type=draw(st.sampled_from([*RELATIONSHIP_TYPES])), note=draw(words))]
    return Draft(
        draw(words),
        seats,
        draw(st.sampled_from([[], ties])),
        draw(st.lists(words, max_size=2)),
        draw(settings),
    )


@pytest.mark.proof
@trying(max_examples=40, deadline=None)
@given(drafts())
def test_a_file_brings_the_draft_back(tmp_path_factory: pytest.TempPathFactory, draft: Draft):
    path = tmp_path_factory.getbasetemp() / "round.yaml"
    path.write_text(scenario_text(draft), encoding="utf-8")
    assert Draft.of(load_scenario(path)) == draft
    assert uploaded("x.yaml", path.read_bytes()) == draft
    assert Draft.of(draft.scenario()) == draft


def test_the_examples_come_back() -> None:
    def check(path: Path) -> None:
        draft = Draft.of(load_scenario(path))
        assert uploaded("again.yaml", scenario_text(draft).encode()) == draft

    examples = sorted((ROOT / "examples").glob("*.yaml"))
    check_each([path for path in examples if "topic:" in path.read_text(encoding="utf-8")], check)


@pytest.mark.proof
async def test_a_run_brings_its_set_up_back(web: WebContext):
    live = await begin(web, messages=2, mode="debate", utterance_words=40, budget_calls=500)
    await live.ended()
    draft = Draft.of_run(read_manifest(web.runs.folder(live.run)), Settings())
    assert (draft.topic, len(draft.seats)) == ("Tea or coffee?", 3)
    assert draft.settings == {
        "mode": "debate",
        "max_messages": 2,
        "utterance_words": 40,
        "budget_calls": 500,
        "model": "offline",
    }
    scenario, again = draft.simulation()
    assert scenario.participants == [seat.persona for seat in draft.seats]
    assert again == Settings(model="offline", mode="debate", max_messages=2, utterance_words=40, budget_calls=500)


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "m@http://user:hunter22@127.0.0.1:9/v1"},
        {"model": "openai:sk-hunter2200000000"},
        {"store": "http://user:hunter22@host:8000"},
        {"checkpoints": "postgresql://user:hunter22@host/db"},
        {"module_models": {"judge": "m@https://hunter22@host/v1"}},
        {"prices": {"m@https://user:hunter22@host/v1": [1, 2]}},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_keys_are_never_written(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch):
    assert "hunter22" not in scenario_text(Draft("Tea?", settings=settings))
    monkeypatch.setenv("SOME_API_KEY", "plain-words-here")
    seat = Seat(shipped()[0], "m@http://host/v1/plain-words-here")
    assert "plain-words-here" not in scenario_text(Draft("Tea?", [seat]))


def test_the_environment_s_password_is_not_shown():
    base = Settings(checkpoints="postgresql://user:hunter22@host/db")
    assert "hunter22" not in str(usual(base, None))


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"topic: [", "setup-x.yaml:1"),
        (b"topic: a\nparticipants: [In\xc3\xa9s, Nobody]\n", "Nobody"),
        (b"topic: a\nparticipants: [In\xc3\xa9s, Ha]\nsettings:\n  max_messages: 0\n", "field settings.max_messages"),
        (b"topic: a\nparticipants:\n  - /etc/passwd.yaml\n  - Ha\n", "cannot name files"),
        (b"topic: a\nparticipants:\n  - persona: ../x.yaml\n  - Ha\n", "cannot name files"),
        (b"topic: a\nparticipants:\n  - {name: A, description: b, include: ../../x}\n  - Ha\n", "cannot name files"),
        (b"topic: a\nparticipants: [Jarmila, Ha]\nsettings: {store: ../../x}\n", "cannot name folders"),
        (b"topic: a\nparticipants: [Jarmila, Ha]\nsettings: {prompts: /etc}\n", "cannot have prompts of its own"),
        (b"\xff\xfe", "not UTF-8"),
        (b"x" * 1_000_001, "too large"),
        (b"", "empty"),
    ],
)
def test_what_is_wrong_with_an_upload_is_said(raw: bytes, says: str):
    with pytest.raises(InputError) as wrong:
        uploaded("../../setup-x.yaml", raw)
    assert says in str(wrong.value)
    assert "setup-x.yaml" in str(wrong.value)
    assert "/tmp" not in str(wrong.value)


def test_set_ups_are_kept(tmp_path: Path):
    shelf, draft = SavedSetups(tmp_path), Draft.fresh(Settings())
    draft.topic = "Tea?"
    assert shelf.names() == []
    assert shelf.save("Můj čaj & já", draft) == "muj-caj-ja"
    assert shelf.load("muj-caj-ja") == draft
    with pytest.raises(NameTaken):
        shelf.save("Muj caj ja", draft)
    draft.topic = "Coffee?"
    shelf.save("Muj caj ja", draft, replace=True)
    assert shelf.load("muj-caj-ja").topic == "Coffee?"
    shelf.delete("muj-caj-ja")
    assert shelf.names() == []


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/b", "..", "", "\0", "secret"])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str):
    (tmp_path / "secret.yaml").write_text("topic: x\nparticipants: [Ha, Rowan]\n", encoding="utf-8")
    shelf = SavedSetups(tmp_path)
    shelf.folder.mkdir()
    for act in (shelf.load, shelf.delete):
        with pytest.raises(InputError, match="no saved set-up"):
            act(name)
    if any(c.isalnum() for c in name):
        assert set(file_name(name)) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    else:
        with pytest.raises(InputError):
            file_name(name)
    assert (tmp_path / "secret.yaml").is_file()


def test_participants_keep_what_is_theirs():
    ada, bob = shipped()[0], shipped()[1]
    draft = Draft("Tea?", [Seat(ada), Seat(bob)], [Relationship(from_=ada.name, to=bob.name, type="parent_child")])
    draft.replace(draft.seats[0], ada.model_copy(update={"name": "Ada"}))
    assert draft.between(bob.name, "Ada") == Relationship(from_="Ada", to=bob.name, type="parent_child")
    draft.move_up(draft.seats[0])
    assert draft.names == [bob.name, "Ada"]
    draft.remove(draft.seats[0])
    assert draft.relationships == []


def test_every_setting_has_a_value_where_it_is_not_filled_in():
    assert usual(Settings(), "story").keys() == specs().keys()


def test_every_setting_can_be_written_and_read():
    values = {
        **usual(Settings(), "discussion"),
        "choices": ["a b", "c"],
        "prices": {"m: 1": [0.5, 2]},
        "module_models": {"judge": "openai:gpt-4o", "selector": "true"},
        "module_temperatures": {"judge": 0.0, "choice": 1.5},
    }
    for name, spec in specs().items():
        if values[name] is not None and spec.kind not in ("switch", "choice") and values[name] not in ({}, []):
            assert spec.read(spec.written(values[name])) == values[name], name


def test_the_environment_is_what_holds_anyway(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(os.environ, "PERSIMCHAT_UTTERANCE_WORDS", "77")
    monkeypatch.setitem(os.environ, "PERSIMCHAT_MAX_MESSAGES", "9")
    draft = Draft.fresh(Settings())
    draft.topic, draft.settings["max_messages"] = "Tea?", 5
    _, held = draft.simulation()
    assert (held.utterance_words, held.max_messages) == (77, 5)


# The draft that a browser keeps: it comes back as it was, valid or not, without keys, and is limited in size


def whole() -> Draft:
    """A draft with something in every field, much of it not valid."""
    ada, bob = shipped()[0], Persona(name="Bob", human=True)
    guide = GuideDraft(
        "Nobody", "own", "Title", "Text", "", [Asked(), Asked("Why?", 3, show=True)], [Stand("Yes?", "choice", ["a"])]
    )
    return Draft(
        "",
        [Seat(ada, "openai:x", ["win"]), Seat(bob)],
        [Relationship(from_=ada.name, to="Bob", type="friend")],
        ["Be kind."],
        {"max_messages": "many", "mode": "debate", "weights": {"recency": 1000}},
        guide=guide,
        chosen_pace="one",
    )


@pytest.mark.parametrize("draft", [whole(), Draft(), Draft.of(load_story())], ids=["whole", "empty", "story"])
def test_it_comes_back_as_it_was(draft: Draft):
    assert read_draft(draft_text(draft)) == draft


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "m@http://user:hunter22@127.0.0.1:9/v1"},
        {"model": "openai:sk-hunter2200000000"},
        {"checkpoints": "postgresql://user:hunter22@host/db"},
        {"module_models": {"judge": "m@https://hunter22@host/v1"}},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_keys_are_not_kept(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOME_API_KEY", "plain-words-here")
    text = draft_text(Draft("Tea?", [Seat(shipped()[0], "m@http://host/v1/plain-words-here")], settings=settings))
    assert "hunter22" not in text
    assert "plain-words-here" not in text


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "nothing", '{"settings": {}}', '{"settings": {}, "topic": 1, "seats": [1]}']
)
def test_what_is_damaged_is_refused(text: str):
    with pytest.raises(ValueError):
        read_draft(text)


def test_settings_that_are_none_any_more_are_left_out():
    kept = json.loads(draft_text(Draft(settings={"max_messages": 3})))
    kept["settings"]["shouting"] = 3
    assert read_draft(json.dumps(kept)).settings == {"max_messages": 3}


@pytest.mark.proof
async def test_the_page_shows_it_again(user: User):
    await user.open("/")
    await more_settings(user)
    fill(user, "topic", "Cats or dogs?")
    setting(user, "utterance_words", "33")
    await choose(user, "focus")
    fill(user, "guide-ask-0", "Who has a cat?")
    await user.open("/")
    assert one(user, "topic").value == "Cats or dogs?"
    assert one(user, "guide-ask-0").value == "Who has a cat?"
    await more_settings(user)
    assert one(user, "setting-utterance_words").value == "33"
    user.find(marker="files-reset").click()
    assert one(user, "topic").value == ""
    await user.open("/")
    assert one(user, "topic").value == ""
    await user.should_not_see(marker="guide-ask-0")


@pytest.mark.proof
@pytest.mark.long
async def test_what_is_too_large_is_not_kept_and_said(user: User):
    await user.open("/")
    await more_settings(user)
    await user.should_not_see(marker="too-large")
    fill(user, "rules", "\n".join(["A rule of some length."] * (LARGEST // 20)))
    await user.should_see(marker="too-large")
    await user.open("/")
    await more_settings(user)
    assert one(user, "rules").value == ""


def test_an_unknown_pace_is_refused():
    kept = json.loads(draft_text(Draft(chosen_pace=5)))
    with pytest.raises(ValueError):
        read_draft(json.dumps({**kept, "chosen_pace": "fast"}))


@pytest.mark.proof
async def test_open_groups_stay_open_until_one_starts_over(user: User):
    await user.open("/")
    await more_settings(user)
    one(user, "part-minds").set_value(True)
    await user.open("/")
    await user.should_see(marker="part-minds")
    assert [one(user, f"part-{part}").value for part in ("talk", "minds", "models")] == [False, True, False]
    user.find(marker="files-reset").click()
    await user.should_not_see(marker="part-minds")
    await user.open("/")
    await user.should_not_see(marker="part-minds")


def test_a_fresh_draft_is_small():
    assert len(draft_text(Draft.fresh(Settings()))) < LARGEST / 10


# Which servers somebody else's set-up names


@pytest.mark.parametrize(
    ("settings", "hosts"),
    [
        ({}, []),
        ({"model": "offline", "embedding": "lexical"}, []),
        ({"model": "x@https://stranger.example/v1"}, ["stranger.example"]),
        ({"model": "x@y@http://me:secret@stranger.example:8000/v1"}, ["stranger.example:8000"]),
        ({"checkpoints": "postgresql://me:secret@db.example/runs", "store": "http://chroma.example:1"},
         ["chroma.example:1", "db.example"]),
        ({"module_models": {"judge": "j@http://judge.example/v1"}}, ["judge.example"]),
        ({"model": "x@http://[broken"}, []),
    ],
)  # fmt: skip
def test_servers_of_settings(settings: dict[str, object], hosts: list[str]):
    assert servers_in(Draft(settings=settings)) == hosts


def test_servers_of_participants():
    seat = Seat(shipped()[0], model="x@http://one.example/v1")
    assert servers_in(Draft(seats=[seat])) == ["one.example"]


# The form for the guide of a focus group: what is in it is in the run, and what is wrong is said


GUIDE = {
    "moderator": "Mira Solheim",
    "wording": "own",
    "stimulus": {"title": "The app", "text": "Borrow a drill for a day."},
    "questions": [{"ask": "When did you last borrow something?", "turns": 4, "show": True}, {"ask": "Why not?"}],
    "positions": [{"ask": "Would you use it?", "answer": "scale:1-5"}],
}


def draft_with(guide: GuideDraft, *more: Persona) -> Draft:
    return Draft("Tools", [Seat(one) for one in (moderator(), *shipped()[:2], *more)], guide=guide)


def test_a_guide_comes_back_from_file_and_scenario():
    guide = GuideDraft.of(Guide.model_validate(GUIDE))
    assert guide.data() == GUIDE
    draft = draft_with(guide)
    assert problems(draft) == {}
    assert uploaded("x.yaml", scenario_text(draft).encode()).guide == guide
    assert Draft.of(draft.scenario()).guide == guide


def test_what_is_left_empty_is_left_out():
    guide = GuideDraft("Mira Solheim", questions=[Asked("Why?"), Asked("  ")], positions=[Stand(" ")], title=" ")
    assert guide.data() == {"moderator": "Mira Solheim", "questions": [{"ask": "Why?"}]}


@pytest.mark.parametrize(
    ("guide", "says"),
    [
        (GuideDraft("Somebody", questions=[Asked("Why?")]), "Nobody asks the questions."),
        (GuideDraft("Mira Solheim", questions=[Asked(" ")]), "The guide has no question."),
        (GuideDraft("Mira Solheim", questions=[Asked("Why?", show=True)]), "there is none"),
        (GuideDraft("Mira Solheim", questions=[Asked("Why?")], positions=[Stand("a", "choice", ["b"])]), "two or more"),
    ],
)
def test_what_is_wrong_is_said(guide: GuideDraft, says: str):
    assert says in problems(draft_with(guide))["guide"]


def test_a_renamed_moderator_goes_on_asking():
    draft = draft_with(GuideDraft("Mira Solheim", questions=[Asked("Why?")]))
    draft.replace(draft.seats[0], moderator().model_copy(update={"name": "Ida"}))
    assert problems(draft) == {}
    draft.remove(draft.seats[2])
    assert "two others" in problems(draft)["guide"]


@pytest.mark.proof
async def test_a_focus_group_is_set_up_and_started(user: User, web: WebContext):
    await user.open("/")
    fill(user, "topic", "An app to borrow tools")
    await choose(user, "focus")
    assert one(user, "guide-moderator").value == "Mira Solheim"
    assert "asks" in one(user, "seat-0").props["data-who"]
    assert one(user, "setting-max_messages").value == "30"  # all that it can take, so that no question is cut off
    fill(user, "guide-ask-0", "When did you last borrow a tool?")
    fill(user, "guide-turns-0", 2)
    user.find(marker="guide-add").click()
    fill(user, "guide-ask-3", "Anything else?")
    assert one(user, "setting-max_messages").value == "34"  # it follows the guide
    assert "at most 34 messages" in one(user, "echo").text
    user.find(marker="guide-add-position").click()
    fill(user, "guide-position-0", "Would you use it?")
    live = await begun(web, lambda: user.find(marker="start").click())
    guide = read_manifest(web.runs.folder(live.run)).scenario.model_extra["guide"]
    assert [question["ask"] for question in guide["questions"]][::3] == [
        "When did you last borrow a tool?",
        "Anything else?",
    ]
    assert guide["questions"][0]["turns"] == 2
    assert guide["positions"][0]["answer"] == "scale:1-5"


@pytest.mark.proof
async def test_a_limit_of_the_users_own_stays(user: User):
    await user.open("/")
    await choose(user, "focus")
    fill(user, "setting-max_messages", "12")
    user.find(marker="guide-add").click()
    fill(user, "guide-ask-3", "Anything else?")
    assert one(user, "setting-max_messages").value == "12"


@pytest.mark.proof
async def test_a_field_stays_when_the_stimulus_is_new(user: User):
    await user.open("/")
    await choose(user, "focus")
    image = one(user, "guide-image")
    fill(user, "guide-text", "Borrow a drill.")
    user.find(marker="guide-text").trigger("blur")
    await user.should_see("show")
    assert one(user, "guide-image") is image  # whoever types there goes on


@pytest.mark.proof
async def test_the_moderator_leaves_with_the_guide(user: User):
    await user.open("/")
    await choose(user, "focus")
    await user.should_see(marker="seat-4")
    fill(user, "guide-moderator", shipped()[0].name)
    await choose(user, "debate")
    await user.should_not_see(marker="seat-4")
    await user.should_not_see(marker="guide-moderator")
    assert one(user, "setting-max_messages").value == "60"


@pytest.mark.proof
async def test_me(user: User):
    await user.open("/")
    user.find(marker="me").click()
    await user.should_see(marker="me-name")
    fill(user, "me-name", shipped()[0].name)
    user.find(marker="me-do").click()
    assert "already takes part" in one(user, "me-name").error
    fill(user, "me-name", "Petr")
    user.find(marker="me-do").click()
    await user.should_see(marker="seat-4")
    assert one(user, "seat-4").props["data-who"] == "Petr, a person"
    assert "5 participants" in one(user, "echo").text
    await until(lambda: " to " in one(user, "estimate").text)  # a range, as nobody knows what a person does
    await choose(user, "focus")
    assert one(user, "guide-moderator").value == "Petr"  # a person among them asks
