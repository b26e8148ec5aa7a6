"""Knows how the method is proved on the machine at hand: comparisons whose true answer is known.

The same cell against itself must never come out as different; a cell that does some real work more must be found. Each
comparison is a run of its own, with the sampling, the looks and the verdicts of a study.
"""
