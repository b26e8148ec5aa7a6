"""Tests that a row job survives JSON, and that anything else is refused with a reason."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.cell import Cell
from bench.host.environments import Prepared
from bench.host.executors.job import SCHEMA_VERSION, InstalledEnvironment, RowJob, RowRound
from bench.host.study.environment import Environment
from bench.record import OK

CELL = Cell("numpy", "numpy", "eager", "gemm", "check", "float32", "cpu", 1)
JOB = RowJob(
    run="r1",
    row_round=RowRound(0, CELL.row, (CELL, replace(CELL, environment="numpy~twin")), 1, (0, 0)),
    environments={"numpy": InstalledEnvironment(("python3",))},
    threads=1,
    samples=3,
    sample_seconds=0.01,
    timeout_s=60.0,
    data_seed=1,
    order_seed=2,
)
NAMES = st.text(max_size=9)
NUMBERS = st.integers(0, 2**32)
SECONDS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | SECONDS | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)
CELLS = st.builds(Cell, NAMES, NAMES, NAMES, NAMES, NAMES, NAMES, NAMES, NUMBERS)
FIELDS = {
    "run": NAMES,
    "row_round": st.builds(
        RowRound,
        round=NUMBERS,
        row=NAMES,
        cells=st.lists(CELLS, max_size=3).map(tuple),
        attempt=NUMBERS,
        first_turns=st.lists(NUMBERS, max_size=3).map(tuple),
    ),
    "environments": st.dictionaries(
        NAMES,
        st.builds(
            InstalledEnvironment,
            st.lists(NAMES, max_size=3).map(tuple),
            st.dictionaries(NAMES, JSON, max_size=3),
            st.dictionaries(NAMES, NAMES, max_size=3),
        ),
        max_size=2,
    ),
    "threads": NUMBERS,
    "samples": NUMBERS,
    "sample_seconds": SECONDS,
    "timeout_s": SECONDS,
    "data_seed": NUMBERS,
    "order_seed": NUMBERS,
    "data": st.none() | NAMES,
    "data_source": st.none() | NAMES,
    "memory_share": st.none() | SECONDS,
    "most_threads": st.integers(0, 64),
    "energy_s": SECONDS,
    "at_once": st.booleans(),
    "forked": st.booleans(),
    "placed_anew": st.booleans(),
    "planted": st.dictionaries(NAMES, st.dictionaries(NAMES, SECONDS, max_size=2), max_size=2),
    "cache_kept": st.booleans(),
    "trial": st.booleans(),
    "peaks": st.dictionaries(NAMES, st.dictionaries(NAMES, JSON, max_size=2), max_size=2),
    "left_s": st.none() | SECONDS,
    "sources": st.dictionaries(NAMES, NAMES, max_size=2),
    "checked_again": st.none() | st.lists(NAMES, max_size=3).map(tuple),
    "growth_verified": st.none() | st.lists(NAMES, max_size=3).map(tuple),
    "growth_if_compiled": st.lists(NAMES, max_size=3).map(tuple),
    "log_label": NAMES,
}


@given(st.builds(RowJob, **FIELDS))
def test_a_job_survives_json(job):
    assert RowJob.from_json(json.loads(json.dumps(job.to_json()))) == job


def test_the_property_is_about_every_field():
    assert {*FIELDS, "schema"} == set(JOB.to_json())


def test_a_job_draws_the_same_orders_and_layout_wherever_it_runs():
    sent = RowJob.from_json(json.loads(json.dumps(JOB.to_json())))
    assert (sent.start_order, sent.layout_seed) == (JOB.start_order, JOB.layout_seed)
    assert [sent.turn_order(turn) for turn in range(9)] == [JOB.turn_order(turn) for turn in range(9)]


def test_another_attempt_has_another_layout_and_the_same_start_order():
    again = replace(JOB, row_round=replace(JOB.row_round, attempt=2))
    assert again.layout_seed != JOB.layout_seed
    assert again.start_order == JOB.start_order


def test_a_newer_version_may_have_added_keys_and_left_out_optional_ones():
    values = JOB.to_json()
    del values["peaks"]
    assert RowJob.from_json({**values, "colour": "blue"}) == JOB


@pytest.mark.parametrize("schema", [None, "1", SCHEMA_VERSION + 1])
def test_a_job_of_a_newer_schema_is_refused(schema):
    with pytest.raises(ValueError, match="update benchmatrix"):
        RowJob.from_json({**JOB.to_json(), "schema": schema})


@pytest.mark.parametrize("values", [[1], "job", None])
def test_what_is_no_object_is_no_job(values):
    with pytest.raises(ValueError, match="not a row job"):
        RowJob.from_json(values)


@pytest.mark.parametrize("key", ["run", "row_round", "environments", "samples"])
def test_what_lacks_a_part_is_no_job(key):
    values = JOB.to_json()
    del values[key]
    with pytest.raises(ValueError, match=f"not a row job: .*{key}"):
        RowJob.from_json(values)


def test_variables_of_the_study_go_before_those_of_the_installation():
    prepared = Prepared("numpy", OK, command=("python3",), manifest={"variables": {"A": "1", "B": "1"}})
    environment = Environment.model_validate(
        {"name": "numpy", "framework": "numpy", "provider": "existing", "modes": ("eager",), "variables": {"B": "2"}}
    )
    installed = InstalledEnvironment.of(prepared, environment)
    assert (installed.command, installed.variables) == (("python3",), {"A": "1", "B": "2"})
