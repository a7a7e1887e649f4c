"""How one agent recalls, where it differs from the settings."""

from __future__ import annotations

import numpy as np
import pytest

from persimchat.memory.retrieval import recency
from persimchat.state.persona import Persona
from persimchat.state.place import Agent, Recall, place_of
from persimchat.state.settings import Settings


def test_only_what_is_given_differs() -> None:
    common = Settings()
    own = Recall(relevance=2, recency_decay=0.9, reflection_trigger=40).settings(common)
    assert own.weights == common.weights.model_copy(update={"relevance": 2})
    assert own.companion == common.companion.model_copy(update={"recency_decay": 0.9, "reflection_trigger": 40})
    assert Recall().settings(common) == common


def test_an_agent_without_it_is_written_as_before() -> None:
    place = place_of(Persona(name="Oda", description="Sells tickets."))
    assert "recall" not in place.model_dump(mode="json")["agents"][0]
    with_it = Agent(persona=place.agents[0].persona, recall=Recall(relevance=2))
    assert Agent.model_validate(with_it.model_dump(mode="json")) == with_it


def test_recency_decays_as_told() -> None:
    assert recency(np.array([10, 9, 8]), 10, 0.5).tolist() == [1.0, 0.5, 0.25]


@pytest.mark.parametrize("decay", [0.0, 1.5, float("nan")])
def test_a_decay_that_is_none_is_refused(decay: float) -> None:
    with pytest.raises(ValueError, match="recency_decay"):
        Recall(recency_decay=decay)
