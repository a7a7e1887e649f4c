"""The page of a story: its stages, rooms, and where its characters stand."""
