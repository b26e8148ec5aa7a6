"""Defines a cell: one coordinate of a study, which both rings use to name what is measured."""

from __future__ import annotations

import sys
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, Dict, Tuple

if sys.version_info >= (3, 8):
    from functools import cached_property
else:
    cached_property = property

# Runs on Python 3.7: this module belongs to both rings.

#: Parameters and optimizer in float32, forward and backward in bfloat16; for training.
MIXED = "mixed-bfloat16"
PRECISIONS = ("float32", "tf32", MIXED, "bfloat16", "float16", "float64")
DEVICES = ("cpu", "gpu")


def of_products(precision: str) -> Tuple[str, ...]:
    """List the precisions of a precision's products; statistics of mixed precision are in float32."""
    return ("bfloat16", "float32") if precision == MIXED else (precision,)


@dataclass(frozen=True)
class Cell:
    """One coordinate: environment, mode, workload, size, precision and device.

    ``framework`` follows from the environment and ``threads`` from the run; both are stored so that a record can be
    read alone.
    """

    environment: str
    framework: str
    mode: str
    workload: str
    size: str
    precision: str
    device: str
    threads: int
    #: Whether the row's name gives the threads: where a study measures a workload with several numbers of them.
    threads_named: bool = False
    #: Devices that divide one step among them; a row compares it with steps on one device, of the same batch.
    devices: int = 1

    @cached_property
    def column(self) -> str:
        """The name of a table's column: ``torch2:compile``."""
        return "{}:{}".format(self.environment, self.mode)

    @cached_property
    def row(self) -> str:
        """The name of a table's row, which all columns compute: ``mlp-train/small/float32/cpu``."""
        parts = [self.workload, self.size, self.precision, self.device]
        if self.threads_named:
            parts.append("{}-thread{}".format(self.threads, "s" if self.threads > 1 else ""))
        return "/".join(parts)

    @cached_property
    def name(self) -> str:
        """The full name, for people: ``torch2:compile mlp-train/small/float32/cpu``."""
        return "{} {}".format(self.column, self.row)

    def to_json(self) -> Dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: Dict[str, Any]) -> "Cell":
        """Rebuild a cell; unknown keys are ignored. Raises KeyError for a missing one without a default."""
        return cls(**{name: values[name] for name, needed in NEEDED.items() if needed or name in values})


#: The names of a cell's values, and whether each must be there.
NEEDED = {field.name: field.default is MISSING for field in fields(Cell)}
