"""What each character gets for one act, a mind or a person: pure functions of the story's state.

Only what `is_heard` allows is given, and of a mind only what the act's prompt can show, because checkpoints store what
is sent. A person's question holds all that the character knows: unlike a model's prompt it leaves out nothing that is
old, for a person has no summaries to remember by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from ...state.conversation import participants
from ...state.minds.mind import Step, Utterance, in_step
from ...state.person_answer import Knowledge, Learned, StoryQuestion
from ...state.settings import Settings
from ...state.stories.state import Act, Room, StoryState
from ...state.stories.story import Story
from ...state.stories.support import Seen, StorySituation
from ...state.visibility import is_heard, is_public
from ..situation import compared_with, for_step, situation_of
from .agenda import partners_of, stage_name
from .talks import OUTSIDE_STAGES, began, hears, room_of, said_since

_LINES: Final = {"stocktake": 20, "address": 20, "review": 30, "ballot": 30}
"""How many of the newest lines of what happened an act is told; none for the others."""
_KEPT_SUMMARIES: Final = 3
"""How many summaries of a round's talks a mind that hears is reminded of when it speaks; it has memories besides."""
_MOST_WORDS: Final = 60
"""The most utterances of the room or the group that a prompt gives word by word."""
_TOLD: Final = ("met", "summary", "review")
"""What happened beside words that a prompt tells of; the rest has blocks of its own, or is for readers of the run."""
_KEPT: Final = ("name", "persona", "goals", "emotion", "utterances", "last_spoke", "silent", "weak", "human", "story")
_REMEMBERS: Final = ("stm", "alive", "pinned", "unsaved")
"""The keys of a mind that an act needs, and those that acts need which make memories."""


def for_act(state: StoryState, name: str, story: Story, settings: Settings, **given: Any) -> Step:
    """One mind with its input for the present act.

    Args:
        state: the story.
        name: whose mind.
        story: its section of the scenario.
        settings: of the simulation.
        **given: further input of the act.
    """
    act, mind = state["act"], cast(Mapping[str, Any], state["agents"][name])
    if hears(settings) and act["do"] in ("awaken", "speak", "address"):
        return for_mind(state, name, story, settings, **given)
    keys = (*_KEPT, *_REMEMBERS) if act["do"] in ("awaken", "summarise", "review") else _KEPT
    kept = {key: mind[key] for key in keys if key in mind}
    words = heard_lately(state, name, story, settings)
    situation = situation_of(state, name, settings, window=1)
    situation["recent"] = words
    situation["story"] = _seen(state, name, story, settings, words)
    more: dict[str, Any] = {"act": act["n"], **({"required": True} if act.get("again") else {})}
    if act["do"] == "ballot":
        more["asks"] = act.get("asks", "")
    if act["do"] in ("speak", "address"):
        more |= {"needs": {}, "said": compared_with(state, name, settings)}
    return in_step(kept, situation=situation, **more, **given)


def for_mind(state: StoryState, name: str, story: Story, settings: Settings, **given: Any) -> Step:
    """A mind that hears and thinks, with its input for the present act, for an utterance heard, or for a thought.

    The words shown are those of the room, or of the stage where all are together. Of the number of utterances it is
    told only how many it has heard itself: their whole number would tell of rooms in which it was not.

    Args:
        state: the story.
        name: whose mind.
        story: its section of the scenario.
        settings: of the simulation.
        **given: further input; "heard" for an utterance heard, "thinks" for a thought, else the act is given.
    """
    act = state["act"]
    acts = not given.pop("thinks", False) and "heard" not in given
    recalls = "heard" not in given or settings.memory_filtering
    step = for_step(state, state["agents"][name], settings, recalls=recalls, **given)
    words = heard_lately(state, name, story, settings)[-settings.recent_utterances :]
    if act["do"] not in ("speak", "address"):
        words = []
    seen = _seen(state, name, story, settings, words)
    seen["happened"] = happened(state, name, _KEPT_SUMMARIES, this_round=True, only="summary")
    seen["heard"] = [one["turn"] for one in said_since(state, 0) if is_heard(one, name)]
    if act["do"] == "awaken":
        seen["happened"] = []
    situation = step["situation"]
    situation["recent"], situation["story"] = words, seen
    if seen["room"] is not None:
        beside = {name, *(other["name"] for other in seen["room"]["others"])}
        situation["present"] = [one for one in situation["present"] if one in beside]
    if not acts:
        return step
    step["act"] = act["n"]
    if act.get("again"):
        step["required"] = True
    if act["do"] != "awaken":
        step["asks"] = act.get("asks", "")
        step["needs"] = {one: state["agents"][one]["need_to_talk"] for one in situation["present"]}
        step["said"] = compared_with(state, name, settings)
    return step


