"""Divides the tests among processes; sets hypothesis for machines that are shared: a slow minute is no failure."""

from __future__ import annotations

import os

from hypothesis import settings

pytest_plugins = ["division"]

# The tests' own arrays are small: a second thread only waits, busily, and takes a processor from other tests. Workers
# get a number of threads from the host, whatever is set here.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

settings.register_profile("shared", deadline=None)
settings.load_profile("shared")
