"""The tables of an export that stories have: what happened, rooms, where characters stand, ballots; and their rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from persimchat.runs.events import Happened
from persimchat.runs.folder.lines import BALLOTS, STANDING
from persimchat.runs.folder.reading import Record
from persimchat.runs.folder.stored import Count, Turn
from persimchat.runs.reports.export_columns import JsonObject, Row, column
from persimchat.state.standing import strongest

_ROUND: Final = "0 before the first round; in the vote, one more than there are rounds"


class HappeningRow(Row):
    """One row per happening of a story beside words: meetings, reviews, where characters stand, ballots."""

    turn: Turn = column("utterances so far", "utterances")
    round: Count = column("0 before the first round; in the vote, one more than there are rounds", "number")
    stage: str | None = column("private, confidential or group; empty outside the stages")
    do: str = column(
        "what: stage, met, stock, choice, summary, review, standing, guess, ballot, closed_ballot, outcome"
    )
    agent: str | None = column("whose doing it is; empty for the story's own")
    heard_by: list[str] | None = column("who knows of it besides the agent, until the run is over; empty if all do")
    room: str | None = column("the talk of two: round, place of the stage, number")
    others: list[str] | None = column("with whom")
    text: str | None = column("in words, or the reason")
    lines: list[str] | None = column("next steps of a stock, plan of a choice, keywords of a summary")
    choice: str | None = column("who or what was chosen; of an outcome, the winners")
    chosen_by: str | None = column("a choice: branch, if a branch made it and not the agent; empty elsewhere")
    closeness: JsonObject | None = column("of a review, the answered changes by name; of a standing, the values 0–100")
    beliefs: list[int] | None = column("the same of the agent's beliefs, in the file's order")
    supports: str | None = column("of a standing: the main character supported; empty for nobody")
    influence: Count | None = column("of a standing: the agent's influence", "points")


class RoomRow(Row):
    """One row per talk behind closed doors in a story: who met whom, and who knew."""

    room: str = column("round, place of the stage, number")
    turn: Turn = column("utterances before it", "utterances")
    round: Count = column("of the story", "number")
    stage: str = column("private or confidential")
    host: str = column("who chose the other")
    others: list[str] = column("with whom")
    public: bool = column("whether everybody knows that they meet")
    chosen_by: str | None = column("branch, if a branch chose the partner and not the host; else empty")
    utterances: Count | None = column("made in it; empty if none is known", "utterances")


class StandingRow(Row):
    """One row per character and update of a story: whom it supports, and what weight it has."""

    turn: Turn = column("utterances so far", "utterances")
    round: Count = column(_ROUND, "number")
    agent: str = column("whose standing")
    main: bool | None = column("whether it is a main character")
    supports: str | None = column("the main character supported; empty for nobody")
    before: str | None = column("whom it supported after the update before; empty for nobody, and at first")
    influence: Count = column("its weight: own resources, and those of others who support it", "points")
    review: str | None = column("the sentence of its review; empty if it gave none")


class ClosenessRow(Row):
    """One row per pair of characters and update of a story: how close one is to the other."""

    turn: Turn = column("utterances so far", "utterances")
    round: Count = column(_ROUND, "number")
    agent: str = column("who is close")
    other: str = column("to whom")
    closeness: Count = column("0 to 100", "points")
    change: int | None = column("the change that the agent answered; empty if its answer was of no use", "points")


class BeliefRow(Row):
    """One row per belief and update of a story: how strong it is."""

    turn: Turn = column("utterances so far", "utterances")
    round: Count = column(_ROUND, "number")
    agent: str = column("whose belief")
    belief: int = column("its place in the file, from 1", "number")
    text: str | None = column("the belief")
    favours: str | None = column("the participant whom it is for; empty for nobody")
    score: Count = column("0 to 100", "points")
    change: int | None = column("the change that the agent answered; empty if its answer was of no use", "points")
    strongest: bool = column("whether none of the agent's is stronger: what it is after")


class BallotRow(Row):
    """One row per ballot of a story's vote. An abstention has none."""

    turn: Turn = column("utterances so far", "utterances")
    agent: str = column("who voted")
    ballot: str = column("guess (who will win), open, or closed (not oneself)")
    choice: str = column("who or what was chosen")
    own: bool = column("whether the agent named itself")
    won: bool | None = column("whether the choice has won; empty if the outcome is not known")
    text: str | None = column("the reason")


