"""The draft that a browser keeps from one visit to the next: limited in size, and without keys."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, Final

from nicegui import app
from pydantic import TypeAdapter, ValidationError

from persimchat.app.web.setup.draft import Draft, Seat
from persimchat.app.web.setup.guide_draft import Asked, GuideDraft, Stand
from persimchat.app.web.setup.scenario_files import without_keys
from persimchat.app.web.shared.paces import Pace
from persimchat.runs.folder.manifest import public
from persimchat.state.persona import Persona
from persimchat.state.relationship import Relationship
from persimchat.state.settings import Settings
from persimchat.state.story import Story

LARGEST: Final = 200_000
"""Characters of a draft that is kept; a larger one has to be saved as a file."""
_KEY: Final = "draft"
_TEXTS: Final = TypeAdapter(list[str])
_ASKED: Final = TypeAdapter(list[Asked])
_STANDS: Final = TypeAdapter(list[Stand])
_PACE: Final = TypeAdapter[Pace | None](Pace | None)
_UNFOLDED: Final = "unfolded"
_LIMIT: Final = TypeAdapter(int | None)


def draft_text(draft: Draft) -> str:
    """A draft as JSON, valid or not; keys and passwords are left out."""
    return json.dumps(
        {
            "topic": draft.topic,
            "seats": [
                {
                    "persona": seat.persona.model_dump(mode="json", exclude_defaults=True),
                    "model": without_keys(seat.model),
                    "goals": seat.goals,
                }
                for seat in draft.seats
            ],
            "relationships": [tie.model_dump(by_alias=True, exclude_defaults=True) for tie in draft.relationships],
            "rules": draft.rules,
            "settings": without_keys(public(draft.settings)),
            "story": None if draft.story is None else draft.story.model_dump(mode="json", by_alias=True),
            "guide": None if draft.guide is None else asdict(draft.guide),
            "pace": draft.chosen_pace,
        },
        ensure_ascii=False,
        default=str,
    )


def read_draft(text: str) -> Draft:
    """The draft of a text of `draft_text`.

    Raises:
        ValueError: it is of another version, or damaged.
    """
    given: dict[str, Any] = json.loads(text)
    if not isinstance(given, dict) or not isinstance(given.get("settings"), dict):
        raise ValueError("no draft")
    try:
        return Draft(
            str(given["topic"]),
            [
                Seat(Persona.model_validate(one["persona"]), str(one["model"]), _TEXTS.validate_python(one["goals"]))
                for one in given["seats"]
            ],
            [Relationship.model_validate(tie) for tie in given["relationships"]],
            _TEXTS.validate_python(given["rules"]),
            {name: value for name, value in given["settings"].items() if name in Settings.model_fields},
            None if given["story"] is None else Story.model_validate(given["story"]),
            None if given["guide"] is None else _guide(given["guide"]),
            _PACE.validate_python(given.get("pace")),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("no draft") from error


def _guide(given: dict[str, Any]) -> GuideDraft:
    questions, positions = _ASKED.validate_python(given["questions"]), _STANDS.validate_python(given["positions"])
    texts = {name: str(given[name]) for name in ("moderator", "wording", "title", "text", "image")}
    return GuideDraft(
        **texts, questions=questions, positions=positions, limit=_LIMIT.validate_python(given.get("limit"))
    )


class KeptDraft:
    """The draft of this browser.

    Args:
        source: where a draft comes from that the address names, such as `like=RUN`; empty if it names none.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._first = ""

    def taken_up(self) -> Draft | None:
        """The draft that was kept; None if there is none, or if the address names another one."""
        kept = app.storage.user.get(_KEY)
        if not isinstance(kept, dict) or (self._source and kept.get("source") != self._source):
            return None
        try:
            return read_draft(str(kept.get("text")))
        except (ValueError, ValidationError):  # of another version
            return None

    def begin(self, draft: Draft) -> None:
        """Note the draft that the page begins with; only what differs from it is worth keeping."""
        self._first = draft_text(draft)

    def keep(self, draft: Draft) -> bool:
        """Keep a draft that was changed; returns whether it is small enough."""
        text = draft_text(draft)
        if text == self._first:
            return True
        self._first = ""
        if len(text) > LARGEST:
            app.storage.user.pop(_KEY, None)
            return False
        app.storage.user[_KEY] = {"source": self._source, "text": text}
        return True

    @property
    def unfolded(self) -> list[str]:
        """The parts of the page that were open."""
        kept = app.storage.user.get(_UNFOLDED)
        return [str(part) for part in kept] if isinstance(kept, list) else []

    def keep_unfolded(self, parts: list[str]) -> None:
        """Keep which parts of the page are open."""
        app.storage.user[_UNFOLDED] = parts

    def drop(self, draft: Draft) -> None:
        """Forget it, and begin anew with another draft."""
        app.storage.user.pop(_KEY, None)
        app.storage.user.pop(_UNFOLDED, None)
        self._source = ""
        self.begin(draft)
