"""Tests the check of large training sizes, whose updates are projected: the same wrong gradients are found.

``tests/workloads/test_planted_mistakes.py`` plants many more mistakes, in every training workload.
"""

import numpy as np
import pytest

from bench.differentiation import loss_and_gradients
from bench.program import Program
from bench.registry import BUILT_IN
from bench.worker.checking import parity, tolerance
from bench.worker.checking.optimizers import update
from bench.worker.checking.projection import BLOCK, DIRECTIONS, projected

MLP = BUILT_IN.specification("mlp-train")
TRANSFORMER = BUILT_IN.specification("transformer-train")
#: Projections of the numbers from 1 to 8.
EXPECTED = [-14.0, 6.0, -8.0, 20.0, 8.0, -4.0, 20.0, -28.0, 0.0, 2.0, 8.0, 24.0, 12.0, 2.0, 16.0, 0.0]


@pytest.fixture(autouse=True, params=["full", "reduced"])
def limit(request, monkeypatch):
    """Check the size in full and, with a limit that it exceeds, by projections."""
    if request.param == "reduced":
        monkeypatch.setattr(parity, "FULL_FLOPS", 1000.0)
    return request.param


def trained(specification, size, gradients_of=None):
    """Make a float32 program of a specification; ``gradients_of`` may falsify its gradients."""
    current, state = {}, {}

    def reset():
        state.clear()
        current.update(parity.draw(specification, size, 1)[0])

    def do(*batch):
        loss, _, gradients = loss_and_gradients(specification.loss, size, current, {}, batch)
        update(specification.OPTIMIZER, state, current, gradients_of(gradients) if gradients_of else gradients)
        return {"loss": loss}

    reset()
    return Program(do, lambda: current, reset)


def checked(tmp_path, specification, program, size="tiny", precision="float32"):
    path = str(tmp_path / "reference.npz")
    size = specification.SIZES[size]
    parity.write_reference(path, specification, size, 1)
    parameters, batches, _ = parity.draw(specification, size, 1)
    reduced = parity.is_reduced(specification, size)
    outputs = parity.program_outputs(program, batches, np.asarray, parameters, reduced=reduced)
    return parity.compare(outputs, path, parity.digest(parameters, batches), precision, tolerance.TOLERANCE_FACTOR)


@pytest.mark.parametrize(("specification", "name"), [(MLP, "tiny"), (TRANSFORMER, "check")], ids=["mlp", "transformer"])
def test_the_right_program_passes(tmp_path, limit, specification, name):
    size = specification.SIZES[name]
    assert parity.is_reduced(specification, size) == (limit == "reduced")
    found = checked(tmp_path, specification, trained(specification, size), name)
    drawn = specification.parameters(size, np.random.RandomState(0))
    assert set(found) == {"loss"} | {"update of " + name for name in drawn}
    assert all(0 <= value["error"] <= value["allowed"] < 0.05 for value in found.values()), found


def test_a_reduced_reference_holds_few_numbers(tmp_path, limit):
    path = str(tmp_path / "reference.npz")
    parity.write_reference(path, MLP, MLP.SIZES["tiny"], 1)
    with np.load(path) as stored:
        assert stored["expected/loss"].shape == (parity.CHECKED_STEPS,)
        shape = (DIRECTIONS,) if limit == "reduced" else (64, 128)
        assert stored["expected/update of weight0"].shape == shape


@pytest.mark.parametrize("layer", [name + str(index) for name in ("weight", "bias") for index in range(3)])
@pytest.mark.parametrize("factor", [1.1, 1.001])
def test_a_wrong_gradient_of_one_layer_is_a_mismatch(tmp_path, layer, factor):
    def falsified(gradients):
        return dict(gradients, **{layer: gradients[layer] * np.float32(factor)})

    with pytest.raises(parity.Mismatch, match=r"update of .* has a relative error of"):
        checked(tmp_path, MLP, trained(MLP, MLP.SIZES["tiny"], falsified))


def test_one_wrong_element_of_a_gradient_is_a_mismatch(tmp_path):
    def falsified(gradients):
        wrong = gradients["weight0"].copy()
        wrong[3, 5] *= 2
        return dict(gradients, weight0=wrong)

    with pytest.raises(parity.Mismatch, match="update of weight0 has a relative error of"):
        checked(tmp_path, MLP, trained(MLP, MLP.SIZES["tiny"], falsified))


def test_a_wrong_loss_after_the_steps_is_a_mismatch(tmp_path):
    program = trained(MLP, MLP.SIZES["tiny"])
    calls = []

    def step(*batch):
        calls.append(1)
        loss = program.step(*batch)["loss"]
        return {"loss": loss * np.float32(1.001 if len(calls) == parity.CHECKED_STEPS else 1)}

    with pytest.raises(parity.Mismatch, match="loss has a relative error"):
        checked(tmp_path, MLP, program._replace(step=step))


@pytest.mark.parametrize("shape", [(3,), (40, 50), (BLOCK + 7,)])
def test_projections_estimate_relative_errors_within_a_factor_of_two(shape):
    random = np.random.RandomState(0)
    array = random.standard_normal(shape)
    dense = array + 1e-3 * random.standard_normal(shape)
    sparse = array.copy()
    sparse.flat[-1] += 0.01
    for name in ("a", "b", "c"):
        for other in (dense, sparse):
            estimated = np.linalg.norm(projected(name, other) - projected(name, array)) / np.sqrt(DIRECTIONS)
            assert 0.5 < estimated / np.linalg.norm(other - array) < 2


def test_directions_differ_between_names_and_blocks():
    ones = np.ones(2 * BLOCK)
    halves = np.concatenate([np.ones(BLOCK), -np.ones(BLOCK)])
    assert not np.array_equal(projected("a", ones), projected("b", ones))
    assert np.all(projected("a", halves) != 0)
    np.testing.assert_array_equal(projected("a", ones), projected("a", ones.reshape(2, -1)))


def test_directions_are_the_same_everywhere():
    """They must not depend on the version of NumPy, nor on the order of bytes."""
    assert projected("update of weight0", np.arange(1.0, 9.0)).tolist() == EXPECTED
