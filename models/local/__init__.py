"""Models that run on this machine: their files, fetching these, and llama.cpp's server in a separate process."""
