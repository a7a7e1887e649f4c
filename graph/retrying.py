"""When a node is tried again: transient failures of a model or an embedding, and nothing else."""

from langgraph.types import RetryPolicy

from persimchat.models.failures import is_transient

TRANSIENT = RetryPolicy(
    initial_interval=0.5, backoff_factor=2.0, max_interval=20.0, max_attempts=5, jitter=True, retry_on=is_transient
)
"""Five attempts, waiting about 0.5, 1, 2 and 4 seconds in between."""
