"""Stories in stages: what a scenario says of one, its state, and the arithmetic of where characters stand."""
