"""Tests that public implementations are compared with ours before they are timed, with wrong ones in NumPy."""

from __future__ import annotations

import fnmatch
import itertools
import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.frameworks.numpy.adapter import Adapter  # noqa: E402
from bench.host.study import study_file  # noqa: E402
from bench.registry import BUILT_IN  # noqa: E402
from bench.worker.checking import parity  # noqa: E402
from bench.worker.checking.optimizers import update  # noqa: E402
from benchmarks import _public_rows, public, public_tables  # noqa: E402
from benchmarks.public_steps import comparison  # noqa: E402

PAGE = (public_tables.DOCS / public_tables.PAGE).read_text(encoding="utf-8")
#: The page of the cells without a row.
WITHOUT = (public_tables.DOCS / "public-implementations" / "not-compared.md").read_text(encoding="utf-8")


def reference(workload):
    specification = BUILT_IN.specification(workload)
    return comparison.Reference(specification, specification.SIZES["check"], Adapter("eager", "cpu", "float32", 1))


def kernel(function):
    """Make the run of a public kernel."""

    def run(batches):
        for batch in batches:
            outputs = function(*batch)
        return {"outputs": outputs}

    return run


def differing(workload, functions, **layouts):
    runs = {name: kernel(function) for name, function in functions.items()}
    return comparison.differing_kernels(reference(workload), runs, layouts)


def test_kernels_that_compute_the_same_do_not_differ():
    right = {"matmul": np.matmul, "einsum": lambda left, right: np.einsum("bij,bjk->bik", left, right)}
    assert differing("batched-gemm", right) == {}


def test_a_kernel_that_computes_less_or_more_differs_and_says_by_how_much():
    specification = BUILT_IN.specification("batched-gemm")
    size = specification.SIZES["check"]
    batch = parity.draw(specification, size, comparison.SEED)[1][0]
    expected = parity.expected_outputs(specification, size, {}, [batch] * 2, np.float64)["products[0]"]

    def less(left, right):
        return left[..., :-1] @ right[..., :-1, :]

    found = differing("batched-gemm", {
        "right": np.matmul,
        "less": less,
        "in float16": lambda left, right: (left.astype(np.float16) @ right.astype(np.float16)).astype(np.float32),
        "a part": lambda left, right: left[:1] @ right[:1],
        "more": lambda left, right: (left @ right, left),
    })  # fmt: skip
    error = parity.relative_error(less(*batch), expected)
    assert found.pop("less").startswith(f"products[0] has a relative error of {error:.2g} against float64; ")
    assert found.pop("in float16").startswith("products[0] has a relative error of 0.0")
    assert found == {
        "a part": "products[0]: shape (1, 8, 8), expected (3, 8, 8)",
        "more": "the outputs are ['1[0]', 'products[0]']; the specification has ['products[0]']",
    }


def test_a_kernel_may_have_a_layout_of_its_own():
    functions = {"turned": lambda left, right: (left @ right).transpose(0, 2, 1)}
    assert list(differing("batched-gemm", functions)) == ["turned"]
    assert differing("batched-gemm", functions, turned=lambda outputs: outputs.transpose(0, 2, 1)) == {}


def test_derivatives_have_the_order_of_the_parameters():
    specification = BUILT_IN.specification("hessian-vector")
    size = specification.SIZES["check"]
    parameters = parity.draw(specification, size, comparison.SEED)[0]

    def products(*batch):
        found = specification.reference(size, parameters, batch)
        return [found[name] for name in parameters]

    assert differing("hessian-vector", {"right": products}) == {}
    assert list(differing("hessian-vector", {"wrong order": lambda *batch: products(*batch)[::-1]})) == ["wrong order"]


def test_random_draws_that_repeat_or_start_anew_differ():
    count = BUILT_IN.specification("random-uniform").SIZES["check"]["draws"]
    generator = np.random.default_rng(1)
    kept = generator.random(count, np.float32)
    assert differing("random-uniform", {"right": lambda seed: generator.random(count, np.float32)}) == {}
    found = differing("random-uniform", {
        "kept": lambda seed: kept,
        "started anew": lambda seed: np.random.default_rng(2).random(count, np.float32),
    })  # fmt: skip
    assert list(found) == ["kept", "started anew"]
    for words in found.values():
        assert words.startswith("draws[1] are not independent uniform draws")


