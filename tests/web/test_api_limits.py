"""The REST API takes texts as long as the core does, no longer and no shorter."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from persimchat.app.web.api import models
from persimchat.state import intervention
from persimchat.state.scenario import Scenario


def longest(model: type[BaseModel], *path: str) -> Any:
    """The `maxLength` of a field, or of what it holds."""
    schema = model.model_json_schema()["properties"]
    for part in path:
        schema = schema[part]
    return schema["maxLength"]


@pytest.mark.parametrize(
    ("taken", "core", "path"),
    [
        (models.Conversation, Scenario, ("topic",)),
        (models.Conversation, Scenario, ("rules", "items")),
        (models.Conversation, Scenario, ("social_goals", "additionalProperties", "items")),
        (models.Say, intervention.Say, ("text",)),
        (models.Topic, intervention.NewTopic, ("topic",)),
    ],
)
def test_lengths_are_the_core_s(taken: type[BaseModel], core: type[BaseModel], path: tuple[str, ...]):
    assert longest(taken, *path) == longest(core, *path)
