"""Tests what is noted of a whole run."""

from __future__ import annotations

from bench.host.analysis import run_notes
from bench.host.analysis.notes import NoteKind, Severity
from bench.host.analysis.run_analysis import analyse


def noise_of(study):
    return run_notes.noise_unknown(analyse(study.records, study.manifest), study.manifest)


def test_a_finished_run_with_a_twin_and_pairs_has_only_the_note_on_its_imports(long_study):
    long_study.add_twin()
    assert found_in(long_study) == {NoteKind.IMPORTS_SHARED}
    long_study.change(import_alone=True)
    assert found_in(long_study) == set()


def test_a_run_without_a_twin_does_not_know_its_noise(long_study, short_study):
    assert noise_of(long_study).kind is NoteKind.NO_TWIN
    short_study.add_twin()
    note = noise_of(short_study)
    assert note.kind is NoteKind.TWIN_TOO_SHORT
    assert (note["pairs"], note["needed"], note.severity) == (3, 8, Severity.CAUTION)


def test_what_the_manifest_says_is_noted(long_study):
    long_study.add_twin()
    long_study.change(import_alone=True)
    long_study.run.update(finished=False, strict=True)
    long_study.run["machine"] = {"system": "Darwin 24.0"}
    long_study.run["profile"]["compile_cache"] = "kept"
    long_study.run["study"]["baseline"] = "torch0:eager"
    assert found_in(long_study) == {
        NoteKind.RUN_UNFINISHED,
        NoteKind.NOT_BOUND,
        NoteKind.RUN_STRICT,
        NoteKind.CACHE_KEPT,
        NoteKind.RUN_WITHOUT_BASELINE,
    }


def found_in(study) -> set[NoteKind]:
    """Return the kinds of all notes that tables and captions may ask for."""
    results, manifest = analyse(study.records, study.manifest).results, study.manifest
    found = [
        run_notes.unfinished(manifest),
        run_notes.journal_damaged(manifest),
        run_notes.not_bound(manifest),
        run_notes.baseline_not_in_run(results, manifest),
        run_notes.strict(manifest),
        run_notes.cache_kept(results, manifest),
        run_notes.imports_shared(results),
        noise_of(study),
        *run_notes.code_noted(manifest),
    ]
    return {note.kind for note in found if note is not None}
