"""When LangGraph retries a node: only after a transient failure of a model or an embedding."""

from langgraph.runtime import get_runtime
from langgraph.types import RetryPolicy

from persimchat.models.failures import is_transient

TRANSIENT = RetryPolicy(
    initial_interval=0.5, backoff_factor=2.0, max_interval=20.0, max_attempts=5, jitter=True, retry_on=is_transient
)
"""Five attempts, waiting about 0.5, 1, 2 and 4 seconds in between."""


def last_attempt() -> bool:
    """Whether this is the last attempt of the running node."""
    info = get_runtime().execution_info
    return info is None or info.node_attempt >= TRANSIENT.max_attempts
