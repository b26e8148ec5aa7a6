"""Tests the specifications of single operations against naive loops, and their counted work."""

from __future__ import annotations

import numpy as np
import pytest

from bench.registry import BUILT_IN

#: {workload: (a size to count by hand, items, operations, numbers moved in float32, bytes of indices)}
COUNTED = {
    # 2 heads of 3 queries: 9 pairs, or 6 visible ones, of two products over 4.
    "attention-full": ({"batch": 1, "heads": 2, "sequence": 3, "width": 4}, 6, 2 * 9 * 16, 4 * 24, 0),
    "attention-causal": ({"batch": 1, "heads": 2, "sequence": 3, "width": 4}, 6, 2 * 6 * 16, 4 * 24, 0),
    # At a side of 3 the centre has 9 weights in the image, an edge 6 and a corner 4: 9 + 4 * 6 + 4 * 4 = 49.
    "conv2d": ({"batch": 2, "side": 3, "channels": 2}, 2, 2 * 2 * 49 * 4, 2 * 36 + 36, 0),
    "conv2d-nchw": ({"batch": 2, "side": 3, "channels": 2}, 2, 2 * 2 * 49 * 4, 2 * 36 + 36, 0),
    "conv2d-depthwise": ({"batch": 2, "side": 3, "channels": 2}, 2, 2 * 2 * 49 * 2, 2 * 36 + 18, 0),
    "batched-gemm": ({"batch": 3, "order": 2}, 3, 3 * 16, 3 * 12, 0),
    "embedding-bag": ({"words": 7, "width": 4, "batch": 2, "each": 3}, 2, 2 * 2 * 4, 12, 24),
    # 7 addresses; 7 rows are written, and one row of the table is read.
    "gather": ({"rows": 7, "width": 4, "table": 2}, 7, 7, 32, 28),
    "scatter-add": ({"rows": 7, "width": 4, "groups": 2}, 7, 5 * 4, 36, 28),
}


def computed(workload, size):
    """Return the inputs, the parameters and the only output of a workload in float64."""
    specification = BUILT_IN.specification(workload)
    random = np.random.RandomState(5)
    parameters = {name: value.astype(np.float64) for name, value in specification.parameters(size, random).items()}
    batch = tuple(a.astype(np.float64) if a.dtype.kind == "f" else a for a in specification.batch(size, random))
    (output,) = specification.reference(size, parameters, batch).values()
    return batch, parameters, output


@pytest.mark.parametrize("workload", COUNTED)
def test_work_is_counted_as_by_hand(workload):
    specification = BUILT_IN.specification(workload)
    size, items, operations, moved, indices = COUNTED[workload]
    assert specification.items(size) == items
    assert specification.useful_flops(size) == operations
    assert specification.compulsory_bytes(size, 4) == 4 * moved + indices


@pytest.mark.parametrize("workload", ["attention-full", "attention-causal"])
def test_attention_is_a_mean_of_the_values_that_are_seen(workload):
    (queries, keys, values), _, mixed = computed(workload, COUNTED[workload][0])
    for head, query in np.ndindex(*mixed.shape[1:3]):
        seen = query + 1 if workload == "attention-causal" else 3
        weights = np.exp(keys[0, head, :seen] @ queries[0, head, query] / 2)
        expected = weights @ values[0, head, :seen] / weights.sum()
        np.testing.assert_allclose(mixed[0, head, query], expected, rtol=1e-12)


@pytest.mark.parametrize("workload", ["conv2d", "conv2d-depthwise"])
def test_a_convolution_is_a_sum_over_its_neighbours(workload):
    (images,), parameters, convolved = computed(workload, COUNTED[workload][0])
    assert convolved.shape == images.shape
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    for image, row, column, channel in np.ndindex(*convolved.shape):
        window, weight = padded[image, row : row + 3, column : column + 3], parameters["weight"]
        if workload == "conv2d":
            expected = np.sum(window * weight[..., channel])
        else:
            expected = np.sum(window[..., channel] * weight[..., channel])
        assert convolved[image, row, column, channel] == pytest.approx(expected, rel=1e-12)


def test_a_convolution_of_the_other_layout_has_the_same_numbers():
    size = {"batch": 2, "side": 3, "channels": 2}
    first, last = (BUILT_IN.specification(name) for name in ("conv2d-nchw", "conv2d"))
    (images,) = first.batch({**size, "channels": 4}, np.random.RandomState(1))
    assert images.shape == (2, 4, 3, 3)
    (images,), parameters, convolved = computed("conv2d-nchw", size)
    other = last.reference(size, parameters, (images.transpose(0, 2, 3, 1),))["convolved"]
    np.testing.assert_array_equal(convolved.transpose(0, 2, 3, 1), other)


def test_products_of_a_batch_are_those_of_its_pairs():
    (left, right), _, products = computed("batched-gemm", COUNTED["batched-gemm"][0])
    for index in range(3):
        np.testing.assert_allclose(products[index], left[index] @ right[index], rtol=1e-12)


def test_bags_are_sums_of_rows():
    (indices,), parameters, sums = computed("embedding-bag", COUNTED["embedding-bag"][0])
    for bag, rows in enumerate(indices):
        np.testing.assert_allclose(sums[bag], sum(parameters["table"][row] for row in rows), rtol=1e-12)


def test_gathered_rows_are_those_of_the_table():
    (table, indices), _, rows = computed("gather", {"rows": 7, "width": 4, "table": 9})
    assert len(set(indices)) > 1
    for row, index in zip(rows, indices, strict=True):
        np.testing.assert_array_equal(row, table[index])


def test_scatter_add_has_the_sizes_of_gather_and_is_its_transpose():
    gather, scatter = (BUILT_IN.specification(name) for name in ("gather", "scatter-add"))
    for preset, size in gather.SIZES.items():
        assert scatter.SIZES[preset] == {"rows": size["rows"], "width": size["width"], "groups": size["table"]}
    (table, indices), _, rows = computed("gather", gather.SIZES["check"])
    weights = np.random.RandomState(1).standard_normal(rows.shape)
    sums = scatter.reference(scatter.SIZES["check"], {}, (weights, indices))["sums"]
    assert np.sum(rows * weights) == pytest.approx(np.sum(table * sums), rel=1e-12)


def test_rows_are_added_to_their_groups():
    size = {"rows": 7, "width": 4, "groups": 9}
    (rows, groups), _, sums = computed("scatter-add", size)
    assert len(set(groups)) < 9
    for group in range(9):
        np.testing.assert_allclose(sums[group], rows[groups == group].sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize("workload", ["lstm-lm-train", "lstm-cell-lm-train"])
def test_an_lstm_has_the_products_counted_by_hand(workload):
    specification = BUILT_IN.specification(workload)
    size = {"batch": 2, "sequence": 3, "width": 4, "layers": 2, "vocabulary": 5}
    # 6 tokens and 4 states that are not zero, each times 4x16, in each layer; then 6 tokens times 4x5.
    assert specification.useful_flops(size) == 3 * 2 * (2 * (6 + 4) * 64 + 6 * 20)
    count = sum(value.size for value in specification.parameters(size, np.random.RandomState(0)).values())
    # Of the embedding one row.
    assert specification.compulsory_bytes(size, 4) == 2 * 4 * (count - 4 * 4) + 2 * 4 * 6
    assert specification.items(size) == 6
