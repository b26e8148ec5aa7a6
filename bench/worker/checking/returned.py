"""Refuses what a function of a specification must not return, with its file; it would fail later, in code of ours."""

from __future__ import annotations

import os
from typing import Any


def of(specification: Any, function: str, value: Any, kinds: Any, wanted: str) -> Any:
    """Return the ``value`` of a function if it is one of ``kinds``. Raises TypeError that names what is ``wanted``."""
    if isinstance(value, kinds):
        return value
    raise TypeError(
        "{}: {} returned {}; it returns {}".format(file_of(specification), function, kind_of(value), wanted)
    )


def kind_of(value: Any) -> str:
    """Say what a value is, for a message: ``a value of type int``."""
    return "None" if value is None else "a value of type {}".format(type(value).__name__)


def verify_float64(specification: Any, name: str, dtype: Any) -> None:
    """Raise TypeError for an output of the float64 reference that has fewer digits, or is complex."""
    if dtype.kind == "c":
        raise TypeError(
            "{}: {} is {}; outputs are compared as real numbers. Return the real and the imaginary parts as two "
            "outputs".format(file_of(specification), name, dtype)
        )
    if dtype.kind == "f" and dtype.itemsize < 8:
        raise TypeError(
            "{}: {} is {} where all arguments are float64; compute in the dtype of the arguments".format(
                file_of(specification), name, dtype
            )
        )


def file_of(specification: Any) -> str:
    """Name the file of a specification: ``workloads/gemm/__init__.py``."""
    return "/".join(os.path.abspath(specification.__file__).split(os.sep)[-3:])
