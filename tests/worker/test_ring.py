"""Tests that the whole worker ring works on this interpreter; ``nox -s worker`` runs it on the oldest supported."""

import os

import numpy as np
import pytest

import bench
from bench.program import Transform, Unsupported
from bench.registry import BUILT_IN
from bench.worker.checking import draws, inputs, parity, tolerance

FOLDER = os.path.dirname(bench.__file__)
#: Workloads whose outputs have a distribution, not values.
RANDOM = ("random-normal", "random-uniform")
#: These copy, which makes no error: the result in float32 must be the same, and of that dtype.
EXACT = ("gather",)


def ring():
    for folder, _, files in os.walk(FOLDER):
        if os.path.relpath(folder, FOLDER).split(os.sep)[0] != "host":
            for name in files:
                if name.endswith(".py"):
                    yield os.path.join(folder, name)


@pytest.mark.parametrize("path", sorted(ring()), ids=lambda path: os.path.relpath(path, FOLDER))
def test_a_file_compiles(path):
    with open(path, encoding="utf-8") as file:
        compile(file.read(), path, "exec")


@pytest.mark.parametrize("workload", BUILT_IN.workloads)
def test_a_specification_can_be_drawn_and_computed(workload):
    specification = BUILT_IN.specification(workload)
    assert {"check", "tiny", "small"} <= set(specification.SIZES)
    size = specification.SIZES["check"]
    parameters, batches, described = parity.draw(specification, size, 1)
    assert described
    assert len(batches) == inputs.INPUT_SETS
    exact = parity.expected_outputs(specification, size, parameters, batches, np.float64)
    single = parity.expected_outputs(specification, size, parameters, batches, np.float32)
    assert specification.useful_flops(size) > 0
    assert specification.compulsory_bytes(size, 4) > 0
    assert specification.items(size) >= 1
    if workload in RANDOM:
        assert all(draws.are_expected(value) for value in exact.values())
        return
    assert all(value.dtype == np.float64 and np.all(np.isfinite(value)) for value in exact.values())
    # The reference computes in the dtype of its inputs: float32 gives a different, nearly equal result.
    errors = [parity.relative_error(single[name], value) for name, value in exact.items()]
    if workload in EXACT:
        assert max(errors) == 0
        assert all(value.dtype == np.float32 for value in single.values())
        return
    assert 0 < max(errors) < 1e-2


@pytest.mark.parametrize("workload", BUILT_IN.workloads)
def test_the_numpy_implementation_is_correct_or_reported_as_missing(workload, tmp_path):
    specification = BUILT_IN.specification(workload)
    size = specification.SIZES["check"]
    if not os.path.isfile(os.path.join(FOLDER, "workloads", workload.replace("-", "_"), "numpy.py")):
        with pytest.raises(Unsupported, match="workload {} has no numpy implementation".format(workload)):
            BUILT_IN.implementation(workload, "numpy")
        return
    build = BUILT_IN.implementation(workload, "numpy")
    path = str(tmp_path / "reference.npz")
    parity.write_reference(path, specification, size, 1)
    parameters, batches, _ = parity.draw(specification, size, 1)
    adapter = BUILT_IN.adapter("numpy").Adapter("eager", "cpu", "float32", 1)
    transform = Transform("eager", adapter.transform)
    program = build(size, {name: adapter.put(value) for name, value in parameters.items()}, batches[0], transform)
    outputs = parity.program_outputs(program, batches, adapter.get, parameters)
    assert parity.compare(outputs, path, parity.digest(parameters, batches), "float32", tolerance.TOLERANCE_FACTOR)


def test_every_framework_has_an_adapter():
    for framework in BUILT_IN.frameworks:
        path = os.path.join(FOLDER, "frameworks", framework)
        assert os.path.isfile(path + ".py") or os.path.isfile(os.path.join(path, "__init__.py"))


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_forgotten_shift_is_a_mismatch_at_every_precision(precision, tmp_path):
    specification = BUILT_IN.specification("layernorm-softmax")
    size = specification.SIZES["check"]
    path = str(tmp_path / "reference.npz")
    parity.write_reference(path, specification, size, 1)
    parameters, batches, _ = parity.draw(specification, size, 1)
    forgetful = {name: value * 0 if "shift" in name or "bias" in name else value for name, value in parameters.items()}
    assert any(np.any(forgetful[name] != parameters[name]) for name in parameters)
    outputs = parity.expected_outputs(specification, size, forgetful, batches, np.float64)
    with pytest.raises(parity.Mismatch):
        parity.compare(outputs, path, parity.digest(parameters, batches), precision, tolerance.TOLERANCE_FACTOR)
