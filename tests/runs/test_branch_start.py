"""Branches that begin with an utterance made again, or with another choice of a story's host."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from run_files import logged, read_table, read_whole, read_words, run_json
from runs.test_branch import LI, contents, run
from talks import check_replay, events_of

import persimchat
from persimchat.personas.scenario import load_story, make_scenario
from persimchat.reports.diff import compare
from persimchat.reports.export import export_runs
from persimchat.reports.report import report_html
from persimchat.runs.events import Uttered
from persimchat.runs.folder.reading import read_run
from persimchat.runs.run.branch import branch_run, regenerate_run
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings


async def regenerated(source: Path, turn: int, **more: Any) -> AsyncIterator[Any]:
    async for event in regenerate_run(source, turn, run="again", **more):
        yield event


@pytest.mark.proof
@pytest.mark.parametrize("turn", [1, 2, 4, 6])
async def test_an_utterance_is_made_again_in_other_words(turn: int, tmp_path: Path) -> None:
    source = await run(tmp_path)
    before = contents(source)
    events = [event async for event in regenerated(source, turn)]
    assert events[-1].event == "stopped"
    made = read_words(tmp_path / "again")
    assert made[: turn - 1] == read_words(source)[: turn - 1]
    assert made[turn - 1][0] == read_words(source)[turn - 1][0]
    assert made[turn - 1][1] != read_words(source)[turn - 1][1]
    assert len(made) == 6
    assert contents(source) == before
    assert run_json(tmp_path / "again")["branch"] == {
        "of": "source", "turn": turn - 1, "why": "regenerate", "changed": {},
    }  # fmt: skip


@pytest.mark.proof
@pytest.mark.parametrize(
    ("turn", "words"), [(3, f"{LI}'s own"), (0, "no utterance 0"), (7, "no utterance 7"), (-3, "no utterance -3")]
)
async def test_what_is_not_made_again(turn: int, words: str, tmp_path: Path) -> None:
    source = await run(tmp_path)
    there = set(tmp_path.iterdir())
    with pytest.raises(InputError) as caught:
        [event async for event in regenerated(source, turn)]
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert set(tmp_path.iterdir()) == there


async def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in ("empty", "nowhere"):
        for made in (regenerate_run(tmp_path / folder, 1), branch_run(tmp_path / folder, 0)):
            with pytest.raises(InputError) as caught:
                [event async for event in made]
            assert "\n" not in str(caught.value)


AINO, VEIKKO, TUULI, OLLE = "Aino Koskela", "Veikko Koskela", "Tuuli Koskela", "Olle Granat"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small story, held once."""
    out, story = tmp_path_factory.mktemp("held"), load_story()
    made = Settings(**{**story.settings, "model": "offline", "seed": 1})

    async def hold() -> None:
        await events_of(run_simulation(story, made, out=out, run="origin"))

    asyncio.run(hold())
    return out / "origin"


async def branched(folder: Path, out: Path, at: int | None, host: str, partner: str, **more: Any) -> Path:
    await events_of(branch_run(folder, at, choose=(host, partner), out=out, **{"run": "branch", **more}))
    return out / str(more.get("run", "branch"))


@pytest.mark.proof(cases=2)
@pytest.mark.parametrize(
    ("at", "host", "partner", "turn", "stage"),
    [
        (None, "Tuuli", "Veikko", 8, "confidential"),
        (0, "Tuuli", "Olle", 2, "private"),
        (3, "Tuuli", "Aino", 8, "confidential"),
        (8, "Tuuli", "Aino", 8, "confidential"),
        (0, "Aino", "Veikko", 0, "private"),
    ],
)
async def test_a_branch_begins_before_the_choice(
    folder: Path, tmp_path: Path, at: int | None, host: str, partner: str, turn: int, stage: str
) -> None:
    made = await branched(folder, tmp_path, at, host, partner)
    manifest, happened = run_json(made), logged(made, "happening")
    assert (manifest["branch"]["turn"], manifest["branch"]["of"]) == (turn, "origin")
    assert manifest["branch"]["changed"]["choose"]["host"].startswith(host)
    (choice,) = [one for one in happened if one.get("chosen_by")]
    assert (choice["stage"], choice["turn"], choice["choice"].split()[0]) == (stage, turn, partner)
    shared = logged(folder, "utterance")[:turn]
    assert logged(made, "utterance")[:turn] == shared
    said = logged(made, "utterance")[turn]
    assert (said["speaker"].split()[0], said["heard_by"][0].split()[0]) == (host, partner)
    assert manifest["stop_reason"] == "settled"


@pytest.mark.proof
async def test_it_is_marked_wherever_it_is_told(folder: Path, tmp_path: Path) -> None:
    made = await branched(folder, tmp_path, 0, "Tuuli", "nobody")
    told = "Tuuli Koskela is to talk to nobody: chosen by the branch."
    assert told in (made / "transcript.md").read_text(encoding="utf-8")
    assert told in report_html(read_run(made, whole=True))
    assert "chosen_by" not in str(logged(folder, "happening"))
    export_runs([made], tmp_path / "tables")
    rows = [row for row in read_table(tmp_path / "tables" / "happenings.csv") if row["chosen_by"]]
    assert [(row["agent"], row["do"], row["choice"], row["chosen_by"]) for row in rows] == [
        (TUULI, "choice", "", "branch")
    ]
    for name in (AINO, VEIKKO, OLLE):
        export_runs([made], tmp_path / name, eyes=name)
        assert "chosen by" not in (tmp_path / name / "happenings.csv").read_text(encoding="utf-8")
        assert ",branch," not in (tmp_path / name / "happenings.csv").read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.proof
