"""Chat models by name: parsing names, building clients, asking questions, and accounting."""
