"""Debates: their forms of answer, and the answers of their judge."""
