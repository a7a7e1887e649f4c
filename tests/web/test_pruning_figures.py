"""What the page works out of pruning without a page: the form's values, their cost, another λ, sums, the limit."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pruned_lines import PIECES, pruned
from run_folders import manifest, write_run

from persimchat.app.web.background import Forecasts, TakesTooLong
from persimchat.app.web.chat.run_dialogs import changeable
from persimchat.app.web.live_runs import refuse_model_files
from persimchat.app.web.panel.pruning import at_strength
from persimchat.app.web.past.compare_page import changes_of
from persimchat.app.web.setup.draft import Draft
from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.setting_field import cost_of
from persimchat.reports.diff import Difference
from persimchat.reports.pruning_figures import by_block
from persimchat.runs.folder.reading import read_manifest
from persimchat.state.errors import InputError
from persimchat.state.minds.pruning import Pruned, Pruning, select
from persimchat.state.settings import Settings


def give(form: Form, **parts: Any) -> None:
    """Fill in parts of pruning."""
    for name, value in parts.items():
        form.set(f"pruning.{name}", value)


def form(**pruning: Any) -> Form:
    """A form over a server with these values of pruning."""
    base = Settings.model_validate({"model": "offline", "pruning": pruning})
    return Form(Draft.fresh(base), base)


def test_the_draft_keeps_what_differs_from_the_server():
    ours = form(method="length")
    assert ours.value("pruning.method") == "length"
    give(ours, **{"lambda": 0.6}, remove=["m"])
    assert ours.draft.settings["pruning"] == {"lambda": 0.6, "remove": ["m"]}
    assert ours.wrong.keys() == {"topic"}
    settings = ours.draft.settings_asked()["pruning"]
    assert Settings.model_validate({"pruning": {"method": "length", **settings}}).pruning.strength == 0.6
    give(ours, **{"lambda": 0.0}, remove=[])
    assert "pruning" not in ours.draft.settings


def test_what_a_file_says_is_taken_over():
    ours = form()
    ours.draft.settings["pruning"] = {"strength": 0.3, "remove": "bm"}
    assert (ours.value("pruning.lambda"), ours.value("pruning.fill")) == (0.3, "skip")
    give(ours, method="length")
    assert ours.draft.settings["pruning"] == {"lambda": 0.3, "remove": "bm", "method": "length"}
    assert "pruning" not in ours.wrong


@pytest.mark.parametrize(
    ("parts", "says"),
    [({"responses": None}, "responses"), ({"lambda": 0.5, "method": "none"}, "lambda=0"), ({"lambda": 2}, "lambda")],
)
def test_what_is_wrong_is_said(parts: dict[str, Any], says: str):
    ours = form()
    give(ours, **parts)
    assert says in ours.wrong["pruning"]


def test_a_branch_may_change_it():
    assert "pruning" in changeable()


def test_a_baseline_has_no_prompts_to_prune():
    ours = form()
    give(ours, **{"lambda": 0.5}, method="length")
    ours.set("baseline", "group_chat")
    assert "pruning" not in ours.draft.settings_asked(), "what a kind does not heed is hidden, and not asked for"
    ours.set("baseline", None)
    assert ours.draft.settings_asked()["pruning"]["lambda"] == 0.5


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({}, ["off"]),
        ({"remove": ["m"]}, ["off_removed"]),
        ({"lambda": 0.5}, ["free", "reads"]),
        ({"lambda": 0.5, "query": "response"}, ["first", "reads"]),
        ({"lambda": 0.5, "query": "response", "method": "length"}, ["free"]),
        ({"lambda": 0.5, "method": "embedding", "revision": "again"}, ["free", "checks"]),
    ],
)
def test_the_cost_is_that_of_the_settings(parts: dict[str, Any], says: list[str]):
    ours = form()
    give(ours, **parts)
    assert cost_of(ours) == [f"setup.pruning_{key}" for key in says]
    assert ("setup.pruning_first" in cost_of(ours)) is (Pruning.model_validate(parts).asks_first > 0)


def test_the_draft_of_a_run_has_its_pruning(tmp_path: Path):
    own = manifest()["settings"] | {"pruning": Pruning(strength=0.6, method="length").model_dump(mode="json")}
    kept = read_manifest(write_run(tmp_path, settings=own))
    assert Draft.of_run(kept, Settings()).settings["pruning"] == {"lambda": 0.6, "method": "length"}
    plain = read_manifest(write_run(tmp_path, run="plain"))
    pruning = Settings(pruning=Pruning(strength=0.5))
    assert Draft.of_run(plain, pruning).settings["pruning"] == {"lambda": 0.0}
    assert "pruning" not in Draft.of_run(plain, Settings()).settings


SCORES = st.lists(st.sampled_from([0.0, 0.1, 0.25, 1.0, 3.0, 141.0]), max_size=12)


@given(SCORES, st.floats(0, 1), st.sampled_from(["skip", "reach"]))
def test_another_strength_goes_by_the_same_scores(scores: list[float], strength: float, fill: Any):
    pieces = [("memories", "memory", f"m{n}", "Tea", n, score) for n, score in enumerate(scores)]
    whole = Pruned.model_validate({**pruned(1, 1.0, pieces), "words_removed": sum(range(len(scores)))})
    found = at_strength(whole, strength, fill)
    gone = [n for n, item in enumerate(found.items) if item.removed]
    assert gone == sorted(select(scores, strength, fill=fill))
    assert found.removed == len(gone) and found.words_removed == sum(gone)
    assert (found.share is None) is (sum(scores) == 0)


def test_a_block_that_goes_whole_stays_gone():
    given = pruned(1, 1.0)
    given["items"][0] |= {"score": None, "removed": True}
    found = at_strength(Pruned.model_validate(given), 0.0)
    assert [item.removed for item in found.items] == [True, False, False, False, False]
    assert found.removed == 1 and found.share == 0.0


def test_blocks_are_summed_over_prompts():
    prompts = [Pruned.model_validate(pruned(turn, strength)) for turn, strength in ((1, 0.6), (2, 1.0))]
    sums = by_block(prompts)
    assert sorted(one.block for one in sums) == ["basic_information", "environment", "memories"]
    assert sum(one.units for one in sums) == 2 * len(PIECES)


def test_values_of_pruning_are_compared_in_the_words_of_the_form():
    setup = [
        Difference(what="settings.pruning.lambda", a=None, b=0.6),
        Difference(what="settings.pruning.method", a=None, b="embedding"),
        Difference(what="settings.pruning.fill", a=None, b="skip"),
        Difference(what="settings.pruning.remove", a=["b", "m"], b=None),
        Difference(what="settings.max_messages", a=4, b=6),
    ]
    assert changes_of(setup) == [
        ("How freely do they speak? (λ)", "0.0", "0.6"),
        ("What scores the information", "Attention (local model)", "Similarity (embedding)"),
        ("Always left out", "Who I am, Memories", "–"),
        ("Message limit", "4", "6"),
    ]


@pytest.mark.parametrize(
    "settings",
    [
        {"pruning": {"scorer": "/etc/passwd"}},
        {"pruning.scorer": "hf:owner/repo/file.gguf"},
        {"pruning": {"scorer": "smollm2/../x.gguf"}},
        {"module_models.judge": "llamacpp:x.gguf"},
    ],
    ids=json.dumps,
)
def test_a_scorer_is_not_chosen_by_a_path(settings: dict[str, Any]):
    with pytest.raises(InputError, match="users of the page cannot choose"):
        refuse_model_files(settings)
    refuse_model_files({"pruning": {"scorer": "smollm2", "lambda": 0.5}, "model": "offline"})


def test_prompts_are_those_with_which_the_page_was_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "_item.jinja").write_text("- {{ kind }}\n")
    own = {"prompts": {"_item": "- {{ kind }}\n"}}
    for settings in (own, {"prompts": "/etc"}, {"prompts._item": "- {{ kind }}\n"}, {"prompts": {"_item": "x"}}):
        with pytest.raises(InputError, match="users of the page cannot choose"):
            refuse_model_files(settings)
    refuse_model_files({"prompts": "shipped"})
    monkeypatch.setenv("PERSIMCHAT_PROMPTS", str(tmp_path))
    refuse_model_files(own)


async def test_who_waits_too_long_is_told():
    forecasts, end = Forecasts(limit_s=0.05), asyncio.Event()

    async def work() -> int:
        await end.wait()
        return 7

    for _ in range(2):  # the first is at work, the second waits for it
        with pytest.raises(TakesTooLong, match="no answer within"):
            await forecasts.one(work)
    end.set()
    assert await forecasts.one(work) == 7


async def test_a_failure_frees_the_place():
    forecasts = Forecasts()

    async def fails() -> int:
        raise InputError("no")

    async def works() -> int:
        return 1

    with pytest.raises(InputError):
        await forecasts.one(fails)
    assert await forecasts.one(works) == 1
