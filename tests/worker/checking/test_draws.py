"""Tests that draws of every right generator pass, and that wrong, repeated and remembered draws are a mismatch."""

import math

import numpy as np
import pytest
from numpy_outputs import implemented

from bench.program import Program
from bench.registry import BUILT_IN
from bench.worker.checking import draws, late, parity

COUNT = 1 << 16
BOTH = pytest.mark.parametrize("distribution", draws.DISTRIBUTIONS)


def drawn(distribution, seed, count=COUNT):
    random = np.random.default_rng(seed)
    return random.standard_normal(count) if distribution == "normal" else random.random(count)


def share(distribution, value, other=None, **options):
    found = draws.judge(draws.expected(distribution, COUNT), value, other, **options)
    return found["error"] / found["allowed"]


@BOTH
def test_a_right_generator_passes_with_room(distribution):
    shares = [share(distribution, drawn(distribution, seed), drawn(distribution, seed + 100)) for seed in range(40)]
    assert max(shares) < 0.8


def test_the_bound_is_that_of_its_false_alarm():
    """For fewer draws and a more frequent alarm, which trials can show."""
    alarm, count = 0.02, 500
    bound = math.sqrt(math.log(2 / alarm) / (2 * count))
    random = np.random.default_rng(2)
    alarms = np.mean([draws.distance(random.random(count)) > bound for _ in range(4000)])
    assert 0.5 * alarm < alarms < 1.2 * alarm


WRONG = {
    "10 % too wide": ("normal", lambda x: 1.1 * x),
    "shifted": ("normal", lambda x: x + 0.05),
    "of another distribution": ("normal", lambda x: np.sign(x) * np.abs(x) ** 0.9),
    "of the square": ("uniform", lambda x: x**1.05),
    "from -1 to 1": ("uniform", lambda x: 2 * x - 1),
    "to 1.0001": ("uniform", lambda x: 1.0001 * x),
    "not finite": ("normal", lambda x: np.where(x > 4, np.inf, np.where(x < -3, np.nan, x))),
    "of float16": ("uniform", lambda x: x.astype(np.float16)),
    "normal, of float16": ("normal", lambda x: x.astype(np.float16)),
    "of 14 bits": ("uniform", lambda x: np.floor(x * 2**14) / 2**14),
    "all one": ("uniform", lambda x: 0 * x + 0.3),
    "in pairs": ("normal", lambda x: np.repeat(x[::2], 2)),
    "mirrored in pairs": ("uniform", lambda x: np.stack([x[::2], 1 - x[::2]], 1).ravel()),
    "half, twice": ("normal", lambda x: np.tile(x[: COUNT // 2], 2)),
    "an eighth, eight times": ("uniform", lambda x: np.tile(x[: COUNT // 8], 8)),
    "correlated": ("normal", lambda x: 0.8 * x + 0.6 * np.roll(x, 1)),
    "a lattice": ("uniform", lambda x: np.arange(COUNT) * 0.6180339887 % 1),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_draws_are_found(name):
    distribution, change = WRONG[name]
    assert not share(distribution, change(drawn(distribution, 5))) <= 1


@BOTH
def test_the_same_draws_in_two_steps_are_found(distribution):
    value = drawn(distribution, 6)
    assert share(distribution, value) < 1 < share(distribution, value, value)


def test_draws_out_of_range_are_called_so():
    reference, value = draws.expected("uniform", COUNT), drawn("normal", 7)
    said = draws.describe("draws[0]", draws.judge(reference, value), reference, value)
    assert said == "draws[0] are not uniform draws: some are not finite, or outside of the range"


def test_fewer_draws_are_of_another_shape():
    reference, value = draws.expected("normal", COUNT), drawn("normal", 7)[: COUNT // 2]
    found = draws.judge(reference, value)
    assert not found["error"] <= found["allowed"]
    assert draws.describe("draws[0]", found, reference, value) == "draws[0]: shape (32768,), expected (65536,)"
    whole = drawn("normal", 7)
    assert share("normal", whole, sample=whole[::2]) < 1


def test_an_unknown_distribution_is_refused():
    with pytest.raises(ValueError, match="distribution 'cauchy'; known: uniform, normal"):
        draws.expected("cauchy", 4)


@pytest.mark.parametrize("workload", ["random-normal", "random-uniform"])
class TestWorkload:
    @pytest.fixture
    def checked(self, tmp_path, workload):
        specification = BUILT_IN.specification(workload)
        size = specification.SIZES["check"]
        path = str(tmp_path / "reference.npz")
        parity.write_reference(path, specification, size, 1)
        parameters, batches, _ = parity.draw(specification, size, 1)

        def check(step):
            program = Program(step)
            outputs = parity.program_outputs(program, batches, np.asarray, {})
            found = parity.compare(outputs, path, parity.digest(parameters, batches), "float32", 16.0)
            again = late.LateCheck(program, lambda given: step(*given[0]), batches, path, "float32", 16.0)
            return found, again.verify(np.asarray, lambda outputs: None)

        return check

    def test_numpy_passes_both_checks(self, workload, checked):
        assert set(implemented(workload, "check", "float32")[0]) == {"draws[0]", "draws[1]"}
        random = np.random.default_rng(1)
        draw = random.random if workload == "random-uniform" else random.standard_normal
        found, steps = checked(lambda seed: {"draws": draw(COUNT, dtype=np.float32)})
        assert steps
        assert all(0 < each["error"] < each["allowed"] < 0.03 for each in found.values())

    def test_remembered_draws_are_a_mismatch(self, workload, checked):
        value = drawn(workload.partition("-")[2], 8)
        with pytest.raises(parity.Mismatch, match=r"draws\[1\] are not independent .* draws: .* away; .* is allowed"):
            checked(lambda seed: {"draws": value})

    def test_a_constant_after_timing_are_a_mismatch(self, workload, checked):
        given = iter(drawn(workload.partition("-")[2], seed) for seed in (1, 2))
        with pytest.raises(parity.Mismatch, match=r"after timing, draws\[0\] are not "):
            checked(lambda seed: {"draws": next(given, np.zeros(COUNT))})

    def test_fewer_draws_after_timing_are_a_mismatch(self, workload, checked):
        random = np.random.RandomState(9)
        draw = random.random_sample if workload == "random-uniform" else random.standard_normal
        counts = iter([COUNT, COUNT])
        with pytest.raises(parity.Mismatch, match=r"after timing, draws\[0\]: shape \(32768,\), expected \(65536,\)"):
            checked(lambda seed: {"draws": draw(next(counts, COUNT // 2))})
