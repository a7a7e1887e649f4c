"""Asks models about a focus group: everybody for their positions before and after, a judge for themes."""
