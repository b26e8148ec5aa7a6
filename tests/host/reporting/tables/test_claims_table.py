"""Tests what a reader sees of claims: the factor, the answer and the reason, in tables, files and on the page."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import pytest
from pages import data_of
from rich.console import Console

from bench.host.analysis.claim_tests import Shortage, Why
from bench.host.analysis.claims import answer
from bench.host.analysis.run_analysis import analyse
from bench.host.reporting import report
from bench.host.reporting.outputs import claims_markdown, page_html
from bench.host.reporting.tables import claims as claims_table
from bench.host.reporting.words import claims as words
from bench.host.reporting.words.language import find, writing_in
from bench.host.statistics.bootstrap import Estimate
from bench.host.study.claim import Claim

FASTER = Claim(
    name="faster", says="JAX's jit is faster", source="a paper", columns=("jax:jit",), against=("torch1:eager",),
    workloads=("*",), factor=">1",
)  # fmt: skip
SLOWER = Claim(
    name="slower", says="tf2 is as fast", columns=("tf2:eager",), against=("torch1:*",), workloads=("*",), factor=">=1"
)
UNSETTLED = Claim(name="theirs", says="5.54 steps per second", unsettled="their model is not described")
ABSENT = Claim(name="absent", says="somewhere", columns=("gone:*",), against=("eager",), factor=">1")


def shown(study, *claims: Claim) -> list[list[str]]:
    """Return the entries of the table of claims, each with its notes."""
    analysis = analyse(study.records, study.manifest)
    table = claims_table.tables(answer(claims, analysis, study.manifest), analysis, study.manifest)[0]
    return [[": ".join((entry.text, *entry.notes)) for entry in row] for row in table.groups[0].rows]


def test_a_claim_is_a_line_with_its_factor_and_its_answer(long_study):
    supported, refuted, unsettled, absent = shown(long_study, FASTER, SLOWER, UNSETTLED, ABSENT)
    assert supported[:2] == ["faster: JAX's jit is faster", "> 1"]
    # The study is made with a factor of 0.55, alike on three workloads and in ten rounds.
    assert supported[2].startswith("JAX 2.15 jit / PyTorch 1.13 eager: 1.8")
    assert supported[2].endswith("], 3 of 3 workloads")
    assert supported[3] == "supported"
    assert (refuted[1], refuted[3]) == ("≥ 1", "refuted")
    assert refuted[2].startswith("TensorFlow 2.15 eager / PyTorch 1.13 ")
    assert unsettled[1:] == ["–", "–", "open: their model is not described"]
    assert absent[-1] == "open: no usable result: gone:*, eager"


def test_a_look_leaves_a_claim_open_and_says_what_it_lacks(short_study):
    (found,) = shown(short_study, FASTER)
    assert found[-1] == "open: 2 workloads with 3 pairs of processes; an answer takes 8 of either"


@pytest.mark.parametrize(
    ("why", "shortage", "said"),
    [
        (
            Why.FEW_PAIRS,
            Shortage(11, 15, 11),
            "11 pairs of processes: too few at 1%, corrected for all claims and looks; an answer takes 15 rounds, or "
            "11 with a single look (a profile without most_rounds)",
        ),
        (
            Why.FEW_PAIRS,
            Shortage(20, None, 14),
            "20 pairs of processes: too few at 1%, corrected for all claims and looks; an answer takes 14 rounds with "
            "a single look (a profile without most_rounds)",
        ),
        (
            Why.FEW_PAIRS,
            Shortage(9, None, 10),
            "9 pairs of processes: too few at 1%, corrected for all claims; an answer takes 10 rounds",
        ),
        (Why.FEW, Shortage(1, None, 12), "3 workloads with 10 pairs of processes; an answer takes 12 pairs"),
        (Why.UNCERTAIN, None, "not certain at 1%, corrected for all claims"),
        (Why.CLOSE, None, "too close to decide"),
    ],
)
def test_an_open_claim_says_what_an_answer_takes(long_study, why, shortage, said):
    analysis = analyse(long_study.records, long_study.manifest)
    (versus,) = answer((FASTER,), analysis, long_study.manifest).claims[0].versus
    assert words.why_versus(replace(versus, why=why, shortage=shortage), 8) == said


def test_a_study_without_claims_has_no_table_and_no_file(long_study, tmp_path):
    made = report.make(long_study.records, long_study.manifest)
    assert made.claims == ()
    assert claims_markdown.write(made, tmp_path) == []
    (page,) = page_html.write(made, tmp_path)
    assert data_of(page)["claims"] is None


def test_claims_are_in_the_file_on_the_page_and_on_the_screen(long_study, tmp_path, capsys):
    made = report.make(long_study.records, long_study.manifest, claims=(FASTER, SLOWER))
    text = claims_markdown.write(made, tmp_path)[0].read_text(encoding="utf-8")
    assert "| faster: JAX's jit is faster |" in text
    assert "### slower: tf2 is as fast; time per step ≥ 1" in text
    # The comparison that decides, and both of those behind it.
    assert text.count("| TensorFlow 2.15 eager / PyTorch 1.13 ") == 3
    (page,) = page_html.write(made, tmp_path)
    assert [row[-1] for row in data_of(page)["claims"]["rows"]] == ["supported", "refuted"]
    made.print(Console(width=80))
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("faster: JAX's jit is faster") and line.endswith("supported") for line in lines)
    assert not any("smallest" in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_claims_are_answered_in_other_languages(long_study):
    with writing_in(find("pt_BR")):
        (found,) = shown(long_study, FASTER)
    assert found[-1] == "confirmada"
    assert found[2].endswith("], 3 de 3 cargas")
    assert "1,8" in found[2]


@pytest.mark.parametrize(
    ("estimate", "said"),
    [
        (Estimate(1.424, 1.351, 1.512, 9), ("1.42", "[1.35, 1.51]")),
        (Estimate(0.862, 0.602, 1.24, 9), ("0.86", "[0.60, 1.2]")),
        (Estimate(0.00521, 0.0017, 0.0159, 9), ("0.0052", "[0.0017, 0.016]")),
        (Estimate(0.65, 0.0028, 149.84, 2), ("0.65", "[0.0028, 150]")),
        (Estimate(21.0, None, None, 1), ("21", "")),
    ],
)
def test_both_ends_of_an_interval_have_the_digits_that_are_known(estimate, said):
    assert words.factor(estimate) == said


@pytest.mark.parametrize(
    ("factor", "up_to", "said"),
    [(">1", False, "> 1"), (">=1.78", False, "≥ 1.78"), (">=1.78", True, "up to 1.78"), (">=4,<=5", False, "4 to 5")],
)
def test_a_range_is_written_as_papers_write_it(factor, up_to, said):
    claim = Claim(name="c", says="x", columns=("a:b",), against=("b",), factor=factor, up_to=up_to)
    assert words.claimed(claim) == said


@pytest.mark.parametrize(("language", "claims", "said"), [
    (None, [FASTER], "An answer is certain at 1% (1 exact signed-rank test). It rests"),
    (None, [FASTER, SLOWER], "An answer is certain at 1%, corrected for all 3 tests (exact signed-rank test, Holm)."),
    ("pt_BR", [FASTER], "Uma resposta é certa a 1% (1 teste exato dos postos sinalizados). Ela"),
    ("pt_BR", [FASTER, SLOWER], "Uma resposta é certa a 1%, com correção para 3 testes ao todo (teste exato dos"),
])  # fmt: skip
def test_one_test_needs_no_correction(long_study, language, claims, said):
    answers = answer(claims, analyse(long_study.records, long_study.manifest), long_study.manifest)
    assert (answers.tests == 1) == (claims == [FASTER])
    with writing_in(find(language)) if language else contextlib.nullcontext():
        assert words.rests_on(answers).startswith(said)
