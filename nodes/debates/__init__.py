"""The judge of debates."""
