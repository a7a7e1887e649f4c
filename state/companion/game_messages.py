"""What a game sends over UDP: the paper's seven messages, each one JSON object in one datagram.

El Kaddouri, *A Generative Agent That Models Human Conversational Behavior*, appendix VIII-A. The paper writes
`UPDATE_META_MESSAGE`, its code `UpdateMetaMessage`: only letters count, in either case. Fields that no message has are
passed over, as games send more than the paper names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    create_model,
    model_validator,
)

from ..document import Document
from ..errors import InputError, suggestion
from ..plain_text import clean, one_line, quoted, seen
from ..setting import no_switch
from ..validation_errors import input_error
from .clock import time_in
from .place import Part

MOST_BYTES: Final = 16_384
"""The largest datagram that is read."""
MOST_DEPTH: Final = 8
"""How deep objects and lists may lie in each other."""
SIM_CODE: Final = r"^[A-Za-z0-9_-]{1,64}$"
"""The name of a world; never a path."""

_QUOTED: Final = 60

_Tidy = AfterValidator(lambda text: seen(one_line(text)))
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), _Tidy]
"""Of an agent, a person or a part of the place."""
Text = Annotated[str, StringConstraints(max_length=4_000), AfterValidator(one_line)]
Words = Annotated[
    str, StringConstraints(min_length=1, max_length=8_000), AfterValidator(lambda text: seen(clean(text).strip()))
]
"""What a person says."""
SimCode = Annotated[str, StringConstraints(pattern=SIM_CODE)]
_Number = BeforeValidator(lambda value: no_switch(value))
Weight = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False), _Number]


class _Part(BaseModel):
    """Base of all parts: a field that is null is missing."""

    model_config = ConfigDict(frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_missing(cls, data: Any) -> Any:
        if isinstance(data, dict):
            return {key: value for key, value in data.items() if value is not None}
        return data


class Location(_Part):
    """Where somebody is."""

    world: Part
    sector: Part
    arena: Part | None = None


class Start(_Part):
    """Opens a world."""

    sim_code: SimCode
    fork_sim_code: str | None = Field(default=None, max_length=200, description="the world that a new one is a copy of")


class Prompt(_Part):
    """Words of a person to an agent."""

    persona_name: Name
    user_name: Name
    message: Words


class GameEvent(_Part):
    """Something that an agent perceives."""

    action_event_subject: Name = Field(description="an address, an agent or a person")
    action_event_predicate: Annotated[Text, Field(max_length=100)] = ""
    action_event_object: Annotated[Text, Field(max_length=200)] = ""
    action_event_description: Annotated[Text, Field(max_length=500)] = ""


class Perceived(_Part):
    """Where an agent is, and what it perceives there."""

    name: Name
    curr_location: Location | None = Field(
        default=None, validation_alias=AliasChoices("curr_location", "curr_loc"), description="the code says curr_loc"
    )
    events: list[GameEvent] = Field(default_factory=list, max_length=200)


class Meta(_Part):
    """The world's clock."""

    curr_time: Annotated[str, AfterValidator(lambda text: time_in(text, where="field data.curr_time"))] | None = Field(
        default=None, description="like March 03, 2025, 11:40:00, or ISO; kept as ISO"
    )
    sec_per_step: Annotated[int, Field(ge=1, le=86_400), _Number] | None = Field(
        default=None, description="seconds of game time a MOVEMESSAGE takes"
    )

    @model_validator(mode="after")
    def _something(self) -> Meta:
        if self.curr_time is None and self.sec_per_step is None:
            raise ValueError("curr_time and sec_per_step are both missing; give one of them")
        return self


class Scratch(_Part):
    """What a game may say of an agent."""

    first_name: Name | None = None
    last_name: Name | None = None
    age: Annotated[int, Field(ge=0, le=1_000), _Number] | None = None
    innate: Text | None = Field(default=None, description="traits, separated by commas")
    learned: Text | None = None
    currently: Text | None = None
    look: Annotated[Text, Field(max_length=1_000)] | None = None
    lifestyle: Annotated[Text, Field(max_length=1_000)] | None = None
    living_area: Location | None = None
    curr_location: Location | None = None
    recency_w: Weight | None = None
    relevance_w: Weight | None = None
    importance_w: Weight | None = None
    recency_decay: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False), _Number] | None = None
    importance_trigger_max: Annotated[int, Field(ge=1, le=1_000_000), _Number] | None = None


class ChangedPersona(_Part):
    """New values for an agent."""

    name: Name
    scratch_data: Scratch = Scratch()


class ChangedUser(_Part):
    """Another name for a person."""

    old_name: Name
    name: Name


SpatialData = dict[Part, dict[Part, dict[Part, list[Part]]]]
"""World: sector: arena: objects."""


