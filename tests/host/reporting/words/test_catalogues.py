"""Tests that the template holds every message of the source, and every catalogue a translation of each."""

from __future__ import annotations

import re

import pytest
from babel.messages import pofile

from bench.host.reporting.words import template
from bench.host.reporting.words.language import FOLDER, placeholders, problems_of, read

CATALOGUES = sorted(FOLDER.glob("*.po"))
RENEW = "renew the files: python -m bench.host.reporting.words.template"


def messages(catalogue) -> set:
    return {message.id for message in catalogue if message.id}


@pytest.fixture(scope="module")
def collected():
    return template.collect()


def test_the_template_holds_every_message_of_the_source(collected):
    with template.TEMPLATE.open("rb") as file:
        stored = messages(pofile.read_po(file))
    assert stored == messages(collected), RENEW


def test_every_message_has_plain_placeholders(collected):
    """Numbers are formatted before they come into a message, with the decimal sign of the language."""
    for message in collected:
        for text in [message.id] if isinstance(message.id, str) else message.id:
            placeholders(text)


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_every_message_is_translated(collected, path):
    with path.open("rb") as file:
        catalogue = pofile.read_po(file, locale=path.stem)
    assert problems_of(catalogue) == []
    done = {
        message.id
        for message in catalogue
        if message.id and not message.fuzzy and all([message.string] if message.string else [""])
    }
    missing = messages(collected) - done
    assert not missing, RENEW + ", and translate what is new"
    assert messages(catalogue) == messages(collected), RENEW
    assert read(path).name == path.stem


def test_brackets_and_marks_survive_translation(collected):
    """What a reader looks up below a table is the same in every language: names in quotes, options, signs."""
    signs = re.compile(r"--[a-z]+|[×±≈−%/]")
    for path in CATALOGUES:
        with path.open("rb") as file:
            for message in pofile.read_po(file, locale=path.stem):
                if isinstance(message.id, str) and message.id:
                    assert sorted(signs.findall(message.id)) == sorted(signs.findall(message.string)), message.id
