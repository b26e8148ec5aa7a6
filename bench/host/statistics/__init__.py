"""Knows how samples become statements: locations, intervals, paired ratios and verdicts. Pure functions on arrays.

The process is the statistical unit: samples of one process are summarised by one location, declared in advance, and
everything after that is computed over processes or over pairs of them (Kalibera & Jones 2013; Georges et al. 2007).
"""
