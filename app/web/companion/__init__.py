"""The page of the companion: the talk, the agent's face and trust, and what it remembers."""
