"""Tests what is noted of a whole run."""

from __future__ import annotations

from bench.host.analysis.notes import NoteKind, Severity
from bench.host.analysis.run_analysis import analyse
from bench.host.analysis.run_notes import notes_on_run


def kinds(study) -> set[NoteKind]:
    return {note.kind for note in notes_on_run(analyse(study.records, study.manifest), study.manifest)}


def test_a_finished_run_with_a_twin_and_pairs_has_only_the_note_on_its_imports(long_study):
    long_study.add_twin()
    assert kinds(long_study) == {NoteKind.IMPORTS_SHARED}
    long_study.change(import_alone=True)
    assert kinds(long_study) == set()


def test_a_run_without_a_twin_does_not_know_its_noise(long_study, short_study):
    assert NoteKind.NO_TWIN in kinds(long_study)
    short_study.add_twin()
    (note,) = [
        note
        for note in notes_on_run(analyse(short_study.records, short_study.manifest), short_study.manifest)
        if note.kind is NoteKind.TWIN_TOO_SHORT
    ]
    assert (note["pairs"], note["needed"], note.severity) == (3, 8, Severity.CAUTION)


def test_what_the_manifest_says_is_noted(long_study):
    long_study.run.update(finished=False, strict=True)
    long_study.run["machine"] = {"system": "Darwin 24.0"}
    long_study.run["profile"]["compile_cache"] = "kept"
    long_study.run["study"]["baseline"] = "torch0:eager"
    assert kinds(long_study) == {
        NoteKind.RUN_UNFINISHED,
        NoteKind.NOT_BOUND,
        NoteKind.RUN_STRICT,
        NoteKind.CACHE_KEPT,
        NoteKind.RUN_WITHOUT_BASELINE,
        NoteKind.IMPORTS_SHARED,
    }
