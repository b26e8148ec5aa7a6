"""Turns records into results: times, comparisons, rankings and typed notes."""
