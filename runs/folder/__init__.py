"""Run folders: writes and reads their files, and keeps the checkpoints beside them."""
