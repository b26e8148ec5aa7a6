"""Compares a program's outputs with the reference before it may be timed."""
