"""Tests that every adapter counts what its modes compile, in its environment."""

from __future__ import annotations

import pytest
from environment import framework, run
from modes import case, cases, compiled, every_mode, needs, trial


@every_mode
def test_nothing_is_compiled_in_steady_state(environment, mode):
    for steady in trial(environment, mode)["steady"].values():
        assert steady["before"] == steady["after"]
        assert steady["before"]["compiled"] == compiled(environment, mode)
        # Op by op, JAX compiles every primitive at its first use.
        compiles = compiled(environment, mode) != "nothing" or framework(environment) == "jax"
        assert (steady["before"]["compilations"] > 0) == compiles
        if mode.startswith("jit"):
            assert steady["before"]["traces"] == 1


@cases(
    "torch2:compile",
    "tf2:function",
    "tf2:xla",
    "tf2:function-concrete",
    "tf2:xla-concrete",
    "jax:eager",
    "jax:jit",
    "jax:jit-async",
    "jax:jit-aot",
)
def test_another_shape_is_counted_as_a_compilation(environment, mode):
    """TorchScript is not here: it does not tell of the shapes that it specialises to."""
    found = trial(environment, mode)["another shape"]
    # Op by op, nothing is traced as a whole.
    for name in ("compilations",) if mode == "eager" else ("traces", "compilations"):
        assert found["after"][name] > found["before"][name]
    assert found["after"]["compiled"] == ("nothing" if mode == "eager" else "forward")


@needs("torch2")
def test_a_graph_break_is_counted_and_explained():
    found = run("torch2", "graph_breaks")
    assert found["before"]["graph_breaks"] == 0
    assert found["after"]["graph_breaks"] == 1
    assert found["after"]["graphs"] - found["before"]["graphs"] == 2
    assert "graph_break" in found["after"]["graph_break_reasons"][0]
    assert found["result"] == [3.0, 3.0, 3.0]


@needs("keras-torch", "fit-jit")
def test_only_backward_breaks_the_graph_of_keras_training():
    """A tensor that becomes a number breaks it, too, and then Adam runs op by op."""
    (reason,) = trial("keras-torch", "fit-jit")["extras"]["adam"]["graph_break_reasons"]
    assert "backward()" in reason


@cases("jax:jit-aot")
def test_ahead_of_time_each_shape_is_compiled_once_and_called_again(environment, mode):
    found = trial(environment, mode)["extras"]["ahead"]
    assert found == {"sums": [3.0, 5.0, 3.0, 5.0], "executables": 2, "traces": 2, "mistake": "TypeError"}


@pytest.mark.parametrize(
    ("environment", "mode", "lengths"),
    [
        # Of four lengths: one graph where the length is open, else one for each.
        case("torch2", "compile", 1, long=True),
        case("tf2", "function", 1),
        case("tf2", "xla", 4, long=True),
        case("jax", "jit", 4, long=True),
    ],
)
def test_a_text_that_grows_and_lengths_that_return_compile_nothing_again(environment, mode, lengths):
    found = run(environment, "graphs_of_shapes", mode, "kv-decode", "lengths-exact", "lengths-padded")
    for workload, (_graphs, first, steady) in found.items():
        assert steady == first > 0, workload
    # PyTorch's prompt and token are a graph each; the others have the loop over the tokens in one.
    assert found["kv-decode"][0] == (2 if mode == "compile" else 1)
    assert found["lengths-exact"][0] == lengths
    assert found["lengths-padded"][0] == 1
