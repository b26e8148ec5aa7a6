"""Knows the host ring: what plans, runs and reports a study; Python 3.11, real libraries, never a framework."""
