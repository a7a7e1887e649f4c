"""The rooms of the package, in the order in which they may import: a room imports itself and those before it."""

from __future__ import annotations

ROOMS = (
    "state",
    "prompts",
    "models",
    "memory",
    "personas",
    "nodes",
    "graph",
    "runs",
    "reports",
    "evaluation",
    "experiments",
    "app",
)
