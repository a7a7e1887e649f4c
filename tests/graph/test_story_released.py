"""The released stories of AgentGroupChat, converted and held with the offline model for one round each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from story_talks import hold

from persimchat.models.offline.chat_model import OfflineChatModel
from persimchat.personas.scenario import load_scenario
from persimchat.personas.story_conversion import convert_story

pytestmark = pytest.mark.proof


@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("name", ["succession", "philosopher", "famous"])
async def test_a_released_story_is_held_and_no_prompt_has_an_id(
    name: str, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shared / "data" / "stories" / name
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    file, prompts = tmp_path / "story.yaml", list[str]()
    file.write_text(convert_story(folder).text, encoding="utf-8")
    answer = OfflineChatModel.answer

    def noted(model: OfflineChatModel, messages: list[Any]) -> str:
        prompts.append("\n".join(str(message.text) for message in messages))
        return answer(model, messages)

    monkeypatch.setattr(OfflineChatModel, "answer", noted)
    state = await hold(load_scenario(file), seed=1)
    assert state["stop_reason"] == "settled"
    assert {outcome for row in state["judgements"].values() for outcome in row} == {"valid"}
    assert len(prompts) > 100
    assert [found for text in prompts for found in re.findall(r"\b[CR]\d{4}\b", text)] == []
