"""What tests of minds that hear and think in a story share: a scripted model, and groups that only split and meet."""

from __future__ import annotations

import json
from typing import Any

from story_talks import NAMES, WORD, Telling

from persimchat.personas.scenario import make_scenario
from persimchat.state.scenario import Scenario


def breakouts(number: int, stages: list[dict[str, Any]]) -> Scenario:
    """A scenario whose group splits and comes together; nobody has a part."""
    people = [{"name": name, "description": "Somebody."} for name in NAMES[:number]]
    return make_scenario("Who leads the mill?", people, story={"stages": stages})


class Minds(Telling):
    """Answers every task of a mind, and every task of a story; each of its words is told on as in `Telling`."""

    def __call__(self, messages: list[Any]) -> str:
        source = next(m.source for m in messages if getattr(m, "source", None) is not None)
        if source.template != "parts":
            return super().__call__(messages)
        text = "\n".join(str(message.text) for message in messages[1:])
        name = text.partition("- Name: ")[2].partition("\n")[0]
        self.prompts.append((source.values["module_name"], name, text))
        echo = " ".join(sorted(set(WORD.findall(text))))
        parts = source.values["parts"]
        return json.dumps({part: self._answer(part, source.values, echo) for part in parts})

    def _answer(self, task: str, values: Any, echo: str) -> dict[str, Any]:
        why, theme = {"reasoning": f"So it is {echo}"[:190]}, f"So {echo}"[:190]
        kept = {"theme": theme, "keywords": ["flour"], "importance": 5}
        match task:
            case "perception":
                return kept
            case "focal_points":
                return {"questions": [f"{echo} {n}?"[:150] for n in range(3)]}
            case "summary" if values["stage"] == "rooms":
                return {**why, **kept}
            case "emotion":
                return {**why, **dict.fromkeys(("happiness", "sadness", "anger", "fear", "disgust", "surprise"), 2)}
            case "need_to_talk":
                return {**why, "need_to_talk": 5}
            case "action":
                return {**why, "action": "plan"}
            case "memory_filtering":
                return {**why, "keep": True}
            case "planning":
                return {**kept, "progress": theme, "identity": theme, "react": True, "reaction": theme, "goals": []}
        return super()._answer(task, values, echo)
