"""What happens around a companion: which events are new, what they say, which planned ones are due, what they change.

Pure functions. Events are quadruples, as in Park et al. 2023: subject, predicate, object and description.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, time, timedelta
from typing import Any, Final

from ..minds.addressing import first_name
from ..plain_text import clean, shortened
from . import Happening
from .place import IDLE, Place, Planned

MOST: Final = 20
"""The most events that are perceived at once."""
_SENTENCE: Final = 300
_PLANNED: Final = "event"
"""The subject of a planned event that is only a sentence (state/companion/place.py)."""


def sentence_of(happening: Happening) -> str:
    """What happened, in one line: the description if it is a sentence, else subject, predicate and object."""
    described = " ".join(clean(happening.description).split())
    if described and (happening.subject == _PLANNED or (described[0].isupper() and described[-1] in ".!?…")):
        return shortened(described, _SENTENCE)
    what = happening.subject.rsplit(":", 1)[-1].rsplit("/", 1)[-1]
    said = " ".join(clean(f"{what} {happening.predicate} {happening.object}").split())
    more = f" ({described})" if described and described.casefold() not in said.casefold() else ""
    return shortened(said + more, _SENTENCE)


def is_idle(happening: Happening) -> bool:
    """Whether nothing happens: an object that is idle."""
    return f"{happening.predicate} {happening.object}".strip().casefold() in (f"is {IDLE}", IDLE, "is", "")


def _quadruple(happening: Happening | Mapping[str, Any]) -> tuple[str, ...]:
    given = happening.model_dump() if isinstance(happening, Happening) else happening
    return tuple(str(given.get(part, "")).casefold() for part in ("subject", "predicate", "object", "description"))


def new_ones(
    happened: Iterable[Happening], seen: Sequence[Mapping[str, Any]], retention: int, agent: str
) -> list[Happening]:
    """The events of a batch that are new to an agent, people first; at most `MOST`.

    Args:
        happened: what is perceived, in order of arrival.
        seen: the last events perceived, the newest last.
        retention: an event is new if it is not among the last so many.
        agent: the agent's name; what it does itself is not new to it.
    """
    known = {_quadruple(one) for one in (seen[-retention:] if retention else ())}
    found: list[Happening] = []
    for one in happened:
        if is_idle(one) or one.subject.casefold() == agent.casefold() or _quadruple(one) in known:
            continue
        known.add(_quadruple(one))
        found.append(one)
    return sorted(found, key=lambda one: not one.person)[:MOST]


def seen_after(seen: Sequence[Mapping[str, Any]], new: Iterable[Happening], retention: int) -> list[dict[str, Any]]:
    """The last events perceived, as many as `retention`, the newest last."""
    perceived = [*(dict(one) for one in seen), *(one.model_dump(exclude_none=True) for one in new)]
    return perceived[-retention:] if retention else []


def unnamed(happening: Happening, name: str, shown: str) -> Happening:
    """The event without the name of a person who is not introduced.

    Args:
        happening: as a client says it.
        name: the person's; its first part counts, too.
        shown: what stands in its place.
    """
    parts = "|".join(re.escape(part) for part in dict.fromkeys((name, first_name(name))))
    named = re.compile(rf"(?<!\w)(?:{parts})(?!\w)", re.IGNORECASE)

    def without(text: str) -> str:
        return named.sub(lambda _: shown, text)

    subject, object_, described = map(without, (happening.subject, happening.object, happening.description))
    return happening.model_copy(update={"subject": subject, "object": object_, "description": described})


def due(events: Sequence[Planned], since: str, until: str, fired: Collection[str] = ()) -> list[Planned]:
    """The planned events that fall between two times, in order of time; each once, however long it was.

    What a closed world missed does not fire: it is opened at `since`.

    Args:
        events: of the place file.
        since: ISO time; what is planned for this minute has fired already.
        until: ISO time; none are due if it is before `since`.
        fired: keys (`key_of`) of those that have fired; events that are planned `once` do not fire again.
    """
    begin, end = datetime.fromisoformat(since), datetime.fromisoformat(until)
    found = []
    for event in events:
        if event.once and key_of(event) in fired:
            continue
        hours, minutes = event.at.split(":")
        last = datetime.combine(end.date(), time(int(hours), int(minutes)))
        last -= timedelta(days=1) if last > end else timedelta()
        if begin < last <= end:
            found.append((last, event))
    return [event for _, event in sorted(found, key=lambda pair: pair[0])]


def key_of(event: Planned) -> str:
    """By what a planned event is known as having fired, 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(event.model_dump(), sort_keys=True).encode()).hexdigest()[:16]


def perceived(event: Planned, place: Place, at: str) -> list[Happening]:
    """What an agent perceives of a planned event: what happens in its arena, and what happens nowhere in particular.

    Args:
        event: that fires.
        place: with those who are seen and never asked.
        at: where the agent is, sector/arena; empty in a world without arenas.
    """
    others = {other.name.casefold(): other.at for other in place.others}

    def is_here(happening: Happening) -> bool:
        if happening.person:
            where = others.get(happening.subject.casefold(), "")
            return not where or not at or where == at
        found = _object_at(place, happening.subject)
        return found is None or not at or f"{found[0]}/{found[1]}" == at

    return [happening for happening in event.happenings() if is_here(happening)]


def place_after(place: Place, happened: Iterable[Happening]) -> Place:
    """The place with its objects, and those who are seen and never asked, as they are after these events.

    Args:
        place: as it was; its places, objects and persons themselves never change.
        happened: events; those on anything else change nothing.
    """
    places = {
        sector: {arena: dict(objects) for arena, objects in arenas.items()} for sector, arenas in place.places.items()
    }
    others = {other.name.casefold(): other for other in place.others}
    for one in happened:
        found, name = _object_at(place, one.subject), one.subject.casefold()
        if found is not None:
            sector, arena, object_ = found
            places[sector][arena][object_] = _state_of(one)
        elif name in others:
            others[name] = others[name].model_copy(update={"does": _state_of(one)})
    return place.model_copy(update={"places": places, "others": list(others.values())})


def changes_something(place: Place, happening: Happening) -> bool:
    """Whether an event is more than the state of an object, or the doing of a person, as they are known already."""
    found = _object_at(place, happening.subject)
    if found is not None:
        sector, arena, object_ = found
        known = [place.places[sector][arena][object_]]
    else:
        known = [other.does for other in place.others if other.name.casefold() == happening.subject.casefold()]
    return _state_of(happening).casefold() not in (one.casefold() for one in known)


def _state_of(happening: Happening) -> str:
    """The state in which an event leaves its subject: "smoking" of "is smoking", "is being swept" as it stands."""
    predicate, rest = happening.predicate, happening.object
    if predicate.casefold() in ("", "is"):
        return rest or IDLE
    if predicate.casefold().startswith("is "):
        return " ".join((predicate[3:], rest)).strip()
    return " ".join((predicate, rest)).strip()


def _object_at(place: Place, address: str) -> tuple[str, str, str] | None:
    """Sector, arena and object of an address with or without the world; None if it names no object of the place."""
    parts = [part.strip().casefold() for part in re.split("[:/]", address)]
    if len(parts) == 4 and parts[0] == place.world.casefold():
        parts = parts[1:]
    if len(parts) != 3:
        return None
    for sector, arenas in place.places.items():
        for arena, objects in arenas.items():
            for object_ in objects:
                if [sector.casefold(), arena.casefold(), object_.casefold()] == parts:
                    return sector, arena, object_
    return None
