"""Implements lengths-padded as lengths-exact, with a mask."""

from ..lengths_exact.tensorflow import build as build
