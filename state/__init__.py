"""What is known: typed, serialisable, with no behaviour but arithmetic."""
