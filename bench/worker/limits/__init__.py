"""Measures limits: the machine's peak rates, memory, and batches under a memory cap."""
