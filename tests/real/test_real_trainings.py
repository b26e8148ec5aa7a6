"""Trains the two real networks to a result in PyTorch and JAX, on images that the test makes, at the smallest size."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bench.host import environments
from bench.host.__main__ import main
from bench.host.analysis.training import Agreement, analyse
from bench.host.storage import training_records
from bench.record import OK

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = {"torch1": ("torch", "eager"), "jax": ("jax", "jit")}
STUDY = """
[study]
name = "learned"
baseline = "torch1:eager"
default = ["torch1", "jax"]
profile = "brief"
seed = 1
threads = 1
[workloads.lenet-train]
data = "./mnist"
[workloads.catdog-cnn-train]
data = "./photographs"
[profiles.brief]
peaks = false
rounds = 1
samples = 2
sample_seconds = 0.001
sizes = ["check"]
timeout_s = 300
"""
ENVIRONMENT = """
[environments.{name}]
provider = "existing"
interpreter = "{interpreter}"
framework = "{framework}"
modes = ["{mode}"]
"""
pytestmark = [pytest.mark.real, pytest.mark.long]


def stripes(random: np.random.RandomState, side: int, *, across: bool) -> np.ndarray:
    """Make a noisy image of stripes, whose direction is the class."""
    line = 200 * (np.arange(side) // 5 % 2) + 55 * random.rand(side, side)
    return np.asarray(line if across else line.T).astype(np.uint8)


def write_digits(folder: Path, random: np.random.RandomState) -> None:
    """Write 60 images in MNIST's format: two classes of stripes."""
    labels = random.randint(0, 2, 60).astype(np.uint8)
    images = np.stack([stripes(random, 28, across=bool(label)) for label in labels])
    folder.mkdir()
    (folder / "train-images-idx3-ubyte").write_bytes(struct.pack(">4I", 0x803, *images.shape) + images.tobytes())
    (folder / "train-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 0x801, 60) + labels.tobytes())


def write_photographs(folder: Path, random: np.random.RandomState) -> None:
    for animal, across in (("Cat", True), ("Dog", False)):
        (folder / animal).mkdir(parents=True)
        for number in range(40):
            Image.fromarray(stripes(random, 64, across=across)).save(folder / animal / f"{number}.png")


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    random = np.random.RandomState(3)
    write_digits(folder / "mnist", random)
    write_photographs(folder / "photographs", random)
    tables = ""
    for name, (framework, mode) in COLUMNS.items():
        outcome = environments.load_outcome(name, root=ROOT)
        assert outcome is not None, f"environment {name} is not prepared: run this through nox -s tests"
        assert outcome.status == OK, f"environment {name}: {outcome.reason}"
        tables += ENVIRONMENT.format(name=name, interpreter=outcome.command[0], framework=framework, mode=mode)
    (folder / "matrix.toml").write_text(STUDY + tables)
    arguments = ["--matrix", str(folder / "matrix.toml"), "--size", "check", "--epochs", "4", "--seeds", "1"]
    assert main(["train", *arguments], root=folder) == 0
    found = training_records.read(folder / "reports" / "learned" / "training")
    assert found is not None
    return {row.baseline.workload: row for row in analyse(*found)}


@pytest.mark.parametrize("workload", ["lenet-train", "catdog-cnn-train"])
def test_the_same_weights_and_batches_give_nearly_the_same_parameters(rows, workload):
    torch, jax, nudged = rows[workload].cells
    assert (torch.cell.environment, jax.cell.environment, nudged.nudged) == ("torch1", "jax", True)
    # Rounding: what a change of the last bit does, give or take some orders of magnitude.
    assert 0 < jax.apart < 1e-3
    assert 0 < nudged.apart < 1e-3


@pytest.mark.parametrize("workload", ["lenet-train", "catdog-cnn-train"])
def test_every_framework_learns_to_tell_the_classes_apart(rows, workload):
    for one in rows[workload].cells:
        epochs = one.runs[0].epochs
        assert epochs[-1].accuracy >= 0.9
        assert epochs[-1].cross_entropy < epochs[0].cross_entropy
    assert rows[workload].agreement in (Agreement.EQUAL, Agreement.FEW)


def test_the_images_are_those_of_the_folders(rows):
    digits, photographs = (rows[name].cells[0].runs[0] for name in ("lenet-train", "catdog-cnn-train"))
    assert (digits.training, digits.validation) == (42, 18)
    assert (photographs.training, photographs.validation) == (56, 24)
    assert "cats and dogs from" in photographs.data
