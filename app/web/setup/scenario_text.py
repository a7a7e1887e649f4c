"""A draft as the YAML that the command line reads, and back; keys and passwords are never written."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from persimchat.app.web.setup.draft import Draft, Seat
from persimchat.memory.chroma_client import EPHEMERAL, RUN
from persimchat.models.redaction import redact
from persimchat.personas.catalogue import shipped
from persimchat.personas.files import SUFFIXES
from persimchat.personas.scenario import load_scenario
from persimchat.runs.manifest import public
from persimchat.state.document import MAX_BYTES, read_document
from persimchat.state.errors import InputError
from persimchat.state.folding import without_marks

_WIDTH: Final = 120
_LONGEST: Final = 60


class _Dumper(yaml.SafeDumper):
    """Lists are indented under their key, as people write them; nothing refers to another place."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent also the items of a list."""
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        """Write everything out."""
        return True


# YAML 1.1 in Python takes 1e3 for text and our reader for a number, so it is quoted.
_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)[eE][-+]?[0-9]+$"),
    list("-+.0123456789"),
)


def scenario_text(draft: Draft) -> str:
    """The draft as a scenario file's text."""
    goals = {seat.name: seat.goals for seat in draft.seats if seat.goals}
    data: dict[str, Any] = {
        "topic": draft.topic,
        "participants": [_participant(seat) for seat in draft.seats],
        "relationships": [tie.model_dump(by_alias=True, exclude_defaults=True) for tie in draft.relationships],
        "social_goals": goals,
        "rules": draft.rules,
        "settings": _shown(public(draft.settings_asked())),
    }
    kept = {key: value for key, value in data.items() if value or key in ("topic", "participants")}
    return yaml.dump(kept, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=_WIDTH)


def file_name(name: str) -> str:
    """What of a name is safe as a file's name on every system, without an ending.

    Raises:
        InputError: nothing is.
    """
    stem = "-".join(re.findall(r"[a-z0-9]+", without_marks(name)))[:_LONGEST].strip("-")
    if not stem:
        raise InputError("the name has no letter or digit", remedy="Give it a name with letters.")
    return stem


def uploaded(name: str, raw: bytes) -> Draft:
    """The draft that a scenario file holds which somebody has sent.

    Args:
        name: of the file; nothing is read or written under it.
        raw: what is in it.

    Raises:
        InputError: it is too large, no scenario, or names files or folders, which would be those of the server.
    """
    shown = Path(name.replace("\\", "/")).name or "file"
    if len(raw) > MAX_BYTES:
        raise InputError("the file is too large", where=shown, remedy=f"Keep it below {MAX_BYTES:,} bytes.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("setup.json" if name.lower().endswith(".json") else "setup.yaml")
        path.write_bytes(raw)
        try:
            _refuse_files(path)
            return Draft.of(load_scenario(path))
        except InputError as error:
            where = error.where.replace(str(path), shown)
            raise InputError(error.what.replace(str(path), shown), where=where, remedy=error.remedy) from None


def _refuse_files(path: Path) -> None:
    document = read_document(path)
    listed = document.data.get("participants")
    for index, entry in enumerate(listed if isinstance(listed, list) else []):
        given = entry if isinstance(entry, Mapping) else {"persona": entry}
        included = given.get("include") or []
        for value in (given.get("persona"), *(included if isinstance(included, list) else [included])):
            if isinstance(value, str) and (value.lower().strip().endswith(SUFFIXES) or re.search(r"[/\\]", value)):
                raise InputError(
                    "an uploaded set-up cannot name files",
                    where=document.where(("participants", index)),
                    remedy="Write the persona out, or name a shipped one.",
                )
    settings = document.data.get("settings")
    store = settings.get("store") if isinstance(settings, Mapping) else None
    if isinstance(store, str) and "://" not in store and store.strip() not in (RUN, EPHEMERAL):
        raise InputError(
            "an uploaded set-up cannot name folders",
            where=document.where(("settings", "store")),
            remedy="Leave store out, and choose it on the page.",
        )


def _participant(seat: Seat) -> Any:
    given = seat.persona.model_dump(mode="json", exclude_defaults=True)
    known = next((persona for persona in shipped() if persona.name == seat.name), None)
    if known is None or known != seat.persona.model_copy(update={"human": known.human}):
        return given
    return {"persona": seat.name, "human": True} if seat.persona.human else seat.name


def _shown(value: Any) -> Any:
    """A value without keys, wherever in it they are."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact(str(key)): _shown(item) for key, item in value.items()}
    return [_shown(item) for item in value] if isinstance(value, list | tuple) else value
