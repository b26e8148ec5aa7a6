"""Forms of networks with convolutions in JAX's mode jit-loop: whose order the gradients of a convolution have."""

from __future__ import annotations

from bench.frameworks.jax import convolution

FORMS = {"JAX's gradients": {"bench.frameworks.jax.convolution:of_mode": lambda mode: convolution.convolve}}
