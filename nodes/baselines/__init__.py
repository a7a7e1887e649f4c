"""What the simpler methods of the literature ask models."""
