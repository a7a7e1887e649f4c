"""The offline model: a small stochastic model of conversation, no language model."""
