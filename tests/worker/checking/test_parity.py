"""Tests the check of outputs: correct programs pass, wrong ones are a mismatch, and the optimizers are correct."""

import os
from types import SimpleNamespace

import numpy as np
import pytest

from bench.differentiation import loss_and_gradients
from bench.frameworks.numpy.adapter import Adapter
from bench.program import Program, Transform
from bench.registry import BUILT_IN
from bench.worker.checking import parity, tolerance

MLP = BUILT_IN.specification("mlp-train")
SIZE = MLP.SIZES["check"]


@pytest.fixture
def reference(tmp_path):
    path = str(tmp_path / "mlp.npz")
    parity.write_reference(path, MLP, SIZE, 1)
    return path


def checked(reference, build, precision="float32"):
    parameters, batches, _ = parity.draw(MLP, SIZE, 1)
    adapter = Adapter("eager", "cpu", precision, 1)
    program = build(
        SIZE, {name: adapter.put(value) for name, value in parameters.items()}, batches[0], adapter.transform
    )
    outputs = parity.program_outputs(program, batches, adapter.get, parameters)
    return parity.compare(outputs, reference, parity.digest(parameters, batches), precision, tolerance.TOLERANCE_FACTOR)


def right(size, parameters, batch, transform):
    return BUILT_IN.implementation("mlp-train", "numpy")(size, parameters, batch, transform)


def test_the_right_program_passes(reference):
    found = checked(reference, right)
    assert set(found) == {"loss"} | {"update of " + name for name in MLP.parameters(SIZE, np.random.RandomState(0))}
    assert all(0 <= value["error"] <= value["allowed"] < 1e-4 for value in found.values())


def scaled_gradient(factor):
    def build(size, parameters, batch, transform):
        program = right(size, parameters, batch, transform)
        initial = {name: value.copy() for name, value in parameters.items()}

        def stretched():
            return {
                name: initial[name] + factor * (value - initial[name]) for name, value in program.parameters().items()
            }

        return program._replace(parameters=stretched)

    return build


def test_a_gradient_that_is_one_per_mille_wrong_is_a_mismatch(reference):
    with pytest.raises(parity.Mismatch, match=r"update of .* has a relative error of"):
        checked(reference, scaled_gradient(1.001))


def test_a_program_that_does_not_train_is_a_mismatch(reference):
    with pytest.raises(parity.Mismatch):
        checked(reference, scaled_gradient(0.0))


def test_a_program_that_forgets_an_output_is_a_mismatch(reference):
    def build(*arguments):
        program = right(*arguments)
        return program._replace(parameters=lambda: {"weight0": program.parameters()["weight0"]})

    with pytest.raises(parity.Mismatch, match="the outputs are"):
        checked(reference, build)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_output_that_is_not_finite_is_a_mismatch(reference, value):
    def build(*arguments):
        program = right(*arguments)

        def step(*batch):
            program.step(*batch)
            return {"loss": value}

        return program._replace(step=step)

    with pytest.raises(parity.Mismatch, match="loss is not finite"):
        checked(reference, build)


def integers(values):
    """Round to the 255 steps that 8 bits have for a tensor."""
    step = np.abs(values).max() / 127
    return np.round(values / step) * step


@pytest.mark.parametrize(("wrong", "passes"), [(0.0, True), (0.1, False)])
def test_a_product_of_8_bit_integers_passes_and_a_product_that_lacks_a_tenth_does_not(tmp_path, wrong, passes):
    gemm = BUILT_IN.specification("gemm")
    size, path = gemm.SIZES["tiny"], str(tmp_path / "gemm.npz")
    parity.write_reference(path, gemm, size, 1)
    parameters, batches, _ = parity.draw(gemm, size, 1)
    outputs = {
        f"product[{index}]": integers(integers(left) @ integers(right)) * (1 - wrong)
        for index, (left, right) in enumerate(batches[: parity.CHECKED_SETS])
    }
    given = path, parity.digest(parameters, batches), "int8", tolerance.TOLERANCE_FACTOR
    if passes:
        assert all(each["error"] < each["allowed"] / 2 for each in parity.compare(outputs, *given).values())
    else:
        with pytest.raises(parity.Mismatch, match="has a relative error of"):
            parity.compare(outputs, *given)


def to_bits(values, bits):
    """Round float32 numbers to the nearest ones with so many bits of mantissa."""
    dropped = 23 - bits
    numbers = np.asarray(values, np.float32).view(np.uint32) + np.uint32(1 << (dropped - 1))
    return (numbers & np.uint32((0xFFFFFFFF << dropped) & 0xFFFFFFFF)).view(np.float32)