async def test_it_is_replayed_resumed_and_branched_again(folder: Path, tmp_path: Path) -> None:
    made = await branched(folder, tmp_path, 0, "Tuuli", "Olle")
    await check_replay(made)
    stopped = await branched(folder, tmp_path, 0, "Tuuli", "Olle", run="stopped", changes={"budget_calls": 5})
    assert run_json(stopped)["stop_reason"] == "budget"
    await events_of(resume_run(stopped, changes={"budget_calls": 1000}))
    assert read_whole(stopped) == read_whole(made)
    again = await branched(made, tmp_path, None, "Tuuli", "nobody", run="again")
    chosen = [one for one in logged(again, "happening") if one.get("chosen_by")]
    assert [(one["turn"], one.get("choice", "")) for one in chosen] == [(2, OLLE), (8, "")]


@pytest.mark.long
@pytest.mark.proof
async def test_a_choice_that_a_branch_shares_is_made_otherwise_in_its_run_alone(folder: Path, tmp_path: Path) -> None:
    await events_of(branch_run(folder, 2, say=("Tuuli", "Hm."), out=tmp_path, run="said"))
    with pytest.raises(InputError, match="shares Tuuli Koskela's choice after utterance 2 with origin.*Branch origin"):
        await branched(tmp_path / "said", tmp_path, 2, "Tuuli", "Olle")
    made = await branched(tmp_path / "said", tmp_path, 3, "Tuuli", "Veikko", run="later")
    assert run_json(made)["branch"]["turn"] == 8


@pytest.mark.long
@pytest.mark.proof
async def test_killed_before_the_choice_it_goes_on_with_it(folder: Path, tmp_path: Path) -> None:
    whole = await branched(folder, tmp_path, 0, "Tuuli", "Olle")
    events = branch_run(folder, 0, choose=("Tuuli", "Olle"), out=tmp_path, run="killed")
    async for event in events:
        if isinstance(event, Uttered) and event.turn == 2:  # the past is told, and nothing is done yet
            break
    await events.aclose()
    await events_of(resume_run(tmp_path / "killed"))
    assert read_whole(tmp_path / "killed") == read_whole(whole)


@pytest.mark.proof
async def test_two_stories_are_compared_from_the_last_update_that_they_share(folder: Path, tmp_path: Path) -> None:
    made = await branched(folder, tmp_path, 0, "Tuuli", "nobody")
    found = compare(read_run(folder, whole=True), read_run(made, whole=True))
    assert found.parting is not None
    assert (found.parting.why, found.parting.turn) == ("chosen", 3)
    assert [(one.round, one.shared) for one in found.updates] == [(0, True)] * 4 + [(1, False)] * 4
    assert all(one.a == one.b for one in found.updates if one.shared)
    olle = found.updates[-1]
    assert olle.a is not None and olle.b is not None
    assert (olle.name, olle.a.closeness != olle.b.closeness) == (OLLE, True)
    assert [(one.name, one.ballot) for one in found.votes[:4]] == [
        *((name, "guess") for name in (AINO, VEIKKO, TUULI)),
        (AINO, "ballot"),
    ]
    assert all(one.a and one.b for one in found.votes)


@pytest.mark.proof
async def test_the_python_api_chooses_as_well(folder: Path, tmp_path: Path) -> None:
    result = await persimchat.abranch(folder, choose=("Veikko", "Olle"), out=tmp_path)
    assert result.outcome is not None
    met = [one for one in result.happenings if one.do == "met" and one.speaker == VEIKKO]
    assert [one.others for one in met][-1] == [OLLE]


WRONG: dict[str, tuple[int | None, tuple[str, str], dict[str, Any], str]] = {
    "no such host": (0, ("Tulli", "Olle"), {}, "no participant 'Tulli'.*--choose.*Tuuli"),
    "a host that is no main character": (0, ("Olle", "Aino"), {}, "no main character.*one of: Aino Koskela, Veikko"),
    "no such partner": (0, ("Tuuli", "Bob"), {}, "no participant 'Bob'"),
    "itself": (0, ("Tuuli", "Tuuli"), {}, r"may not choose Tuuli .*one of: Aino .*Olle Granat; or nobody"),
    "no later choice": (9, ("Tuuli", "Olle"), {}, "no choice after utterance 9 or later; it had them after 2 and 8"),
    "words as well": (2, ("Tuuli", "Olle"), {"say": ("Tuuli", "Hm.")}, "words and a choice are both given"),
    "neither turn nor choice": (None, ("", ""), {"choose": None}, "the turn at which the branch begins is missing"),
}


@pytest.mark.proof
@pytest.mark.parametrize("case", WRONG)
async def test_what_cannot_be_chosen_is_refused_in_one_line(folder: Path, tmp_path: Path, case: str) -> None:
    at, choose, more, words = WRONG[case]
    with pytest.raises(InputError) as caught:
        await events_of(branch_run(folder, at, out=tmp_path, **{"choose": choose, **more}))
    told = str(caught.value)
    assert "\n" not in told
    assert re.search(words, told), told
    assert list(tmp_path.iterdir()) == []


@pytest.mark.proof
async def test_only_stories_have_choices(tmp_path: Path) -> None:
    people: list[Any] = [{"name": name, "description": "Somebody."} for name in ("Ada Lind", "Bo Vik")]
    made = Settings(model="offline", max_messages=1)
    await events_of(run_simulation(make_scenario("Tea?", people), made, out=tmp_path, run="plain"))
    with pytest.raises(InputError, match="no story, so nobody chooses"):
        await events_of(branch_run(tmp_path / "plain", 0, choose=("Ada", "Bo")))
