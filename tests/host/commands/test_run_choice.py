"""Tests which names a person can give a run."""

from __future__ import annotations

import argparse

import pytest

from bench.host.commands import run_choice


@pytest.mark.parametrize("text", ["paper", "second try, 2 threads", "été 2026 (v2)", "測定:1", "a" * 40])
def test_a_name_of_letters_and_digits_can_be_given(text):
    assert run_choice.label(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            " a",
            "a ",
            "a" * 41,
            "..",
            "../x",
            "a/b",
            "a\\b",
            "-rf",
            "--label",
            "a\nb",
            "a\tb",
            "a\0b",
            "\x1b[2J",
        ),
        *("<b>x</b>", "a&b", "a|b", "[red]x", "*a*", "`a`", "$HOME", "$(a)", "a;b", '"a"', "'a'", "a%b", "a#b", "{a}"),
        *("a\u202eb", "a\u200bb", "a\u2028b", "a~b", "a\\input{b}", "=1+1", "@a", "a^b"),
    ],
)
def test_a_name_that_could_mean_something_to_a_shell_a_page_or_a_table_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match="cannot name a run"):
        run_choice.label(text)
