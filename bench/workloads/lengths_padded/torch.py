"""Implements lengths-padded as lengths-exact, with a mask."""

from ..lengths_exact.torch import build as build
