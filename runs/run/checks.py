"""What can be known to be wrong before a run begins: models, embedding, store."""

from __future__ import annotations

import asyncio

from persimchat.memory.chroma_client import RUN
from persimchat.memory.embeddings import embedding
from persimchat.memory.store import store
from persimchat.models.naming import parse_model_name
from persimchat.models.registry import ready_model
from persimchat.models.usage import cost_usd
from persimchat.nodes.assembling import refuse_people_in_baseline
from persimchat.runs.folder.checkpoints import check_location
from persimchat.state.errors import InputError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import AFTERWARDS, MODULES, Settings
from persimchat.state.voting import rounds_of


async def check(scenario: Scenario, settings: Settings) -> None:
    """Refuse a run that cannot work. No request is made to a model.

    Raises:
        InputError: the message limit leaves no room for what is to be held; a model or an embedding is unknown or lacks
            its key or package; the store cannot be opened; checkpoints can be kept nowhere.
    """
    refuse_people_in_baseline(scenario, settings)
    if settings.baseline in ("mad", "mad_judge", "reconcile"):
        rounds_of(len(scenario.participants), settings)
    names = ["", *(participant.name for participant in scenario.participants)]
    models = {settings.model_for(name, module) for name in names for module in MODULES if module not in AFTERWARDS}
    for model in sorted(model for model in models if model):
        await ready_model(model, settings)
        if settings.budget_usd is not None and cost_usd(parse_model_name(model), 1, 1, settings.prices) is None:
            raise InputError(
                f"budget_usd is set, and the price of {model} is not known",
                remedy=f"Set prices={{'{model}': [USD per million tokens in, out]}}, or budget_tokens.",
            )
    await asyncio.to_thread(embedding, settings.embedding, settings)
    check_location(settings.checkpoints)
    if settings.store != RUN:
        await asyncio.to_thread(store, settings.store)
