"""Settings that give names a value each: rows that come and go, checked when their field is left."""

from __future__ import annotations

import pytest
from nicegui import ui
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction
from web.first_screen import begun, fill, more_settings, one

from persimchat.app.web.context import WebContext
from persimchat.runs.folder.reading import read_manifest

pytestmark = pytest.mark.proof


def leave(user: User, marker: str, text: str) -> None:
    """Write into a field, and leave it."""
    fill(user, marker, text)
    user.find(marker=marker).trigger("blur")


def told(user: User, setting: str, row: str) -> str:
    """What is said below the rows; empty if the row is not the one that is marked."""
    marked = one(user, f"value-{setting}-{row}").props["error"]
    return str(one(user, f"fault-{setting}").text) if marked else ""


def remove_first(user: User) -> None:
    """Press the first button that removes a row."""
    buttons = [b for b in user.find(kind=ui.button).elements if b.props.get("aria-label") == "Remove this row"]
    UserInteraction(user, {min(buttons, key=lambda button: button.id)}, None).click()


async def test_weights_have_a_field_each(user: User, web: WebContext):
    await user.open("/")
    await more_settings(user)
    fill(user, "topic", "Tea?")
    fill(user, "setting-max_messages", "1")
    assert one(user, "value-weights-recency").value == "1"
    fill(user, "value-weights-recency", "1000")
    assert not told(user, "weights", "recency")  # nobody is told before the field is left
    user.find(marker="value-weights-recency").trigger("blur")
    assert told(user, "weights", "recency").startswith("Recency: should be less than or equal to 100")
    leave(user, "value-weights-importance", "much")
    leave(user, "value-weights-recency", "0,5")
    assert not told(user, "weights", "recency")
    assert "valid number" in told(user, "weights", "importance")
    leave(user, "value-weights-importance", "2")
    assert not told(user, "weights", "importance")
    live = await begun(web, lambda: user.find(marker="start").click())
    await live.ended()
    weights = read_manifest(web.runs.folder(live.run)).settings.model_dump()["weights"]
    assert (weights["recency"], weights["importance"], weights["relevance"]) == (0.5, 2, 1)


async def test_rows_come_and_go(user: User):
    await user.open("/")
    await more_settings(user)
    await user.should_not_see(marker="value-module_models-0")
    for row, (name, model) in enumerate((("judge", "nonsense"), ("planning", "offline"))):
        user.find(marker="add-module_models").click()
        fill(user, f"name-module_models-{row}", name)
        leave(user, f"value-module_models-{row}", model)
    assert "judge" not in one(user, "name-module_models-1").options  # it has a row
    assert "unknown model 'nonsense'" in told(user, "module_models", "0")
    assert not told(user, "module_models", "1")
    remove_first(user)
    leave(user, "value-module_models-1", "")
    assert told(user, "module_models", "1") == "Fill in the value, or remove the row."
    leave(user, "value-module_models-1", "offline")
    await user.open("/")
    await user.should_see(marker="value-module_models-0")
    assert (one(user, "name-module_models-0").value, one(user, "value-module_models-0").value) == (
        "planning",
        "offline",
    )
    user.find(marker="files-reset").click()
    await user.should_not_see(marker="value-module_models-0")
