"""Running: a new run, a run that goes on, a branch and a replay, from the graph's stream to events and files."""
