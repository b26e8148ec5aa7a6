from __future__ import annotations

from dataclasses import replace

import pytest

from bench.host.analysis.fairness import ATTENTION, COMPILED, GROUNDS, differing_settings, explanations, refusal
from bench.host.analysis.run_results import result_of
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


@pytest.mark.parametrize("name", ["compiled", "attention", "CUDA graphs", "donation", "BLAS", "kernels"])
def test_what_a_mode_or_a_framework_is_refuses_nothing(long_study, name):
    settings = {name.replace(" ", "_"): True}, {name.replace(" ", "_"): False}
    assert refusal(*(with_settings(long_study, **values) for values in settings)) == ()


def test_a_setting_that_only_one_side_knows_refuses_nothing(long_study):
    assert refusal(with_settings(long_study, x64=True), with_settings(long_study, layout="NCHW")) == ()


def test_libraries_that_one_side_preloads_are_named(long_study):
    # Names of variables keep their underscores.
    cell, other = long_study.cells[0], replace(long_study.cells[0], environment="jax")
    records = [record for record in long_study.records if record.cell == cell]
    told = result_of(cell, [replace(record, settings={"LD_PRELOAD": "mine.so"}) for record in records], [])
    silent = result_of(other, [replace(record, cell=other, settings={"threads": 2}) for record in records], [])
    (found,) = differing_settings([[told, silent]])
    assert (found.name, found.values) == ("LD_PRELOAD", {"torch1:eager": ("mine.so",)})


def test_a_setting_that_every_framework_has_and_one_does_not_tell_is_named(long_study):
    told = with_settings(long_study, instruction_set="AVX2")
    silent = replace(with_settings(long_study, threads=2), cell=replace(long_study.cells[0], environment="jax"))
    (found,) = differing_settings([[told, silent]])
    assert (found.name, found.values) == ("instruction set", {"torch1:eager": ("AVX2",)})
    assert differing_settings([[told, told]]) == ()
    assert differing_settings([[silent, silent]]) == ()


def test_values_that_differ_between_rows_are_all_told_and_grounds_come_first(long_study):
    def row(**settings):
        other = replace(with_settings(long_study, **settings), cell=replace(long_study.cells[0], environment="jax"))
        return [with_settings(long_study, layout="NCHW", BLAS="mkl"), other]

    found = differing_settings([row(layout="NCHW", BLAS="none"), row(layout="NHWC", BLAS="mkl")])
    assert [one.name for one in found] == ["layout", "BLAS"]
    assert found[0].values == {"torch1:eager": ("NCHW",), "jax:eager": ("NCHW", "NHWC")}


@pytest.mark.parametrize("name", [*GROUNDS, ATTENTION])
def test_every_ground_may_explain_a_ratio_and_so_may_the_form_of_attention(long_study, name):
    key = name.replace(" ", "_")
    one, other = with_settings(long_study, **{key: 1}), with_settings(long_study, **{key: 2})
    assert explanations(one, other) == (name,)
    assert explanations(one, one) == ()


def test_what_was_compiled_may_explain_a_ratio_only_where_both_compiled(long_study):
    eager, forward, all_of_it = (
        with_settings(long_study, compiled=part) for part in ("nothing", "forward", "forward and backward")
    )
    assert explanations(all_of_it, forward) == (COMPILED,)
    assert explanations(forward, eager) == ()


def test_all_grounds_are_told(long_study):
    mine = with_settings(long_study, threads=2, TF32_matmul=True)
    theirs = with_settings(long_study, threads=4, TF32_matmul=False)
    found = refusal(mine, theirs)
    assert found == (("threads", "2", "4"), ("TF32 matmul", "True", "False"))
    assert differences_in_words(found) == (
        "threads is 2 here and 4 in the baseline; TF32 matmul is True here and False in the baseline"
    )
