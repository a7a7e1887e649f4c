"""The offline model's answers for companions: facts by patterns, trust by lexicons, and set phrases."""
