"""The dialog that shows an agent's mind at a turn."""
