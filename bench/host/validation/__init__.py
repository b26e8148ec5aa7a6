"""Validates the method on this machine with comparisons whose true answer is known.

A cell compared with itself must not come out as different; a cell with some real extra work must come out as slower.
Each comparison is a run of its own, of two cells, measured and judged as in a study. A study also corrects for the
other comparisons of its table and applies a noise floor; both only make a verdict of *different* rarer.
"""
