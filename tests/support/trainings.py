"""Makes records of trainings, as a run of ``train`` would leave them."""

from __future__ import annotations

from collections.abc import Sequence

from bench.cell import Cell
from bench.host.storage.training_records import EpochResult, Trained, TrainingFacts

FACTS = TrainingFacts(
    identity="0123456789abcdef",
    started="2026-11-22 12:00:00",
    study="digits",
    baseline="torch1:eager",
    epochs=2,
    seeds=[1, 2],
    division_seed=1,
    share=0.3,
    machine={"processor": "AMD EPYC 7B13", "gpus": []},
)
FRAMEWORKS = {"torch1": ("torch", "1.13.1"), "torch2": ("torch", "2.15.0"), "tf2": ("tensorflow", "2.21.0")}
ACCURACIES = (0.5, 0.875)


def cell(column: str = "torch1:eager") -> Cell:
    environment, _, mode = column.partition(":")
    return Cell(environment, FRAMEWORKS[environment][0], mode, "lenet-train", "small", "float32", "cpu", 1)


def trained(
    column: str = "torch1:eager",
    seed: int = 1,
    accuracies: Sequence[float] = ACCURACIES,
    update: Sequence[float] = (3.0, 4.0),
    *,
    nudged: bool = False,
    **values: object,
) -> Trained:
    """Make a training whose epochs take 2 s each."""
    framework, version = FRAMEWORKS[column.partition(":")[0]]
    epochs = [
        EpochResult(train_ns=2 * 10**9, cpu_ns=10**9, accuracy=one, cross_entropy=1 - one, squared_error=(1 - one) / 8)
        for one in accuracies
    ]
    found = Trained(
        cell=cell(column).to_json(),
        seed=seed,
        nudged=nudged,
        training=1258,
        validation=539,
        batch=128,
        steps=9,
        start_s=0.5,
        data="UCI digits, 1,797 images",
        epochs=epochs,
        update={"weight": list(update)},
        versions={framework: version},
    )
    return found.model_copy(update=values)


def study(columns: Sequence[str] = ("torch1:eager", "tf2:function"), seeds: int = 2) -> list[Trained]:
    """Make the trainings of some columns, and of the baseline with changed weights."""
    return [
        *(trained(column, seed) for seed in range(1, seeds + 1) for column in columns),
        *(trained(columns[0], seed, update=(3.0, 4.000001), nudged=True) for seed in range(1, seeds + 1)),
    ]
