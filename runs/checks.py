"""What can be known to be wrong before a run begins: models, embedding, store."""

from __future__ import annotations

import asyncio

from persimchat.memory.embeddings import embedding
from persimchat.memory.store import store
from persimchat.models.registry import ready_model
from persimchat.state.scenario import Scenario
from persimchat.state.settings import MODULES, Settings
from persimchat.state.voting import rounds_of


async def check(scenario: Scenario, settings: Settings) -> None:
    """Refuse a run that cannot work. No request is made to a model.

    Raises:
        InputError: the message limit leaves no room for what is to be held; a model or an embedding is unknown or lacks
            its key or package; the store cannot be opened.
    """
    if settings.baseline in ("mad", "mad_judge", "reconcile"):
        rounds_of(len(scenario.participants), settings)
    names = ["", *(participant.name for participant in scenario.participants)]
    models = {settings.model_for(name, module) for name in names for module in MODULES}
    for model in sorted(model for model in models if model):
        await ready_model(model, settings)
    await asyncio.to_thread(embedding, settings.embedding, settings)
    await asyncio.to_thread(store, settings.store)
