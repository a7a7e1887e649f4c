"""Runs that the server holds, where something happens to them from outside: folders renamed, gone, gone on with."""

from __future__ import annotations

import asyncio
import shutil

import pytest
from web.conftest import begin

from persimchat.app.web.live_runs import LiveRun
from persimchat.app.web.place import Place
from persimchat.runs.resume import resume_run
from persimchat.state.errors import InputError


async def over(place: Place, *, messages: int = 3) -> LiveRun:
    live = await begin(place, messages=messages, closing="off")
    await live.ended()
    return live


async def test_a_renamed_run_goes_on_under_its_folders_name(place: Place):
    live = await over(place)
    (place.runs.out / live.run).rename(place.runs.out / "my run #1")
    resumed = await place.runs.resume("my run #1", {"max_messages": 500})
    assert place.runs.get("my run #1") is resumed
    assert place.runs.active == [resumed]
    assert await place.runs.board("my run #1") is resumed.board
    resumed.broadcast.cancel()
    await resumed.ended()
    assert (resumed.board.stopped.reason, resumed.board.error) == ("stopped", "")


async def test_a_copy_is_not_taken_for_its_original(place: Place):
    live = await over(place)
    shutil.copytree(place.runs.out / live.run, place.runs.out / "copy")
    resumed = await place.runs.resume("copy", {"max_messages": 4})
    await resumed.ended()
    assert place.runs.get(live.run) is live
    assert (live.board.turn, resumed.board.turn) == (3, 4)
    assert (await place.runs.board("copy")).turn == 4


async def test_the_past_is_there_when_a_run_goes_on(place: Place):
    live = await over(place, messages=12)
    resumed = await place.runs.resume(live.run, {"max_messages": 13})
    assert resumed.board.turn >= 12
    await resumed.ended()


async def test_of_two_who_resume_at_once_one_does(place: Place):
    live = await over(place)
    changes = {"max_messages": 400}
    both = await asyncio.gather(*(place.runs.resume(live.run, changes) for _ in range(2)), return_exceptions=True)
    refused = [one for one in both if isinstance(one, InputError)]
    (resumed,) = [one for one in both if isinstance(one, LiveRun)]
    assert len(refused) == 1
    assert place.runs.active == [resumed]
    with pytest.raises(InputError, match="going on"):
        await place.runs.resume(live.run)
    with pytest.raises(InputError, match="worked on"):
        await place.runs.branch(live.run, 1)
    await place.runs.close()
    assert resumed.over


async def test_a_run_whose_folder_is_deleted_underneath_is_over(place: Place):
    live = await begin(place, messages=300)
    shutil.rmtree(place.runs.folder(live.run))
    await live.ended()
    assert live.board.status == "ended"
    assert live.board.error
    with pytest.raises(InputError, match="there is no run"):
        await place.runs.board(live.run)


async def test_what_another_process_has_added_is_seen(place: Place):
    live = await over(place)
    async for _ in resume_run(place.runs.folder(live.run), changes={"max_messages": 5}):
        pass
    assert (await place.runs.board(live.run)).turn == 5
