"""Tests that a bench session can give its arguments to both commands that it runs: prepare and run."""

from __future__ import annotations

from bench.host.__main__ import parser

GIVEN = ["--fresh", "--allow-failures", "--fail-if", "slower:5%", "--wait", "3s", "--profile", "quick", "--details"]


def options(*arguments: str) -> set[str]:
    subparsers = parser(list(arguments))._subparsers
    assert subparsers is not None
    (group,) = subparsers._group_actions
    return set(group.choices[arguments[0]]._option_string_actions)


def test_prepare_takes_every_option_of_run():
    assert options("run") - options("prepare") == {"--environment"}


def test_the_options_of_a_run_are_accepted_by_prepare():
    assert parser(["prepare"]).parse_args(["prepare", "here", *GIVEN]).environment == "here"
