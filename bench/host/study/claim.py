"""Defines the table of a claim, with the types, limits and descriptions of its keys."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from . import factor_range
from .table import StudyTable
from .values import LIST, Filled, Name

#: What a claim may be about, and the quantities that compare a column with itself.
STEP, FIRST_CALL, WARM_START, MEMORY, GRAPHS = "step", "first-call", "warm-start", "memory", "graphs"
OWN = (WARM_START,)

FactorRange = Annotated[
    str,
    AfterValidator(factor_range.checked),
    WithJsonSchema({"type": "string", "pattern": factor_range.PATTERN}),
]
Patterns = Annotated[tuple[Filled, ...], LIST]


class Claim(StudyTable):
    """A sentence about the results, and what decides it; the table's name is the claim's.

    Every column that ``columns`` names is compared with every one that ``against`` names, and the claim must hold for
    all of them.
    """

    name: SkipJsonSchema[Name]
    says: Filled = Field(max_length=200, description="The sentence.")
    source: str = Field("", description="Who says so, and where.")
    unsettled: Filled | None = Field(
        None, description="Why no measurement of ours can settle it; instead of all keys below."
    )
    columns: Patterns = Field((), description='Patterns of columns, as environment:mode: "jax:jit".')
    against: Patterns = Field(
        (),
        description='Patterns of the columns to compare with; "eager" alone is a mode of the same environment.',
    )
    factor: FactorRange | None = Field(
        None,
        description='By what factor the columns are better: ">1", ">=1.78", ">=4,<=5"; ">=1" is as good or better. A '
        "factor of 2 is half of the time, or of the memory.",
    )
    quantity: Literal["step", "first-call", "warm-start", "memory", "graphs"] = Field(
        "step",
        description="step: time per step; first-call: time of the first call with an empty cache; warm-start: the same "
        'over that with a warm cache, of one column, in a profile with compile_cache = "cold"; memory: peak memory; '
        "graphs: graphs that a compiler made.",
    )
    workloads: Patterns = Field((), description="Patterns of the workloads that count; all without it.")
    against_workload: Filled | None = Field(
        None, description="Compare with the same column's result in this workload, instead of with other columns."
    )
    up_to: bool = Field(
        False, description='The claim says "up to": one workload that reaches the factor is enough, not their mean.'
    )
    size: Filled | None = Field(None, description="Pattern of the sizes that count.")
    precision: Filled | None = Field(None, description="Pattern of the precisions that count.")
    device: Filled | None = Field(None, description="Pattern of the devices that count.")

    @property
    def compares_with_itself(self) -> bool:
        """Tell whether a column is compared with itself: in another workload, or with another cache."""
        return self.against_workload is not None or self.quantity in OWN


def same_environment(pattern: str) -> bool:
    """Tell whether a pattern of ``against`` is that of a mode alone, which means the same environment."""
    return ":" not in pattern
