"""Tests the kernel specifications: inputs, counted work, conditioning and the NumPy implementations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.frameworks.numpy.adapter import Adapter
from bench.registry import BUILT_IN

NAMES = ("dispatch", "gemm", "elementwise-chain", "transcendental-chain", "layernorm-softmax")
SPECIFICATIONS = {name: BUILT_IN.specification(name) for name in NAMES}
PRESETS = [(name, preset) for name in NAMES for preset in SPECIFICATIONS[name].SIZES]
# The references of the larger presets take seconds and gigabytes.
QUICK = [(name, preset) for name, preset in PRESETS if preset in ("check", "tiny", "small")]
ROUNDOFF = 2.0**-24

OUTPUTS = {
    "dispatch": "values",
    "gemm": "product",
    "elementwise-chain": "output",
    "transcendental-chain": "output",
    "layernorm-softmax": "probabilities",
}
SHAPES = {
    "dispatch": lambda size: ([(size["elements"],)], (size["elements"],)),
    "gemm": lambda size: ([(size["order"],) * 2] * 2, (size["order"],) * 2),
    "elementwise-chain": lambda size: ([(size["elements"],)], (size["elements"],)),
    "transcendental-chain": lambda size: ([(size["elements"],)], (size["elements"],)),
    "layernorm-softmax": lambda size: ([(size["rows"], size["columns"])], (size["rows"], size["columns"])),
}
# Sizes small enough to count by hand, with their items, operations and numbers moved.
COUNTED = {
    # 2 cycles of 3 links of 4 operations on 5 elements; in and out, and 3 arrays for each of 3 links.
    "dispatch": ({"cycles": 2, "links": 3, "elements": 5}, 24, 24 * 5, (2 + 9) * 5),
    # Each of 4 elements of the product: 2 multiplications, 2 additions (the first to zero).
    "gemm": ({"order": 2}, 1, 16, 12),
    # Product, maximum, difference; product, minimum, sum, maximum, product; in and out, scale and floor.
    "elementwise-chain": ({"elements": 3}, 3, 24, 8),
    # Two affine, square, tanh, negation, exp, product; offset, log, sum; in and out, scale and shift.
    "transcendental-chain": ({"elements": 3}, 3, 30, 8),
    # Of each row: 4 · 4 for sum, centre, square, sum; 2 means, ε, root, inverse; 3 · 4 for normalise, scale, shift; and
    # 5 · 4 for maximum, subtract, exp, sum, divide.
    "layernorm-softmax": ({"rows": 3, "columns": 4}, 3, 3 * (16 + 5 + 12 + 20), 2 * 12 + 2 * 4),
}
SMALL_SIZES = {
    "dispatch": st.fixed_dictionaries(
        {"cycles": st.integers(1, 5), "links": st.integers(1, 5), "elements": st.integers(1, 9)}
    ),
    "gemm": st.fixed_dictionaries({"order": st.integers(1, 24)}),
    # With fewer elements all of them may lie above the floor, or all be saturated, by chance.
    "elementwise-chain": st.fixed_dictionaries({"elements": st.integers(24, 64)}),
    "transcendental-chain": st.fixed_dictionaries({"elements": st.integers(8, 64)}),
    # One column has the softmax 1 and two the normal values ± 1, whatever the input.
    "layernorm-softmax": st.fixed_dictionaries({"rows": st.integers(1, 6), "columns": st.integers(8, 24)}),
}
SEEDS = st.integers(0, 2**32 - 1)


class Zeros(np.random.RandomState):
    """Draws zeros of the shape and type of what is drawn otherwise, which takes seconds where a preset is large."""

    def standard_normal(self, size=None):
        return np.zeros(() if size is None else size)

    def uniform(self, low=0.0, high=1.0, size=None):
        return np.zeros(() if size is None else size)


def draw(name, size, seed, source=np.random.RandomState):
    """Draw a size's parameters and one batch."""
    random = source(seed)
    specification = SPECIFICATIONS[name]
    parameters = specification.parameters(size, random)
    return parameters, specification.batch(size, random)


def compute(name, size, parameters, batch, dtype=np.float64):
    """Compute the reference's only output in ``dtype``."""
    parameters = {key: value.astype(dtype) for key, value in parameters.items()}
    outputs = SPECIFICATIONS[name].reference(size, parameters, tuple(array.astype(dtype) for array in batch))
    return outputs[OUTPUTS[name]]


