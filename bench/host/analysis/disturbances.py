"""Counts the turns that other processes disturbed, and how many of them were left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bench.record import Record

from .noise_watch import crowded, doubtful_turns, left_out

#: The row, threads, round and attempt of processes that took turns with each other.
RoundKey = tuple[str, int, int, int]


@dataclass(frozen=True)
class Disturbances:
    """Turns of a set of processes; a turn that several processes took together counts once."""

    turns: int = 0
    disturbed: int = 0
    #: Disturbed turns that the statistics leave out; the others stayed, as too few turns would have remained.
    left_out: int = 0
    #: Turns after the last planned one, which repeat disturbed ones.
    repeated: int = 0
    #: What disturbed the first of them, as the record says it.
    example: str = ""

    @property
    def kept(self) -> int:
        return self.disturbed - self.left_out


def round_key(record: Record) -> RoundKey:
    return record.cell.row, record.cell.threads, record.round, record.attempt


def count_doubtful(records: Iterable[Record]) -> int:
    """Count the turns that may have been disturbed but count as undisturbed; see ``noise_watch.doubtful_turns``."""
    together: dict[RoundKey, list[Record]] = {}
    for record in records:
        together.setdefault(round_key(record), []).append(record)
    return sum(len(doubtful_turns(found)) for found in together.values())


def count_turns(records: Iterable[Record], planned: int | None) -> Disturbances:
    """Count the turns of ``records``, of which every process was to take ``planned``."""
    taken: dict[RoundKey, set[int]] = {}
    skipped: dict[RoundKey, set[int]] = {}
    reasons: dict[tuple[RoundKey, int], str] = {}
    for record in records:
        key = round_key(record)
        taken.setdefault(key, set()).update(record.sample_turn)
        if record.disturbed:
            own = {int(turn): reason for turn, reason in record.disturbed.items()}
            reasons.update({(key, turn): own[turn] for turn in sorted(own.keys() & set(record.sample_turn))})
            skipped.setdefault(key, set()).update(left_out(record))
    repeated = 0 if planned is None else sum(turn >= planned for turns in taken.values() for turn in turns)
    return Disturbances(
        sum(map(len, taken.values())),
        len(reasons),
        sum(map(len, skipped.values())),
        repeated,
        next(iter(reasons.values()), ""),
    )


@dataclass(frozen=True)
class NoiseWatch:
    """What the noise watch saw during a set of processes."""

    turns: Disturbances
    #: Turns that may have been disturbed but count as undisturbed.
    doubtful: int
    processes: int
    #: Processors that other programs used beside each process of several threads that they crowded.
    crowding: tuple[float, ...]
    #: Processes whose kernel does not say how long they waited.
    unwatched: int
    #: The lowest and the highest frequency of the processors; None where no process reports it.
    mhz: tuple[float, float] | None
    #: Those of the GPUs.
    gpu_mhz: tuple[float, float] | None = None
    #: {what limited the clocks of the GPUs: in how many samples}
    gpu_limits: Mapping[str, int] = field(default_factory=dict)
    #: The samples of the processes for which the driver tells this.
    gpu_samples: int = 0


def summarise_noise_watch(records: Iterable[Record], planned: int | None) -> NoiseWatch:
    """Summarise the processes that have samples, of which each was to take ``planned`` turns."""
    timed = [record for record in records if record.sample_ns]
    limits: dict[str, int] = {}
    for record in timed:
        for name, count in record.gpu_clock_limits.items():
            limits[name] = limits.get(name, 0) + count
    return NoiseWatch(
        count_turns(timed, planned),
        count_doubtful(timed),
        len(timed),
        tuple(record.other_load or 0.0 for record in timed if crowded(record)),
        sum(not record.sample_wait_ns for record in timed),
        _range(value for record in timed for value in record.frequency_mhz),
        _range(value for record in timed for value in record.gpu_frequency_mhz),
        limits,
        sum(len(record.sample_ns) for record in timed if record.gpu_frequency_mhz or record.gpu_clock_limits),
    )


def _range(values: Iterable[float]) -> tuple[float, float] | None:
    found = list(values)
    return (min(found), max(found)) if found else None
