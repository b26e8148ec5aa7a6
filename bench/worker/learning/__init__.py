"""Trains a program to a result: whole epochs over real examples, each followed by an evaluation on held-out ones.

Everything here is NumPy, so that every framework gets the same examples in the same order, from the same initial
weights, and is judged by the same function.
"""
