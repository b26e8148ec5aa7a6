"""Tests the options of a selection one by one: what they become, and what is refused."""

from __future__ import annotations

import pytest
from example_study import options


@pytest.mark.parametrize(
    "arguments",
    [
        ["--threads", "0"],
        ["--threads", "two"],
        ["--threads", "²"],
        ["--threads", "1,"],
        # A record could not hold it, so a run would lose its results.
        ["--threads", "10000000000000"],
        ["--interpreter", "jax"],
        ["--interpreter", "=python3"],
        ["--workload", " , "],
    ],
)
def test_a_malformed_option_is_refused_with_exit_code_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        options(*arguments)
    assert caught.value.code == 2
    assert f"argument {arguments[0]}" in capsys.readouterr().err


def test_several_numbers_of_threads_are_separated_by_commas() -> None:
    assert options("--threads", "1,all").threads == (1, "all")


def test_options_leave_no_trace_in_the_next_invocation() -> None:
    assert options("--mode", "jit").mode == ["jit"]
    assert options("--mode", "eager").mode == ["eager"]


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90.0), ("10m", 600.0), ("1.5h", 5400.0)])
def test_a_budget_is_a_duration(text: str, seconds: float) -> None:
    assert options("--budget", text).budget == seconds


@pytest.mark.parametrize(("text", "size"), [("512MiB", 1 << 29), ("2 GiB", 2 << 30), ("1.5GiB", 3 << 29)])
def test_a_cap_is_an_amount_of_memory(text: str, size: int) -> None:
    assert options("--largest-batch", text).largest_batch == size


@pytest.mark.parametrize(
    "argument",
    [f"--budget={text}" for text in ("10", "0s", "-5m", "1d", "", "m", "nan s", "9" * 30 + "h")]
    + [f"--largest-batch={text}" for text in ("2GB", "2", "0KiB", "-1GiB", "GiB", "9" * 400 + "GiB")],
)
def test_what_is_no_duration_and_no_amount_is_misuse(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        options(argument)
    assert ended.value.code == 2
    assert "give for example" in capsys.readouterr().err
