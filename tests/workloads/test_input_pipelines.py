"""Tests lenet-input and input-pipeline: what an example is, and that mistakes of a pipeline are found."""

from __future__ import annotations

import zlib
from itertools import product

import numpy as np
import pytest
from numpy_outputs import implemented, relative_error
from planted_mistake import SEED, Mistake, shares

from bench.frameworks import fed
from bench.frameworks.facts import Mode
from bench.program import Program, Transform, Unsupported
from bench.registry import BUILT_IN
from bench.worker.checking import late, parity, tolerance
from bench.worker.timing.stopwatch import looped
from bench.workloads.lenet_train import SIDE

TRAINED, ALONE = BUILT_IN.specification("lenet-input"), BUILT_IN.specification("input-pipeline")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("references")


@pytest.mark.parametrize("workload", ["lenet-input", "input-pipeline"])
def test_the_pipeline_of_numpy_agrees_with_the_specification(workload):
    found, expected = implemented(workload, "tiny", "float32")
    for name, value in expected.items():
        assert relative_error(found[name], value) < 1e-5, name


def test_an_example_is_a_compressed_digit_with_its_label():
    records, labels = TRAINED.examples()
    assert len(records) == len(labels) == 1797
    for row in (0, 1796):
        image = np.frombuffer(zlib.decompress(records[row]), np.uint8).reshape(SIDE, SIDE)
        np.testing.assert_array_equal(image, TRAINED.pictures()[row])
    assert TRAINED.pictures().max() == 255


def test_images_are_normalised_by_the_mean_and_the_deviation_of_the_data():
    pixels = TRAINED.pictures() / 255
    assert (pixels.mean(), pixels.std()) == (
        pytest.approx(TRAINED.MEAN, abs=1e-4),
        pytest.approx(TRAINED.DEVIATION, abs=1e-4),
    )


def test_the_order_is_a_part_of_a_permutation():
    rows, mirrored = TRAINED.batch({"batch": 512}, np.random.RandomState(0))
    assert len(set(rows.tolist())) == 512
    assert set(mirrored.tolist()) == {0, 1}


def test_sizes_are_those_of_lenet_train_so_that_their_times_can_be_subtracted():
    other = BUILT_IN.specification("lenet-train")
    assert TRAINED.SIZES == ALONE.SIZES == other.SIZES
    assert all(TRAINED.useful_flops(size) == other.useful_flops(size) for size in other.SIZES.values())


def one_ahead(rows, mirrored):
    """Take the batch that an earlier sample had prepared."""
    batches = parity.draw(TRAINED, TRAINED.SIZES["check"], SEED)[1]
    places = [index for index, batch in enumerate(batches) if np.array_equal(batch[0], rows)]
    return batches[(places[0] + 1) % len(batches)]


def mistaken(given=lambda images, labels: (images, labels), order=lambda rows, mirrored: (rows, mirrored)):
    """Make a pipeline that does something to its images and labels, or takes another order."""
    right = TRAINED.prepared

    def prepared(rows, mirrored, mean, deviation):
        images, labels = given(*right(*order(rows, mirrored), mean, deviation))
        return images.astype(mean.dtype), labels

    return Mistake(replaced=((TRAINED, "prepared", prepared),))


MISTAKES = {
    "not normalised": mistaken(lambda images, labels: (images * TRAINED.DEVIATION + TRAINED.MEAN, labels)),
    "centred alone": mistaken(lambda images, labels: (images * TRAINED.DEVIATION, labels)),
    "not mirrored": mistaken(order=lambda rows, mirrored: (rows, mirrored * 0)),
    "one batch ahead": mistaken(order=one_ahead),
    "without the last example": mistaken(lambda images, labels: (images[:-1], labels[:-1])),
}


def test_a_pipeline_without_a_mistake_passes(folder):
    assert max(shares(TRAINED, mistaken(), folder).values()) < 0.5


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_of_a_pipeline_is_found_in_training(name, folder):
    """That labels are those of other examples is planted in every training."""
    assert min(shares(TRAINED, MISTAKES[name], folder).values()) > 3


def test_another_order_within_a_batch_is_found_in_the_pipeline_alone(folder):
    size = ALONE.SIZES["check"]
    path = str(folder / "alone.npz")
    parity.write_reference(path, ALONE, size, SEED)
    parameters, batches, _ = parity.draw(ALONE, size, SEED)

    def compared(change):
        def step(*batch):
            images, labels = ALONE.prepared(*batch, parameters["mean"], parameters["deviation"])
            return {"images": change(images), "labels": change(labels)}

        outputs = parity.program_outputs(Program(step), batches, np.asarray, {})
        return parity.compare(outputs, path, parity.digest(parameters, batches), "float32", tolerance.TOLERANCE_FACTOR)

    compared(lambda values: values)
    with pytest.raises(parity.Mismatch):
        compared(lambda values: values[::-1])


def test_a_run_gives_its_pipeline_its_own_batches_and_no_others():
    seen = []

    def feed(batches):
        seen.append(list(batches))
        return batches

    program = fed.fed(Program(lambda batch: {"loss": batch}), feed)
    assert program.run([(1,), (2,)]) == {"loss": 2}
    assert program.step(3) == {"loss": 3}
    assert seen == [[(1,), (2,)], [(3,)]]
    # What starts an iteration does not count in a sample of few steps.
    assert program.starts


@pytest.mark.parametrize(
    ("workload", "slow_s"), [("lenet-input", 0), ("input-pipeline", 0), *product(("mlp-train", "gemm"), (0, 60))]
)
def test_a_run_that_leaves_out_its_last_batch_is_found_after_timing(workload, slow_s, folder, monkeypatch):
    """Of a slow program, too."""
    monkeypatch.setattr(late, "SLOW_S", slow_s)
    specification = BUILT_IN.specification(workload)
    size = specification.SIZES["check"]
    path = str(folder / f"{workload}-late.npz")
    parity.write_reference(path, specification, size, SEED)
    parameters, batches, _ = parity.draw(specification, size, SEED)
    transform = Transform("eager", lambda function, **options: function)
    program = BUILT_IN.implementation(workload, "numpy")(size, parameters, batches[0], transform)
    whole = program.run or looped(program.step, lambda outputs: None, each=True)

    def verify(run):
        check = late.LateCheck(program, run, batches, path, "float32", tolerance.TOLERANCE_FACTOR)
        return check.verify(np.asarray, lambda outputs: None)

    assert verify(whole) >= 1
    # The check exchanges two batches in place; this puts them back.
    late.exchange(batches[0], batches[1])
    with pytest.raises(parity.Mismatch, match=r"^after timing, "):
        verify(lambda batches: whole(batches[: max(1, len(batches) - 1)]))


def test_modes_that_place_batches_before_they_are_timed_refuse_a_pipeline():
    placing = Mode("mine", places_batches=True)
    with pytest.raises(Unsupported, match=r"^mode mine places its batches before it is timed"):
        fed.feeding(Transform.of(placing, lambda function: function), {})
    modes = {mode.name for name in BUILT_IN.frameworks for mode in BUILT_IN.facts(name).modes if mode.places_batches}
    assert modes == {"ddp", "mirrored", "pmap", "shard-map", "jit-loop", "channels-last", "channels-first"}


def test_a_program_reports_its_pipeline_beside_its_own_settings():
    read = []

    def apply(function, settings=dict, **options):
        read.append(settings())
        return function

    fed.feeding(Transform("eager", apply), {"pipeline": "p"})(len, settings=lambda: {"layout": "NHWC"})
    assert read == [{"layout": "NHWC", "pipeline": "p"}]
