"""The set-up of a conversation: topic, participants, settings and estimated cost."""
