"""Turns samples into locations, intervals, paired ratios and verdicts, by pure functions on arrays.

The process is the statistical unit: one location, fixed in advance, summarises the samples of a process. Everything
after that is computed over processes or over pairs of them (Kalibera & Jones 2013; Georges et al. 2007).
"""
