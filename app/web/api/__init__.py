"""The REST API: runs, their events, and what can be done to them."""
