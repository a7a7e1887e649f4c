"""Runs that are over: list, search, compare, replay, branch, export."""