def _seen(state: StoryState, name: str, story: Story, settings: Settings, words: list[Utterance]) -> StorySituation:
    act = state["act"]
    do, stage = act["do"], stage_name(state, story, settings)
    first = do == "awaken"
    lines = 0 if "memory" in story.ablation else _LINES.get(do, 0)
    decider = story.settlement.decider if story.settlement is not None else ""
    shown = [one["turn"] for one in words]
    seen: StorySituation = {
        "round": state["round"],
        "rounds": settings.rounds,
        "stage": stage,
        "cast": cast_of(story, name) if first or do == "stocktake" else [],
        "resources": resources_in(state, story) if do in ("stocktake", "address") else [],
        "room": room_seen(state, name, story) if do in ("speak", "address", "summarise") else None,
        "happened": happened(
            state,
            name,
            lines,
            this_round=do == "review",
            without=shown,
        ),
        "candidates": candidates_in(state, name, story, act),
        "exchanges": story.stages[act["stage"]].exchanges if act["stage"] != OUTSIDE_STAGES else 1,
        "change": story.limits.change,
        "decider": decider,
    }
    if story.ablation:
        seen["ablation"] = story.ablation
    return seen


def cast_of(story: Story, name: str) -> list[dict[str, Any]]:
    """The others, as everybody knows them."""
    return [
        {"name": other, "main": one.main, "known_as": one.known_as, "camp": one.camp}
        for other, one in story.characters.items()
        if other != name
    ]


def resources_in(state: StoryState, story: Story) -> list[dict[str, Any]]:
    """The resources with their present owners, which everybody knows."""
    return [
        {
            "name": one.name,
            "owner": state["owners"].get(one.name, ""),
            "influence": one.influence,
            "topics": one.topics,
            "description": one.description,
        }
        for one in story.resources
    ]


def room_seen(state: StoryState, name: str, story: Story) -> dict[str, Any] | None:
    """The room in which a character is now; None where all are together."""
    key = room_of(state["rooms"], state["act"], state["round"], name)
    if not key:
        return None
    room = state["rooms"][key]
    others = [member for member in room["members"] if member != name]
    return {
        "others": [{"name": other, "known_as": story.characters[other].known_as} for other in others],
        "public": room["public"],
        **({} if story.stages[room["stage"]].by_two else _number(state, key, room)),
    }


def _number(state: StoryState, key: str, room: Room) -> dict[str, int]:
    """Which of the rooms of a split group a room is, and how many there are."""
    beside = [
        one for one, other in state["rooms"].items()
        if (other["round"], other["stage"]) == (room["round"], room["stage"])
    ]  # fmt: skip
    return {"number": beside.index(key) + 1, "of": len(beside)}


def candidates_in(state: StoryState, name: str, story: Story, act: Act) -> list[str]:
    """Who, or which outcome, a character may name in an act; nobody in acts of words."""
    if act["do"] == "choose":
        if partner := act.get("partner"):
            return [partner]
        return partners_of(state, story, name, story.stages[act["stage"]])
    return story.candidates if act["do"] == "ballot" else []


def heard_lately(state: StoryState, name: str, story: Story, settings: Settings) -> list[Utterance]:
    """The words of the open room or of this stage of the group, or the last speeches, as a character heard them."""
    act = state["act"]
    do = act["do"]
    room = room_of(state["rooms"], act, state["round"], name) if do in ("speak", "address", "summarise") else ""
    if room:
        since = state["rooms"][room]["opened"]
    elif do in ("speak", "address"):
        since = began(state, "stage" if act["stage"] != OUTSIDE_STAGES else "guess")
    elif do == "ballot" and act.get("asks") == "vote":
        since = began(state, "guess")
    else:
        return []
    return [one for one in said_since(state, since) if is_heard(one, name)][-_MOST_WORDS:]


def happened(
    state: StoryState,
    name: str,
    count: int,
    *,
    this_round: bool = False,
    without: Sequence[int] = (),
    only: str = "",
) -> list[Seen]:
    """The newest lines of what a character knows has happened, oldest first.

    It knows meetings that were made public, its own summaries and reviews, and what all heard.

    Args:
        state: the story.
        name: the character.
        count: how many lines at most.
        this_round: only those of the present round.
        without: the numbers of utterances that are left out, because the prompt gives them word by word.
        only: what alone is told of, for example "summary"; empty for everything.
    """
    if not count:
        return []
    lines = [
        line
        for number, line in _lines(state, name)
        if number not in without
        and (not this_round or line["round"] == state["round"])
        and (not only or line["do"] == only)
    ]
    return lines[-count:]


