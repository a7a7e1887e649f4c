"""A test that LangSmith's pytest plugin reports where it is switched on; here it runs offline, without an account.

With an account: `LANGSMITH_API_KEY=… LANGSMITH_TEST_TRACKING=true pytest tests/evaluation/test_marked.py`.
"""

from __future__ import annotations

import pytest
from langsmith import testing
from langsmith.utils import get_env_var

from persimchat.evaluation import balance, make_target


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGSMITH_TEST_TRACKING", "false")
    get_env_var.cache_clear()


@pytest.mark.proof
@pytest.mark.langsmith
def test_nobody_talks_alone() -> None:
    inputs = {"topic": "Tea or coffee?", "participants": 3}
    testing.log_inputs(inputs)
    outputs = make_target(model="offline", max_messages=4, seed=1)(inputs)
    testing.log_outputs({"transcript": outputs["transcript"]})
    found = balance(outputs)
    testing.log_feedback(key=found["key"], score=found["score"])
    assert found["score"] > 0.5
