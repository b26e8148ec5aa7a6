"""Tests that an option of JAX is set where a version has it, and passed over where it has not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from environment import ROOT, interpreter

pytestmark = pytest.mark.real

PROGRAM = """
import jax
from bench.frameworks.jax.options import configure
configure("jax_default_matmul_precision", "highest")
configure("jax_no_version_has_this", 1)
print(jax.config.jax_default_matmul_precision, hasattr(jax.config, "jax_no_version_has_this"))
"""


def test_an_option_that_a_version_lacks_is_passed_over():
    done = subprocess.run(
        [*interpreter("jax"), "-c", PROGRAM], cwd=Path(ROOT), capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.split() == ["highest", "False"]
