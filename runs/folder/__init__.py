"""A run's folder: its files, what is written into them and read back, and the checkpoints beside them."""
