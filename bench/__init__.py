"""Compares machine-learning frameworks.

Two rings share this package: ``bench.worker`` (with ``bench.frameworks`` and ``bench.workloads``) runs inside every
environment under test, ``bench.host`` plans, runs and reports. Nothing in the worker ring imports the host ring.
"""

__version__ = "0.1.0"
