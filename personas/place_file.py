"""Place files: what a companion's world is at the beginning, read, checked and written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ..state.companion.place import IDLE, Agent, Place, part_name, place_of
from ..state.document import Document, Location, document_in, read_document, yaml_text
from ..state.errors import InputError, suggestion
from ..state.persona import Persona
from ..state.plain_text import quoted
from ..state.settings import PART, Settings
from ..state.validation_errors import refuse_unknown, valid_fields
from .catalogue import SHIPPED_FRAGMENTS, file_within, find_persona, is_path, load_persona, persona_in
from .names import validated, wrong

MAX_BYTES: Final = 256 * 1024
"""The largest place file."""

SETTINGS: Final = (
    *["model_temperature", "model_top_p", "cognition", "planning_and_reflection", "memory_filtering"],
    *["emotional_retrieval", "stm_retrieval", "relationships", "social_goals", "speech_register", "utterance_words"],
    *["seed", "weights", "ltm_capacity", "memory_tokens", "repetition_check", "repetition_overlap"],
    *["repetition_similarity", "repetition_window", "strict_answers", "module_temperatures", "answer_tokens"],
    *["companion"],
)
"""The settings that a place file may give: none that names a model, a server or a folder, or that spends money."""

_NOT_OF_PLACES: Final = {
    "world": "It follows from the world's folder.",
    "agent": "It is chosen when a talk begins.",
    "person": "It is chosen when a talk begins.",
    "calls_a_day": "It is a budget; give it on the command line or in the environment.",
}
"""Settings of companions that a place file may not give, each with the remedy."""


def load_place(path: Path | str) -> Place:
    """Read a place file.

    Args:
        path: a YAML or JSON file with the fields of `Place`. An agent's persona is written out, the name of a shipped
            one, or the path of a persona file below this file's folder. The objects of an arena are a mapping with
            their states, or a list.

    Raises:
        InputError: naming file, line, field and remedy.
    """
    path = Path(path)
    return _place(read_document(path, MAX_BYTES), path.parent)


def place_from_text(text: str, *, where: str, folder: Path | None = None) -> Place:
    """The place that the text of a place file describes.

    Args:
        text: YAML, or JSON if `where` ends in .json.
        where: how errors name the text.
        folder: the folder below which persona files may lie; without one, as for uploads, none is read.

    Raises:
        InputError: naming line, field and remedy.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise InputError("the file is too large", where=where, remedy=f"Keep it below {MAX_BYTES:,} bytes.")
    return _place(document_in(text, where, json=where.lower().endswith(".json")), folder)


def place_for(name_or_path: str) -> Place:
    """The place that a command's argument means.

    Args:
        name_or_path: the path of a place file, or a persona (the name of a shipped one, or a persona file), who is then
            alone and nowhere in particular.

    Raises:
        InputError: naming file, line, field and remedy; or there is no such persona.
    """
    if not is_path(name_or_path):
        return _alone(find_persona(name_or_path, where="place"), "place")
    path = Path(name_or_path.strip())
    data = read_document(path).data
    if "agents" in data or not {"name", "description"} & data.keys():
        return load_place(path)
    return _alone(load_persona(path), str(path))


def place_text(place: Place) -> str:
    """A place as the text of a place file that reads back equal.

    Raises:
        InputError: no place file can hold this place: it is too large, or a text in it is no valid Unicode.
    """
    text = yaml_text(place.model_dump(mode="json", by_alias=True, exclude_defaults=True))
    place_from_text(text, where="the place as a file")
    return text


def _alone(persona: Persona, where: str) -> Place:
    place = place_of(persona)
    _refuse_problems(place, Document({}, where))
    return place


def _place(document: Document, folder: Path | None) -> Place:
    refuse_unknown(document, (), document.data, valid_fields(Place))
    resolved = {key: value for key, value in document.data.items() if value is not None}
    resolved["places"] = _places(document)
    resolved["settings"] = _settings(document)
    if isinstance(resolved.get("agents"), list):
        resolved["agents"] = [_agent(document, n, given, folder) for n, given in enumerate(resolved["agents"])]
    read = Document(resolved, document.source, document.lines)
    place = validated(Place, resolved, read)
    _refuse_problems(place, read)
    return place


def _refuse_problems(place: Place, document: Document) -> None:
    for at, what, remedy in place.problems():
        raise wrong(document, at, what, remedy)


