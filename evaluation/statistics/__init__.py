"""Statistics of comparisons: pure functions of numbers. All tests, intervals and distances of the product are here.

The unit is the task, the rater or the run: whatever is independent of the others. Callers average within a unit first.
A missing value is None: it is left out and counted, never 0. Every result names its method and how many units it rests
on. The distributions, tests and distances are scipy's, which comes with the extra `evaluation`.
"""
