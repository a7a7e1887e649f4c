"""The agenda of a story: which act follows, and what the last one has changed. Pure functions of the state.

Minds only answer; this module alone opens and closes rooms, applies changes, reckons support and influence, counts the
vote, and writes down what has happened. Source of the order of acts: Gu et al. 2024, AgentGroupChat.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from ...nodes.stories.context import AWAKENING, SETTLEMENT, UPDATE
from ...state.conversation import participants, utterances
from ...state.minds.mind import Mind
from ...state.settings import Settings
from ...state.stories.state import Act, Do, Happening, Room, StoryState
from ...state.stories.story import Stage, Story
from ...state.stories.support import (
    Outcome,
    StoryMind,
    camps,
    in_order,
    influence,
    moved,
    outcome_in_words,
    settled,
    supported,
)
from .. import phases
from ..ending import useless_answers
from ..routing import draw
from .talks import OUTSIDE_STAGES, Talks, hears, talks_in_turn

NODES: Final[Mapping[Do, str]] = {
    "awaken": phases.AWAKEN,
    "stocktake": phases.STOCKTAKE,
    "choose": phases.CHOOSE,
    "speak": phases.SPEAK,
    "address": phases.ADDRESS,
    "summarise": phases.SUMMARISE,
    "review": phases.REVIEW,
    "ballot": phases.BALLOT,
}
"""The node that does each act."""


def agents_among(names: Sequence[str], minds: Mapping[str, Mind]) -> list[str]:
    """Those whose part no person takes."""
    return [name for name in names if not minds[name].get("human")]


def story_in(state: Mapping[str, Any]) -> Story:
    """The section of the scenario."""
    return Story.model_validate(state["story"])


def stage_name(state: Mapping[str, Any], story: Story, settings: Settings) -> str:
    """The kind of the present stage, or what stands for it before, between and after the stages."""
    place = int(state["act"]["stage"])
    if place != OUTSIDE_STAGES:
        return story.stages[place].kind
    if not state["round"]:
        return AWAKENING
    return SETTLEMENT if state["round"] > settings.rounds else UPDATE


def supports_in(state: Mapping[str, Any]) -> dict[str, str]:
    """By character, the main character whom it supports; empty for nobody."""
    return {name: mind["story"]["supports"] for name, mind in participants(state).items()}


def partners_of(state: Mapping[str, Any], story: Story, host: str, stage: Stage) -> list[str]:
    """Whom a host may choose now."""
    return story.partners(host, stage, camps(story, supports_in(state)))


def following(state: StoryState, settings: Settings) -> dict[str, Any]:
    """The update after an act, with the next one; the same act again if something else was said before it."""
    return _Course(state, settings).update()


def reopened(state: Mapping[str, Any], settings: Settings) -> Act | None:
    """The act with which a story continues that ended before its settlement; None if nothing is left of it."""
    act = cast(Act, state["act"])
    if act["do"] != "end":
        return act
    return act if state.get("outcome") is None and state["round"] < settings.rounds else None


def _act(n: int, do: Do, who: list[str], **more: Any) -> Act:
    act: Act = {"n": n, "do": do, "who": who, "stage": OUTSIDE_STAGES, "host": "", "rest": [], "left": 0, "room": ""}
    return cast(Act, {**act, **more})


class _Course(Talks):
    """One step of the agenda: reads the state, and collects what changes."""

    def __init__(self, state: StoryState, settings: Settings) -> None:
        self._state, self._settings, self._story = state, settings, story_in(state)
        self._turn, self._round = state["turn"], state["round"]
        self._last = state["act"]
        self._minds: dict[str, Mind] = participants(state)
        self._own: dict[str, StoryMind] = {name: mind["story"] for name, mind in self._minds.items()}
        self._changed: dict[str, StoryMind] = {}
        self._rooms: dict[str, Room] = dict(state["rooms"])
        self._happened: list[Happening] = []
        self._outcome: Outcome | None = state["outcome"]
        self._end: dict[str, Any] = {}

    def update(self) -> dict[str, Any]:
        """The update of the story."""
        if self._state["stop_reason"]:
            return {"checked": self._turn}
        if (hopeless := useless_answers(self._state)) is not None:
            reason, source, detail = hopeless
            return {"checked": self._turn, "stop_reason": reason, "stop_source": source, "stop_detail": detail}
        act = self._next()
        agents = {name: {"story": own} for name, own in self._changed.items()}
        return {
            "checked": self._turn,
            "act": act,
            "round": self._round,
            "rooms": self._rooms,
            "outcome": self._outcome,
            "happenings": self._happened,
            **({"agents": agents} if agents else {}),
            **self._end,
        }

    def _next(self) -> Act:
        last = self._last
        if last["do"] != "end" and not any(self._did(name) or self._failed(name) for name in last["who"]):
            return last  # something else came first
        others = talks_in_turn(last) and last["do"] == "address"  # may speak in their place
        if len(last["who"]) > 1 and not (others or last.get("again") or any(map(self._did, last["who"]))):
            return {**last, "n": last["n"] + 1, "again": True}
        after = {
            "awaken": self._after_awakening,
            "stocktake": self._after_stocktaking,
            "choose": self._after_choosing,
            "speak": self._after_words if talks_in_turn(last) else self._after_speaking,
            "summarise": self._after_coming_together if talks_in_turn(last) else self._after_summing_up,
            "address": self._after_words if talks_in_turn(last) else self._after_addressing,
            "review": self._after_reviewing,
            "ballot": self._after_balloting,
            "end": self._after_the_end,
        }
        return after[last["do"]]()

    # What the last act has left

    def _did(self, name: str) -> bool:
        """Whether a character has done its part of the last act."""
        if self._last["do"] != "speak" or self._passed(name):
            return self._own[name]["done"] == self._last["n"]
        if talks_in_turn(self._last):
            return self._has_spoken(name)
        room = self._rooms[self._last["room"]]
        said = utterances(self._state["messages"][-1:])
        made = 2 * self._stage(self._last["stage"]).exchanges - self._last["left"] - room.get("passed", 0)
        return bool(said) and said[0]["speaker"] == name and self._spoken(room) == made + 1

    def _passed(self, name: str) -> bool:
        """Whether a person has passed in the last act."""
        return self._own[name]["done"] == self._last["n"] and self._own[name]["answer"] is None

    def _failed(self, name: str) -> bool:
        """Whether a character's model has failed for good in the last act."""
        silent = self._minds[name].get("silent")
        return silent is not None and silent.get("act") == self._last["n"]

    def _spoken(self, room: Room) -> int:
        """How many of a room's utterances are made."""
        said = utterances(self._state["messages"][-max(1, self._turn - room["opened"]) :])
        return sum(one["turn"] > room["opened"] and one["speaker"] in room["members"] for one in said)

    def _answer(self, name: str) -> dict[str, Any] | None:
        """What a character answered in the last act; None if it failed."""
        return self._own[name]["answer"] if self._did(name) else None

    def _change(self, name: str, **values: Any) -> None:
        self._own[name] = self._changed[name] = cast(StoryMind, {**self._own[name], **values})

    def _note(self, do: str, speaker: str, *, only: list[str] | None = None, **more: Any) -> None:
        """Write down what happened.

        Args:
            do: what.
            speaker: whose doing it is; empty for the story's own.
            only: who knows of it besides the speaker; None if all do.
            **more: further fields.
        """
        place = self._last["stage"] if "at" not in more else more.pop("at")
        kind = "" if place == OUTSIDE_STAGES else self._story.stages[place].kind
        known = {} if only is None else {"heard_by": only}
        base = {"turn": self._turn, "round": self._round, "stage": kind, "do": do, "speaker": speaker, **known}
        self._happened.append(cast(Happening, {**base, **more}))

    def _stage(self, place: int) -> Stage:
        return self._story.stages[place]

    def _made(self, do: Do, who: list[str], **more: Any) -> Act:
        return _act(self._last["n"] + 1, do, who, **more)

    # Acts, one after the other

    def _after_awakening(self) -> Act:
        for name in self._story.characters:
            answer = self._answer(name)
            if answer is not None:
                self._move(name, answer)
        if self._story.mains:
            self._reckon()
        return self._begin_round()

    def _begin_round(self) -> Act:
        self._round += 1
        if self._round <= self._settings.rounds:
            return self._begin_stage(0)
        if self._story.settlement is None:
            self._round = self._settings.rounds
            return self._finish("finished", self._over())
        return self._made("ballot", self._story.voters, asks="guess")

    def _over(self) -> str:
        if not self._story.mains:
            return "All stages are over."
        return f"The story's {_rounds(self._round)} are over, and it has no vote."

    def _begin_stage(self, place: int) -> Act:
        if place == len(self._story.stages):
            if not self._story.mains:
                return self._begin_round()
            return self._made("review", agents_among(list(self._story.characters), self._minds))
        self._note("stage", "", at=place)
        if not self._stage(place).by_two and hears(self._settings):
            return self._begin_talk(place)
        if self._stage(place).kind == "group":
            return self._made("address", self._story.in_order, stage=place, left=self._stage(place).exchanges)
        weights = influence(self._story.resources, self._state["owners"], self._supports())
        lots = draw(self._settings.seed, self._round, "order")
        return self._next_host(place, in_order(self._story.mains, weights, lots))

    def _next_host(self, place: int, waiting: list[str]) -> Act:
        known = camps(self._story, self._supports())
        for number, host in enumerate(waiting):
            if self._story.partners(host, self._stage(place), known):
                do: Do = "stocktake" if agents_among([host], self._minds) else "choose"
                return self._made(do, [host], stage=place, host=host, rest=waiting[number + 1 :])
        return self._begin_stage(place + 1)

    def _in_stage(self, do: Do, who: list[str], **more: Any) -> Act:
        """An act in the same stage and room as the last one."""
        last = self._last
        kept = {key: last[key] for key in ("stage", "host", "rest", "room", "left")}
        return self._made(do, who, **{**kept, **more})

    def _after_stocktaking(self) -> Act:
        (name,), last = self._last["who"], self._last
        answer = self._answer(name)
        if answer is not None:
            self._change(name, stock=answer)
            room = {"room": last["room"]} if last["room"] else {}
            self._note("stock", name, only=[], text=answer["summary"], lines=answer.get("next_steps", []), **room)
        if last["room"]:
            return self._in_stage("speak", [last["host"]], left=2 * self._stage(last["stage"]).exchanges)
        if not self._did(name):  # its model failed for good
            return self._next_host(last["stage"], last["rest"])
        if last.get("partner") == "":
            self._note("choice", name, only=[], chosen_by="branch")
            return self._next_host(last["stage"], last["rest"])
        return self._in_stage("choose", [name], **({"partner": last["partner"]} if "partner" in last else {}))

    def _after_choosing(self) -> Act:
        last, host = self._last, self._last["host"]
        answer = self._answer(host)
        if answer is None:
            return self._next_host(last["stage"], last["rest"])
        partner, place = answer["partner"], last["stage"]
        public = self._stage(place).kind == "confidential"
        number = 1 + sum(room["round"] == self._round and room["stage"] == place for room in self._rooms.values())
        key = f"{self._round}.{place + 1}.{number}"
        self._rooms[key] = {
            "members": [host, partner],
            "round": self._round,
            "stage": place,
            "public": public,
            "opened": self._turn,
            "open": True,
        }
        topics = answer.get("plan", [])
        self._change(host, plan=topics)
        told = {"choice": partner, "lines": topics, "text": answer.get("reasoning", "")}
        told |= {"chosen_by": "branch"} if "partner" in last else {}
        self._note("choice", host, only=[], room=key, **told)
        self._note("met", host, only=None if public else [partner], room=key, others=[partner])
        if agents_among([partner], self._minds):
            return self._in_stage("stocktake", [partner], room=key)
        return self._in_stage("speak", [host], room=key, left=2 * self._stage(place).exchanges)

    def _after_speaking(self) -> Act:
        last = self._last
        room = self._rooms[last["room"]]
        (name,) = last["who"]
        did = self._did(name)
        if self._passed(name):
            self._rooms[last["room"]] = room = {**room, "passed": room.get("passed", 0) + 1}
        if did and last["left"] > 1:
            (other,) = (member for member in room["members"] if member != name)
            return self._in_stage("speak", [other], left=last["left"] - 1)
        self._rooms[last["room"]] = {**room, "open": False}
        agents = agents_among(room["members"], self._minds)
        if not (agents and self._spoken(room)):
            return self._leave_room()
        return self._in_stage("summarise", agents, left=0)

    def _after_summing_up(self) -> Act:
        members = self._rooms[self._last["room"]]["members"]
        for name in self._last["who"]:
            answer = self._answer(name)
            if answer is not None:
                others = [member for member in members if member != name]
                self._note(
                    "summary", name, only=[], room=self._last["room"], others=others, text=answer["theme"],
                    lines=answer["keywords"],
                )  # fmt: skip
        return self._leave_room()

    def _leave_room(self) -> Act:
        self._change(self._last["host"], plan=[])
        return self._next_host(self._last["stage"], self._last["rest"])

    def _after_addressing(self) -> Act:
        last = self._last
        if last["stage"] == OUTSIDE_STAGES:
            return self._made("ballot", self._story.voters, asks="vote")
        if last["left"] > 1:
            return self._made("address", last["who"], stage=last["stage"], left=last["left"] - 1)
        return self._begin_stage(last["stage"] + 1)

    def _after_reviewing(self) -> Act:
        for name in self._story.characters:
            answer = self._answer(name)
            if answer is not None:
                self._move(name, answer)
                self._change(name, review=answer["reasoning"])
        self._reckon()
        return self._begin_round()

    def _move(self, name: str, answer: Mapping[str, Any]) -> None:
        """Apply the changes that a character answered."""
        own, changes = self._own[name], answer["beliefs"] or [0] * len(self._own[name]["beliefs"])
        near = {other: moved(score, answer["closeness"][other]) for other, score in own["closeness"].items()}
        beliefs = [{**one, "score": moved(one["score"], by)} for one, by in zip(own["beliefs"], changes, strict=True)]
        self._change(name, closeness=near, beliefs=beliefs)
        told = {"text": answer["reasoning"], "closeness": answer["closeness"], "beliefs": answer["beliefs"]}
        self._note("review", name, only=[], **told)

    def _reckon(self) -> None:
        """Reckon everybody's support and influence anew, and write down where they stand."""
        for name, own in list(self._own.items()):
            behind = supported(self._story, name, own["beliefs"], own["closeness"], own["supports"])
            if behind != own["supports"]:
                self._change(name, supports=behind)
        weights = influence(self._story.resources, self._state["owners"], self._supports())
        for name, own in self._own.items():
            beliefs = [belief["score"] for belief in own["beliefs"]]
            near = dict(own["closeness"])
            standing = {"beliefs": beliefs, "closeness": near, "supports": own["supports"], "influence": weights[name]}
            self._note("standing", name, only=[], **standing)

    def _supports(self) -> dict[str, str]:
        return {name: own["supports"] for name, own in self._own.items()}

    def _after_balloting(self) -> Act:
        story, answers = self._story, {name: self._answer(name) or {} for name in self._last["who"]}
        if self._last.get("asks") == "guess":
            self._tell("guess", {name: made.get("guess") for name, made in answers.items()})
            if hears(self._settings):
                return self._next_words(OUTSIDE_STAGES, len(story.in_order), story.in_order, self._turn)
            return self._made("address", story.in_order)
        openly = self._tell("ballot", {name: made.get("open") for name, made in answers.items()})
        closed = self._tell("closed_ballot", {name: made.get("closed") for name, made in answers.items()})
        decider = story.settlement.decider if story.settlement is not None else ""
        alone = bool(decider) and (bool(story.outcomes) or not story.characters[decider].main)
        self._outcome = settled(openly, closed, story.candidates, decider=decider, alone=alone)
        words = outcome_in_words(self._outcome, decider)
        self._note("outcome", "", text=words, choice=" and ".join(self._outcome["winners"]))
        return self._finish("settled", words)

    def _tell(self, do: str, made: Mapping[str, dict[str, Any] | None]) -> dict[str, str]:
        """Write ballots down; the choices by voter, empty for an abstention."""
        for name, ballot in made.items():
            if ballot is not None:
                self._note(do, name, only=[], choice=ballot["choice"], text=ballot.get("reasoning", ""))
        return {name: ballot["choice"] if ballot else "" for name, ballot in made.items()}

    def _finish(self, reason: str, detail: str) -> Act:
        self._end = {"stop_reason": reason, "stop_source": "story", "stop_detail": detail}
        return self._made("end", [])

    def _after_the_end(self) -> Act:
        return self._begin_round()


def _rounds(count: int) -> str:
    return "one round" if count == 1 else f"{count} rounds"
