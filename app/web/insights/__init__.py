"""The insights beside the conversation: figures and charts, now and over time."""
