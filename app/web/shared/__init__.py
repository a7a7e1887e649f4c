"""Parts that several areas of the page share: addresses, amounts in words, budgets."""
