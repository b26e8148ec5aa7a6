"""Makes projects of two NumPy environments, whose runs take a second."""

from __future__ import annotations

import shutil
import sys

import pytest
from small_project import call

MATRIX = """
[study]
name = "small"
baseline = "here:eager"
default = ["here", "again"]
profile = "check"
seed = 1
threads = 1

[environments.here]
provider = "existing"
interpreter = "{python}"
framework = "numpy"
modes = ["eager"]

[environments.again]
provider = "existing"
interpreter = "{python}"
framework = "numpy"
modes = ["eager"]

[environments.absent]
provider = "existing"
interpreter = "/nowhere/python"
framework = "numpy"
modes = ["eager"]

[workloads.mlp-train]
[workloads.gemm]
[workloads.transformer-train]

[profiles.check]
peaks = false
rounds = 2
samples = 3
sample_seconds = 0.001
sizes = ["check"]
timeout_s = 60

[profiles.long]
peaks = false
rounds = 3
samples = 12
sample_seconds = 0.02
sizes = ["check"]
timeout_s = 60
"""


@pytest.fixture
def checkout(tmp_path):
    """Make a project with a study file and no state."""
    (tmp_path / "matrix.toml").write_text(MATRIX.format(python=sys.executable))
    return tmp_path


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A project with a finished run of one workload."""
    folder = tmp_path_factory.mktemp("measured")
    (folder / "matrix.toml").write_text(MATRIX.format(python=sys.executable))
    assert call(folder, "run", "--workload", "gemm") == 0
    return folder


@pytest.fixture
def finished(measured, tmp_path):
    """A copy of that project."""
    return shutil.copytree(measured, tmp_path / "project", symlinks=True)
