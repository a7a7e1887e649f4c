"""What came of a focus group: themes with quotes, who said what about each question, positions before and after."""
