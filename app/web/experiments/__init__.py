"""Experiments: the list, and the page of one that is or was driven by another process."""
