"""A small story made by hand: what happened in it, what was said, and its run's folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from run_folders import events_of, write_events
from story_talks import scenario

from persimchat.runs.events import Happened, StoryOutcome, Uttered
from persimchat.state.scenario import Scenario
from persimchat.state.stories.story import Story

ADA, BO, CY = "Ada Lind", "Bo Vik", "Cy Dahl"
WHO = (ADA, BO, CY)


def story() -> Story:
    found = scenario(2, 1).story
    assert found is not None
    return found


def happened(turn: int, do: str, speaker: str = "", **more: Any) -> Happened:
    return Happened(turn=turn, do=do, speaker=speaker, **{"round": 1, **more})


def own(turn: int, do: str, speaker: str, **more: Any) -> Happened:
    return happened(turn, do, speaker, heard_by=[], **more)


def standings(turn: int, number: int, near: int) -> list[Happened]:
    return [
        own(
            turn, "standing", name, round=number, closeness={other: near for other in WHO if other != name},
            beliefs=[] if name == CY else [60 + number, 10], supports="", influence=30 if name == ADA else 0,
        )
        for name in WHO
    ]  # fmt: skip


HAPPENED = [
    *standings(0, 0, 10),
    happened(0, "stage", stage="private"),
    own(0, "choice", ADA, stage="private", room="1.1.1", choice=BO, text="Bo has zyx0900q."),
    happened(0, "met", ADA, stage="private", room="1.1.1", others=[BO], heard_by=[BO]),
    own(2, "summary", ADA, stage="private", room="1.1.1", others=[BO], text="Bo said zyx0901q."),
    happened(2, "stage", stage="confidential"),
    happened(2, "met", BO, stage="confidential", room="1.2.1", others=[CY]),
    happened(4, "stage", stage="group"),
    own(7, "review", CY, text="It was zyx0902q.", closeness={ADA: 1, BO: 2}),
    *standings(7, 1, 20),
    own(7, "guess", ADA, round=2, choice=BO),
    own(10, "ballot", ADA, round=2, choice=ADA),
    own(10, "closed_ballot", ADA, round=2, choice=BO),
    own(10, "ballot", BO, round=2, choice=BO),
    happened(10, "outcome", round=2, text="It is a draw.", choice="Ada Lind and Bo Vik"),
]
HEARD = {1: [BO], 2: [ADA], 3: [CY], 4: [BO]}
SPEAKERS = [ADA, BO, BO, CY, ADA, BO, CY, ADA, BO, CY]
SAID = [
    Uttered(turn=turn, speaker=name, text=f"zyx{turn:04d}q", heard_by=HEARD.get(turn))
    for turn, name in enumerate(SPEAKERS, start=1)
]
OUTCOME = StoryOutcome(
    winners=[ADA, BO], elected=[ADA, BO], open={ADA: 1, BO: 1}, closed={BO: 1}, appointed=BO
)  # fmt: skip


def write_story(
    folder: Path,
    *,
    people: tuple[str, ...] = (),
    ended: bool = True,
    made: Scenario | None = None,
    happened: Sequence[Happened] = HAPPENED,
    said: Sequence[Uttered] = SAID,
) -> Path:
    """Write the story as a run's folder.

    Args:
        folder: of the run; it is made.
        people: the characters whom people play.
        ended: whether it is over.
        made: another story than this one, which ends without a vote.
        happened: what happened in it.
        said: what was said in it.
    """
    given = (made or scenario(2, 1)).model_dump(mode="json", by_alias=True, exclude={"settings"})
    for one in given["participants"]:
        one["human"] = one["name"] in people
    settings: dict[str, Any] = {"mode": "story", "rounds": 1, "model": "offline"}
    end: dict[str, Any] = {"stop_reason": "settled", "stop_source": "story", "outcome": OUTCOME.model_dump()}
    if made is not None:
        settings |= {"cognition": "lean"} if made.story is not None and made.story.needs_minds else {}
        end = {"stop_reason": "finished", "stop_source": "story"}
    run = {
        "run": folder.name, "started": "2026-11-22T10:00:00+00:00", "turn": len(said),
        "scenario": given, "settings": settings, **(end if ended else {}),
    }  # fmt: skip
    folder.mkdir(parents=True)
    kinds = {"utterance": said, "happening": happened}
    write_events(folder, events_of(run, **{kind: [one.model_dump() for one in rows] for kind, rows in kinds.items()}))
    return folder
