"""Tests that messages come out in the language of the report, and that a wrong catalogue says what is wrong with it."""

from __future__ import annotations

import threading

import pytest

from bench.host.reporting.words import language
from bench.host.reporting.words.language import ENGLISH, LanguageError, _, ngettext, read, writing_in
from bench.host.reporting.words.numbers import format_interval, format_value
from bench.host.statistics.bootstrap import Estimate

HEADER = """
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: nplurals=2; plural=(n > 1);\\n"
"""
WINNER = 'msgid "{column} is first"\nmsgstr "{column} é o primeiro"\n'
ROUNDS = (
    'msgid "{count} round"\nmsgid_plural "{count} rounds"\nmsgstr[0] "{count} rodada"\nmsgstr[1] "{count} rodadas"\n'
)


@pytest.fixture
def catalogue(tmp_path):
    def write(*entries: str, name: str = "pt_BR"):
        path = tmp_path / f"{name}.po"
        path.write_text("\n".join((HEADER, *entries)), encoding="utf-8")
        return path

    return write


def words() -> tuple[str, str, str]:
    return _("{column} is first", column="jax"), ngettext("{count} round", "{count} rounds", 0), _("unseen")


def test_messages_and_plurals_are_those_of_the_language_within_its_block_alone(catalogue):
    with writing_in(read(catalogue(WINNER, ROUNDS))):
        assert words() == ("jax é o primeiro", "0 rodada", "unseen")
        with writing_in(ENGLISH):
            assert words() == ("jax is first", "0 rounds", "unseen")
        assert words()[0] == "jax é o primeiro"
    assert words() == ("jax is first", "0 rounds", "unseen")


def test_the_language_of_one_thread_is_not_that_of_another(catalogue):
    found = []
    with writing_in(read(catalogue(WINNER))):
        thread = threading.Thread(target=lambda: found.append(words()[0]))
        thread.start()
        thread.join()
    assert found == ["jax is first"]


def test_a_block_that_fails_gives_the_language_back(catalogue):
    with pytest.raises(KeyError), writing_in(read(catalogue(WINNER))):
        raise KeyError
    assert words()[0] == "jax is first"


def test_numbers_have_the_decimal_sign_of_the_language(catalogue):
    estimate = Estimate(1.2345, 1.1, 1.4, 5)
    assert f"{format_value(estimate)} {format_interval(estimate)}" == "1.23 [1.10, 1.40]"
    with writing_in(read(catalogue())):
        assert f"{format_value(estimate)} {format_interval(estimate)}" == "1,23 [1,10; 1,40]"


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ('msgid "{column} is first"\nmsgstr "o primeiro"', "the English message has {column}"),
        ('msgid "{column} is first"\nmsgstr "{coluna} é o primeiro"', "the translation needs the same"),
        ('msgid "{column} is first"\nmsgstr "{column} {é} o primeiro {total}"', "the English message has {column}"),
        ('msgid "{column} is first"\nmsgstr "{column é"', "expected '}' before end of string"),
        ('msgid "{share} of it"\nmsgstr "{share:.0%} dele"', "a placeholder is a name in braces, such as {count}"),
        ('msgid "no value"\nmsgstr "{valor}"', "the English message has no placeholder"),
        ('msgid "a"\nmsgid_plural "b"\nmsgstr[0] "c"', "'a' has 1 of the 2 plural forms of the language"),
    ],
)
def test_a_translation_that_would_lose_a_value_is_refused_with_its_line(catalogue, entry, problem):
    path = catalogue(ROUNDS, entry)
    with pytest.raises(LanguageError) as error:
        read(path)
    line = path.read_text().splitlines().index(entry.splitlines()[0]) + 1
    assert str(error.value).startswith(f"{path}:{line}: ")
    assert problem in str(error.value)


@pytest.mark.parametrize("content", [b"msgid broken\n", b'msgid "a"\nmsgstr "\xff"'])
def test_a_file_that_is_no_catalogue_is_refused(tmp_path, content):
    path = tmp_path / "pt_BR.po"
    path.write_bytes(content)
    with pytest.raises(LanguageError, match="the catalogue cannot be read: "):
        read(path)


def test_a_catalogue_that_is_named_after_no_language_is_refused(catalogue):
    with pytest.raises(LanguageError, match="no language is called 'xxq'"):
        read(catalogue(name="xxq"))


def test_languages_are_found_by_name():
    assert language.find("en") is ENGLISH
    assert language.find("pt_BR").name == language.find("pt-BR").name == "pt_BR"
    with pytest.raises(LanguageError, match=r"--language: unknown language 'pt_RB'; did you mean 'pt_BR'\?"):
        language.find("pt_RB")
