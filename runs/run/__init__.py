"""Runs, resumes, branches and replays a conversation: turns the graph's stream into events and files."""
