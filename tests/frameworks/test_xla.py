"""Tests how XLA_FLAGS are understood."""

from __future__ import annotations

import pytest

from bench.frameworks import xla


def test_the_last_of_several_flags_counts():
    assert xla.flags("--a=1 --b  --a=2") == {"a": "2", "b": "true"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("--xla_cpu_enable_fast_math=true", {}),
        ("--xla_gpu_enable_command_buffer=", {"CUDA graphs": False}),
        ("--xla_gpu_enable_command_buffer=FUSION,CUBLAS", {"CUDA graphs": True}),
        ("--xla_gpu_autotune_level=0", {"cuDNN autotuning": False}),
        ("--xla_gpu_autotune_level=4", {"cuDNN autotuning": True}),
        ("--xla_gpu_deterministic_ops", {"cuDNN deterministic": True}),
        ("--xla_gpu_deterministic_ops=false", {"cuDNN deterministic": False}),
    ],
)
def test_what_a_flag_decides_is_said(monkeypatch, text, expected):
    monkeypatch.setenv("XLA_FLAGS", text)
    assert xla.gpu_settings() == {"CUDA graphs": "as XLA decides", **expected}
