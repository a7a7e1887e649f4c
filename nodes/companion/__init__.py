"""The modules of a companion."""