TABLES: Final[dict[str, type[Row]]] = {
    "happenings": HappeningRow,
    "rooms": RoomRow,
    "standings": StandingRow,
    "closeness": ClosenessRow,
    "beliefs": BeliefRow,
    "ballots": BallotRow,
}
"""The tables of stories by name."""


def story_rows(record: Record) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a story, each with its table's name; none of any other run.

    They hold no more than the record's happenings, minds and utterances.
    """
    yield from (("happenings", _happening(one)) for one in record.happenings)
    yield from (("rooms", row) for row in _rooms(record))
    yield from _standings(record)
    outcome = record.manifest.outcome
    for one in record.happenings:
        if one.do in BALLOTS:
            yield (
                "ballots",
                {
                    "turn": one.turn,
                    "agent": one.speaker,
                    "ballot": BALLOTS[one.do],
                    "choice": one.choice,
                    "own": one.choice == one.speaker,
                    "won": one.choice in outcome.winners if outcome else None,
                    "text": one.text,
                },
            )


def _happening(happened: Happened) -> dict[str, Any]:
    return {**happened.model_dump(exclude={"event", "version", "speaker"}), "agent": happened.speaker}


def _rooms(record: Record) -> Iterator[dict[str, Any]]:
    opened = [one for one in record.happenings if one.do in ("met", "stage")]
    forced = {one.room: one.chosen_by for one in record.happenings if one.do == "choice" and one.room}
    for place, one in enumerate(opened):
        if one.do == "stage":
            continue
        # rooms of a split group open at the same time, and are over when something else begins
        after = [then.turn for then in opened[place + 1 :] if one.stage != "rooms" or then.turn > one.turn]
        until = after[0] if after else None
        members = {one.speaker, *one.others}
        said = [
            utterance
            for utterance in record.utterances
            if {utterance.speaker, *(utterance.heard_by or ())} == members
            and one.turn < utterance.turn
            and (until is None or utterance.turn <= until)
        ]
        yield {
            "room": one.room,
            "turn": one.turn,
            "round": one.round,
            "stage": one.stage,
            "host": one.speaker,
            "others": one.others,
            "public": one.heard_by is None,
            "chosen_by": forced.get(one.room),
            "utterances": len(said) or None,
        }


def _standings(record: Record) -> Iterator[tuple[str, dict[str, Any]]]:
    minds = {(mind.agent, mind.turn): mind.story for mind in record.minds if mind.story is not None}
    reviews = {(one.speaker, one.round): one for one in record.happenings if one.do == "review"}
    before: dict[str, str | None] = {}
    for one in record.happenings:
        if one.do != STANDING:
            continue
        mind, review = minds.get((one.speaker, one.turn)), reviews.get((one.speaker, one.round))
        base = {"turn": one.turn, "round": one.round, "agent": one.speaker}
        yield (
            "standings",
            {
                **base,
                "main": mind.main if mind else None,
                "supports": one.supports,
                "before": before.get(one.speaker),
                "influence": one.influence,
                "review": review.text if review else None,
            },
        )
        before[one.speaker] = one.supports
        for other, near in one.closeness.items():
            change = review.closeness.get(other) if review else None
            yield "closeness", {**base, "other": other, "closeness": near, "change": change}
        best = strongest([{"score": score} for score in one.beliefs])
        for place, score in enumerate(one.beliefs):
            belief = mind.beliefs[place] if mind and place < len(mind.beliefs) else {}
            yield (
                "beliefs",
                {
                    **base,
                    "belief": place + 1,
                    "text": belief.get("text"),
                    "favours": belief.get("for"),
                    "score": score,
                    "change": review.beliefs[place] if review and place < len(review.beliefs) else None,
                    "strongest": place in best,
                },
            )
