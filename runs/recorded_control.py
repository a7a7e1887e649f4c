"""What people did to a run, done once more: the controls of a replay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from persimchat.runs.control import Control
from persimchat.state.person_answer import PersonAnswer, person_answer


class RecordedControl(Control):
    """Does what a run's control.jsonl says, at the turns at which it was done.

    Args:
        records: its lines, in order.
    """

    def __init__(self, records: Iterable[Mapping[str, Any]]) -> None:
        super().__init__(attended=False)
        self._answers: dict[tuple[int, str, str], PersonAnswer] = {}
        self._done: list[dict[str, Any]] = []
        for record in records:
            rest = dict(record)
            turn = rest["turn"]
            if rest["do"] != "answer":
                self._done.append(rest)
                continue
            key = (turn, rest["agent"], rest["what"])
            self._answers[key] = {k: v for k, v in rest.items() if k not in ("turn", "do", "agent", "what")}  # type: ignore[assignment]

    def leave_out(self, waiting: Iterable[Mapping[str, Any]]) -> None:
        """Do not do once more what stands in the conversation already, waiting to be carried out."""
        for intervention in waiting:
            same = next((done for done in self._done if intervention.items() <= done.items()), None)
            if same is not None:
                self._done.remove(same)

    def wanted(self, turn: int) -> bool:
        """Whether anything was done after so many utterances that was not done again yet."""
        return any(record["turn"] == turn for record in self._done)

    def take(self, turn: int) -> list[dict[str, Any]]:
        """What was done then."""
        now = [record for record in self._done if record["turn"] == turn]
        self._done = [record for record in self._done if record["turn"] != turn]
        return [{key: value for key, value in record.items() if key != "turn"} for record in now]

    def ask(self, agent: str, what: str, turn: int) -> None:
        """A person was asked then, and answers as they did; where they did not, the replay stops as the run did."""
        super().ask(agent, what, turn)
        found = self._answers.get((turn, agent, what))
        self._answer = person_answer(dict(found), what, self._present) if found is not None else None

    async def reply(self) -> PersonAnswer | None:
        """The recorded answer."""
        self._asked = None
        return self._answer