def implement(name, size, parameters, batch, precision):
    """Compute the only output of the NumPy implementation, and assert that its input is unchanged."""
    adapter = Adapter("eager", "cpu", precision, 1)
    placed = {key: adapter.put(value) for key, value in parameters.items()}
    inputs = tuple(adapter.put(array) for array in batch)
    program = BUILT_IN.implementation(name, "numpy")(size, placed, inputs, adapter.transform)
    outputs = program.step(*inputs)
    for array, original in zip(inputs, batch, strict=True):
        np.testing.assert_array_equal(array, original)
    assert set(outputs) == {OUTPUTS[name]}
    return adapter.get(outputs[OUTPUTS[name]])


def relative_error(value, expected):
    return np.linalg.norm((value - expected).ravel()) / np.linalg.norm(expected.ravel())


@pytest.mark.parametrize("name", NAMES)
def test_the_common_sizes_and_precisions_exist(name):
    specification = SPECIFICATIONS[name]
    assert {"check", "tiny", "small"} <= set(specification.SIZES)
    assert {"float32", "bfloat16"} <= set(specification.PRECISIONS)
    assert not specification.TRAINING


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_a_preset_draws_the_declared_shapes_in_float32(name, preset):
    size = SPECIFICATIONS[name].SIZES[preset]
    parameters, batch = draw(name, size, 1, np.random.RandomState if (name, preset) in QUICK else Zeros)
    inputs, _ = SHAPES[name](size)
    assert [array.shape for array in batch] == inputs
    assert all(array.dtype == np.float32 for array in [*batch, *parameters.values()])


@pytest.mark.parametrize(("name", "preset"), QUICK)
def test_the_reference_has_the_declared_shape_and_the_dtype_of_its_inputs(name, preset):
    size = SPECIFICATIONS[name].SIZES[preset]
    parameters, batch = draw(name, size, 1)
    _, output = SHAPES[name](size)
    for dtype in (np.float32, np.float64):
        computed = compute(name, size, parameters, batch, dtype)
        assert computed.shape == output
        assert computed.dtype == dtype


@pytest.mark.parametrize(("name", "preset"), QUICK)
def test_the_compulsory_bytes_are_what_is_drawn_and_computed(name, preset):
    specification = SPECIFICATIONS[name]
    size = specification.SIZES[preset]
    parameters, batch = draw(name, size, 1)
    arrays = [*parameters.values(), *batch, compute(name, size, parameters, batch, np.float32)]
    assert specification.compulsory_bytes(size, 4) == sum(array.nbytes for array in arrays)


@pytest.mark.parametrize("name", NAMES)
def test_the_work_agrees_with_a_count_by_hand(name):
    specification = SPECIFICATIONS[name]
    size, items, flops, numbers = COUNTED[name]
    assert specification.items(size) == items
    assert specification.useful_flops(size) == flops
    assert specification.compulsory_bytes(size, 4) == 4 * numbers
    assert specification.compulsory_bytes(size, 2) == 2 * numbers


@pytest.mark.parametrize("name", NAMES)
def test_a_larger_preset_is_more_work(name):
    specification = SPECIFICATIONS[name]
    work = [specification.useful_flops(size) for size in specification.SIZES.values()]
    assert work == sorted(set(work))


def test_the_sizes_lie_where_the_caches_are():
    gemm, chain, _, norm = (SPECIFICATIONS[name] for name in NAMES[1:])
    cache_bytes = 32 << 20
    assert gemm.compulsory_bytes(gemm.SIZES["small"], 4) < cache_bytes < gemm.compulsory_bytes(gemm.SIZES["large"], 4)
    assert chain.SIZES["small"]["elements"] == 1 << 20
    assert 4 * chain.SIZES["medium"]["elements"] > cache_bytes
    assert 4 * norm.SIZES["medium"]["rows"] * norm.SIZES["medium"]["columns"] > cache_bytes


def test_small_dispatch_is_a_hundred_operations():
    assert SPECIFICATIONS["dispatch"].items(SPECIFICATIONS["dispatch"].SIZES["small"]) == 100


@pytest.mark.parametrize(("name", "preset"), QUICK)
def test_float32_loses_only_a_few_roundoffs(name, preset):
    size = SPECIFICATIONS[name].SIZES[preset]
    for seed in range(3):
        parameters, batch = draw(name, size, seed)
        exact = compute(name, size, parameters, batch)
        assert relative_error(compute(name, size, parameters, batch, np.float32), exact) < 10 * ROUNDOFF
        assert 0.1 < np.abs(exact).max() < 10 or name == "layernorm-softmax"


@pytest.mark.parametrize("name", NAMES)
@given(seed=SEEDS, data=st.data())
@settings(max_examples=40, deadline=None)
def test_the_implementation_agrees_with_the_reference(name, seed, data):
    size = data.draw(SMALL_SIZES[name])
    parameters, batch = draw(name, size, seed)
    expected = compute(name, size, parameters, batch)
    np.testing.assert_allclose(implement(name, size, parameters, batch, "float64"), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("name", "preset"), QUICK)
