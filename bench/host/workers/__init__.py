"""Holds the host's side of a worker: the messages, and the process that a worker runs in."""
