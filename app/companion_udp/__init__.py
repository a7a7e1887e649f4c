"""A game talks with companions over UDP, on loopback: the paper's protocol."""
