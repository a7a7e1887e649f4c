"""What an occurrence meets that is no words: place, agent, mind and tie as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from persimchat.graph.companion.attending import pair_in
from persimchat.graph.companion.records import Records
from persimchat.graph.companion.situation import name_shown, step_of
from persimchat.state.clock import moved
from persimchat.state.companion import Occurrence, Talk, Tie
from persimchat.state.companion_state import CompanionState
from persimchat.state.day import activity_at
from persimchat.state.mind import Mind, Step
from persimchat.state.place import Agent, Place
from persimchat.state.settings import Settings


@dataclass(frozen=True)
class Scene:
    """Agent and person, as they are when something happens.

    Attributes:
        state: the graph's channels.
        settings: of the companion.
        records: of the world.
        place: of the world.
        agent: the agent.
        mind: its whole mind.
        tie: what it knows of the person.
    """

    state: CompanionState
    settings: Settings
    records: Records
    place: Place
    agent: Agent
    mind: Mind
    tie: Tie

    @classmethod
    async def of(cls, state: CompanionState, settings: Settings) -> Scene:
        """The scene, after `attend` has seen to mind and tie."""
        pair = await pair_in(settings)
        mind, tie = await pair.records.pair(pair.agent.name, pair.person)
        assert mind is not None and tie is not None
        return cls(state, settings, pair.records, pair.place, pair.agent, mind, tie)

    @property
    def occurrence(self) -> Occurrence:
        """What has come in."""
        return cast(Occurrence, self.state["occurrence"])

    @property
    def at(self) -> str:
        """When, ISO time."""
        return self.occurrence["at"]

    @property
    def tick(self) -> int:
        """The memory clock after this occurrence."""
        own = self.mind["companion"]
        return moved(own.get("tick", 0), own.get("last", self.at), self.at) + 1

    @property
    def name_shown(self) -> str:
        """The person's name as the agent knows it."""
        return name_shown(self.tie)

    def step(self, happened: Sequence[str] = ()) -> Step:
        """The mind as it is used with this person, with nothing heard.

        Args:
            happened: what it perceives, a sentence each.
        """
        tie, at = self.tie, self.at
        talk = tie.talk or Talk(id="", number=tie.talks + 1, begun=at, last=at, trust=tie.trust)
        step = step_of(
            self.place, self.agent, self.mind, tie, talk, self.state.get("messages", []), self.settings,
            exchange=self.occurrence.get("id", ""), at=at, tick=self.tick,
            activity=activity_at(self.mind["companion"], at, tie.person),
            occurrence=self.occurrence, happened=happened,
        )  # fmt: skip
        return without_words(step)


def without_words(step: Step) -> Step:
    """The mind with nothing heard: nobody has spoken to it."""
    return {key: value for key, value in step.items() if key != "heard"}  # type: ignore[return-value]
