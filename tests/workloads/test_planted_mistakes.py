"""Tests that what implementations get wrong is a mismatch at the check size, in every training workload."""

from __future__ import annotations

import pytest
from mistakes import NETWORKS, same, table
from planted_mistake import mixed_share, shares

from bench.cell import MIXED
from bench.registry import BUILT_IN

TRAINING = sorted(name for name in BUILT_IN.workloads if BUILT_IN.specification(name).TRAINING)
TABLES = {workload: table(workload) for workload in NETWORKS}
PLANTED = [(workload, row) for workload, rows in TABLES.items() for row in rows if not isinstance(rows[row], str)]
#: What is right errs by less than this share of what is allowed, a mistake by more than so many times that.
RIGHT, WRONG = 0.5, 1.5
#: Rows whose mistakes rounding to bfloat16 cannot hide. It hides factors of 1 or 2 %, one sign of many, and epsilons.
GROSS = (
    "gradient with the other sign", "gradient missing", "gradient in another layout", "loss that is a sum",
    "weight transposed", "kernels with outputs first", "images with height and width exchanged",
    "flattening with channels first", "bias correction missing", "gates in another order", "attention without its mask",
    "attention without its scale", "heads not moved back", "sequence and batch exchanged", "momentum missing",
    "momentum where there is none", "momentum dampened", "momentum of Nesterov", "running statistics that stay",
    "statistics without a gradient", "padding that is not symmetric",
)  # fmt: skip
#: Others share their specifications with these: gpt-train, resnet50-train, lstm-cell-lm-train.
IN_MIXED = ("mlp-train", "lenet-train", "catdog-cnn-train", "lstm-lm-train", "transformer-train", "resnet18-train")


@pytest.fixture(scope="module")
def references(tmp_path_factory):
    return tmp_path_factory.mktemp("references")


def test_every_training_workload_has_a_table():
    assert sorted(NETWORKS) == TRAINING


def test_every_table_has_a_mistake_or_a_reason_in_every_row():
    for workload, rows in TABLES.items():
        assert list(rows) == list(TABLES["mlp-train"]), workload
        assert all(rows.values()), workload
    assert {row for _, row in PLANTED} == set(TABLES["mlp-train"])


@pytest.mark.parametrize("workload", NETWORKS)
def test_what_is_right_passes(workload, references):
    for name, mistake in same(workload).items():
        assert max(shares(BUILT_IN.specification(workload), mistake, references).values()) < RIGHT, name


@pytest.mark.parametrize(("workload", "row"), PLANTED, ids=[f"{workload}: {row}" for workload, row in PLANTED])
def test_a_planted_mistake_is_found(workload, row, references):
    for name, mistake in TABLES[workload][row].items():
        assert min(shares(BUILT_IN.specification(workload), mistake, references).values()) > WRONG, name


@pytest.mark.long
@pytest.mark.parametrize("workload", IN_MIXED)
def test_mixed_precision_hides_no_gross_mistake(workload, references):
    specification, rows = BUILT_IN.specification(workload), TABLES[workload]
    assert MIXED in specification.PRECISIONS
    assert all(mixed_share(specification, mistake, references) < 1 for mistake in same(workload).values())
    planted = {
        (row, name): mistake for row in GROSS if not isinstance(rows[row], str) for name, mistake in rows[row].items()
    }
    hidden = {place for place, mistake in planted.items() if mixed_share(specification, mistake, references) <= 1}
    assert planted
    assert not hidden
