"""Tests that what implementations get wrong is a mismatch at the check size, in every training workload."""

from __future__ import annotations

import pytest
from mistakes import NETWORKS, same, table
from planted_mistake import shares

from bench.registry import BUILT_IN

TRAINING = sorted(name for name in BUILT_IN.workloads if BUILT_IN.specification(name).TRAINING)
TABLES = {workload: table(workload) for workload in NETWORKS}
PLANTED = [(workload, row) for workload, rows in TABLES.items() for row in rows if not isinstance(rows[row], str)]
#: What is right errs by less than this share of what is allowed, a mistake by more than so many times that.
RIGHT, WRONG = 0.5, 1.5


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
