"""What tests of stories share: stories of any shape, and a scripted model in the offline model's place.

The scripted model says a different nonsense word in each utterance; every free text of its other answers repeats the
nonsense words that stand in its prompt. So a word that is found with somebody was given to them by PerSimChat.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from persimchat.graph.stories.story import build_story
from persimchat.models.offline.chat_model import OfflineChatModel
from persimchat.personas.scenario import make_scenario
from persimchat.state.conversation import utterances
from persimchat.state.errors import ModelError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings
from persimchat.state.visibility import is_heard

NAMES = ("Ada Lind", "Bo Vik", "Cy Dahl", "Dee Ek", "Eva Holm", "Finn Roth", "Gro Aas")
WORD = re.compile(r"zyx\d{4}q")


def scenario(mains: int = 2, others: int = 1, **more: Any) -> Scenario:
    """A story: each main character wants itself, a little less the next one."""
    names = NAMES[: mains + others]
    story: dict[str, Any] = {"characters": {}, "stages": [], **more}
    for number, name in enumerate(names):
        part: dict[str, Any] = {"known_as": f"number {number}"}
        if number < mains:
            after = names[(number + 1) % mains]
            part |= {"main": True, "beliefs": [
                {"text": "I should lead.", "score": 60, "for": name},
                {"text": f"{after} should lead.", "score": 10, "for": after},
            ]}  # fmt: skip
        story["characters"][name] = part
    if not story["stages"]:
        story["stages"] = [{"kind": kind, "exchanges": 1} for kind in ("private", "confidential", "group")]
    story.setdefault("settlement", {"decider": names[0]})
    story.setdefault("resources", [{"name": "Mill", "owner": names[0], "influence": 30, "topics": ["flour"]}])
    people = [{"name": name, "description": "Somebody."} for name in names]
    return make_scenario("Who leads the mill?", people, social_goals={names[0]: ["Keep it."]}, story=story)


async def last_of(states: AsyncIterator[Any]) -> dict[str, Any]:
    """The last of a stream of states."""
    found: dict[str, Any] = {}
    async for state in states:
        found = state
    return found


async def hold(made: Scenario, **settings: Any) -> dict[str, Any]:
    """The last state of a story that is held for one round with the offline model, or what stands in its place."""
    given = made.model_dump(by_alias=True, exclude={"settings"})
    chosen = Settings(**{**made.settings, "model": "offline", "rounds": 1, **settings})
    config: Any = {"configurable": {"thread_id": "story"}}
    return await last_of(build_story().astream(given, config, context=chosen, stream_mode="values"))


def done(state: dict[str, Any], do: str, *names: str) -> list[dict[str, Any]]:
    """What happened of a kind, to these or to anybody."""
    return [one for one in state["happenings"] if one["do"] == do and (not names or one["speaker"] in names)]


def failing(*names: str) -> Any:
    """An answer that is an error of the model for these characters."""

    def answer(name: str, _: Any) -> Any:
        if name in names:
            raise ModelError("no such model", model="offline", agent=name)

    return answer


class Telling:
    """The scripted model: answers every task of a story, and records who was given which prompt."""

    def __init__(self, **replaced: Callable[[str, Any], Any]) -> None:
        self.prompts: list[tuple[str, str, str]] = []
        """Task, whose prompt, its text."""
        self.replaced, self._said = replaced, 0

    def install(self, patch: pytest.MonkeyPatch) -> Telling:
        """Let it answer in the offline model's place."""
        patch.setattr(OfflineChatModel, "answer", lambda _, messages: self(messages))
        return self

    def __call__(self, messages: list[Any]) -> str:
        text = "\n".join(str(message.text) for message in messages[1:])
        source = next(m.source for m in messages if getattr(m, "source", None) is not None)
        task, (name,) = source.template, re.findall(r"^- Name: (.*)$", text, re.MULTILINE)
        self.prompts.append((task, name, text))
        if task in self.replaced and (answer := self.replaced[task](name, source.values)) is not None:
            return answer if isinstance(answer, str) else json.dumps(answer)
        if task in ("story_utterance", "utterance"):
            self._said += 1
            return f"zyx{self._said:04d}q " + " ".join(f"w{self._said}x{n}" for n in range(6))
        return json.dumps(self._answer(task, source.values, " ".join(sorted(set(WORD.findall(text))))))

    def _answer(self, task: str, values: Any, echo: str) -> dict[str, Any]:
        why = {"reasoning": f"So it is {echo}"[:190]}
        match task:
            case "stocktaking":
                return {"summary": f"Stock {echo}"[:690], "next_steps": [f"Go on {echo}"[:290]]}
            case "choice":
                return {**why, "partner": values["names"][0], "plan": [f"Flour {echo}"[:290]]}
            case "summary":
                return {**why, "theme": f"We talked {echo}"[:290], "keywords": ["flour"], "importance": 5}
            case "review":
                near = {item["to"]: 3 for item in values["closeness"].items if item.kind == "closeness"}
                own = {str(item["number"]): -2 for item in values["beliefs"].items}
                return {**why, "closeness": near, **({"beliefs": own} if own else {})}
            case "ballot":
                return {**why, "choice": values["options"].items[-1]["name"]}
        raise AssertionError(f"no answer to {task}")


def leaks(state: dict[str, Any], given: Iterator[tuple[str, str]]) -> list[tuple[str, str]]:
    """Who was given a word that is not theirs to hear.

    Args:
        state: the story's last state, with who heard what.
        given: names, each with a text that was given to them.
    """
    of_word = {
        WORD.findall(said["text"])[0]: said for said in utterances(state["messages"]) if WORD.search(said["text"])
    }
    return [
        (name, word)
        for name, text in given
        for word in WORD.findall(text)
        if word in of_word and not is_heard(of_word[word], name)
    ]
