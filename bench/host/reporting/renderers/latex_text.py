r"""Writes any text for LaTeX in ASCII, so that it shows as it is with every engine, encoding and font.

Characters that would begin an optional argument after ``\\``, or join to ligatures, are separated.
"""

from __future__ import annotations

import functools
import re
import unicodedata

from ..words.text import printable

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",
    "`": r"{}{\char96}",
    "'": "'{}",
    # After \\ or a rule these would open an argument.
    "[": "{[}",
    "*": "{*}",
}
SYMBOLS = {
    "×": r"$\times$",
    "·": r"$\cdot$",
    "±": r"$\pm$",
    "≈": r"$\approx$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "−": "$-$",
    "→": r"$\to$",
    "µ": r"$\mu$",
    "μ": r"$\mu$",
    "°": r"$^\circ$",
    "²": "$^2$",
    "³": "$^3$",
    "⁶": "$^6$",
    "⁹": "$^9$",
    "–": "--",
    "—": "---",
    "…": r"\dots{}",
    "‘": "`{}",
    "’": "'{}",
    "“": "``{}",
    "”": "''{}",
    "\u00a0": "~",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "ı": r"\i{}",
    "®": r"\textregistered{}",
    "©": r"\textcopyright{}",
    "™": r"\texttrademark{}",
}
ACCENTS = {
    "\u0300": r"\`",
    "\u0301": r"\'",
    "\u0302": r"\^",
    "\u0303": r"\~",
    "\u0304": r"\=",
    "\u0306": r"\u",
    "\u0307": r"\.",
    "\u0308": r"\"",
    "\u030a": r"\r",
    "\u030b": r"\H",
    "\u030c": r"\v",
    "\u0327": r"\c",
}
#: Two of them in a row would join to a dash or a quotation mark.
LIGATURES = re.compile(r"([-,])(?=\1)")

#: Text that LaTeX shows as it is: most of the numbers and names of a table.
PLAIN = re.compile(r"(?:[A-Za-z0-9.:;()/+=]+(?:[ -][A-Za-z0-9.:;()/+=]+)*)?")


def escape(text: str) -> str:
    """Write ``text`` so that LaTeX shows it; a character that no standard font has is shown as ``[U+4E2D]``."""
    return text if PLAIN.fullmatch(text) else _escaped(text)


@functools.lru_cache(maxsize=4096)
def _escaped(text: str) -> str:
    # Kept, as the same words stand in many places of a table.
    apart = LIGATURES.sub(r"\1\0", unicodedata.normalize("NFC", printable(text)))
    return apart.translate(_CHARACTERS)


class _Characters(dict[int, str]):
    """What is written for each character, by its number; filled as characters are met."""

    def __missing__(self, number: int) -> str:
        return self.setdefault(number, _character(chr(number)))


_CHARACTERS = _Characters()


def _character(character: str) -> str:
    if character == "\0":
        return "{}"
    if character in SPECIAL:
        return SPECIAL[character]
    if character in SYMBOLS:
        return SYMBOLS[character]
    if character.isascii():
        return character
    base, *accents = list(unicodedata.normalize("NFD", character))
    if base.isascii() and base.isalpha() and len(accents) == 1 and accents[0] in ACCENTS:
        return f"{ACCENTS[accents[0]]}{{{base}}}"
    return f"{{[}}U+{ord(character):04X}]"
