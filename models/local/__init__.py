"""Models that run on this machine: their files, how they are got, and llama.cpp's server in a process of its own."""
