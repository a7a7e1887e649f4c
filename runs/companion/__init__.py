"""A companion's world: its folder, its sessions, their events."""
