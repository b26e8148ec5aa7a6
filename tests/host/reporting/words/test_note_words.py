"""Tests the wording of notes: every kind has one, and it says every number and name of the note."""

from __future__ import annotations

import inspect

import pytest
from pseudo_language import escaped

from bench.host.analysis.notes import NoteKind, Severity, note
from bench.host.reporting.words.language import writing_in
from bench.host.reporting.words.notes import WORDING, in_words

INFO = Severity.INFO
EXAMPLES = [
    (note(NoteKind.NOT_RUN, INFO), "not measured: the run ended before this cell"),
    (note(NoteKind.EXCLUDED, INFO, reason="only in bfloat16"), "not measured: only in bfloat16"),
    (
        note(
            NoteKind.PROCESSES_ENDED,
            INFO,
            ok=2,
            processes=5,
            endings=(("failed", "build", "boom", 2), ("timeout", None, None, 1)),
            untimed=True,
        ),
        "2 of 5 processes ok; 2 × failed in build: boom; 1 × timeout: no reason was recorded; no timed samples",
    ),
    (
        note(NoteKind.LARGE_SPREAD, INFO, wide=1, slow=0, processes=3, slowest_over_fastest=2.34, cpu_per_wall=0.5),
        "large spread: in 1 of 3 processes the middle half of the samples spans more than 25% of their median; the "
        "slowest process took 2.3 times as long as the fastest; processor time 0.5 × wall time",
    ),
    (
        note(NoteKind.WAITING, INFO, share=0.26, threads=2),
        "CPU contention: threads waited 26% of the time (median)",
    ),
    (
        note(NoteKind.WAITING, INFO, share=0.26, threads=1),
        "CPU contention: the thread waited 26% of the time (median) for other processes",
    ),
    (note(NoteKind.NO_STEADY_STATE, INFO, number=6, processes=10), "no steady state in 6 of 10 processes"),
    (
        note(NoteKind.EARLY_SAMPLES, INFO, samples=1, change=-0.034),
        "1 sample before the steady state is left out; with them the median would be 3.4% shorter",
    ),
    (
        note(NoteKind.RECOMPILED, INFO, times=4, affected=2, processes=3),
        "recompiled 4× while timing, in 2 of 3 processes: the time includes compilation",
    ),
    (
        note(NoteKind.SPLIT_GRAPHS, INFO, graphs=3, traces=2, breaks=1, reasons=("call to print()",)),
        "compiled in 3 graphs and 2 traces, 1 graph break (call to print())",
    ),
    (
        note(NoteKind.BASELINE_IRREGULAR, INFO),
        "the baseline of this ratio has a large spread, or was compiled while timing",
    ),
    (
        note(NoteKind.PAIRS_DISTURBED, INFO, share=0.8),
        "not called equivalent, nor different below 1%: in 80% of the pairs other processes used the processors in "
        "most turns, which makes a difference look smaller",
    ),
    (note(NoteKind.TAIL_DIFFERS, INFO, verdict="inconclusive", ratio=None), "90% quantiles: inconclusive"),
    (
        note(NoteKind.TAIL_DIFFERS, INFO, verdict="different", ratio=(1.25, 1.2, 1.3)),
        "90% quantiles: ratio 1.25 [1.20, 1.30], different",
    ),
    (
        note(NoteKind.RATIO_REFUSED, INFO, differences=(("x64", "True", "False"),)),
        "no ratio (--strict): x64 is True here and False in the baseline",
    ),
    (note(NoteKind.BASELINE_ABSENT, INFO), "no ratio: the baseline is not part of this row"),
    (note(NoteKind.BASELINE_FAILED, INFO, status="timeout"), "no ratio: the status of the baseline is timeout"),
    (note(NoteKind.NO_PAIRS, INFO), "no ratio: no process took turns with one of the baseline"),
    (note(NoteKind.DATA_SOURCE, INFO, source="seeded images"), "input: seeded images"),
    (
        note(NoteKind.TURNS_DISTURBED, INFO, kept=3, turns=40, example="a guest"),
        "3 disturbed turns of 40 are part of these numbers, for example: a guest",
    ),
    (note(NoteKind.SINGLE_FIRST_CALL, INFO), "from a single process"),
    (
        note(NoteKind.PEAK_OF_ALL, INFO),
        "the peak includes the first call and the check, since this kernel cannot reset it",
    ),
    (note(NoteKind.BATCH_LIMITED, INFO, reason="int32 indices"), "larger batches: int32 indices"),
    (
        note(NoteKind.NO_LARGEST_BATCH, INFO, status="failed", reason=None),
        "no largest batch: failed: no reason was recorded",
    ),
    (note(NoteKind.RANKING_WITHOUT_BASELINE, INFO, baseline="a:eager"), "the baseline a:eager has no result"),
    (
        note(NoteKind.RANKING_TOO_SMALL, INFO, columns=2, rows=1, fewest_columns=2, fewest_rows=3),
        "a ranking needs 2 columns with 3 rows in common; 2 columns with 1 row in common have a result",
    ),
    (note(NoteKind.PART_OF_RUN, INFO, count=1), "A part of a run: 1 cell of it is not shown."),
    (note(NoteKind.RUN_UNFINISHED, INFO), "Partial: the run has not finished."),
    (
        note(NoteKind.RUN_WITHOUT_BASELINE, INFO, baseline="a:eager"),
        "No ratios: the baseline a:eager is not part of this run.",
    ),
    (
        note(NoteKind.JOURNAL_DAMAGED, INFO, count=2, places=("journal.jsonl:3",)),
        "2 lines of the journal are damaged and were left out (journal.jsonl:3, …).",
    ),
    (
        note(NoteKind.ENVIRONMENT_CHANGED, INFO, environment="a", files="'lib/x.py'"),
        "a changed while it was measured ('lib/x.py'); its results are not those of its lock.",
    ),
    (
        note(NoteKind.SOURCES_CHANGED, INFO, files=("bench/cell.py", "bench/worker/x.py"), count=2),
        "Edited while the run went on (bench/cell.py, bench/worker/x.py): later rounds measured other programs than "
        "earlier ones.",
    ),
    (
        note(NoteKind.SOURCES_CHANGED, INFO, files=tuple("abcde"), count=6),
        "Edited while the run went on (a, b, c, d, e, …): later rounds measured other programs than earlier ones.",
    ),
    (
        note(NoteKind.BUILT_FROM_SOURCE, INFO, environments=("a", "b")),
        "Built from source (allow_source), so that another machine may build other code: a, b.",
    ),
    (
        note(NoteKind.NOT_BOUND, INFO, system="Darwin 24.0"),
        "Darwin 24.0 does not bind processes to processors or count how long they wait for one: times are less "
        "certain.",
    ),
    (
        note(NoteKind.RUN_STRICT, INFO),
        "--strict: a cell gets no ratio where a user could have made its settings equal to the baseline's.",
    ),
    (
        note(NoteKind.CACHE_KEPT, INFO),
        "First calls: the cells of an environment share compiled code, which stays between runs. A cold first call may "
        "have used code (headers, kernels) that another cell compiled. Profile standard measures first calls with "
        "empty caches.",
    ),
    (
        note(NoteKind.IMPORTS_SHARED, INFO),
        "Imports: the processes of a row import at the same time, which takes longer than one import alone.",
    ),
    (
        note(NoteKind.NO_TWIN, INFO, profile="quick"),
        "Noise floor: not measured; the run has no A/A twin (profile quick).",
    ),
    (
        note(NoteKind.TWIN_TOO_SHORT, INFO, column="a:eager", pairs=1, needed=8),
        "Noise floor: not known; the A/A twin of a:eager gives 1 pair per row, and 8 are needed.",
    ),
]


@pytest.mark.parametrize(("example", "text"), EXAMPLES, ids=lambda value: getattr(value, "kind", ""))
def test_a_note_is_worded_with_its_values(example, text):
    assert in_words([example]) == (text,)


def test_every_kind_has_a_wording_and_an_example():
    assert set(WORDING) == set(NoteKind) == {example.kind for example, _text in EXAMPLES}


def test_the_values_of_a_note_are_the_arguments_of_its_wording():
    for example, _text in EXAMPLES:
        assert [name for name, _value in example.values] == list(inspect.signature(WORDING[example.kind]).parameters)


@pytest.mark.parametrize("example", [example for example, _text in EXAMPLES], ids=lambda example: example.kind)
def test_no_word_of_a_note_escapes_the_catalogue(pseudo, example):
    with writing_in(pseudo):
        (text,) = in_words([example])
    assert "⟦" in text
    assert escaped(text, example.values) == set()
