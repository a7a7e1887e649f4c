"""Attention as a score: how much a small local model looks at each piece of information of a prompt."""
