"""Past runs: list, search, compare, replay, branch, export."""
