"""Attending: takes what comes in, asks no model.

It opens talks and closes them: after leave-taking, after silence, at the client's word.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Final

from langchain_core.messages import RemoveMessage
from langgraph.config import get_config
from pydantic import ValidationError

from ...state.companion import CLIENT_S_NAME, Happening, Occurrence, Talk, Tie, exchange_id, talk_id
from ...state.companion.leaving import is_goodbye
from ...state.companion.state import CompanionState
from ...state.companion.trust import walks_off
from ...state.errors import InputError
from ...state.minds.addressing import addressees
from ...state.plain_text import clean, folded
from ...state.settings import Settings
from .digesting import taken_back
from .records import Records, agent_of, held_pair, new_mind, new_tie, place_in
from .scene import about, line, line_id, new_words

LONGEST_MESSAGE: Final = 8_000
_WITHOUT_DIGEST: Final = ("fixed", "strategist")
_UNSPACED: Final = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]+")
"""Thai, Lao, Japanese, Chinese."""


async def attend(state: CompanionState, settings: Settings) -> dict[str, Any]:
    """Take what comes in: open or close the talk, put the person's words into the transcript.

    Raises:
        InputError: settings, agent, person or words are invalid; nothing is remembered then.
    """
    refuse_others(settings)
    records = Records(settings.companion.world)
    given = occurrence_of(state, settings)
    at = _time(given)
    text = words_of(given) if given["kind"] == "message" else ""
    happenings_of(given)
    place = await place_in(records)  # before the person is written down: the agent may be unknown
    agent = agent_of(place, settings.companion.agent)
    person, name = await records.person(settings.companion.person)
    # Who has a transcript has met the agent, which has a mind since then.
    new = not state.get("lines") and await records.mind(agent.name) is None
    async with held_pair(records.world, agent.name, person, mind=new or given["kind"] == "retract"):
        mind, tie = await records.pair(agent.name, person)
        before = tie
        fresh = mind is None
        mind = mind or await new_mind(place, agent, settings, at)
        tie = tie or new_tie(place, agent, person, name, at)
        tie = _without_silence(state, tie, settings, at, client=_client(given))
        update: dict[str, Any] = {
            "answer": None,
            "digested": [],
            "consolidated": [],
            "perceived": [],
            "acted": None,
            "speaks": False,
            "pending": state.get("pending", []),
        }
        match given["kind"]:
            case "message":
                tie, more = _heard(state, given, tie, settings, text, at)
                update |= more
            case "events" | "time":
                update["occurrence"] = {**given, "id": given.get("id") or next_id(state, settings)}
            case "end":
                tie = ended(tie)
            case "retract":
                mind, tie, more = taken_back(state, mind, tie)
                update |= more
                fresh = True
        await records.keep(agent.name, mind=mind if fresh else None, tie=tie if tie != before else None)
    return {**update, "occurrence": {**update.get("occurrence", given), "at": at}}


def refuse_others(settings: Settings) -> None:
    """Refuse settings that are for conversations only.

    Raises:
        InputError: a setting does not go with a companion.
    """
    for name, why in (
        ("pruning", "A companion's prompts are not pruned in this release." if settings.pruning.active else ""),
        ("ablation", "A companion has its whole mind." if settings.ablation else ""),
        ("joined", "A companion's calls are what cognition says." if settings.joined else ""),
        ("modules", "A companion has modules of its own." if settings.modules else ""),
        ("baseline", "A companion has a mind." if settings.baseline is not None else ""),
        ("cognition", "A companion digests in full, compact or lean." if settings.cognition in _WITHOUT_DIGEST else ""),
    ):
        if why:
            raise InputError(f"{name} does not go with a companion", where="settings", remedy=f"{why} Leave it out.")


def occurrence_of(state: CompanionState, settings: Settings) -> Occurrence:
    """What comes in: a new human message at the end of the transcript, else the occurrence.

    Raises:
        InputError: there is neither.
    """
    words = new_words(state.get("messages", []))
    given = state.get("occurrence")
    if words is not None:
        return Occurrence(kind="message", text=str(words.text), id=exchange_id(_thread(settings), str(words.id)))
    if not given or given.get("kind") not in ("message", "events", "time", "end", "retract"):
        raise InputError(
            "nothing has come in",
            where="the graph's input",
            remedy='Give a human message in "messages", or an occurrence: {"kind": "message", "text": …}.',
        )
    return given


def _time(given: Occurrence) -> str:
    """When it came in, ISO local time.

    Raises:
        InputError: it is no time.
    """
    told = given.get("at") or datetime.now().isoformat(timespec="seconds")
    try:
        return datetime.fromisoformat(told).replace(tzinfo=None).isoformat(timespec="seconds")
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{told!r} is no time", where="field at", remedy="Write it as 2025-03-03T11:40:00, or leave it out."
        ) from error


def words_of(given: Occurrence) -> str:
    """A person's words, cleaned.

    Raises:
        InputError: there are none, or too many.
    """
    found = given.get("text", "")
    text = clean(found).strip() if isinstance(found, str) else ""
    if not text:
        raise InputError("the message is empty", where="text", remedy="Say something.")
    if len(text) > LONGEST_MESSAGE:
        raise InputError(
            f"the message has {len(text)} characters", where="text", remedy=f"Say it in {LONGEST_MESSAGE} at most."
        )
    return text


def _client(given: Occurrence) -> str:
    """The client's name for its talk; empty for the open one."""
    told = given.get("talk", "") if given["kind"] == "message" else ""
    return clean(told)[:CLIENT_S_NAME] if isinstance(told, str) else ""


