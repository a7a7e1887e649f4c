"""The panel beside a conversation: its people, its charts, and one mind."""
