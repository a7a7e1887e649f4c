"""The form of a draft: what each setting's field is, what is wrong with the draft, and who is told of a change."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, Literal

from nicegui import ui
from pydantic import ValidationError

from ....memory.embeddings import LEXICAL, MINILM, remote_name
from ....models.naming import parse_model_name
from ....state.document import Document, parse_value
from ....state.errors import InputError
from ....state.persona import Persona
from ....state.settings import PART, Settings
from ....state.validation_errors import input_error
from ..widgets import say_in
from ..words import t
from .draft import Draft, usual

Kind = Literal["choice", "switch", "integer", "number", "text", "lines", "yaml"]
"""The kinds of fields; `lines` takes a list, one text per line, and `yaml` all values without a kind of their own."""

_KINDS: Final[dict[str, Kind]] = {"boolean": "switch", "integer": "integer", "number": "number", "string": "text"}
_OF_STORIES: Final = ("story",)
"""Options that the page does not offer: a story comes from a scenario file, which sets them."""
_BARE: Final = re.compile(r"\w[\w./:@-]*\w|\w", re.ASCII)


@dataclass(frozen=True)
class Spec:
    """The description of one setting for the form.

    Attributes:
        name: the setting's.
        kind: the kind of its field.
        options: the values to choose from.
        optional: whether it may have no value.
        description: in English, from the model.
    """

    name: str
    kind: Kind
    options: tuple[str, ...]
    optional: bool
    description: str

    def read(self, text: str) -> Any:
        """The value of a typed text; a text that cannot be read stays text, which validation refuses.

        Raises:
            ValueError: the text is not well-formed; the message says why.
        """
        if self.kind == "lines":
            return [line.strip() for line in text.splitlines() if line.strip()]
        if self.kind in ("integer", "number"):
            return read_number(text.strip())
        return parse_value(text) if self.kind == "yaml" else text.strip()

    def written(self, value: Any) -> str:
        """A value as the user would type it."""
        if self.kind == "lines" and isinstance(value, list):
            return "\n".join(map(str, value))
        if self.kind == "yaml" and isinstance(value, Mapping):
            return "\n".join(f"{_inline(str(key))}: {_inline(item)}" for key, item in value.items())
        return "" if value is None else str(value)


@cache
def specs() -> dict[str, Spec]:
    """Every setting by name, in the model's order, read from `Settings`: a new setting appears by itself."""
    schema = Settings.model_json_schema()
    definitions = schema.get("$defs", {})

    def resolved(part: dict[str, Any]) -> dict[str, Any]:
        reference = part.get("$ref")
        return {**definitions[reference.rsplit("/", 1)[1]], **part} if reference else part

    def spec(name: str, part: dict[str, Any]) -> Spec:
        options = [resolved(option) for option in part.get("anyOf", [part])]
        given = [option for option in options if option.get("type") != "null"]
        # a fixed word beside a number is typed into the same field
        shapes = [option for option in given if "const" not in option] or given
        shape = shapes[0] if len(shapes) == 1 else {}
        kind: Kind = "choice" if "enum" in shape else _KINDS.get(shape.get("type", ""), "yaml")
        if shape.get("type") == "array" and resolved(shape.get("items", {})).get("type") == "string":
            kind = "lines"
        values = tuple(value for value in map(str, shape.get("enum", ())) if value not in _OF_STORIES)
        return Spec(name, kind, values, len(given) < len(options), part.get("description", ""))

    return {name: spec(name, part) for name, part in schema["properties"].items()}


def read_number(text: str) -> Any:
    """The number that a text is, also with a comma; the text itself if it is none."""
    for read in (int, float):
        with suppress(ValueError):
            return read(text.replace(",", ".") if read is float else text)
    return text


def _inline(value: Any) -> str:
    """A value on one line of YAML: without quotes if it reads back unchanged, else as JSON, which is also YAML."""
    if isinstance(value, str) and _BARE.fullmatch(value) and parse_value(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)


# What is wrong with a draft, by the field that is marked

TOPIC: Final = "topic"
PEOPLE: Final = "participants"
RULES: Final = "rules"
GUIDE: Final = "guide"
_SCENARIO: Final = (TOPIC, PEOPLE, RULES, GUIDE, "relationships")


