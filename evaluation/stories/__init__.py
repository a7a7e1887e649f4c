"""Stories in numbers: pure functions on recorded runs, which ask no model."""

from __future__ import annotations

from persimchat.runs.folder.reading import Record
from persimchat.state.story import Story


def story_in(record: Record) -> Story | None:
    """The story of a recorded run; None where it is another conversation."""
    section = record.manifest.scenario.story
    return Story.model_validate(section.model_dump(by_alias=True)) if section is not None else None