def _without_silence(state: CompanionState, tie: Tie, settings: Settings, at: str, *, client: str) -> Tie:
    """The tie without an open talk that is over.

    It is over if the agent has taken leave, nobody has spoken for long, or the person goes on elsewhere: in another
    talk of the client, or in another thread.
    """
    if tie.talk is None:
        return tie
    if (client and client != tie.talk.client) or not is_own(tie.talk, settings):
        return ended(tie)
    left = any(one["talk"] == tie.talk.id and one["end"] for one in state.get("pending", []))
    silent = datetime.fromisoformat(at) - datetime.fromisoformat(tie.talk.last)
    return ended(tie) if left or silent.total_seconds() >= 60 * settings.companion.silence_minutes else tie


def ended(tie: Tie) -> Tie:
    """The tie with its open talk over."""
    if tie.talk is None:
        return tie
    return tie.model_copy(update={"talk": None, "over": [*tie.over, tie.talk]})


def _heard(
    state: CompanionState, given: Occurrence, tie: Tie, settings: Settings, text: str, at: str
) -> tuple[Tie, dict[str, Any]]:
    """The tie and the channels with the person's words."""
    id_ = given.get("id") or next_id(state, settings)
    messages = state.get("messages", [])
    raw = new_words(messages)
    removed = [RemoveMessage(id=str(raw.id))] if raw is not None else []
    if any(str(message.id) == line_id(id_, own=True) for message in messages):  # answered before
        return tie, {"messages": removed}
    talk = open_talk(tie, settings, at, client=_client(given))
    closing = is_goodbye(text) or talk.closing or walks_off(tie)
    closing = closing or talk.exchanges + len(state.get("pending", [])) + 1 >= settings.companion.talk_exchanges
    knows = tie.talks > 0 or given.get("introduced", settings.companion.introduced) or _says_name(text, tie.name)
    again = next((about(message)["n"] for message in messages if message.id == line_id(id_, own=False)), None)
    n = int(again) if again is not None else state.get("lines", 0) + 1
    said = line(text, own=False, exchange=id_, talk=talk.id, at=at, n=n)
    return tie.model_copy(update={"talk": talk, "introduced": tie.introduced or bool(knows)}), {
        "messages": [*removed, said],
        "occurrence": {**given, "id": id_, "text": text, "closing": closing},
        "lines": max(n, state.get("lines", 0)),
        "speaks": True,
    }


def next_id(state: CompanionState, settings: Settings) -> str:
    """The id of the exchange that comes next in this thread, if its client gives none."""
    return exchange_id(_thread(settings), state.get("lines", 0) + 1)


def open_talk(tie: Tie, settings: Settings, at: str, *, client: str = "") -> Talk:
    """The open talk, in which something is said now; a new one, with the client's name for it, if there is none."""
    if tie.talk is not None:
        return tie.talk.model_copy(update={"last": at})
    number = tie.talks + len(tie.over) + 1
    id_ = talk_id(_thread(settings), number)
    return Talk(id=id_, number=number, begun=at, last=at, trust=tie.trust, client=client)


def is_own(talk: Talk, settings: Settings) -> bool:
    """Whether a talk was begun in this thread, which alone has its words."""
    return talk.id == talk_id(_thread(settings), talk.number)


def _thread(settings: Settings) -> str:
    return str(get_config().get("configurable", {}).get("thread_id") or settings.companion.world)


def happenings_of(given: Occurrence) -> list[Happening]:
    """The events that have come in.

    Raises:
        InputError: one of them is none.
    """
    found = []
    for n, event in enumerate(given.get("events", []), start=1):
        try:
            found.append(Happening.model_validate(event))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise InputError(
                first["msg"],
                where=f"event {n}, field {'.'.join(map(str, first['loc'])) or 'events'}",
                remedy="Give events as mappings with subject, predicate, object and description.",
            ) from error
    return found


def _says_name(text: str, name: str) -> bool:
    """Whether words tell a name: in full, or as `addressees` understands first names.

    In scripts that write no spaces, a name may stand anywhere.
    """
    words, own = (re.findall(r"[^\W_]+", folded(one)) for one in (text, name))
    if _UNSPACED.fullmatch("".join(own)):
        return "".join(own) in "".join(words)
    whole = any(words[at : at + len(own)] == own for at in range(len(words)))
    return bool(own) and (whole or bool(addressees(text, "", [name])))
