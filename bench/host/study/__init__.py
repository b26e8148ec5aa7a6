"""Reads and checks a study file, and selects the cells to measure."""
