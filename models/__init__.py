"""Getting a chat model from a string, and asking it."""
