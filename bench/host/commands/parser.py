"""Parses command lines, as argparse does, and adds to an error what the person probably meant."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Iterable
from typing import NoReturn

from ..project import as_called
from ..refusal import harmless
from ..system import EXIT_MISUSE

UNKNOWN, NO_VALUE = "unrecognized arguments: ", "ignored explicit argument "
#: {a word that people try: what there is instead}
OTHER_WORDS = {
    "--study": "a study is named by its file: --matrix FILE",
    "--workloads": "write --workload",
    "--environment": "name an environment by its session: nox -s bench-NAME",
    "--seed": "the study file has it: seed in [study]",
    "--rounds": "a profile has them: --profile NAME, or a table [profiles.NAME] in the study file",
}


class Parser(argparse.ArgumentParser):
    """A parser whose errors end with a remedy, where one is known."""

    def error(self, message: str) -> NoReturn:
        remedy = None
        if NO_VALUE in message:
            # ``argument --details: ignored explicit argument 'yes'``
            remedy = "this option takes no value; write its name alone"
        if message.startswith(UNKNOWN):
            remedy = remedy_of(message.removeprefix(UNKNOWN).split(), self._every_option())
        said = message if remedy is None else f"{message}; {remedy}"
        # The message alone: the list of all options is longer than what a person looks for in it.
        said = said if said.endswith("?") else f"{said}."
        self.exit(EXIT_MISUSE, f"{harmless(as_called(f'{self.prog}: {said} --help lists the options.'))}\n")

    def _every_option(self) -> list[str]:
        """List the options of the command that is called."""
        commands = [action for action in self._actions if isinstance(action, argparse._SubParsersAction)]
        parsers = [self, *(one for action in commands for one in action.choices.values())]
        return [option for one in parsers for action in one._actions for option in action.option_strings]


def remedy_of(words: list[str], options: Iterable[str]) -> str | None:
    """Say what the first of the words that a command does not take was probably meant to be."""
    if not words:
        return "a word of it is empty, as from a variable that is not set"
    known = list(options)
    word = words[0].partition("=")[0]
    if not word.startswith("-"):
        several = "--workload" in known
        return "several names are separated by commas, as in --workload gemm,mlp-train" if several else None
    if word in OTHER_WORDS:
        return OTHER_WORDS[word]
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.75)
    return f"did you mean {near[0]}?" if near else None
