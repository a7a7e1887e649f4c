"""The REST API's way of answering for a person who plays a character of a story."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from persimchat.app.web.context import WebContext
from persimchat.personas.people import with_people
from persimchat.personas.scenario import load_story
from persimchat.runs.events import Asked, Stopped
from persimchat.state.settings import Settings

pytestmark = pytest.mark.proof

BAD: dict[str, list[dict[str, Any]]] = {
    "choice": [{"choice": "Aino"}, {"choice": 0}, {"choice": 4}, {"choice": ""}, {"text": "Nobody at all"}, {}],
    "utterance": [{"choice": "Aino"}, {"text": " "}, {"text": "Psst.", "heard_by": ["Olle Granat"]}, {"choice": 1}],
    "ballot": [{"choice": "Olle"}, {"choice": 9}, {"need_to_talk": 3}, {"choice": 1, "text": "Aino"}],
}
GOOD: dict[str, Any] = {"choice": {"choice": "Olle"}, "utterance": {"text": "Well, well."}, "ballot": {"choice": 1}}


async def test_a_story_is_played_and_bad_answers_are_refused(api: httpx.AsyncClient, web: WebContext) -> None:
    live = await web.runs.start(with_people(load_story(), ["Aino"]), Settings(mode="story", model="offline", rounds=1))
    control, kinds, passed = f"/api/runs/{live.run}/control", set(), False
    async for event in live.broadcast.subscribe():
        if isinstance(event, Stopped):
            assert event.reason == "settled"
        if not isinstance(event, Asked):
            continue
        asked = (await api.get(f"/api/runs/{live.run}")).json()["asked"]
        assert asked["story"]["knows"]["name"] == "Aino Koskela"
        assert asked == event.model_dump(mode="json")
        if event.what not in kinds:
            for given in BAD[event.what]:
                refused = await api.post(control, json={"do": "answer", **given})
                assert refused.status_code in (400, 422), (event.what, given, refused.text)
                assert "\n" not in refused.json()["error"]
        kinds.add(event.what)
        body = {"do": "pass"} if event.what == "utterance" and not passed else {"do": "answer", **GOOD[event.what]}
        passed = passed or event.what == "utterance"
        answer = await api.post(control, json=body)
        assert answer.status_code == 202, answer.text
    assert kinds == {"choice", "utterance", "ballot"}
    assert (await api.post(control, json={"do": "answer", "choice": 1})).status_code == 409