def cut(values):
    """Leave out the last 13 bits of float32 numbers, as tensor cores may read them."""
    return (np.asarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def in_float16(left, right):
    return (to_bits(left, 10) @ to_bits(right, 10)).astype(np.float16)


def summed_in_float16(left, right):
    """Add a product of one column and one row after the other in float16."""
    left, right = left.astype(np.float16), right.astype(np.float16)
    total = np.zeros((left.shape[0], right.shape[1]), np.float16)
    for index in range(left.shape[1]):
        total += np.outer(left[:, index], right[index])
    return total


def in_tf32(left, right):
    return to_bits(left, 10) @ to_bits(right, 10)


def with_factors_of_bfloat16(multiply):
    return lambda left, right: multiply(to_bits(left, 7), to_bits(right, 7))


def lacking_a_tenth(multiply):
    return lambda left, right: multiply(left, right) * np.float32(0.9)


def checked_product(folder, size_name, precision, multiply):
    """Compare products of gemm; return the largest error as a share of what is allowed."""
    gemm = BUILT_IN.specification("gemm")
    size, path = gemm.SIZES[size_name], str(folder / "gemm.npz")
    parity.write_reference(path, gemm, size, 1)
    parameters, batches, _ = parity.draw(gemm, size, 1)
    outputs = {
        "product[{}]".format(index): multiply(left, right).astype(np.float64)
        for index, (left, right) in enumerate(batches[: parity.CHECKED_SETS])
    }
    digest = parity.digest(parameters, batches)
    found = parity.compare(outputs, path, digest, precision, tolerance.TOLERANCE_FACTOR)
    return max(each["error"] / each["allowed"] for each in found.values())


@pytest.mark.parametrize("size_name", ["check", "tiny"])
@pytest.mark.parametrize(
    ("precision", "multiply"),
    [
        ("tf32", in_tf32),
        ("tf32", lambda left, right: cut(left) @ cut(right)),
        ("float16", in_float16),
        # PyTorch 1.13 sums in bfloat16 like this: a precision does not promise sums in float32.
        ("float16", summed_in_float16),
    ],
)
def test_products_with_factors_of_11_bits_are_right(tmp_path, size_name, precision, multiply):
    assert checked_product(tmp_path, size_name, precision, multiply) < 0.75


@pytest.mark.parametrize("size_name", ["check", "tiny"])
@pytest.mark.parametrize(("precision", "multiply"), [("tf32", in_tf32), ("float16", in_float16)])
def test_a_short_product_that_lacks_a_tenth_is_a_mismatch(tmp_path, size_name, precision, multiply):
    with pytest.raises(parity.Mismatch, match="has a relative error of"):
        checked_product(tmp_path, size_name, precision, lacking_a_tenth(multiply))


@pytest.mark.parametrize(("precision", "multiply"), [("tf32", in_tf32), ("float16", in_float16)])
def test_factors_of_bfloat16_are_no_tf32_and_no_float16_where_sums_are_short(tmp_path, precision, multiply):
    with pytest.raises(parity.Mismatch, match="has a relative error of"):
        checked_product(tmp_path, "check", precision, with_factors_of_bfloat16(multiply))


def test_other_inputs_are_a_mismatch(reference):
    with pytest.raises(parity.Mismatch, match="the inputs differ"):
        parity.compare({}, reference, "another digest", "float32", 16.0)


def test_relative_error_handles_shapes_and_zero():
    assert parity.relative_error(np.ones(3), np.ones(4)) == float("inf")
    assert parity.relative_error(np.zeros(3), np.zeros(3)) == 0.0
    assert parity.relative_error(np.ones(3), np.zeros(3)) == float("inf")
    assert parity.relative_error(np.array([3.0, 4.4]), np.array([3.0, 4.0])) == pytest.approx(0.08)


def test_the_allowed_error_grows_with_the_unit_roundoff(reference):
    parameters, batches, _ = parity.draw(MLP, SIZE, 1)
    adapter = Adapter("eager", "cpu", "float32", 1)
    program = right(
        SIZE,
        {name: value.copy() for name, value in parameters.items()},
        batches[0],
        Transform("eager", lambda function, training=False, part="module": function),
    )
    outputs = parity.program_outputs(program, batches, adapter.get, parameters)
    drawn = parity.digest(parameters, batches)
    single = parity.compare(outputs, reference, drawn, "float32", 16.0)
    brain = parity.compare(outputs, reference, drawn, "bfloat16", 16.0)
    assert brain["loss"]["allowed"] == pytest.approx(
        single["loss"]["allowed"] * 2**16 * tolerance.SHORT_TOLERANCE_FACTOR / 16
    )


def test_a_reference_is_whole_or_absent(tmp_path):
    broken = SimpleNamespace(
        TRAINING=False,
        parameters=lambda size, random: {},
        batch=lambda size, random, source=None: (random.rand(3),),
        reference=lambda size, parameters, batch: 1 / 0,
    )
    with pytest.raises(ZeroDivisionError):
        parity.write_reference(str(tmp_path / "x.npz"), broken, {}, 1)
    assert os.listdir(str(tmp_path)) == []


def test_inference_is_compared_on_two_inputs_so_a_constant_is_found(tmp_path):
    specification = SimpleNamespace(
        TRAINING=False,
        parameters=lambda size, random: {},
        batch=lambda size, random, source=None: (random.rand(5).astype(np.float32),),
        useful_flops=lambda size: 5,
        reference=lambda size, parameters, batch: {"out": batch[0] * 2},
    )
    path = str(tmp_path / "double.npz")
    parity.write_reference(path, specification, {}, 1)
    parameters, batches, _ = parity.draw(specification, {}, 1)
    drawn = parity.digest(parameters, batches)
    honest = parity.program_outputs(Program(lambda x: {"out": x * 2}), batches, np.asarray, {})
    assert parity.compare(honest, path, drawn, "float32", 16.0)["out[1]"]["error"] == 0.0
    constant = parity.program_outputs(Program(lambda x: {"out": batches[0][0] * 2}), batches, np.asarray, {})
    with pytest.raises(parity.Mismatch, match=r"out\[1\]"):
        parity.compare(constant, path, drawn, "float32", 16.0)


def quadratic(optimizer, steps):
    parameters, state = {"x": np.array([1.0, -2.0])}, {}
    for _ in range(steps):
        parity.update(optimizer, state, parameters, {"x": 2 * parameters["x"]})
    return parameters["x"]


def test_sgd_is_as_defined():
    assert quadratic({"name": "sgd", "learning_rate": 0.1}, 1) == pytest.approx([0.8, -1.6])


def test_momentum_keeps_a_velocity():
    # x1 = 1 - 0.1 * 2 = 0.8; velocity = 0.9 * 2 + 1.6 = 3.4; x2 = 0.8 - 0.34
    assert quadratic({"name": "sgd", "learning_rate": 0.1, "momentum": 0.9}, 2)[0] == pytest.approx(0.46)


def test_adam_starts_with_steps_of_the_learning_rate():
    adam = {"name": "adam", "learning_rate": 0.01, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
    assert quadratic(adam, 1) == pytest.approx([0.99, -1.99])


def test_adamw_shrinks_parameters_beside_the_step_of_adam():
    adam = {"name": "adam", "learning_rate": 0.01, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
    decayed = quadratic(dict(adam, name="adamw", weight_decay=0.1), 1)
    assert decayed == pytest.approx([0.99 - 0.01 * 0.1, -1.99 + 0.01 * 0.1 * 2])


def test_an_unknown_optimizer_is_refused():
    with pytest.raises(ValueError, match="unknown optimizer 'lion'"):
        quadratic({"name": "lion", "learning_rate": 1.0}, 1)


@pytest.mark.parametrize(
    ("flops", "training", "runs"), [(1e3, True, 16), (1e9, False, 10), (1e9, True, 6), (1e11, True, 4), (1e12, True, 2)]
)
def test_small_sizes_get_more_float32_references_than_large_ones(flops, training, runs):
    specification = SimpleNamespace(TRAINING=training, useful_flops=lambda size: flops)
    assert parity.single_runs(specification, {}) == runs


def with_running_mean():
    """Return a specification whose steps carry the running mean of their inputs along."""

    def loss(size, parameters, state, batch):
        mean = (parameters["scale"] * batch[0]).mean(axis=0)
        outputs = (batch[0] * parameters["scale"] - mean) ** 2
        return outputs.mean(), {"running_mean": 0.9 * state["running_mean"] + 0.1 * mean}

    return SimpleNamespace(
        TRAINING=True,
        OPTIMIZER={"name": "sgd", "learning_rate": 0.1},
        parameters=lambda size, random: {"scale": random.rand(3).astype(np.float32)},
        batch=lambda size, random, source=None: (random.rand(8, 3).astype(np.float32),),
        initial_state=lambda size: {"running_mean": np.zeros(3, np.float32)},
        useful_flops=lambda size: 100,
        loss=loss,
    )


@pytest.mark.parametrize("momentum", [0.1, 0.11])
def test_running_statistics_are_compared(tmp_path, momentum):
    specification = with_running_mean()
    path = str(tmp_path / "mean.npz")
    parity.write_reference(path, specification, {}, 1)
    drawn, batches, _ = parity.draw(specification, {}, 1)
    initial = dict(drawn, **parity.initial_state(specification, {}))
    current = {}

    def step(inputs):
        loss, _, gradients = loss_and_gradients(specification.loss, {}, {"scale": current["scale"]}, initial, (inputs,))
        mean = (current["scale"] * inputs).mean(axis=0)
        current["running_mean"] = np.float32(1 - momentum) * current["running_mean"] + np.float32(momentum) * mean
        current["scale"] = current["scale"] - np.float32(0.1) * gradients["scale"]
        return {"loss": loss}

    program = Program(step, lambda: current, lambda: current.update(initial))
    outputs = parity.program_outputs(program, batches, np.asarray, initial)
    identity = parity.digest(drawn, batches)
    if momentum == 0.1:
        assert "update of running_mean" in parity.compare(outputs, path, identity, "float32", 16.0)
    else:
        with pytest.raises(parity.Mismatch, match="update of running_mean has"):
            parity.compare(outputs, path, identity, "float32", 16.0)
