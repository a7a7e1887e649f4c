"""The offline model's answers in stories: arithmetic on closeness and beliefs, and set phrases."""