def _places(document: Document) -> dict[str, dict[str, dict[str, Any]]]:
    """Sectors with arenas with objects, each object with a state."""
    at: Location = ("places",)
    sectors = _named(document, at, document.data.get("places"), "Write lines 'sector:' with arenas under each.")
    return {
        sector: {
            arena: _objects(document, (*at, sector, arena), objects)
            for arena, objects in _named(
                document, (*at, sector), arenas, "Write lines 'arena: {object: state}' under the sector."
            ).items()
        }
        for sector, arenas in sectors.items()
    }


def _objects(document: Document, at: Location, given: Any) -> dict[str, Any]:
    if isinstance(given, list):
        names: dict[str, Any] = {}
        for place, name in enumerate(given):
            text = _checked_name(document, (*at, place), _as_text(name))
            if text in names:
                raise wrong(document, (*at, place), f"{quoted(text, 60)} is given twice", "Keep one of the two.")
            names[text] = IDLE
        return names
    remedy = "Write a list of objects, or lines 'object: state'."
    return {
        name: IDLE if state is None else _as_text(state) for name, state in _named(document, at, given, remedy).items()
    }


def _named(document: Document, at: Location, given: Any, remedy: str) -> Mapping[str, Any]:
    """A mapping of names of places; an empty value is an empty one."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise wrong(document, at, f"{quoted(given, 60)} is not a mapping", remedy)
    return {_checked_name(document, (*at, name), name): value for name, value in given.items()}


def _checked_name(document: Document, at: Location, name: Any) -> str:
    try:
        if not isinstance(name, str):
            raise ValueError(f"{quoted(name, 60)} is no name of a place. Write a text.")
        return part_name(name)
    except ValueError as error:
        what, _, remedy = str(error).replace("; w", ". W").partition(". ")
        raise wrong(document, at, what, f"{remedy.rstrip('.')}." if remedy else "") from None


def _as_text(value: Any) -> Any:
    """A number as text; every other value as it is."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _settings(document: Document) -> dict[str, Any]:
    at: Location = ("settings",)
    given = document.data.get("settings")
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise wrong(document, at, "settings are not a mapping", "Write lines 'name: value' under it.")
    outside = "Give it on the command line, in the environment or in a file of settings."
    refused = [((*at, key), outside) for key in given if key not in SETTINGS and key in Settings.model_fields]
    companion = given.get("companion")
    for key in companion if isinstance(companion, Mapping) else ():
        refused += [((*at, "companion", key), _NOT_OF_PLACES[key])] if key in _NOT_OF_PLACES else []
    for place, remedy in refused:
        raise wrong(document, place, f"a place file does not set {place[-1]}", remedy)
    refuse_unknown(document, at, given, SETTINGS)
    validated(Settings, dict(given), document, at, context=PART)
    return dict(given)


def _agent(document: Document, number: int, given: Any, folder: Path | None) -> Any:
    """An agent with its persona; without empty values."""
    at: Location = ("agents", number)
    if not isinstance(given, Mapping):
        raise wrong(document, at, "an agent is not a mapping", "Write 'persona: …' under it.")
    refuse_unknown(document, at, given, valid_fields(Agent))
    found = {key: value for key, value in given.items() if value is not None}
    if "persona" in found:
        found["persona"] = _persona(document, (*at, "persona"), found["persona"], folder)
    return found


def _persona(document: Document, at: Location, given: Any, folder: Path | None) -> Persona:
    base = SHIPPED_FRAGMENTS if folder is None else folder
    if isinstance(given, Mapping):
        return persona_in(document, at, base, within=base)
    if not isinstance(given, str):
        remedy = "Write a name, or lines 'name: …' and 'description: …'."
        raise wrong(document, at, "a persona is a name, a path or a mapping", remedy)
    if not is_path(given):
        return find_persona(given, where=document.where(at))
    shown = quoted(given.strip(), 120)
    if folder is None:
        what = f"a place that is sent cannot name files, such as {shown}"
        raise wrong(document, at, what, "Write the persona out, or name a shipped one.")
    path = file_within(given.strip(), folder, folder)
    if path is None:
        there = [file.name for file in sorted(folder.glob("*.yaml"))]
        remedy = suggestion(given.strip(), there, otherwise="Write its path from this file's folder, and not above it.")
        raise wrong(document, at, f"there is no persona file {shown} below this file's folder", remedy)
    return load_persona(path, within=folder)
