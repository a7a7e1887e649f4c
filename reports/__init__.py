"""Reports, tables, summaries and comparisons of runs, and estimates of what a run will cost."""