def _lines(state: StoryState, name: str) -> Iterator[tuple[int, Seen]]:
    """What a character knows has happened, oldest first, each with the number of its utterance; 0 beside words."""
    present, round_ = participants(state), 0
    words = iter([*said_since(state, 0), None])
    said = next(words)

    def known(one: Utterance) -> bool:
        return is_heard(one, name) and (is_public(one) or one["speaker"] not in present)

    def upto(turn: int | None) -> Iterator[tuple[int, Seen]]:
        nonlocal said
        while said is not None and (turn is None or said["turn"] <= turn):
            if known(said):
                line: Seen = {
                    "round": round_, "do": "words", "who": said["speaker"], "others": [], "text": said["text"]
                }  # fmt: skip
                yield said["turn"], line
            said = next(words)

    for one in state["happenings"]:
        yield from upto(one["turn"])
        round_ = one["round"]
        own = one["speaker"] == name and bool(one.get("text"))
        if one["do"] in _TOLD and is_heard(one, name) and (own or one["do"] == "met"):
            told: Seen = {
                "round": one["round"],
                "do": one["do"],  # type: ignore[typeddict-item]
                "who": one["speaker"],
                "others": one.get("others", []),
                "text": one.get("text", ""),
            }
            yield 0, told
    yield from upto(None)


_KEPT_OF_PERSON: Final = ("name", "emotion", "utterances", "last_spoke", "silent", "human", "story")
"""The keys of a mind that a person's part of an act needs."""
_LEARNED: Final = ("stage", "met", "choice", "guess", "ballot", "closed_ballot")
"""What happened beside words that a person is told of; where they stand is told apart, and the outcome at the end."""


def for_person(state: StoryState, name: str, story: Story, settings: Settings) -> Step:
    """A person's mind with its input for the present act.

    Args:
        state: the story.
        name: whose part the person takes.
        story: its section of the scenario.
        settings: of the simulation.
    """
    act, mind = state["act"], cast(Mapping[str, Any], state["agents"][name])
    situation = situation_of(state, name, settings, window=1)
    situation["recent"] = []
    more: dict[str, Any] = {"asks": act.get("asks", "")} if act["do"] == "ballot" else {}
    question = question_to(state, name, story, settings)
    return in_step(
        {key: mind[key] for key in _KEPT_OF_PERSON if key in mind},
        situation=situation,
        act=act["n"],
        question=question,
        **more,
    )


def question_to(state: StoryState, name: str, story: Story, settings: Settings) -> StoryQuestion:
    """The part `story` of the question to a person in the present act; a ballot's kind is not in it yet."""
    act = state["act"]
    left = {"speak": (act["left"] + 1) // 2, "address": act["left"] if act["stage"] != OUTSIDE_STAGES else 1}
    room = room_seen(state, name, story) if act["do"] == "speak" else None
    return {
        "act": act["n"],
        "round": state["round"],
        "rounds": settings.rounds,
        "stage": stage_name(state, story, settings),
        "ballot": "",
        "candidates": candidates_in(state, name, story, act),
        "left": left.get(act["do"], 0),
        "room": {"others": [one["name"] for one in room["others"]], "public": room["public"]} if room else None,
        "knows": known_to(state, name, story, settings),
    }


def known_to(state: StoryState, name: str, story: Story, settings: Settings) -> Knowledge:
    """All that a character knows."""
    mind = state["agents"][name]
    own = mind["story"]
    return {
        "topic": state["topic"],
        "rules": state["rules"],
        "name": name,
        "description": str(mind["persona"].get("description", "")),
        "known_as": story.characters[name].known_as,
        "main": own["main"],
        "goals": mind["goals"],
        "relationships": situation_of(state, name, settings, window=1)["relationships"],
        "beliefs": own["beliefs"],
        "closeness": own["closeness"],
        "supports": own["supports"],
        "cast": cast_of(story, name),
        "resources": resources_in(state, story),
        "decider": story.settlement.decider if story.settlement is not None else "",
        "heard": learned(state, name),
    }


def learned(state: StoryState, name: str) -> list[Learned]:
    """Everything that a character has heard or done, oldest first."""
    said = said_since(state, 0)
    # What happened after as many utterances as a word's number comes after this word.
    events: list[tuple[int, bool, Any]] = [
        *((one["turn"], False, one) for one in said),
        *((one["turn"], True, one) for one in state["happenings"]),
    ]
    at = {"round": 0, "stage": ""}
    found: list[Learned] = []
    for _, happened, one in sorted(events, key=lambda event: event[:2]):
        if happened:
            at = {"round": one["round"], "stage": one["stage"]}
        if not is_heard(one, name) or (happened and one["do"] not in _LEARNED):
            continue
        if happened:
            what = {"do": one["do"], "others": one.get("others", []), "text": one.get("choice", "")}
        else:
            what = {"do": "words", "others": one.get("heard_by") or [], "text": one["text"]}
        found.append(cast(Learned, {**at, "who": one["speaker"], **what}))
    return found
