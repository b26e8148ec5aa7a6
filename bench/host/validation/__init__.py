"""Knows how the method is proved on the machine at hand: comparisons whose true answer is known.

The same cell against itself must never come out as different; a cell that does some real work more must be found. Each
comparison is a run of its own, of two cells, sampled and judged as in a study; what a table does besides, correcting
for its other comparisons and barring what lies within its noise floor, only makes a verdict of *different* rarer.
"""
