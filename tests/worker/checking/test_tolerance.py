"""Tests how far an output may be from the reference where a ReLU is nearly zero."""

from types import SimpleNamespace

import numpy as np
import pytest

from bench.worker.checking import parity, tolerance


def with_a_tie():
    """Return a specification with 10,000 ReLUs of which ten are four last bits above zero, before the first step."""

    def loss(size, parameters, state, batch):
        return np.maximum(parameters["weight"] - batch[0], 0).sum(), state

    return SimpleNamespace(
        TRAINING=True,
        OPTIMIZER={"name": "sgd", "learning_rate": 0.01},
        loss=loss,
        useful_flops=lambda size: 1e3,
        parameters=lambda size, random: {"weight": np.array([*[1 + 2.0**-21] * 10, *[2] * 9990], np.float32)},
        batch=lambda size, random, source: (np.ones(10_000, np.float32),),
    )


@pytest.mark.parametrize(("wrong", "agrees"), [(slice(0, 0), True), (slice(0, 2), True), (slice(10, 20), False)])
def test_a_tie_that_a_few_last_bits_decide_may_be_decided_otherwise(tmp_path, wrong, agrees):
    specification, path = with_a_tie(), str(tmp_path / "tie.npz")
    parity.write_reference(path, specification, {}, 1)
    parameters, batches, _ = parity.draw(specification, {}, 1)
    outputs = parity.expected_outputs(specification, {}, parameters, batches, np.float32)
    outputs["update of weight"][wrong] = 0
    given = path, parity.digest(parameters, batches), "float32", tolerance.TOLERANCE_FACTOR
    if agrees:
        parity.compare(outputs, *given)
    else:
        with pytest.raises(parity.Mismatch, match="update of weight"):
            parity.compare(outputs, *given)


def test_a_tie_makes_a_shorter_precision_no_wider(tmp_path):
    path = str(tmp_path / "tie.npz")
    parity.write_reference(path, with_a_tie(), {}, 1)
    with np.load(path) as stored:
        found = {
            each: tolerance.allowed_error(stored, "update of weight", each, 16.0) for each in ("float32", "float64")
        }
        assert float(stored["tied/update of weight"]) > 1000 * float(stored["error/update of weight"])
    assert found["float64"] < 1e-12
    # Twice what one to ten of ten thousand change, by one of three steps.
    assert 2 / 3 / 100 < found["float32"] < 2 / 3 / 100 * 10**0.5
