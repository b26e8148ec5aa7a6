from __future__ import annotations

from dataclasses import replace

import pytest

from bench.host.analysis.fairness import GROUNDS, notes_on_settings, refusal
from bench.host.analysis.notes import NoteKind
from bench.host.analysis.results import result_of
from bench.host.reporting.words.notes import in_words
from bench.host.reporting.words.result_notes import differences_in_words


def with_settings(study, **settings):
    """Return a result whose processes had these settings; names are written with underscores."""
    cell = study.cells[0]
    named = {name.replace("_", " "): value for name, value in settings.items()}
    return result_of(cell, [replace(r, settings=named) for r in study.records if r.cell == cell], [])


@pytest.mark.parametrize("name", GROUNDS)
def test_every_ground_refuses_a_comparison(long_study, name):
    mine = replace(long_study.records[0], settings={name: 1})
    theirs = replace(mine, settings={name: 2})
    one, other = (result_of(r.cell, [r], []) for r in (mine, theirs))
    assert refusal(one, other) == ((name, "1", "2"),)
    assert refusal(one, one) == ()


@pytest.mark.parametrize("name", ["compiled", "CUDA graphs", "donation", "BLAS", "kernels"])
def test_what_a_mode_or_a_framework_is_refuses_nothing(long_study, name):
    settings = {name.replace(" ", "_"): True}, {name.replace(" ", "_"): False}
    assert refusal(*(with_settings(long_study, **values) for values in settings)) == ()


def test_a_setting_that_only_one_side_knows_refuses_nothing(long_study):
    assert refusal(with_settings(long_study, x64=True), with_settings(long_study, layout="NCHW")) == ()


def test_a_setting_that_every_framework_has_and_one_does_not_tell_is_named(long_study):
    told = with_settings(long_study, instruction_set="AVX2")
    silent = replace(with_settings(long_study, threads=2), cell=replace(long_study.cells[0], environment="jax"))
    (note,) = notes_on_settings([told, silent])
    assert (note.kind, note["unreported"]) == (NoteKind.SETTINGS_DIFFER, (("instruction set", ("jax",)),))
    assert in_words([note]) == ("settings differ: instruction set is not reported by jax",)
    assert notes_on_settings([told, told]) == ()
    assert notes_on_settings([silent, silent]) == ()


def test_all_grounds_are_told(long_study):
    mine = with_settings(long_study, threads=2, TF32_matmul=True)
    theirs = with_settings(long_study, threads=4, TF32_matmul=False)
    found = refusal(mine, theirs)
    assert found == (("threads", "2", "4"), ("TF32 matmul", "True", "False"))
    assert differences_in_words(found) == (
        "threads is 2 here and 4 in the baseline; TF32 matmul is True here and False in the baseline"
    )


def test_cells_that_compiled_nothing_are_named_in_a_note_of_their_own(long_study):
    eager = with_settings(long_study, compiled="nothing", threads=2)
    forward, all_of_it = (
        replace(with_settings(long_study, compiled=part, threads=2), cell=replace(long_study.cells[0], mode=part))
        for part in ("forward", "forward and backward")
    )
    assert in_words(notes_on_settings([eager, forward])) == ("not compiled: torch1:eager",)
    assert in_words(notes_on_settings([eager, forward, all_of_it])) == (
        "settings differ: compiled is forward in torch1:forward, forward and backward in torch1:forward and backward",
        "not compiled: torch1:eager",
    )
