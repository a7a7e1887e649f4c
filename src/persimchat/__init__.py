"""PerSimChat: simulated conversations between personas with memory, emotions, plans and relationships."""

__version__ = "0.1.0"
