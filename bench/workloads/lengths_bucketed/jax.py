"""Implements lengths-bucketed as lengths-exact, with a mask."""

from ..lengths_exact.jax import build as build
