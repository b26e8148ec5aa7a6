"""Knows what a record is: what one cell produced in one process, and the statuses it can end with.

Records are JSON, one per line, appended and never rewritten. Raw samples are stored; every statistic is derived from
them on the host and can be derived again.

Schema history:
  1 (2026-11-21): first version.
  2 (2026-11-21): time spent waiting for a processor, disturbed turns, compilation counts.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any, Dict, List, Optional

from .cell import Cell

# Runs on Python 3.7: this module belongs to both rings.

SCHEMA_VERSION = 2

OK = "ok"
MISMATCH = "mismatch"
FAILED = "failed"
TIMEOUT = "timeout"
OUT_OF_MEMORY = "out-of-memory"
UNSUPPORTED = "unsupported"
STATUSES = (OK, MISMATCH, FAILED, TIMEOUT, OUT_OF_MEMORY, UNSUPPORTED)

# Where a cell was when it ended: environment, start, import, build, first-call, check, calibrate, measure or finish. A
# worker announces each stage before it enters it, so that even a killed one is placed.
#: The stage of a process whose samples cannot be true: faster than the machine.
IMPLAUSIBLE = "plausibility"


@dataclass(frozen=True)
class Record:
    """What one cell produced in one process of one round.

    A process that was killed half-way leaves a record with the samples it had; the process that replaces it has the
    same ``round`` and the next ``attempt``. The process is the statistical unit.
    """

    cell: Cell
    round: int
    attempt: int
    #: One of ``STATUSES``; every one but ``ok`` comes with ``stage`` and ``reason``.
    status: str
    stage: Optional[str] = None
    reason: Optional[str] = None
    run: str = ""
    schema: int = SCHEMA_VERSION
    #: Seconds since the epoch when the worker was asked to start.
    started_at: float = 0.0
    #: Wall seconds to import the framework (imports of one group may share the processors; see ``import_alone``).
    import_s: Optional[float] = None
    import_alone: bool = False
    #: Wall seconds from the start of ``build`` to the synchronised end of the first step, compilation included.
    first_call_s: Optional[float] = None
    #: ``cold`` when the compilation cache was empty, ``warm`` when an earlier process of this cell had filled it,
    #: ``unsure`` when one had begun to and failed.
    first_call_cache: Optional[str] = None
    #: Steps of each timed sample; a step's time is ``sample_ns / sample_steps``. A sample that came out far too short
    #: makes the next ones longer.
    sample_steps: List[int] = field(default_factory=list)
    #: Wall nanoseconds of each timed sample, in order.
    sample_ns: List[int] = field(default_factory=list)
    #: Process CPU nanoseconds (all threads) of each timed sample.
    sample_cpu_ns: List[int] = field(default_factory=list)
    #: Nanoseconds of each timed sample in which threads of the process were ready but had to wait for a processor, and
    #: that a hypervisor took; empty where the kernel does not tell.
    sample_wait_ns: List[int] = field(default_factory=list)
    #: The turn (block) of its round in which each sample was taken; samples of two cells with equal turns are pairs.
    sample_turn: List[int] = field(default_factory=list)
    #: Turns that the noise watch found disturbed, and by what: {"3": "…"}. They stay; turns after the last planned one
    #: repeat them.
    disturbed: Dict[str, str] = field(default_factory=dict)
    #: Processors' worth of time that others had at least, on the bound processors and on average, while it took turns.
    other_load: Optional[float] = None
    #: Lowest and highest MHz of the processors seen between the turns; empty where the machine does not tell.
    frequency_mhz: List[float] = field(default_factory=list)
    #: Wall nanoseconds per step while calibrating, first to last: the warm-up as it was seen.
    warmup_ns: List[int] = field(default_factory=list)
    #: Error of each checked output against the float64 reference: {name: {"error": …, "allowed": …}}.
    check: Dict[str, Any] = field(default_factory=dict)
    #: Bytes: ``peak_bytes`` net of the import, ``baseline_bytes`` after it, and what the framework's allocator reports.
    memory: Dict[str, Any] = field(default_factory=dict)
    #: What the compiler did: ``compiled`` (forward, backward, optimizer), ``graphs``, ``graph_breaks`` and their
    #: reasons, ``traces``, and ``recompiled_while_timing``, which must be 0.
    compilation: Dict[str, Any] = field(default_factory=dict)
    #: Settings read back in the worker after the measurement, by name.
    settings: Dict[str, Any] = field(default_factory=dict)
    #: Versions of the interpreter and the libraries that computed.
    versions: Dict[str, str] = field(default_factory=dict)
    #: Useful floating-point operations and compulsory bytes of one step, and the items (images, rows, …) it processes.
    work: Dict[str, Any] = field(default_factory=dict)
    #: Where the input data came from.
    data: Optional[str] = None

    def to_json(self) -> Dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: Dict[str, Any]) -> "Record":
        """Rebuild a record; keys that a newer version added are ignored, missing ones take their defaults.

        Raises ValueError when the line was written by a newer schema, or lacks what every record has.
        """
        schema = values.get("schema")
        if not isinstance(schema, int) or schema > SCHEMA_VERSION:
            raise ValueError("record schema {!r} is newer than {}: update benchmatrix".format(schema, SCHEMA_VERSION))
        known = {f.name for f in fields(cls)}
        kept = {name: value for name, value in values.items() if name in known}
        try:
            kept["cell"] = Cell.from_json(values["cell"])
            record = cls(**kept)
        except (KeyError, TypeError) as error:
            raise ValueError("not a record: {}".format(error)) from error
        if record.status not in STATUSES:
            raise ValueError("unknown status {!r}".format(record.status))
        return record
