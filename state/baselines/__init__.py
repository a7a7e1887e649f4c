"""The simpler methods of the literature: rounds of answers, and a script that one model writes."""
