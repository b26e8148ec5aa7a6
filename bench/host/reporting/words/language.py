"""Translates the sentences of a report: English is in the code, every other language in one catalogue.

A catalogue is a file ``languages/<language>.po`` as gettext and its editors use it. It is read as it is, with nothing
to compile, and refused where a translation would lose a value or show a wrong one.
"""

from __future__ import annotations

import gettext
import io
import string
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ...refusal import Refused
from ...study.suggestion import unknown

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

FOLDER = Path(__file__).resolve().parents[1] / "languages"


class LanguageError(Refused):
    """A language is unknown, or its catalogue is wrong; the message says where and what to do."""


@dataclass(frozen=True)
class Language:
    """A language that reports can be written in."""

    name: str
    decimal_sign: str = "."
    translations: gettext.NullTranslations = field(default_factory=gettext.NullTranslations, compare=False)


ENGLISH = Language("en")
_current: ContextVar[Language] = ContextVar("language of the report", default=ENGLISH)


@contextmanager
def writing_in(language: Language) -> Iterator[None]:
    """Write everything in ``language`` within the block, in this thread alone."""
    token = _current.set(language)
    try:
        yield
    finally:
        _current.reset(token)


def _(message: str, /, **values: object) -> str:
    """Return a message in the language of the report, with ``values`` in place of its ``{placeholders}``."""
    return _current.get().translations.gettext(message).format(**values)


def word(text: str) -> str:
    """Return a message of a table of words as it is; ``translated`` translates it where it is shown."""
    return text


def translated(text: str) -> str:
    """Return a ``word`` in the language of the report."""
    return _current.get().translations.gettext(text)


def ngettext(one: str, many: str, count: int, /, **values: object) -> str:
    """Return a message in the form that belongs to ``count``, which the message calls ``{count}``."""
    return _current.get().translations.ngettext(one, many, count).format(count=count, **values)


def current() -> Language:
    """Return the language that is written in; English outside of ``writing_in``."""
    return _current.get()


def decimal_sign() -> str:
    """Return what stands between the whole and the fraction of a number in the language of the report."""
    return _current.get().decimal_sign


def available() -> list[str]:
    """Return the names of the languages."""
    return [ENGLISH.name, *sorted(path.stem for path in FOLDER.glob("*.po"))]


def find(name: str) -> Language:
    """Return the language called ``name``, such as ``pt_BR`` or ``pt-BR``; raise LanguageError where there is none."""
    wanted = name.replace("-", "_")
    if wanted == ENGLISH.name:
        return ENGLISH
    if wanted not in available():
        raise LanguageError(f"--language: {unknown('language', name, available())}")
    return read(FOLDER / f"{wanted}.po")


def read(path: Path) -> Language:
    """Read the language that a catalogue is named after; raise LanguageError where the catalogue is wrong."""
    # Babel takes a tenth of a second to import, which English does not need.
    from babel import Locale, UnknownLocaleError
    from babel.messages import mofile, pofile
    from babel.numbers import get_decimal_symbol

    try:
        locale = Locale.parse(path.stem)
        with path.open("rb") as file:
            catalogue = pofile.read_po(file, locale=locale, abort_invalid=True)
    except UnknownLocaleError:
        raise LanguageError(
            f"{path}: no language is called {path.stem!r}; a catalogue is named like pt_BR.po"
        ) from None
    except (OSError, ValueError, pofile.PoFileError) as error:
        raise LanguageError(f"{path}: the catalogue cannot be read: {error}") from None
    problems = [f"{path}:{line}: {problem}" for line, problem in problems_of(catalogue)]
    if problems:
        raise LanguageError("\n".join(problems))
    compiled = io.BytesIO()
    mofile.write_mo(compiled, catalogue)
    compiled.seek(0)
    return Language(path.stem, get_decimal_symbol(locale), gettext.GNUTranslations(compiled))


def problems_of(catalogue: Catalog) -> list[tuple[int | None, str]]:
    """Return what is wrong with the translations of a catalogue, with the line of each."""
    found: list[tuple[int | None, str]] = []
    for message in catalogue:
        source, translated = _texts(message.id), _texts(message.string)
        # The first entry is the header; an entry without a translation is shown in English.
        if not message.id or not any(translated):
            continue
        given = [text for text in translated if text]
        if len(source) > 1 and len(given) != catalogue.num_plurals:
            problem = f"{source[0]!r} has {len(given)} of the {catalogue.num_plurals} plural forms of the language"
            found.append((message.lineno, problem))
        problems = (_placeholder_problem(source[-1], text) for text in given)
        found += [(message.lineno, problem) for problem in problems if problem]
    return found


def _texts(value: str | Sequence[str] | None) -> tuple[str, ...]:
    return (value or "",) if isinstance(value, str | None) else tuple(value)


def _placeholder_problem(source: str, translated: str) -> str | None:
    try:
        have, wanted = placeholders(translated), placeholders(source)
    except ValueError as error:
        return f"{translated!r}: {error}"
    if have == wanted:
        return None
    names = ", ".join(f"{{{name}}}" for name in sorted(wanted)) or "no placeholder"
    return f"{translated!r}: the English message has {names}; the translation needs the same"


def placeholders(text: str) -> set[str]:
    """Return the names of the placeholders of a message; raise ValueError where one is more than a name."""
    names = set()
    for _literal, name, specification, conversion in string.Formatter().parse(text):
        if name is None:
            continue
        if not name.isidentifier() or specification or conversion:
            raise ValueError("a placeholder is a name in braces, such as {count}")
        names.add(name)
    return names
