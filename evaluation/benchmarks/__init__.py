"""Questions with reference answers: reading their files, drawing them, asking a model alone, scoring all methods."""
