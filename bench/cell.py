"""Knows what a cell is: one coordinate of a study, the word both rings share for "what is measured"."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Dict

# Runs on Python 3.7: this module belongs to both rings.

PRECISIONS = ("float32", "bfloat16", "float16", "float64")
DEVICES = ("cpu", "gpu")


@dataclass(frozen=True)
class Cell:
    """One coordinate: which environment runs which workload, how, how large, how precisely and where.

    ``framework`` follows from the environment and ``threads`` from the run; both are kept here because a result cannot
    be understood without them.
    """

    environment: str
    framework: str
    mode: str
    workload: str
    size: str
    precision: str
    device: str
    threads: int

    @property
    def column(self) -> str:
        """Name the side of a comparison: ``torch2:compile``."""
        return "{}:{}".format(self.environment, self.mode)

    @property
    def row(self) -> str:
        """Name what every column of a comparison computes: ``mlp-train/small/float32/cpu``."""
        return "/".join((self.workload, self.size, self.precision, self.device))

    @property
    def name(self) -> str:
        """Name the cell for people: ``torch2:compile mlp-train/small/float32/cpu``."""
        return "{} {}".format(self.column, self.row)

    def to_json(self) -> Dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: Dict[str, Any]) -> "Cell":
        """Rebuild a cell, ignoring keys that a newer version may have added."""
        return cls(**{field.name: values[field.name] for field in fields(cls)})
