"""What people do in a conversation: given words are said, people are asked, and interventions are carried out.

No model is asked. A question to a person is LangGraph's `interrupt`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NotRequired

from langgraph.types import interrupt
from typing_extensions import TypedDict

from ..memory.consolidation import admit
from ..state.conversation import Conversation, as_message, new_utterance, participants, utterance_id
from ..state.errors import InputError
from ..state.intervention import MODERATOR, AnyIntervention, Choose, Floor, Hand, NewTopic, Say, Stop, intervention
from ..state.minds.emotion import EmotionalState
from ..state.minds.memory import new_memory
from ..state.minds.mind import Mind, Situation, Step, Utterance
from ..state.person_answer import (
    Asked,
    PersonAnswer,
    PositionQuestion,
    Question,
    StoryQuestion,
    answer_of,
)
from ..state.plain_text import visible_form
from ..state.settings import Settings


class Given(TypedDict):
    """Words to be said."""

    situation: Situation
    needs: dict[str, int]
    """All needs to talk."""
    text: str
    heard_by: list[str] | None
    """The hearers besides the speaker; None for all."""
    mind: Mind | None
    """The participant who says them; None for the moderator."""
    edited_by: NotRequired[str]
    """"branch" if a branch begins with them."""
    question: NotRequired[int]
    """The number of the guide's question that they put; words that are whispered put none."""


def moderator_name(participants: Sequence[str]) -> str:
    """The moderator's name: "Moderator", or a longer one if a participant has that name already."""
    name = MODERATOR
    taken = {visible_form(participant) for participant in participants}
    while visible_form(name) in taken:
        name = f"{name} of the conversation"
    return name


async def say(given: Given, settings: Settings) -> dict[str, Any]:
    """Say the words; no model is asked.

    Returns:
        An update of the conversation: the message and, for a participant, how often and when they spoke.
    """
    situation, mind, utterance = given["situation"], given["mind"], worded(given)
    by_person = mind is None or bool(mind.get("human"))
    message = as_message(utterance, utterance_id(situation["simulation"], utterance["turn"]), by_person=by_person)
    speaks = {"agents": {mind["name"]: _spoken(mind, utterance["turn"])}} if mind is not None else {}
    return {"messages": [message], **speaks}


def worded(given: Given) -> Utterance:
    """The words as an utterance."""
    situation, mind = given["situation"], given["mind"]
    speaker = mind["name"] if mind is not None else moderator_name(situation["present"])
    hearers = given["heard_by"]
    puts = given.get("question") if hearers is None else None
    own = mind is None or mind.get("human") or puts is not None  # the guide's words are the moderator's own
    return new_utterance(
        situation["turn"] + 1,
        speaker,
        given["text"],
        situation["present"],
        called=situation.get("called"),
        emotion=mind["emotion"] if mind is not None else {},
        need_to_talk=given["needs"],
        heard_by=None if hearers is None else [n for n in situation["present"] if n in hearers and n != speaker],
        question=puts,
        edited_by=given.get("edited_by") or (None if own else "moderator"),
    )


def _spoken(mind: Mind, turn: int) -> dict[str, Any]:
    own = {"utterances": mind["utterances"] + 1, "last_spoke": turn}
    return {**own, "hand": False} if mind.get("human") else own


def answer_to(
    mind: Step, what: Asked, story: StoryQuestion | None = None, position: PositionQuestion | None = None
) -> PersonAnswer:
    """A person's answer; an invalid answer is asked for again, with what was wrong.

    Args:
        mind: the person's, with its situation; for a moderator, also with the question of the guide that is due.
        what: the question.
        story: in a story, the rest of the question.
        position: where the person is asked to stand; None for other questions.
    """
    situation, problem = mind["situation"], ""
    while True:
        question: Question = {"agent": mind["name"], "what": what, "turn": situation["turn"], "problem": problem}
        if story is not None:
            question["story"] = story
        if "puts" in mind:
            question["puts"] = mind["puts"]
        if position is not None:
            question["position"] = position
        given = interrupt(question)
        try:
            return answer_of(mind["name"], given, what, situation["present"], story, position)
        except InputError as error:
            problem = str(error)


async def person_speaks(mind: Step, settings: Settings) -> dict[str, Any]:
    """A person's turn: they say something, or pass and are silent for this turn.

    What a focus group's moderator says to all when a question of the guide is due puts that question, in any words.
    """
    answer = answer_to(mind, "utterance")
    if answer.get("passes"):
        turn = mind["situation"]["turn"] + 1
        passed = {"turn": turn, "step": "speak", "why": "passed"}
        own = {"passed": turn, "hand": False, "need_to_talk": 0, "silent": passed}
        return {"agents": {mind["name"]: own}, **_answered(mind, "utterance", answer)}
    given: Given = {
        "situation": mind["situation"],
        "needs": mind["needs"],
        "text": answer["text"],
        "heard_by": answer.get("heard_by"),
        "mind": mind,
    }
    if "puts" in mind:
        given["question"] = mind["puts"]["number"]
    said = await say(given, settings)
    return {**said, **_answered(mind, "utterance", answer)}


