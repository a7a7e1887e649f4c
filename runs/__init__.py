"""A run: the event stream and what it leaves on disk."""
