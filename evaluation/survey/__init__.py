"""A survey: people rate excerpts of conversations without knowing which system made them, and what comes out of it."""