async def person_appraises(mind: Step, settings: Settings) -> dict[str, Any]:
    """human_turns=need: a person says how much they need to talk; passing means no need."""
    answer = answer_to(mind, "need_to_talk")
    need = {"need_to_talk": answer.get("need_to_talk", 0)}
    return {"agents": {mind["name"]: need}, **_answered(mind, "need_to_talk", answer)}


async def person_takes_position(mind: Step, settings: Settings) -> dict[str, Any]:
    """A person in a focus group says where they stand, before the talk or after it; nobody hears of it."""
    records: list[dict[str, Any]] = []
    for asked in mind["positions"]:
        answer = answer_to(mind, "position", position=asked)
        about = {"poll": asked["poll"], "when": asked["when"]}
        records += _answered(mind, "position", answer, **about)["carried_out"]
    return {"carried_out": records}


def _answered(mind: Step, what: Asked, answer: PersonAnswer, **about: str) -> dict[str, Any]:
    """The record of a person's answer for `carried_out`."""
    told = {"agent": mind["name"], "what": what, **about}
    return {"carried_out": [{"turn": mind["situation"]["turn"], "do": "answer", **told, **answer}]}


_RAISED_HAND = 10
_SPOKEN_TO = 8


def need_of_person(mind: Mind, addressed: bool, settings: Settings) -> int:
    """A person's need to talk, 0–10, without asking them.

    Args:
        mind: the person's; `hand` is read.
        addressed: whether the last utterance addresses them by name.
        settings: `human_turns`.
    """
    if mind.get("hand"):
        return _RAISED_HAND
    return _SPOKEN_TO if addressed and settings.human_turns != "hand" else 0


_TOPIC = 1
"""The topic's place among a mind's pinned memories: profile, topic, social goals."""


def pending(state: Conversation) -> AnyIntervention | None:
    """The next intervention; None if there is none.

    Raises:
        InputError: it is not a valid intervention, or has an unknown name.
    """
    waiting = state.get("interventions") or []
    if not waiting:
        return None
    present = participants(state)
    return intervention(waiting[0], list(present), [name for name, mind in present.items() if mind.get("human")])


async def intervene(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Carry out the waiting interventions up to the next `Say` or `Floor`, which the edges handle.

    Raises:
        InputError: as `pending`.
    """
    now: Conversation = state.copy()
    update: dict[str, Any] = {}
    while (wanted := pending(now)) is not None and not isinstance(wanted, Say | Floor):
        done = _carried_out(wanted, now, settings)
        agents = {**update.get("agents", {})}
        for name, changed in done.get("agents", {}).items():
            agents[name] = {**agents.get(name, {}), **changed}
        records = [*update.get("carried_out", []), {"turn": state["turn"], **wanted.model_dump()}]
        waiting = now["interventions"][1:]
        update = {**update, **done, "agents": agents, "interventions": waiting, "carried_out": records}
        now["interventions"] = waiting
    return update


def _carried_out(wanted: AnyIntervention, state: Conversation, settings: Settings) -> dict[str, Any]:
    match wanted:
        case Hand(agent=name, raised=raised):
            mind: Mind = {**state["agents"][name], "hand": raised}
            return {"agents": {name: {"hand": raised, "need_to_talk": need_of_person(mind, False, settings)}}}
        case NewTopic(topic=topic):
            thinking = {name: mind for name, mind in state["agents"].items() if not mind.get("human")}
            turned = {name: _turned_to(topic, mind, state["turn"], settings) for name, mind in thinking.items()}
            return {"topic": topic, "agents": turned}
        case Stop():
            detail = "The moderator ended the conversation."
            return {"stop_reason": "stopped", "stop_source": "moderator", "stop_detail": detail}
        case Choose(host=host):
            raise InputError(
                f"{host} chooses nobody to talk to: this is no story", where="intervention", remedy="Leave it out."
            )
        case _:
            raise TypeError(f"edges, not this node, handle words and the floor: {wanted}")


def _turned_to(topic: str, mind: Mind, turn: int, settings: Settings) -> Mind:
    """The changes of a mind for another topic: it is pinned in place of the old one, which may now be forgotten."""
    if len(mind["pinned"]) <= _TOPIC:
        return {}
    memory = new_memory(mind["name"], turn, "topic", topic, [], 10, EmotionalState().vector())
    pinned = [*mind["pinned"][:_TOPIC], memory.id, *mind["pinned"][_TOPIC + 1 :]]
    alive, _ = admit(mind["alive"], memory.id, turn, settings.ltm_capacity, pinned)
    unsaved = [whole for whole in (*mind.get("unsaved", []), memory.model_dump()) if whole["id"] in alive]
    return {"alive": alive, "pinned": pinned, "unsaved": unsaved}
