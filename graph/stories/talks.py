"""Talks of several in a story: plenary, rooms that are open at the same time, and a group whose minds hear and think.

Need to talk decides who of those present speaks next, as in a conversation. In rooms, one act sends one speaker a room,
and their words are numbered in the order of the rooms, so that clock, seed and transcript stay one. Pure functions of
the state; `agenda.py` takes this part of the course in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from ...state.conversation import utterances
from ...state.minds.mind import Mind, Utterance
from ...state.settings import Settings
from ...state.stories.state import Act, Do, Room, StoryState
from ...state.stories.story import Stage, Story
from ..routing import choose_speaker, draw, is_silent

OUTSIDE_STAGES: Final = -1
"""The place of an act that belongs to no stage."""


def hears(settings: Settings) -> bool:
    """Whether the minds of a story hear and think, so that its group talks in turn."""
    return settings.cognition != "strategist"


def began(state: Mapping[str, Any], do: str) -> int:
    """The number of utterances at the last happening of a kind; all of them if there is none."""
    return next((int(one["turn"]) for one in reversed(state["happenings"]) if one["do"] == do), int(state["turn"]))


def talks_in_turn(act: Act) -> bool:
    """Whether an act belongs to a talk of several whose members speak in turn."""
    return "since" in act


def room_of(rooms: Mapping[str, Room], act: Act, round_: int, name: str) -> str:
    """The room in which an act finds a character; empty where it is in none."""
    if act["room"]:
        return act["room"] if name in rooms[act["room"]]["members"] else ""
    if not talks_in_turn(act) or act["stage"] == OUTSIDE_STAGES:
        return ""
    now = {key: one for key, one in rooms.items() if (one["round"], one["stage"]) == (round_, act["stage"])}
    return next((key for key, one in now.items() if name in one["members"]), "")


def said_since(state: Mapping[str, Any], turn: int) -> list[Utterance]:
    """The utterances after the first `turn` ones, oldest first."""
    count = state["turn"] - turn
    return utterances(state["messages"][-count:]) if count > 0 else []


def last_at_once(state: Mapping[str, Any]) -> list[Utterance]:
    """The last utterance; of rooms that are open at the same time, the last one of each that spoke then, in order."""
    found: list[Utterance] = []
    split = [room for room in state.get("rooms", {}).values() if room["opened"] < state["turn"]]
    beside = [room for room in split if room["opened"] == split[-1]["opened"]]
    place = len(beside)
    for message in reversed(state["messages"]):
        said = next(iter(utterances([message])), None)
        if said is None:
            break
        members = {said["speaker"], *said.get("heard_by", [])}
        at = next((n for n, room in enumerate(beside) if set(room["members"]) == members), None)
        if found and (at is None or at >= place):
            break
        found.insert(0, said)
        if at is None:
            break
        place = at
    return found


def next_speaker(minds: Mapping[str, Mind], members: Sequence[str], last: str, turn: int, settings: Settings) -> str:
    """Who of those present speaks next, by need to talk.

    Args:
        minds: of all, by name.
        members: who is present, in order of listing.
        last: who of them spoke last; empty before the first words.
        turn: utterances so far.
        settings: as for `choose_speaker`.
    """
    present = {
        name: {**minds[name], "last_spoke": turn if name == last else min(minds[name]["last_spoke"], turn - 1)}
        for name in members
    }
    return choose_speaker(present, turn, settings)


class Talks(ABC):
    """The part of a story's course in which several talk in turn."""

    _state: StoryState
    _settings: Settings
    _story: Story
    _turn: int
    _round: int
    _last: Act
    _minds: dict[str, Mind]
    _rooms: dict[str, Room]

    @abstractmethod
    def _did(self, name: str) -> bool: ...

    @abstractmethod
    def _answer(self, name: str) -> dict[str, Any] | None: ...

    @abstractmethod
    def _note(self, do: str, speaker: str, *, only: list[str] | None = None, **more: Any) -> None: ...

    @abstractmethod
    def _made(self, do: Do, who: list[str], **more: Any) -> Act: ...

    @abstractmethod
    def _begin_stage(self, place: int) -> Act: ...

    def _begin_talk(self, place: int) -> Act:
        """The first words of a plenary, of rooms, or of a group that talks in turn."""
        stage, everybody = self._story.stages[place], list(self._story.characters)
        if stage.split is not None:
            lots = draw(self._settings.seed, self._round, f"rooms {place + 1}")
            for number, members in enumerate(stage.split.rooms(everybody, lots), start=1):
                self._open(f"{self._round}.{place + 1}.{number}", members, place)
        each = stage.utterances if stage.utterances is not None else stage.exchanges * len(everybody)
        return self._next_words(place, each, self._reporters(place), self._turn)

    def _open(self, key: str, members: list[str], place: int) -> None:
        self._rooms[key] = {
            "members": members, "round": self._round, "stage": place, "public": True, "opened": self._turn, "open": True
        }  # fmt: skip
        self._note("met", members[0], at=place, room=key, others=members[1:])

    def _reporters(self, place: int) -> list[str]:
        """Who tells a plenary of the rooms before it: of each room, the member with the fewest utterances in it."""
        before: Stage | None = self._story.stages[place - 1] if place else None
        if before is None or not before.report:
            return []
        found = []
        for room in self._of_stage(place - 1).values():
            said = [one["speaker"] for one in said_since(self._state, room["opened"])]
            if any(name in said for name in room["members"]):
                found.append(min(room["members"], key=said.count))
        return found

    def _of_stage(self, place: int) -> dict[str, Room]:
        """The rooms of a stage of this round, in their order."""
        return {
            key: room for key, room in self._rooms.items() if (room["round"], room["stage"]) == (self._round, place)
        }

    def _next_words(self, place: int, left: int, rest: list[str], opened: int) -> Act:
        """The act of the next speakers: one in each room, or one of all.

        Args:
            place: of the stage; outside the stages, of the last speeches.
            left: utterances that are left in each room.
            rest: who reports, in their order; of the last speeches, who has not spoken yet.
            opened: utterances made when the talk began.
        """
        more: dict[str, Any] = {"stage": place, "left": left, "since": self._turn}
        if place == OUTSIDE_STAGES:
            speaker = self._chosen(rest, opened)
            more |= {"rest": [name for name in rest if name != speaker], "asks": "speech"}
            return self._made("speak", [speaker], **more)
        if rest:
            return self._made("speak", rest[:1], **more, rest=rest[1:], asks="report")
        rooms = [room["members"] for room in self._of_stage(place).values() if room["open"]]
        chosen = [self._chosen(members, opened) for members in rooms or [list(self._story.characters)]]
        if all(is_silent(self._minds[name], self._turn) for name in chosen):
            more["again"] = True  # nobody else can speak, so that another failure ends the run
        return self._made("address" if rooms else "speak", chosen, **more)

    def _chosen(self, members: list[str], since: int) -> str:
        said = [one["speaker"] for one in said_since(self._state, since) if one["speaker"] in members]
        return next_speaker(self._minds, members, said[-1] if said else "", self._turn, self._settings)

    def _after_words(self) -> Act:
        """What follows the words of a talk in turn; where nobody had any, others are asked for theirs."""
        last, place = self._last, self._last["stage"]
        if place == OUTSIDE_STAGES:
            if last["rest"]:
                return self._next_words(place, len(last["rest"]), last["rest"], began(self._state, "guess"))
            return self._made("ballot", self._story.voters, asks="vote")
        left = last["left"] - any(map(self._did, last["who"]))
        if left:
            return self._next_words(place, left, last["rest"], began(self._state, "stage"))
        if last["do"] == "speak":
            return self._begin_stage(place + 1)
        spoke = {one["speaker"] for one in said_since(self._state, began(self._state, "stage"))}
        both = []
        for key, room in self._of_stage(place).items():
            self._rooms[key] = {**room, "open": False}
            both += room["members"] if not spoke.isdisjoint(room["members"]) else []
        return self._made("summarise", both, stage=place, since=self._turn)

    def _after_coming_together(self) -> Act:
        """Everybody's summary of its room is its own."""
        for name in self._last["who"]:
            answer = self._answer(name)
            if answer is not None:
                key = room_of(self._rooms, self._last, self._round, name)
                others = [member for member in self._rooms[key]["members"] if member != name]
                told = {"text": answer["theme"], "lines": answer["keywords"]}
                self._note("summary", name, only=[], room=key, others=others, **told)
        return self._begin_stage(self._last["stage"] + 1)

    def _has_spoken(self, name: str) -> bool:
        """Whether the speaker of an act in turn has spoken, or words were given to it."""
        said = utterances(self._state["messages"][-1:])
        return bool(said) and said[0]["speaker"] == name and said[0]["turn"] > cast(int, self._last.get("since"))
