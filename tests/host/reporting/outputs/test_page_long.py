"""Tests that a page with hundreds of rows shows few of them at first, and all of them to who reads on or prints."""

from __future__ import annotations

import pytest
from pages import long_page_of

pytestmark = [pytest.mark.browser, pytest.mark.long]

ROWS = 3 * 70
SHOWN = "document.querySelectorAll('#table tbody tr').length"
#: Lets the browser lay out and tell what is in sight.
SETTLED = "new Promise((done) => setTimeout(done, 300))"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Where the page is, which is written once: the tests only open it."""
    return tmp_path_factory.mktemp("long") / "report.html"


@pytest.fixture
def page(written, long_study, remote):
    if not written.exists():
        long_page_of(long_study, written.parent, 70)
    remote.open(written.as_uri())
    return remote


def test_a_long_table_grows_as_it_is_scrolled_to_its_end(page):
    page.value("document.getElementById('table').scrollIntoView()")
    page.value(SETTLED)
    at_first = page.value(SHOWN)
    assert 0 < at_first < ROWS
    for _ in range(12):
        if page.value(SHOWN) == ROWS:
            break
        page.value("(() => { const box = document.querySelector('#table .scroll'); box.scrollTop = 1e6; })()")
        page.value(SETTLED)
    assert page.value(SHOWN) == ROWS
    assert page.value("document.querySelector('#table .more').hidden")


def test_the_chart_shows_the_first_rows_and_all_of_them_on_request(page):
    panels = "document.querySelectorAll('#chart .panel:not(.mean)').length"
    assert page.value(panels) == 12 - 1  # and the mean's
    page.value("document.querySelector('#chart .hint .plain').click()")
    assert page.value(panels) == ROWS
    assert page.value("document.querySelector('#chart .hint .plain')") is None


def test_the_arrow_keys_walk_through_all_rows(page):
    page.value("document.querySelector('tbody td button').focus()")
    for _ in range(60):
        page.press("ArrowDown")
    assert page.value("document.activeElement.closest('tr').rowIndex") == 61


def test_a_screen_reader_counts_the_rows_that_are_not_there_yet(page):
    assert page.value("document.querySelector('#table table').getAttribute('aria-rowcount')") == str(ROWS + 1)
    assert page.value("document.querySelector('#table tbody tr').getAttribute('aria-rowindex')") == "2"
    last = "document.querySelector('#table tbody tr:last-child')"
    assert int(page.value(f"{last}.getAttribute('aria-rowindex')")) == page.value(SHOWN) + 1


def test_print_has_all_rows(page):
    page.value("dispatchEvent(new Event('beforeprint'))")
    assert page.value(SHOWN) == ROWS


def test_print_has_no_controls(page):
    shown = "['choice', 'figures', 'table'].map((id) => getComputedStyle(document.getElementById(id)).display)"
    assert page.value(shown) == ["grid", "block", "block"]
    page.call("Emulation.setEmulatedMedia", media="print")
    assert page.value(shown) == ["none", "none", "block"]
    page.value("document.querySelector('[data-key=\"figure=memory\"]').click()")  # memory, which has bars
    assert page.value(shown) == ["none", "block", "block"]
    page.call("Emulation.setEmulatedMedia", media="")


def test_sorting_is_of_all_rows(page):
    page.value("document.querySelector('thead th button').click()")
    page.value("document.querySelector('thead th button').click()")
    assert page.value("document.querySelector('#table tbody th').textContent") == "mlp-train-069"


def test_an_axis_of_many_values_unfolds_and_keeps_the_focus(page):
    chips = "document.querySelector('.axis').querySelectorAll('.chip').length"
    assert page.value(chips) == 60
    page.value("document.querySelector('.axis .plain').focus()")
    page.press("Enter")
    assert page.value(chips) == ROWS
    assert page.value("document.activeElement.dataset.key") == "workload=dispatch-020"
    page.press("Enter")
    assert page.value(SHOWN) == 1
