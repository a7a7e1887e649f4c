"""The small real model, fetched once into build/models."""

from __future__ import annotations

from pathlib import Path

import pytest

from persimchat.models.local import getting
from persimchat.models.local.files import Stored
from persimchat.state.errors import ModelError


@pytest.fixture(scope="session")
def models(root: Path) -> Path:
    return root / "build/models"


@pytest.fixture(scope="session")
def smollm2(models: Path) -> Stored:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERSIMCHAT_MODELS", str(models))
        try:
            return getting.get("smollm2")[0]
        except ModelError as error:
            pytest.skip(f"SmolLM2 cannot be had here: {error}")