def problems(draft: Draft) -> dict[str, str]:
    """All errors, in words, by the name of a setting or of a field of the scenario.

    Only the first error of a field is reported. Rules between fields are checked once each field is valid by itself.
    """
    settings = draft.settings_asked()
    found = {} if draft.topic.strip() else {TOPIC: t("setup.topic_missing")}
    wrong = {name: told for name, value in settings.items() if (told := _wrong(name, value))}
    if not wrong and (together := _contradiction(settings)):
        wrong[together[0]] = together[1]
    kind = Settings.model_validate({"mode": "story", **({} if wrong else settings)}, context=PART).cognition
    if not wrong and (unfit := minds_refused(draft, kind)) is not None:
        wrong["cognition"] = unfit.sentence
    for seat in draft.seats:
        if seat.model and not seat.persona.human and (told := model_refused(seat.model)):
            found[PEOPLE] = f"{seat.name}: {told}"
    if draft.guide is not None and (fault := draft.guide.fault(draft.names)) is not None:
        found[GUIDE] = fault.sentence
    if PEOPLE not in found:
        try:
            replace(draft, topic=draft.topic.strip() or "?", settings={}, guide=None).scenario()
        except InputError as error:
            named = re.search(r"field (\w+)", error.where)
            found[named[1] if named and named[1] in (TOPIC, RULES) else PEOPLE] = error.sentence
    return {**found, **wrong}


def minds_refused(draft: Draft, cognition: str, people: Sequence[Persona] | None = None) -> InputError | None:
    """Why the minds of a story cannot be of a kind; None if they can, and in conversations that are no story.

    Args:
        draft: the draft.
        cognition: the kind, a valid value of the setting.
        people: who takes part; the participants of the draft if None.
    """
    if draft.story is None:
        return None
    from ....nodes.assembling import unfit_minds

    participants = [seat.persona for seat in draft.seats] if people is None else people
    settings = Settings.model_validate({"mode": "story", "cognition": cognition}, context=PART)
    return next(unfit_minds(draft.story, participants, settings), None)


def offered(draft: Draft, spec: Spec) -> list[str]:
    """The options of a setting that the draft can have."""
    if spec.name != "cognition":
        return list(spec.options)
    if draft.story is None:
        return [kind for kind in spec.options if kind != "strategist"]
    return [kind for kind in spec.options if kind != "fixed" and minds_refused(draft, kind) is None]


def field_of(error: InputError) -> str | None:
    """The field that an error of starting is about; None if it names none."""
    named = re.search(r"\bfield (\w+)|\b(?:setting|argument) (\w+)", error.where)
    name = next((part for part in named.groups() if part), None) if named else None
    if name in Settings.model_fields or name in _SCENARIO:
        return name
    words = re.findall(r"\w+", error.what)
    if re.search(r"\bmodel\b", error.what) and not words[0].startswith("budget"):
        return "embedding" if "embedding" in words else "model"
    return next((word for word in words if word in Settings.model_fields and "_" in word or word == "embedding"), None)


def model_refused(model: str) -> str:
    """What is wrong with a model's name; empty if nothing is."""
    return _refused(parse_model_name, model)


def _refused(parse: Callable[[str], object], name: str) -> str:
    try:
        parse(name)
    except InputError as error:
        return error.sentence
    return ""


def _wrong(name: str, value: Any) -> str:
    given = {name: value}
    try:
        Settings.model_validate(given, context=PART)
    except ValidationError as error:
        return input_error(error, Settings, Document(given)).sentence
    if name == "embedding":
        return "" if str(value).strip() in (LEXICAL, MINILM) else _refused(remote_name, str(value))
    if name == "module_models":
        told = {module: model_refused(model) for module, model in value.items()}
        return next((f"{name}.{module} {wrong}" for module, wrong in told.items() if wrong), "")
    return model_refused(value) if name == "model" and value is not None else ""


def _contradiction(settings: dict[str, Any]) -> tuple[str, str] | None:
    """For settings that contradict each other: the field that is marked, and the error."""
    if settings.get("answer_format") == "choice" and not settings.get("choices"):
        return "choices", t("setup.choices_missing")
    try:
        Settings.model_validate(settings)
    except ValidationError as error:
        complaint = input_error(error, Settings, Document(settings))
        name = next((word for word in re.findall(r"\w+", complaint.what) if word in Settings.model_fields), "")
        return "choices" if name == "answer_format" else name, complaint.sentence
    return None


# A draft and the fields that show it

Mark = Callable[[str | None], None]


