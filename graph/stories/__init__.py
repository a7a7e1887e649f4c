"""The graph of a story: characters bargain in rooms, in meetings and in the group, and vote at the end."""
