"""From what a game says of an agent and of places to what a world knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pydantic import ValidationError

from ...state.companion.game_messages import AddedPersona, Location, Scratch, SpatialData
from ...state.companion.place import IDLE, Agent, Place
from ...state.document import Document
from ...state.errors import InputError, suggestion
from ...state.persona import Persona
from ...state.plain_text import folded, matching
from ...state.validation_errors import input_error

_RECALL: Final = {
    "recency_w": "recency",
    "relevance_w": "relevance",
    "importance_w": "importance",
    "recency_decay": "recency_decay",
    "importance_trigger_max": "reflection_trigger",
}
"""Fields of scratch_data, and what of `Recall` they set."""


def address_of(place: Place, location: Location, now: str = "") -> str:
    """Where a location is in a place, sector/arena; empty in a place without arenas.

    Args:
        place: the world's.
        location: what the game says.
        now: where the agent is; without an arena, it stays there if that is in the sector.

    Raises:
        InputError: there is no such world, sector or arena; the error names the nearest.
    """
    if not place.places:
        return ""
    _named("world", location.world, [place.world])
    sector = _named("sector", location.sector, list(place.places))
    arenas = list(place.places[sector])
    if location.arena is not None:
        return f"{sector}/{_named('arena', location.arena, arenas)}"
    here = now.partition("/")
    return now if here[0] == sector and here[2] in arenas else f"{sector}/{arenas[0]}" if arenas else ""


def changed_agent(agent: Agent, scratch: Scratch, place: Place) -> Agent:
    """The agent with what a game says of it.

    Its name stays, because memories and people go by it; another first or last name becomes its "name in full".

    Raises:
        InputError: a location is not in the place.
    """
    persona, given = agent.persona, scratch.model_dump(exclude_none=True)
    characteristics = {**persona.characteristics, **_characteristics(scratch, agent.name)}
    parts = [part for part in (scratch.learned, scratch.currently) if part]
    changed: dict[str, Any] = {"characteristics": characteristics}
    if parts:
        changed["description"] = _sentences(parts)
    if scratch.innate:
        changed["traits"] = _traits(scratch.innate)
    return agent.model_copy(
        update={
            "persona": _persona({**persona.model_dump(), **changed}),
            "lifestyle": given.get("lifestyle", agent.lifestyle),
            "at": address_of(place, scratch.curr_location, agent.at) if scratch.curr_location else agent.at,
            "recall": agent.recall.model_copy(
                update={own: given[field] for field, own in _RECALL.items() if field in given}
            ),
        }
    )


def added_agent(added: AddedPersona, place: Place) -> Agent:
    """The agent that a game adds to a place, which has the agent's parts already.

    Raises:
        InputError: a location is not in the place.
    """
    scratch = added.scratch_data
    in_full = " ".join(part for part in (scratch.first_name, scratch.last_name) if part)
    name = in_full if matching(added.name, [in_full]) else added.name
    knows = [
        f"{sector}/{arena}" for arenas in added.spatial_data.values() for sector in arenas for arena in arenas[sector]
    ]
    described = _sentences([part for part in (scratch.learned, scratch.currently) if part])
    plain = Agent(persona=_persona({"name": name, "description": described or f"{name} is here."}), knows=knows)
    agent = changed_agent(plain, scratch, place)
    return agent if agent.at or not knows else agent.model_copy(update={"at": knows[0]})


def with_parts(place: Place, spatial: SpatialData) -> Place:
    """The place with sectors, arenas and idle objects of spatial_data; what is there already stays as it is.

    A place without any takes the name of their world.

    Raises:
        InputError: they are of another world.
    """
    joined = {sector: dict(arenas) for sector, arenas in place.places.items()}
    name = place.world
    for world, sectors in spatial.items():
        name = _named("world", world, [place.world]) if joined else world
        for sector, arenas in sectors.items():
            known = joined.setdefault(sector, {})
            for arena, objects in arenas.items():
                known[arena] = {**dict.fromkeys(objects, IDLE), **known.get(arena, {})}
    return place.model_copy(update={"world": name, "places": joined})


def _persona(data: dict[str, Any]) -> Persona:
    try:
        return Persona.model_validate(data)
    except ValidationError as error:
        raise input_error(error, Persona, Document(data)) from None


def _characteristics(scratch: Scratch, name: str) -> dict[str, str]:
    in_full = " ".join(part for part in (scratch.first_name, scratch.last_name) if part)
    area = scratch.living_area
    found = {
        "name in full": in_full if folded(in_full) not in folded(name) else "",
        "age": "" if scratch.age is None else str(scratch.age),
        "look": scratch.look or "",
        "residence": ", ".join(part for part in (area.arena, area.sector, area.world) if part) if area else "",
    }
    return {key: value for key, value in found.items() if value}


def _traits(innate: str) -> list[str]:
    """Traits from "chatty, impatient"; sentences stay together."""
    if "." in innate:
        return [innate]
    return [trait.strip() for trait in innate.split(",") if trait.strip()]


def _sentences(parts: Sequence[str]) -> str:
    return " ".join(part if part.endswith((".", "!", "?")) else f"{part}." for part in parts)


def _named(what: str, given: str, known: Sequence[str]) -> str:
    found = next((one for one in known if folded(one) == folded(given)), None)
    if found is None:
        raise InputError(
            f"there is no {what} {given!r}",
            where=f"field {what}",
            remedy=suggestion(given, known, otherwise=f"It may be {' or '.join(list(known)[:5])}."),
        )
    return found
