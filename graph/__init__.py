"""Wiring only: the conversation, hearing, thinking, and who speaks next."""
