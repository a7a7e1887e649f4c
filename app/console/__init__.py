"""How people take part in a run from a terminal or a pipe."""
