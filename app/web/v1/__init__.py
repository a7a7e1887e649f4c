"""The OpenAI-compatible address of a served world, `/v1`: other programs talk with its agents."""
