"""The conversation panel: utterances as they come, and the controls for people."""
