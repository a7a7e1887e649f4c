"""How the offline model makes personas."""