class Form:
    """A draft and the fields that show it. A field writes into the draft, and is marked if its value is wrong.

    Attributes:
        draft: the draft; `take` replaces it.
        base: the settings of the server.
        revision: grows with every change.
        wrong: errors by field.
        unread: typed texts that cannot be read as a value, by setting, with the reason.
        insisting: whether the user has tried to start, so that missing values are marked, too.
    """

    def __init__(self, draft: Draft, base: Settings) -> None:
        self.draft = draft
        self.base = base
        self.revision = 0
        self.wrong: dict[str, str] = {}
        self.unread: dict[str, str] = {}
        self._marks: dict[str, Mark] = {}
        self._texts: dict[str, ui.input | ui.textarea] = {}
        self._redraws: list[Callable[[], object]] = []
        self._follows: list[Callable[[], object]] = []
        self._usual: tuple[tuple[Any, Any], dict[str, Any]] | None = None
        self.insisting = False

    def mark(self, field: str, mark: Mark) -> None:
        """Register how a field is marked; `mark` gets the error, or None."""
        self._marks[field] = mark

    def fault(self, field: str, mark: str = "") -> ui.label:
        """Draw a line that tells of a field's error while there is one."""
        fault = ui.label().classes("text-xs text-negative break-words").props("role=alert").mark(mark)

        def say(told: str | None) -> None:
            say_in(fault, told or "")

        self.mark(field, say)
        say(None)
        return fault

    def text(self, name: str, field: ui.input | ui.textarea) -> None:
        """Register a text field, whose text the browser sends along when the user starts."""
        field.props["data-typed"] = name
        self._texts[name] = field

    def typed(self, texts: Mapping[str, object]) -> None:
        """Take over what stands in the browser's text fields, if the server has not heard of it yet."""
        for name, text in texts.items():
            field = self._texts.get(name)
            if field is not None and isinstance(text, str) and text != (field.value or ""):
                field.set_value(text)

    def redraw(self, draw: Callable[[], object]) -> None:
        """Register a callback that redraws after `take`."""
        self._redraws.append(draw)

    def follow(self, look: Callable[[], object]) -> None:
        """Register a callback for every change of the draft."""
        self._follows.append(look)

    def usual(self) -> dict[str, Any]:
        """The values of settings that are not filled in."""
        on = (self.draft.settings.get("mode"), self.draft.settings.get("cognition"))
        if self._usual is None or self._usual[0] != on:  # every field asks for them at every change
            self._usual = on, usual(self.base, *on)
        return self._usual[1]

    def value(self, name: str) -> Any:
        """The current value of a setting, or of a part of a group of settings: `pruning.method`."""
        group, _, part = name.partition(".")
        value = self.draft.settings.get(group, self.usual()[group])
        if not part:
            return value
        own = {_PARTS.get(key, key): given for key, given in value.items()} if isinstance(value, Mapping) else {}
        return {**self.usual()[group], **own}[part]

    def set(self, name: str, value: Any) -> None:
        """Fill in a setting, or a part of a group; a value that equals the default is not kept."""
        group, _, part = name.partition(".")
        held = self.usual()[group]
        if part:
            now = {key: self.value(f"{group}.{key}") for key in held} | {part: value}
            value = {key: given for key, given in now.items() if given != held[key]} or held
        if value == held:
            self.draft.settings.pop(group, None)
        else:
            self.draft.settings[group] = value
        if name == "mode":
            held = self.usual()
            self.draft.settings = {k: v for k, v in self.draft.settings.items() if k == "mode" or v != held[k]}
        self.changed()

    def take(self, draft: Draft) -> None:
        """Show another draft."""
        self.draft = draft
        self.unread.clear()
        self.insisting = False
        for draw in self._redraws:
            draw()
        self.changed()

    def changed(self) -> None:
        """Check the draft and mark the errors."""
        self.revision += 1
        self.wrong = problems(self.draft) | self.unread
        for field, mark in self._marks.items():
            # an empty topic is no error until the user tries to start
            mark(self.wrong.get(field) if field != TOPIC or self.insisting else None)
        for look in self._follows:
            look()

    def insist(self) -> bool:
        """Mark missing values, too; returns whether the draft is valid."""
        self.insisting = True
        self.changed()
        return not self.wrong

    def complain(self, field: str, told: str) -> bool:
        """Mark a field until the next change; returns whether there is such a field."""
        if field not in self._marks:
            return False
        self.wrong[field] = told
        self._marks[field](told)
        for look in self._follows:
            look()
        return True


_PARTS: Final = {"strength": "lambda"}
"""Other names by which files may call a part of a group."""
