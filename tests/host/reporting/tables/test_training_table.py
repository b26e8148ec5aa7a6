"""Tests the tables of trainings: the columns of the published one, in its language, and the sentences below."""

from __future__ import annotations

import pytest
import trainings
from rich.console import Console
from trainings import FACTS, trained

from bench.host.analysis.training import analyse
from bench.host.reporting import training
from bench.host.reporting.tables.training import tables
from bench.host.reporting.words import language
from bench.host.reporting.words.training import spread
from bench.host.statistics.bootstrap import Estimate
from bench.record import FAILED

PUBLISHED = [
    "Acurácia",
    "Perda",
    "Tempo Exec. Médio",
    "Num. Épocas Trein.",
    "Num. Imagens Trein.",
    "Num. Imagens Validação",
]


def made(found, facts=FACTS):
    return tables(facts, analyse(facts, found))


def titles(table):
    return [" ".join(column.title.split()) for column in table.columns]


def row_texts(table, number=0):
    return [entry.text for entry in table.groups[0].rows[number]]


def test_the_table_has_the_columns_of_the_published_one_in_its_language():
    with language.writing_in(language.find("pt_BR")):
        results, _ = made(trainings.study())
        assert titles(results)[1:] == PUBLISHED
        assert row_texts(results) == ["PyTorch 1.13.1 eager", "0,875 ± 0,000", "0,125 ± 0,000", "4,00 ± 0,00", "2",
                                      "1258", "539"]  # fmt: skip
        assert "todas as colunas classificam corretamente o mesmo número" in results.remarks[0]


def test_a_single_seed_has_no_interval():
    results, _ = made([trained(), trained("tf2:function")])
    assert row_texts(results)[1:4] == ["0.875", "0.125", "4.00"]


@pytest.mark.parametrize(("estimate", "text"), [
    (Estimate(0.963, 0.954, 0.972, 8), "0.963 ± 0.009"),
    (Estimate(-0.0016, -0.0055, 0.0023, 8), "-0.0016 ± 0.0039"),
    # The rounding of a mean of zero.
    (Estimate(-1.25e-13, -0.34, 0.34, 8), "0.00 ± 0.34"),
    (Estimate(0.0, 0.0, 0.0, 8), "0 ± 0"),
])  # fmt: skip
def test_a_mean_has_no_more_digits_than_its_interval_supports(estimate, text):
    assert spread(estimate) == text


def test_the_changed_baseline_is_behind_the_results_and_not_among_them():
    results, behind = made(trainings.study())
    assert [row[0].text for row in results.groups[0].rows] == ["PyTorch 1.13.1 eager", "TensorFlow 2.21.0 function"]
    assert behind.groups[0].rows[-1][0].text == "baseline, last bit changed"
    assert "its parameters were 2e-7 apart" in results.remarks[0]


def test_columns_with_the_same_name_are_told_apart_by_their_environments():
    found = [trained(), trained("torch2:eager", versions={"torch": "1.13.1"})]
    results, _ = made(found)
    names = [row[0].text for row in results.groups[0].rows]
    assert names == ["PyTorch 1.13.1 eager (torch1)", "PyTorch 1.13.1 eager (torch2)"]


@pytest.mark.parametrize(
    ("differences", "said"),
    [
        ([0.125] * 2, "differ from the baseline's by at most 12.50 points (2 seeds; a verdict needs 8)."),
        ([0.1 + seed / 1000 for seed in range(8)], "The accuracy differs from the baseline's: TensorFlow 2.21.0"),
        (
            [0.001, -0.001] * 5,
            "Accuracies are equivalent: with 10 seeds, the 99% interval of every difference lies "
            "within 1 percentage point.",
        ),
        ([0.1, -0.1] * 5, "No difference of accuracy was found with 10 seeds; the largest in a seed is 10.00 points."),
    ],
)
def test_a_sentence_says_whether_accuracies_differ(differences, said):
    found = [trained(seed=seed) for seed in range(len(differences))]
    found += [trained("tf2:function", seed, accuracies=(0.5, 0.875 + one)) for seed, one in enumerate(differences)]
    assert said in made(found)[0].remarks[0]


def test_the_time_to_an_accuracy_says_how_many_seeds_reached_it():
    facts = FACTS.model_copy(update={"target": 0.8})
    found = [trained(seed=1), trained(seed=2, accuracies=(0.1, 0.2)), trained("tf2:function", accuracies=(0.1, 0.2))]
    _, behind = made(found, facts)
    assert titles(behind)[-1] == "time to 80%"
    assert [row[-1].text for row in behind.groups[0].rows] == ["4.00 (1 of 2 seeds)", "not reached"]
    assert "time to" not in " ".join(titles(made(found)[1]))


def test_what_failed_has_a_row_with_status_and_reason():
    found = [trained(), trained("tf2:function", status=FAILED, stage="measure", reason="it diverged", epochs=[])]
    results, _ = made(found)
    entries = results.groups[0].rows[1]
    assert (entries[1].text, entries[1].alarm) == ("failed", True)
    assert entries[0].notes == ("failed: it diverged",)


def test_the_tables_fit_a_narrow_terminal_and_names_stay_whole(tmp_path):
    with (tmp_path / "out.txt").open("w") as out:
        training.show(FACTS, trainings.study(), Console(file=out, width=80))
    lines = (tmp_path / "out.txt").read_text().splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("TensorFlow 2.21.0 function") for line in lines)


def test_hostile_text_does_not_reach_the_terminal_or_a_spreadsheet(tmp_path):
    reason = "=cmd|'/c calc'!A1\x1b[2J"
    found = [trained(), trained("tf2:function", status=FAILED, stage="measure", reason=reason, epochs=[])]
    training.write(FACTS, found, tmp_path)
    assert "\x1b" not in "".join(path.read_text() for path in tmp_path.iterdir())
    assert "'=cmd" in (tmp_path / "training.csv").read_text()
