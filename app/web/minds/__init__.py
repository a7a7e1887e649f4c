"""A look into an agent's mind at a turn."""