def optimizer(workload, **changed):
    """Make the run of a public optimizer, which has the settings of the specification but for those that change."""
    specification = BUILT_IN.specification(workload)
    parameters = parity.draw(specification, specification.SIZES["check"], comparison.SEED)[0]
    settings, state = dict(specification.OPTIMIZER, **changed), {}

    def run(batches):
        for _, *gradients in batches:
            update(settings, state, parameters, dict(zip(parameters, gradients, strict=True)))
        return {"loss": batches[-1][0], "outputs": list(parameters.values())}

    return run


@pytest.mark.parametrize(("workload", "changed"), [
    ("optimizer-step-sgd", {"momentum": 0.0}),
    ("optimizer-step-adam", {"beta2": 0.99}),
    ("optimizer-step-adamw", {"weight_decay": 0.0}),
    ("optimizer-step-adamw", {"weight_decay": 0.11}),
])  # fmt: skip
def test_an_optimizer_is_compared_by_the_updates_of_several_steps(workload, changed):
    runs = {"right": optimizer(workload), "wrong": optimizer(workload, **changed)}
    found = comparison.differing_kernels(reference(workload), runs, {})
    assert list(found) == ["wrong"]
    assert found["wrong"].startswith("update of tensor")


def test_networks_are_compared_by_the_shapes_and_types_of_their_outputs():
    ours = {"logits": np.zeros((2, 3), np.float32)}
    runs = {
        "right": lambda batches: {"outputs": np.ones((2, 3), np.float32)},
        "without a type": lambda batches: {"outputs": [[0.0] * 3] * 2},
        "shape": lambda batches: {"outputs": np.ones((2, 4), np.float32)},
        "type": lambda batches: {"outputs": np.ones((2, 3))},
        "more": lambda batches: {"outputs": np.ones((2, 3), np.float32), "loss": 0.0},
    }
    assert comparison.differing_forms(ours, runs, ()) == {
        "shape": "the outputs are [2, 4] float32; ours are [2, 3] float32",
        "type": "the outputs are [2, 3] float64; ours are [2, 3] float32",
        "more": "the outputs are [2, 3] float32 and []; ours are [2, 3] float32",
    }


def rows(tmp_path, monkeypatch, found):
    """Return the rows of a program that finds this."""
    program = tmp_path / "alternate.py"
    program.write_text(f"print({json.dumps(found)!r})")
    monkeypatch.setattr(public, "PROGRAM", program)
    return public.compare((sys.executable,), ["numpy"], 1)


#: Of NumPy, whose environment this is.
VERSIONS = {"numpy": "2.5", "other": "1"}


def test_a_public_one_that_differs_has_a_row_without_times(tmp_path, monkeypatch):
    times = {"ours": [2e-6, 2e-6], "slow": [8e-6, 8e-6], "fast": [4e-6, 4e-6]}
    row = {"public": "fast", "ratio": "0.500", "low": "0.500", "high": "0.500", "ours_us": "2", "public_us": "4"}
    timed = public.Found("not slower", "fast", {**row, "turns": "2", "version": "2.5"})
    differs = public.Found("differs: by 2", "wrong")
    assert public.printed(timed) == ["2", "4", "fast", "0.50", "0.50 to 0.50", "not slower"]
    assert public.printed(differs) == ["-", "-", "wrong", "-", "-", "differs: by 2"]

    def found(times, differing):
        return rows(tmp_path, monkeypatch, {"times": times, "differing": differing, "versions": VERSIONS})

    assert found(times, {}) == [timed]
    assert found(times, {"wrong": "by 2"}) == [timed, differs]
    assert found({}, {"wrong": "by 2"}) == [differs]
    assert found({}, {}) == []


def test_a_program_gets_the_variables_of_its_environment(tmp_path, monkeypatch):
    program = tmp_path / "alternate.py"
    program.write_text(
        "import json, os\n"
        "times = {'ours': [1e-6], os.environ['KERAS_BACKEND']: [1e-6]}\n"
        "print(json.dumps({'times': times, 'differing': {}, 'versions': {}}))\n"
    )
    monkeypatch.setattr(public, "PROGRAM", program)
    (row,) = public.compare((sys.executable,), ["numpy"], 1, {"KERAS_BACKEND": "jax"})
    assert row.public == "jax"


