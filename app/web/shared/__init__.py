"""Parts that several areas of the page use: addresses, amounts in words, budgets."""
