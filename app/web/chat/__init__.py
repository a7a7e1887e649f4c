"""The conversation itself: utterances as they come, and what people do in it."""
