"""Turns the error that ended a cell into a status and a reason in one line."""

from __future__ import annotations

import re
from typing import List

from ..program import Unsupported
from ..record import FAILED, MISMATCH, OUT_OF_MEMORY, UNSUPPORTED
from .checking.parity import Mismatch
from .timing.growth import NoGrowth

#: The words of the frameworks when memory runs out; none has one exception for all devices.
OUT_OF_MEMORY_WORDS = (
    "out of memory",
    "out_of_memory",
    # Of cuBLAS and cuDNN, where their own workspace does not fit.
    "status_alloc_failed",
    "resource_exhausted",
    "can't allocate memory",
    "bad_alloc",
    "cannot allocate memory",
)

#: The words of PyTorch where an operation has no kernel for numbers of 16 bits, as many have none on processors in old
#: versions. For another type they are a mistake of the implementation.
MISSING_KERNEL = re.compile(r"\"[^\"\n]+\" not implemented for '(Half|BFloat16)'")
PRECISIONS = {"Half": "float16", "BFloat16": "bfloat16"}

#: A compiler's first line often says only that there was an error.
REASON_LINES = 2

#: What a C++ compiler, its assembler or its linker says of an error, after the name of the file.
COMPILER_ERROR = re.compile(
    r"(?:^|: )((?:fatal |internal compiler )?error: .*)|(?:^|: )(undefined reference to .*)|(?:^|: )(out of memory .*)"
    r"|(?:^|[/-])(ld: (?!warning: |skipping |.*: in function ).*)",
    re.IGNORECASE,
)
FOLDERS = re.compile(r"(?<![\w.])/(?:[^\s/:]+/)+")


def status_of(error: BaseException) -> str:
    """Classify what ended a cell."""
    if isinstance(error, Unsupported) or missing_kernel(error):
        return UNSUPPORTED
    if isinstance(error, Mismatch):
        return MISMATCH
    text = str(error).lower()
    if isinstance(error, MemoryError) or any(words in text for words in OUT_OF_MEMORY_WORDS):
        return OUT_OF_MEMORY
    return FAILED


def missing_kernel(error: BaseException) -> str:
    """Say which operation has no kernel for numbers of 16 bits, as a RuntimeError of PyTorch says; empty otherwise.

    TorchScript puts it below a traceback of its own.
    """
    found = MISSING_KERNEL.search(str(error)) if isinstance(error, RuntimeError) else None
    return "no kernel for {}: {}".format(PRECISIONS[found.group(1)], found.group(0)) if found else ""


def reason_of(error: BaseException, place: str = "") -> str:
    """Word what ended a cell in one line: the first lines of its message that are not empty, or a compiler's error.

    ``place`` is the file and line of a workload or framework where an error arose, which belong to a failure only.
    """
    if missing_kernel(error):
        return missing_kernel(error)
    said = " | ".join(_chosen_lines([line.strip() for line in str(error).splitlines() if line.strip()]))
    if isinstance(error, (Unsupported, Mismatch, NoGrowth)):
        return said
    text = "{}: {}".format(type(error).__name__, said) if said else type(error).__name__
    return "{} ({})".format(text, place) if place and status_of(error) == FAILED else text


def _chosen_lines(lines: List[str]) -> List[str]:
    """Choose the first lines, or the first one and the compiler's own words where these come further below."""
    first, rest = lines[:REASON_LINES], lines[REASON_LINES:]
    found = next(filter(None, map(COMPILER_ERROR.search, rest)), None)
    if found is None or any(map(COMPILER_ERROR.search, first)):
        return first
    return [first[0], FOLDERS.sub("", found.group(found.lastindex or 0))]