def test_every_column_is_one_of_the_full_study_which_says_what_it_lacks():
    study = study_file.load(ROOT / "studies" / "full.toml")
    columns = [column for group in public.COLUMNS.values() for column in group]
    assert len(set(columns)) == len(columns)
    for environment, mode in columns:
        assert mode in study.environments[environment].modes
        compared = [name for name in public.WORKLOADS if not public.is_excluded(study, environment, mode, name, "tiny")]
        assert compared, (environment, mode)
    assert public.is_excluded(study, "torch2", "functorch", "conv2d", "tiny")
    assert not public.is_excluded(study, "torch2", "functorch", "mlp-train", "tiny")
    assert public.is_excluded(study, "lightning", "fit", "conv2d", "tiny")


def full_study():
    """Yield the environment, mode and workload of every cell that the full study has in any size."""
    study = study_file.load(ROOT / "studies" / "full.toml")
    columns = [
        (environment, mode) for environment in study.settings.default for mode in study.environments[environment].modes
    ]
    for (environment, mode), workload in itertools.product(columns, study.workloads):
        sizes = BUILT_IN.specification(workload).SIZES
        if not all(public.is_excluded(study, environment, mode, workload, size) for size in sizes):
            yield environment, mode, workload


def reasons(page, compared):
    """Return the workloads, environments and modes that the page gives a reason for, and its patterns of cells.

    A name with a row is none of them: in "gpt in `aot-inductor`" the mode says where the workload is not compared.
    """
    named = [line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| ")]
    names = {name for what in named for name in (*what.split(", "), *re.findall(r"`([\w-]+)`", what))}
    patterns = [pattern for what in named for pattern in re.findall(r"`([\w*-]+:[\w*-]+:[\w*-]+)`", what)]
    return names.difference(*compared), patterns


def unexplained(page, rows):
    """List the cells of the full study that have neither a row, in any size, nor a reason on the page."""
    compared = {row.cell[:3] for row in rows}
    names, patterns = reasons(page, compared)
    without = [cell for cell in full_study() if cell not in compared and names.isdisjoint(cell)]
    found = map(":".join, without)
    return [cell for cell in found if not any(fnmatch.fnmatchcase(cell, pattern) for pattern in patterns)]


def test_every_cell_of_the_full_study_has_a_row_or_a_reason_on_the_page():
    assert unexplained(WITHOUT, _public_rows.load()) == []


def test_a_cell_that_loses_its_row_or_its_reason_is_found():
    rows = _public_rows.load()
    left = [row for row in rows if row.cell[:3] != ("lightning", "fit", "resnet50-train")]
    assert unexplained(WITHOUT, left) == ["lightning:fit:resnet50-train"]
    page = WITHOUT.replace("`tflite:int8:gpt`", "GPT").replace(", `pmap`", "")
    found = unexplained(page, rows)
    assert "tflite:int8:gpt" in found
    assert {cell.split(":")[1] for cell in found} == {"int8", "pmap"}


def test_a_reason_is_for_cells_without_a_row():
    compared = {":".join(row.cell[:3]) for row in _public_rows.load()}
    without = {":".join(cell) for cell in full_study()} - compared
    _, patterns = reasons(WITHOUT, [])
    assert patterns
    assert [pattern for pattern in patterns if fnmatch.filter(compared, pattern)] == []
    assert [pattern for pattern in patterns if not fnmatch.filter(without, pattern)] == []


@pytest.mark.parametrize(("word", "code"), [
    ("not slower", 0), ("unclear", 0), ("slower", 1), ("failed", 1), ("differs: by 2", 1),
])  # fmt: skip
def test_a_row_that_differs_fails_as_one_that_is_slower_does(monkeypatch, capsys, word, code):
    monkeypatch.setattr(public, "command_of", lambda *_: ())
    monkeypatch.setattr(public, "compare", lambda *_: [public.Found(word, "theirs")])
    assert public.main(["--only", "jax:jit:batched-gemm"]) == code
    assert f"| theirs           | -               | -             | {word} " in capsys.readouterr().out


def test_rows_are_kept_one_for_each_cell_and_choice_of_forms(tmp_path):
    first = _public_rows.Row("mlp-train", "jax", "0.10.2", "jit", "tiny", "", "flax", "1.02", "0.98", "1.06")
    again = first._replace(ratio="0.99", turns="21", date="2026-11-26")
    others = [
        first._replace(**other) for other in ({"forms": "optax"}, {"size": "small"}, {"environment": "jax-grain"})
    ]
    file = tmp_path / "rows.csv"
    _public_rows.store([first, *others, again], file)
    assert _public_rows.load(file) == [again, *others]


def copied(folder):
    """Copy the pages with tables."""
    for place in {place for place, _ in public_tables.TABLES.values()}:
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(public_tables.DOCS / place, folder / place)
    return folder


def test_a_row_that_is_written_is_on_the_pages(tmp_path, monkeypatch):
    shutil.copy(_public_rows.FILE, tmp_path / "rows.csv")
    monkeypatch.setattr(_public_rows, "FILE", tmp_path / "rows.csv")
    monkeypatch.setattr(public_tables, "DOCS", copied(tmp_path))
    times = {"ratio": "0.771", "low": "0.759", "high": "0.776", "ours_us": "77", "public_us": "100", "turns": "7"}
    found = {"public": "a new one", "version": "0.10.3", **times}
    monkeypatch.setattr(public, "command_of", lambda *_: ())
    monkeypatch.setattr(public, "compare", lambda *_: [public.Found("not slower", "a new one", found)])
    assert public.main(["--only", "jax:jit:batched-gemm", "--write"]) == 0
    (row,) = [row for row in _public_rows.load() if row.public == "a new one"]
    assert row.machine
    assert row.date
    _, _, text = (tmp_path / public_tables.PAGES["usual"]).read_text(encoding="utf-8").partition("## JAX 0.10")
    assert "| batched-gemm | `jit` | a new one | 0.77 | 0.76\u00a0to\u00a00.78 |" in text


def test_the_pages_have_the_rows_of_the_file_and_say_how_many():
    rows = _public_rows.load()
    for place, text in public_tables.pages(public_tables.DOCS, rows).items():
        assert text == (public_tables.DOCS / place).read_text(encoding="utf-8"), place
    tiny = [found for group in public.COLUMNS for found in public_tables.cells(rows, group, "tiny")]
    middle, _, above, unclear = public_tables.counts(tiny)
    within = f"all {len(tiny)}" if int(above) == 0 else f"{len(tiny) - int(above)} of {len(tiny)}"
    fairness = (ROOT / "docs" / "fairness.md").read_text(encoding="utf-8")
    for text in (PAGE, fairness):
        assert f"n {within} comparisons in size tiny" in text
        assert f"({middle} in the median)" in text
        assert re.search(rf"; {unclear} are not\s+certain", text)
    small = public_tables.cells(rows, "usual", "small")
    _, highest, _, unclear = public_tables.counts(small)
    assert f"In all {len(small)} in size small it takes at most {highest}; {unclear} are not certain." in PAGE


def test_a_page_shows_every_row_once_below_its_framework():
    rows = _public_rows.load()
    for group, place in public_tables.PAGES.items():
        text = (public_tables.DOCS / place).read_text(encoding="utf-8")
        for name, found in public_tables.frameworks(rows, group).items():
            _, _, section = text.partition(f"\n## {name}\n")
            lines = [line.split(" | ") for line in section.partition("\n## ")[0].splitlines()]
            shown = [{words[0].strip("|` "), words[1].strip("`")} for words in lines if len(words) > 4][1:]
            cells = [{row.mode, row.workload} for row, *_ in public_tables.cells(found, group, "tiny")]
            assert sorted(map(sorted, shown)) == sorted(map(sorted, cells))


def test_a_page_without_a_place_for_a_table_is_refused(tmp_path):
    page = copied(tmp_path) / public_tables.PAGES["usual"]
    page.write_text(page.read_text(encoding="utf-8").replace("usual: begin", ""), encoding="utf-8")
    with pytest.raises(SystemExit, match=r"usual-modes\.md has no place for the table usual"):
        public_tables.pages(tmp_path, _public_rows.load())
