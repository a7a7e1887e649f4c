"""A draft is what a scenario file says: it comes back from one as it was, and holds no secrets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as trying
from hypothesis import strategies as st
from offenders import check_each
from web.conftest import begin

from persimchat.app.web.context import WebContext
from persimchat.app.web.setup.draft import Draft, Seat
from persimchat.app.web.setup.scenario_files import NameTaken, SavedSetups, file_name, scenario_text, uploaded
from persimchat.app.web.setup.specs import specs, usual
from persimchat.personas.catalogue import shipped
from persimchat.personas.scenario import load_scenario
from persimchat.runs.folder.reading import read_manifest
from persimchat.state.errors import InputError
from persimchat.state.normalise import is_visible
from persimchat.state.persona import Persona
from persimchat.state.relationship import RELATIONSHIP_TYPES, Relationship
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
        **Settings().model_dump(mode="json"),
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
