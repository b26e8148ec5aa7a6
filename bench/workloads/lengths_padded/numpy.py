"""Implements lengths-padded as lengths-exact, with a mask."""

from ..lengths_exact.numpy import build as build
