"""Defines the error for a command that cannot be done as it was given."""

from __future__ import annotations


class Refused(Exception):
    """A command cannot be done as it was given. The message says why and what to do.

    The command line prints the message, without a traceback, and exits with status 2.
    """
