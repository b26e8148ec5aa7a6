"""Tests that the lines of commands fit a narrow terminal, and stay whole in a file or a pipe."""

from __future__ import annotations

import pytest
from small_project import call, write

from bench.host.commands.folding import fold, fold_prose, fold_rows


@pytest.fixture
def terminal(monkeypatch):
    """Return a function that gives the terminal a width."""
    monkeypatch.setenv("COLUMNS", "0")
    return lambda width: monkeypatch.setenv("COLUMNS", str(width))


def test_a_long_line_hangs_below_its_own_indent(terminal):
    terminal(20)
    assert fold("  torch: 2.0 → 2.15 eager") == "  torch: 2.0 → 2.15\n      eager"
    assert fold("no longer than that") == "no longer than that"


def test_without_a_terminal_a_row_is_a_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "0")
    monkeypatch.setattr("os.get_terminal_size", lambda _number: (_ for _ in ()).throw(OSError("no terminal")))
    assert fold("word " * 50) == "word " * 50
    assert max(map(len, fold_prose("word " * 50).splitlines())) <= 80


def test_the_name_of_a_row_is_folded_below_itself(terminal):
    terminal(36)
    names = ["torch2:compile-step gemm/small", "jax:jit gemm/small"]
    assert fold_rows(f"0.777  faster  {names[0]}\n               {names[1]}", names) == [
        "0.777  faster  torch2:compile-step\n               gemm/small",
        "               jax:jit gemm/small",
    ]


def test_a_name_with_a_line_break_stops_no_command(terminal):
    terminal(36)
    assert fold_rows("1  odd\n   name\n2  even", ["odd\nname", "even"]) == ["1  odd", "   name", "2  even"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Measure a small study twice."""
    folder = write(tmp_path_factory.mktemp("project"), rounds=1)
    for name in ("first", "second"):
        assert call(folder, "run", "--name", name) == 0
    return folder


@pytest.mark.parametrize("command", [("compare", "first", "second"), ("show", "second")])
def test_a_comparison_fits_a_terminal_of_48_letters(measured, terminal, capsys, command):
    """It was as wide as its names: a terminal broke numbers and words."""
    terminal(200)
    assert call(measured, *command) == 0
    wide = capsys.readouterr().out
    terminal(48)
    assert call(measured, *command) == 0
    narrow = capsys.readouterr().out
    assert max(map(len, wide.splitlines())) > 48 >= max(map(len, narrow.splitlines()))
    assert narrow.split() == wide.split()


def test_the_sentences_of_a_ranking_fit_a_narrow_terminal(measured, terminal, capsys):
    terminal(60)
    assert call(measured, "rank", "second") == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 60
