"""The baselines of the literature: separate short graphs over the conversation's channels, for comparison."""