class AddedPersona(_Part):
    """A new agent."""

    name: Name
    scratch_data: Scratch = Scratch()
    spatial_data: SpatialData = Field(default_factory=dict)


class GameMessage(BaseModel):
    """A message; its kind is told by what its data are."""

    model_config = ConfigDict(frozen=True)

    RESPONSE: ClassVar[str] = ""
    """The type of its answer, in the words of the paper's code."""

    data: Any
    id: Annotated[str, StringConstraints(max_length=64)] = Field(
        default="", description="the client's; the answer carries it, and the same id is answered once"
    )


def _message(response: str, data: Any) -> type[GameMessage]:
    made = create_model(response, __base__=GameMessage, data=(data, ...))
    made.RESPONSE = response
    return made


Moved = Annotated[list[Perceived], Field(min_length=1, max_length=50)]

MESSAGES: Final[Mapping[str, type[GameMessage]]] = {
    "STARTMESSAGE": _message("StartResponse", Start),
    "PROMPTMESSAGE": _message("PromptResponse", Prompt),
    "MOVEMESSAGE": _message("MoveResponse", Moved),
    "UPDATE_META_MESSAGE": _message("UpdateMetaResponse", Meta),
    "UPDATE_PERSONA_MESSAGE": _message("UpdatePersonaResponse", ChangedPersona),
    "UPDATE_USER_MESSAGE": _message("UpdateUsersResponse", ChangedUser),
    "ADD_PERSONA_MESSAGE": _message("AddPersonaResponse", AddedPersona),
}
"""The messages by type, as the paper writes it."""


def read_object(datagram: bytes) -> dict[str, Any]:
    """The JSON object of a datagram, not yet a message.

    Raises:
        InputError: the datagram is too large, not UTF-8, no JSON, no object, has a key twice, a number that is none,
            or is too deep.
    """
    if len(datagram) > MOST_BYTES:
        raise InputError(
            f"the datagram has {len(datagram)} bytes",
            where="datagram",
            remedy=f"Send at most {MOST_BYTES} bytes, for example fewer events at a time.",
        )
    try:
        found = json.loads(datagram.decode("utf-8"), parse_constant=_no_number, object_pairs_hook=_without_doubles)
    except UnicodeDecodeError:
        raise InputError("the datagram is not UTF-8", where="datagram", remedy="Send one JSON object.") from None
    except RecursionError:
        raise _too_deep() from None
    except json.JSONDecodeError as error:
        raise InputError(
            f"this is not JSON: {error.msg}", where=f"character {error.pos + 1}", remedy="Send one JSON object."
        ) from None
    except ValueError:  # an integer of thousands of digits
        raise InputError("a number is too long", where="datagram", remedy="Give a shorter one.") from None
    if not isinstance(found, dict):
        raise InputError("the datagram holds no object", where="datagram", remedy='Send {"type": …, "data": …}.')
    _check_depth(found)
    return found


def read_message(found: Mapping[str, Any]) -> GameMessage:
    """The message that a JSON object is.

    Raises:
        InputError: its type is unknown, or a field is missing or wrong; the error names the field.
    """
    given = found.get("type")
    kind = next((name for name in MESSAGES if isinstance(given, str) and _letters(name) == _letters(given)), None)
    if kind is None:
        what = "type is missing" if given is None else f"unknown type {quoted(given, _QUOTED)}"
        remedy = suggestion(given[:_QUOTED] if isinstance(given, str) else "", MESSAGES)
        raise InputError(what, where="field type", remedy=remedy)
    model = MESSAGES[kind]
    try:
        return model.model_validate(found)
    except ValidationError as error:
        raise input_error(error, model, Document(found)) from None


def id_of(found: Mapping[str, Any]) -> str:
    """The id of a message that may be wrong elsewhere; empty if there is none that could be sent back."""
    given = found.get("id")
    return given if isinstance(given, str) and len(given) <= 64 and clean(given) == given else ""


def is_sim_code(text: str) -> bool:
    """Whether a text may be the name of a world."""
    return re.fullmatch(SIM_CODE, text) is not None


def _letters(text: str) -> str:
    return "".join(letter for letter in text if letter.isascii() and letter.isalpha()).casefold()


def _no_number(name: str) -> Any:
    raise InputError(f"{name} is not a number in JSON", where="datagram", remedy="Give a finite number.")


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise InputError(f"the key {quoted(key, _QUOTED)} occurs twice", where="datagram", remedy="Give it once.")
        found[key] = value
    return found


def _too_deep() -> InputError:
    return InputError(
        f"objects and lists lie more than {MOST_DEPTH} deep", where="datagram", remedy="Send what the message names."
    )


def _check_depth(root: Any) -> None:
    layer = [root]
    for _ in range(MOST_DEPTH):
        layer = [
            inner
            for outer in layer
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    if layer:
        raise _too_deep()
