"""The REST API: runs, their events and their controls; experiments."""