def test_the_implementation_is_as_exact_as_the_reference(name, preset):
    size = SPECIFICATIONS[name].SIZES[preset]
    parameters, batch = draw(name, size, 2)
    exact = compute(name, size, parameters, batch)
    found = implement(name, size, parameters, batch, "float32")
    assert relative_error(found, exact) < 10 * ROUNDOFF


@pytest.mark.parametrize("name", NAMES)
@given(seed=SEEDS, data=st.data())
@settings(max_examples=60, deadline=None)
def test_every_drawn_number_changes_the_output(name, seed, data):
    size = data.draw(SMALL_SIZES[name])
    parameters, batch = draw(name, size, seed)
    drawn = {**parameters, **{str(index): array for index, array in enumerate(batch)}}
    before = compute(name, size, parameters, batch)
    key = data.draw(st.sampled_from(sorted(drawn)))
    position = data.draw(st.integers(0, drawn[key].size - 1))
    changed = {other: value.copy() for other, value in drawn.items()}
    changed[key].reshape(-1)[position] += 0.25
    after = compute(
        name, size, {other: changed[other] for other in parameters}, tuple(changed[str(i)] for i in range(len(batch)))
    )
    assert relative_error(after, before) > 1e-9


def test_the_end_of_a_chain_of_hundred_operations_depends_on_its_input():
    size = SPECIFICATIONS["dispatch"].SIZES["small"]
    parameters, (values,) = draw("dispatch", size, 4)
    before = compute("dispatch", size, parameters, (values,))
    after = compute("dispatch", size, parameters, (values.astype(np.float64) + 0.01,))
    assert np.all(np.abs(after - before) > 1e-5)


def test_gemm_is_the_product_of_its_factors_in_order():
    left, right = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.0, 1.0], [5.0, 0.0]])
    product = SPECIFICATIONS["gemm"].reference({"order": 2}, {}, (left, right))["product"]
    np.testing.assert_array_equal(product, [[10.0, 1.0], [20.0, 3.0]])


def test_the_elementwise_chain_is_its_formula():
    parameters = {"scale": np.array(0.5), "floor": np.array(0.25)}
    # At -2: max(-1, 0.25) + 2 = 2.25, min(-1 * 2.25, -2) + 2.25 = 0, max(0, -2) * 2.25 = 0. At 1: 0.5 - 1 = -0.5,
    # min(-0.25, 1) - 0.5 = -0.75, max(-0.75, 1) * -0.5 = -0.5. At -0.5: 0.75, -0.5 + 0.75 = 0.25, 0.25 * 0.75.
    output = SPECIFICATIONS["elementwise-chain"].reference({"elements": 3}, parameters, (np.array([-2.0, 1.0, -0.5]),))[
        "output"
    ]
    np.testing.assert_array_equal(output, [0.0, -0.5, 0.1875])


def test_every_branch_of_the_elementwise_chain_is_taken_by_many_elements():
    size = SPECIFICATIONS["elementwise-chain"].SIZES["tiny"]
    for seed in range(5):
        parameters, (inputs,) = draw("elementwise-chain", size, seed)
        scaled = inputs * parameters["scale"]
        above = np.maximum(scaled, parameters["floor"]) - inputs
        lower = np.minimum(scaled * above, inputs) + above
        for branch in (scaled > parameters["floor"], scaled * above < inputs, lower > inputs):
            assert 0.3 < branch.mean() < 0.7


def test_the_transcendental_chain_is_its_formula():
    parameters = {"scale": np.array(2.0), "shift": np.array(-1.0)}
    output = SPECIFICATIONS["transcendental-chain"].reference({"elements": 2}, parameters, (np.array([0.5, 1.0]),))[
        "output"
    ]
    np.testing.assert_allclose(output, [np.log(2.0), np.tanh(1.0) / np.e + np.log(3.0)], rtol=1e-15)


def test_a_row_is_normalised_with_the_biased_variance_and_sums_to_one():
    parameters = {"scale": np.ones(2), "shift": np.zeros(2)}
    inputs = np.array([[1.0, 3.0], [-4.0, -6.0]])
    found = SPECIFICATIONS["layernorm-softmax"].reference({"rows": 2, "columns": 2}, parameters, (inputs,))[
        "probabilities"
    ]
    # The variance of each row is 1, so the logits are ± 1 / √(1 + ε).
    odds = np.exp(2 / np.sqrt(1 + 1e-5))
    np.testing.assert_allclose(
        found, [[1 / (1 + odds), odds / (1 + odds)], [odds / (1 + odds), 1 / (1 + odds)]], rtol=1e-14
    )
    np.testing.assert_allclose(found.sum(axis=-1), 1.0, rtol=1e-15)
