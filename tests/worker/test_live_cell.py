"""Tests that a program which is not one is refused with its file, before its steps fail in ours."""

from types import SimpleNamespace

import pytest

from bench.cell import Cell
from bench.frameworks import loaded
from bench.frameworks.extension import ExtendedAdapter
from bench.program import Program
from bench.registry import BUILT_IN
from bench.worker import in_force
from bench.worker.imported import Imported
from bench.worker.live_cell import LiveCell

STEP = Program(lambda *batch: {"loss": 1.0})


def first_call(workload, built):
    cell = Cell("numpy", "numpy", "eager", workload, "check", "float32", "cpu", 1)
    live = LiveCell(cell, BUILT_IN, Imported())
    live.build = lambda *arguments: built
    return live.first_call({}, {}, (), lambda stage: None)


@pytest.mark.parametrize(
    ("workload", "built", "reason"),
    [
        ("gemm", None, "build returned None; it returns a bench.program.Program"),
        ("gemm", len, "build returned a value of type builtin_function_or_method; it returns a"),
        ("gemm", Program(lambda *batch: None), "a step returned None; it returns {name: array}"),
        ("gemm", Program(lambda *batch: 3.0), "a step returned a value of type float; it returns {name: array}"),
        ("mlp-train", STEP, "the workload trains, and the program has no parameters and no reset"),
        ("mlp-train", STEP._replace(parameters=dict), "the workload trains, and the program has no reset"),
    ],
)
def test_what_is_no_program_is_refused_with_its_file(workload, built, reason):
    with pytest.raises(TypeError) as caught:
        first_call(workload, built)
    place = "bench/workloads/{}/numpy.py".format(workload.replace("-", "_"))
    assert str(caught.value).startswith("{}: {}".format(place, reason))


def test_a_program_makes_its_first_step():
    program, seconds = first_call("gemm", STEP)
    assert program is STEP
    assert seconds >= 0


def test_peaks_of_memory_begin_anew_on_the_device_too():
    live = LiveCell(Cell("numpy", "numpy", "eager", "gemm", "check", "float32", "cpu", 1), BUILT_IN, Imported())
    forgotten = []
    live.baseline = SimpleNamespace(forget_peak=lambda: True)
    # An adapter need not be able to.
    live.adapter = SimpleNamespace()
    assert live.forget_peak()
    live.adapter = SimpleNamespace(forget_peak=lambda: forgotten.append("device"))
    assert live.forget_peak()
    assert forgotten == ["device"]


def test_an_implementation_without_build_names_its_file(monkeypatch):
    module = BUILT_IN.home_of("gemm").load("workloads", "gemm", "numpy")
    monkeypatch.delattr(module, "build")
    with pytest.raises(AttributeError, match=r"^bench/workloads/gemm/numpy\.py does not define build"):
        BUILT_IN.implementation("gemm", "numpy")


def test_settings_without_threads_are_refused_with_the_remedy_where_processes_are_bound(monkeypatch):
    cell = Cell("mine", "mine", "eager", "gemm", "check", "float32", "cpu", 2)
    monkeypatch.setattr(loaded, "is_bound", lambda: True)
    with pytest.raises(RuntimeError, match=r"settings\(\) have no threads: give those in force, or,"):
        in_force.verify(cell, {})
    in_force.verify(cell, {"threads": 2})
    monkeypatch.setattr(loaded, "is_bound", lambda: False)
    in_force.verify(cell, {})


def test_a_mode_that_returns_no_function_is_refused():
    adapter = ExtendedAdapter(
        SimpleNamespace(transform=lambda function, **options: function),
        SimpleNamespace(apply=lambda *arguments: None),
        "fast",
    )
    with pytest.raises(TypeError, match="apply of mode fast returned None; it returns the function"):
        adapter.transform(len)
