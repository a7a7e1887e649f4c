"""The turns of a story's run: which utterances were made at once, so that a turn ends with the last of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from persimchat.runs.events import Happened, Uttered
from persimchat.runs.folder.lines import STANDING


def minds_hear(settings: Mapping[str, Any]) -> bool:
    """Whether the minds of a run's story hear and think, so that each turn changes them.

    Args:
        settings: of the run, by name.
    """
    return bool(settings.get("cognition", "strategist") != "strategist")


class Turns:
    """Follows a story and says of each utterance whether its turn is over with it.

    Args:
        participants: their names.
        hear: whether the minds hear and think: then the group talks in turn, and only rooms talk at once.
    """

    def __init__(self, participants: Sequence[str], *, hear: bool) -> None:
        self._participants, self._hear = set(participants), hear
        self._before: list[str] = []
        self._room: dict[str, int] = {}

    def happened(self, one: Happened) -> None:
        """Take in what happened after the last utterance: a turn is over, and rooms open or close."""
        self._before = []
        if one.do == "stage":
            self._room = {}
        if one.do == "met" and one.stage == "rooms":
            self._room |= dict.fromkeys([one.speaker, *one.others], len(set(self._room.values())))

    def over(self, said: Uttered, then: Uttered | None) -> bool:
        """Whether the turn of an utterance is over with it.

        Args:
            said: the utterance.
            then: the next one, if nothing happened in between; else None.
        """
        self._before.append(said.speaker)
        at_once = then is not None and (self._rooms(said, then) if self._hear else self._group(said, then))
        if not at_once:
            self._before = []
        return not at_once

    def _rooms(self, said: Uttered, then: Uttered) -> bool:
        if said.speaker not in self._room or then.speaker not in self._room:
            return False
        return self._room[then.speaker] > self._room[said.speaker]

    def _group(self, said: Uttered, then: Uttered) -> bool:
        """Whether both belong to one chat round of the group, in which each speaks once."""
        if said.heard_by is not None or then.heard_by is not None:
            return False
        return said.speaker in self._participants and then.speaker in self._participants - {*self._before}


def turns_with_minds(
    said: Sequence[Uttered], happened: Iterable[Happened], participants: Sequence[str], complete: int, *, hear: bool
) -> list[int]:
    """The turns after which minds are recorded: all whole ones, or, of strategists, those of an update.

    Args:
        said: all utterances.
        happened: all that happened beside words.
        participants: their names.
        complete: the last turn that all have heard; -1 before they have awoken.
        hear: whether the minds hear and think.
    """
    news = list(happened)
    if not hear:
        return sorted({one.turn for one in news if one.do == STANDING})
    turns, place = Turns(participants, hear=hear), 0
    found = [0] if complete >= 0 else []
    for number, uttered in enumerate(said):
        while place < len(news) and news[place].turn < uttered.turn:
            turns.happened(news[place])
            place += 1
        pending = place < len(news) and news[place].turn == uttered.turn
        then = said[number + 1] if number + 1 < len(said) and not pending else None
        if turns.over(uttered, then) and uttered.turn <= complete:
            found.append(uttered.turn)
    return found
