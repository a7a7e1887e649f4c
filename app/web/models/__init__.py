"""Models on the page: the field that chooses one, the files of this machine, and tests."""
