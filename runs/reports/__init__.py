"""What is made of runs: reports, tables, summaries, comparisons, and estimates of what a run will cost."""
