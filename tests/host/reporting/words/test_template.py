"""Tests that messages are collected from wherever they stand, and that catalogues keep what is translated."""

from __future__ import annotations

import pytest
from babel.messages import pofile

from bench.host.reporting.words import template

SOURCE = """
def caption(count):
    return f"{_('in an f-string')} {_('joined ' 'from parts')} {ngettext('{count} row', '{count} rows', count)}"
"""
CATALOGUE = """
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: nplurals=2; plural=(n > 1);\\n"

msgid "in an f-string"
msgstr "em uma f-string"

msgid "gone"
msgstr "sumiu"
"""


@pytest.fixture
def source(tmp_path, monkeypatch):
    languages = tmp_path / "languages"
    languages.mkdir()
    for name, value in (("SOURCE", tmp_path), ("FOLDER", languages), ("TEMPLATE", languages / "messages.pot")):
        monkeypatch.setattr(template, name, value)
    (tmp_path / "caption.py").write_text(SOURCE)
    return tmp_path


def test_messages_are_found_wherever_they_stand(source):
    found = {message.id for message in template.collect() if message.id}
    assert found == {"in an f-string", "joined from parts", ("{count} row", "{count} rows")}


def test_a_message_that_is_put_together_is_refused_with_its_line(source):
    (source / "caption.py").write_text("\ntext = _(f'{count} rows')\n")
    with pytest.raises(ValueError, match=r"caption\.py:2: a message is a literal text"):
        template.collect()


def test_a_catalogue_keeps_its_translations_gets_new_messages_and_loses_old_ones(source):
    path = source / "languages/pt_BR.po"
    path.write_text(CATALOGUE)
    assert template.renew() == [template.TEMPLATE, path]
    with path.open("rb") as file:
        found = {message.id: message.string for message in pofile.read_po(file) if message.id}
    assert found == {
        "in an f-string": "em uma f-string",
        "joined from parts": "",
        ("{count} row", "{count} rows"): ("", ""),
    }
    before = path.read_bytes()
    template.renew()
    assert path.read_bytes() == before
