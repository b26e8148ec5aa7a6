"""Reads and adds to the flags of XLA in environment variables; JAX and TensorFlow do not report which are in force."""

from __future__ import annotations

import os
from typing import Any, Dict


def flags(text: str) -> Dict[str, str]:
    """Parse ``--name=value --name`` as XLA does: a flag without a value is on, the last of several counts."""
    found = {}
    for word in text.split():
        name, equals, value = word.lstrip("-").partition("=")
        found[name] = value if equals else "true"
    return found


def add_flags(variable: str, *added: str) -> None:
    """Add flags to those of an environment variable; before XLA reads it, once in a process."""
    given = os.environ.get(variable, "").split()
    os.environ[variable] = " ".join([*given, *(flag for flag in added if flag not in given)])


def gpu_settings() -> Dict[str, Any]:
    """Return the settings of a GPU that XLA_FLAGS decide; XLA decides the others.

    CUDA graphs are always listed, because frameworks without them differ.
    """
    given = flags(os.environ.get("XLA_FLAGS", ""))
    found: Dict[str, Any] = {"CUDA graphs": "as XLA decides"}
    if "xla_gpu_enable_command_buffer" in given:
        # A list of what is captured; an empty one turns the graphs off.
        found["CUDA graphs"] = given["xla_gpu_enable_command_buffer"] not in ("", "false")
    if "xla_gpu_autotune_level" in given:
        found["cuDNN autotuning"] = given["xla_gpu_autotune_level"] != "0"
    if "xla_gpu_deterministic_ops" in given:
        found["cuDNN deterministic"] = given["xla_gpu_deterministic_ops"].lower() in ("true", "1")
    return found
