"""Defines a record, the result of one cell in one process, and the statuses that it can have.

Records are JSON, one per line, appended and never rewritten. They hold raw samples; the host derives every statistic
from them and can derive it again.

Schema history:
  1 (2026-11-21): first version.
  2 (2026-11-21): time spent waiting for a processor, disturbed turns, compilation counts; from 2026-11-22 on
     ``checked_again``, which older versions leave out; from 2026-11-30 on ``gpu_frequency_mhz`` and
     ``gpu_clock_limits``, likewise.
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

#: The stage of a process whose samples are faster than the machine's peak and so cannot be true.
IMPLAUSIBLE = "plausibility"
#: The stage of what goes wrong outside the cell: its environment cannot be made, or the engine of its container stops.
#: A continued run measures such a cell again.
OUTSIDE = "environment"
#: The stages of a cell. A worker announces each before entering it, so that the stage of a killed worker is known.
STAGES = (
    OUTSIDE, "start", "import", "build", "first-call", "check", "calibrate", "measure", "finish", IMPLAUSIBLE,
)  # fmt: skip


@dataclass(frozen=True)
class Record:
    """The result of one cell in one process of one round. The process is the statistical unit.

    A process that was killed leaves a record with its samples so far; the process that replaces it has the same
    ``round`` and the next ``attempt``.
    """

    cell: Cell
    round: int
    attempt: int
    #: One of ``STATUSES``; every one but ``ok`` has a ``stage`` and a ``reason``.
    status: str
    stage: Optional[str] = None
    reason: Optional[str] = None
    run: str = ""
    schema: int = SCHEMA_VERSION
    #: Seconds since the epoch at the request to start the worker.
    started_at: float = 0.0
    #: Wall seconds to import the framework; None of NumPy, which the worker itself has imported.
    import_s: Optional[float] = None
    #: False where other imports may have shared the processors.
    import_alone: bool = False
    #: Wall seconds from the start of ``build`` to the synchronised end of the first step, compilation included.
    first_call_s: Optional[float] = None
    #: ``cold``: the compilation cache was empty; ``warm``: an earlier process of this cell had filled it;
    #: ``unsure``: an earlier process failed while filling it.
    first_call_cache: Optional[str] = None
    #: Steps of each timed sample; a step's time is ``sample_ns / sample_steps``. After a sample that is far too short
    #: the next ones get more steps.
    sample_steps: List[int] = field(default_factory=list)
    #: Wall nanoseconds of each timed sample, in order.
    sample_ns: List[int] = field(default_factory=list)
    #: Process CPU nanoseconds (all threads) of each timed sample.
    sample_cpu_ns: List[int] = field(default_factory=list)
    #: Nanoseconds of each timed sample in which threads of the process were ready but waited for a processor, plus
    #: those that a hypervisor took; empty where the kernel does not report them.
    sample_wait_ns: List[int] = field(default_factory=list)
    #: The turn (block) of its round in which each sample was taken; samples of two cells with equal turns are pairs.
    sample_turn: List[int] = field(default_factory=list)
    #: Disturbed turns and the reason of each: {"3": "…"}. They are kept; turns after the last planned one repeat them.
    disturbed: Dict[str, str] = field(default_factory=dict)
    #: Lower bound of the load by other processes during the turns: processors in use, of the bound ones, on average.
    other_load: Optional[float] = None
    #: Lowest and highest MHz of the processors between the turns; empty where the machine does not report them.
    frequency_mhz: List[float] = field(default_factory=list)
    #: Lowest and highest MHz of the GPU's multiprocessors, read after each sample; empty where the driver gives none.
    gpu_frequency_mhz: List[float] = field(default_factory=list)
    #: What limited the GPU's clock, such as ``power cap``, and in how many samples.
    gpu_clock_limits: Dict[str, int] = field(default_factory=dict)
    #: Wall nanoseconds per step while calibrating, first to last (the warm-up).
    warmup_ns: List[int] = field(default_factory=list)
    #: Error of each checked output against the float64 reference: {name: {"error": …, "allowed": …}}.
    check: Dict[str, Any] = field(default_factory=dict)
    #: How many steps were checked again after the turns; None where another process of the cell was drawn for that.
    checked_again: Optional[int] = None
    #: Bytes: ``peak_bytes`` net of the import, ``baseline_bytes`` after it, and those of the framework's allocator.
    memory: Dict[str, Any] = field(default_factory=dict)
    #: Energy while the cell worked for some seconds: ``watts`` of the device, ``idle_watts`` before it, ``steps`` and
    #: ``seconds``, and the ``counter``. Empty where it was not measured.
    energy: Dict[str, Any] = field(default_factory=dict)
    #: Facts about compilation: ``compiled`` (forward, backward, optimizer), ``graphs``, ``graph_breaks`` and their
    #: reasons, ``traces``, and ``recompiled_while_timing``, which must be 0.
    compilation: Dict[str, Any] = field(default_factory=dict)
    #: Settings read back in the worker after the measurement, by name.
    settings: Dict[str, Any] = field(default_factory=dict)
    #: Versions of the interpreter and the libraries that computed.
    versions: Dict[str, str] = field(default_factory=dict)
    #: Useful floating-point operations, compulsory bytes and items (images, rows, …) of one step.
    work: Dict[str, Any] = field(default_factory=dict)
    #: The source of the input data.
    data: Optional[str] = None

    def to_json(self) -> Dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: Dict[str, Any]) -> "Record":
        """Rebuild a record; unknown keys are ignored, missing ones take their defaults.

        Raises ValueError for a newer schema, a missing field that every record has, or an unknown status.
        """
        schema = values.get("schema")
        if not isinstance(schema, int) or schema > SCHEMA_VERSION:
            raise ValueError("record schema {!r} is newer than {}: update benchmatrix".format(schema, SCHEMA_VERSION))
        kept = {name: value for name, value in values.items() if name in FIELDS}
        try:
            kept["cell"] = Cell.from_json(values["cell"])
            record = cls(**kept)
        except (KeyError, TypeError) as error:
            raise ValueError("not a record: {}".format(error)) from error
        if record.status not in STATUSES:
            raise ValueError("unknown status {!r}".format(record.status))
        return record


FIELDS = frozenset(one.name for one in fields(Record))
