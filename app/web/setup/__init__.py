"""Setting a conversation up: topic, participants, settings, and what it will cost."""
