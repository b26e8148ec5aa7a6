"""Defines the sessions of this project: ``nox -l`` lists them."""

from bench.host.sessions import define

define(__file__)
