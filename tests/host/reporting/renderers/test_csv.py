from __future__ import annotations

import csv as standard
import io
from unicodedata import category

from hypothesis import example, given
from hypothesis import strategies as st

from bench.host.reporting.renderers import csv


@given(st.text(max_size=30))
@example("=HYPERLINK(1)")
@example("+1")
@example("-1")
@example("@SUM(A1)")
@example("\t=1")
@example("a\rb\r\nc")
@example('a"b,c\nd')
def test_text_comes_back_and_is_never_a_formula(text):
    file = io.StringIO()
    standard.writer(file, lineterminator="\n").writerow([csv.quote(text), "end"])
    ((found, end),) = standard.reader(io.StringIO(file.getvalue(), newline=""))
    assert end == "end"
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    unified = "".join("\ufffd" if category(c)[0] == "C" and c not in "\n\t" else c for c in unified)
    assert found in (unified, f"'{unified}")
    assert not found.startswith(csv.FORMULA)


def test_lone_surrogates_do_not_prevent_the_file():
    assert csv.quote("a\ud800b") == "a?b"


def test_negative_numbers_stay_numbers():
    assert csv.quote(-1.5) == -1.5
