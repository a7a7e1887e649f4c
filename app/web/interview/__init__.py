"""The interview with one agent after a conversation."""
