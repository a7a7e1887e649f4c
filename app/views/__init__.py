"""How a run is shown on a terminal, in a pipe and as text."""
