"""Tests what the host imports before it works: --help is quick, and some commands need few libraries."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bench.host import commands
from bench.host.__main__ import EXIT_MISUSE, main

ROOT = Path(__file__).resolve().parents[3]
HEAVY = ("numpy", "scipy", "pydantic", "rich", "docker", "tabulate", "packaging")
PROGRAM = """
import sys
from bench.host.__main__ import main
try:
    code = main(sys.argv[1:])
except SystemExit as ended:
    code = ended.code
print(*sys.modules, file=sys.stderr)
sys.exit(code)
"""


def start(*arguments: str) -> tuple[str, set[str]]:
    """Run the host; return what it printed and the libraries that it imported."""
    command = [sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout, {name.partition(".")[0] for name in done.stderr.split()}


def test_help_names_every_command_and_imports_no_library() -> None:
    text, imported = start("--help")
    assert all(summary in " ".join(text.split()) for summary in commands.SUMMARIES.values())
    assert imported.isdisjoint(HEAVY)


@pytest.mark.parametrize("name", commands.SUMMARIES)
def test_the_help_of_a_command_imports_no_library(name: str) -> None:
    text, imported = start(name, "--help")
    assert commands.SUMMARIES[name] in " ".join(text.split())
    assert imported.isdisjoint(HEAVY)


@pytest.mark.parametrize("command", [["run", "--environment", "jax"], ["prepare", "jax"]])
def test_a_dry_run_imports_neither_scipy_nor_the_sdk_of_the_engine(command: list[str]) -> None:
    _, imported = start(*command, "--workload", "gemm", "--profile", "standard", "--dry-run")
    assert imported.isdisjoint({"scipy", "docker", "rich"})


def test_every_command_is_a_module_that_can_run() -> None:
    for name in commands.SUMMARIES:
        assert callable(commands.load(name).run)


@pytest.mark.parametrize(("given", "meant"), [("runn", "run"), ("reprot", "report"), ("histroy", "history")])
def test_a_misspelt_command_gets_the_nearest(given: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([given]) == EXIT_MISUSE
    assert capsys.readouterr().err.startswith(f"unknown command {given!r}; did you mean {meant!r}? Known: prepare, ")


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (
            ["run", "--workload", "gemm", "mlp-train"],
            "several names are separated by commas, as in --workload gemm,mlp-train",
        ),
        (["run", "--seed", "3"], "the study file has it: seed in [study]"),
        (["history", "torch", "--rounds", "3"], "a profile has them: --profile NAME, or a table [profiles.NAME]"),
        (
            ["report", "--details=yes"],
            "argument --details: ignored explicit argument 'yes'; this option takes no value",
        ),
        (["report", "--study", "full"], "a study is named by its file: --matrix FILE"),
        (["run", "--wrkload", "gemm"], "did you mean --workload?"),
        (["runs", ""], "a word of it is empty, as from a variable that is not set"),
        (["compare", "--", "reports/a", "--"], "-- stands twice; it ends the options, so once is enough"),
        (["run", "--no-such-thing"], "unrecognized arguments: --no-such-thing. --help lists the options.\n"),
        (
            ["run", "--workload"],
            "benchmatrix run: argument --workload: expected one argument. --help lists the options.\n",
        ),
    ],
)
def test_a_word_that_a_command_does_not_take_is_answered_with_a_remedy(capsys, words, remedy):
    with pytest.raises(SystemExit) as raised:
        main(words, root=ROOT)
    assert raised.value.code == EXIT_MISUSE
    said = capsys.readouterr().err
    assert remedy in said
    # Not the list of all options, which is longer than the message.
    assert said.count("\n") == 1


def test_output_whose_reader_has_gone_ends_a_command_without_a_traceback():
    command = [sys.executable, "-m", "bench.host", "run", "--environment", "numpy", "--matrix", "studies/full.toml"]
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as output:
        done = subprocess.run([*command, "--dry-run"], cwd=ROOT, stdout=output, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 128 + signal.SIGPIPE
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("flush", [True, False])
def test_output_that_a_full_disk_does_not_take_ends_a_command_without_a_traceback(flush):
    program = (
        "import sys; from bench.host import commands, __main__; from types import SimpleNamespace\n"
        f"act = lambda options: print('the table', flush={flush}) or 0\n"
        "commands.load = lambda name: SimpleNamespace(add_arguments=lambda parser: None, run=act)\n"
        "sys.exit(__main__.main(['report']))"
    )
    with Path("/dev/full").open("wb") as output:
        done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, stdout=output, stderr=subprocess.PIPE)
    assert done.returncode == EXIT_MISUSE
    assert done.stderr.startswith(b"the output: cannot be used: No space left on device. Free some space there; ")
    assert len(done.stderr.splitlines()) == 1


def test_characters_that_the_terminal_lacks_are_replaced():
    program = (
        "import sys; from bench.host import commands, __main__; from types import SimpleNamespace\n"
        "act = lambda options: print('30 \\u00b5s \\u2026 \\u2192') or 0\n"
        "commands.load = lambda name: SimpleNamespace(add_arguments=lambda parser: None, run=act)\n"
        "sys.exit(__main__.main(['report']))"
    )
    for encoding, expected in (
        ("latin-1", b"30 \xb5s ? ?\n"),
        ("latin-1:backslashreplace", b"30 \xb5s \\u2026 \\u2192\n"),
    ):
        variables = {**os.environ, "PYTHONIOENCODING": encoding}
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, capture_output=True, env=variables, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, expected, b"")


@pytest.mark.parametrize(("command", "session"), [("report", "report"), ("run", "bench-ENVIRONMENT")])
def test_a_python_without_the_libraries_is_told_how_to_start(command, session):
    # Without site-packages, the interpreter of this environment has the standard library alone.
    bare = [getattr(sys, "_base_executable", sys.executable), "-S", "-m", "bench.host", command]
    done = subprocess.run(bare, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == EXIT_MISUSE
    (line,) = done.stderr.splitlines()
    assert line.startswith("This Python lacks the library ")
    assert line.endswith(f". Use the one of the checkout: python3 noxfile.py -s {session}")


def not_in_the_background():
    """Heed interrupts: a shell that starts the tests in the background has all that they start ignore them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_before_the_command_line_is_read_ends_the_host_quietly(tmp_path):
    # The interruption comes while the libraries of the command line are imported.
    stops = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
    (tmp_path / "argparse.py").write_text(stops)
    command = [sys.executable, "-m", "bench.host", "report"]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, env=variables, check=False, preexec_fn=not_in_the_background
    )
    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGINT, b"", b"")


def test_ctrl_c_within_a_command_says_what_is_kept():
    program = (
        "import os, runpy, signal, sys; from bench.host import commands; from types import SimpleNamespace\n"
        "act = lambda options: os.kill(os.getpid(), signal.SIGINT) or 0\n"
        "commands.load = lambda name: SimpleNamespace(add_arguments=lambda parser: None, run=act)\n"
        "sys.argv = ['bench.host', 'report']; runpy.run_module('bench.host', run_name='__main__')"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, preexec_fn=not_in_the_background
    )
    assert done.returncode == 128 + signal.SIGINT
    assert done.stderr == "Interrupted. What was measured is kept; the same command continues.\n"


@pytest.mark.parametrize(
    ("error", "refused"),
    [
        ("BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))", "a process, memory or an open file: Resource"),
        ("OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))", "a process, memory or an open file: Cannot"),
        ("MemoryError()", "memory. End other programs, or raise the limits"),
        ('RuntimeError("can\'t start new thread")', "a thread. End other programs, or raise the limits"),
    ],
)
def test_a_system_that_refuses_a_process_or_memory_ends_a_command_without_a_traceback(error, refused):
    program = (
        "import errno, os, sys; from bench.host import commands, __main__; from types import SimpleNamespace\n"
        f"def act(options): raise {error}\n"
        "commands.load = lambda name: SimpleNamespace(add_arguments=lambda parser: None, run=act)\n"
        "sys.exit(__main__.main(['report']))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == EXIT_MISUSE
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"The system refused {refused}")


def test_a_state_that_cannot_be_read_ends_a_command_without_a_traceback(tmp_path, monkeypatch, capsys):
    def refuse(root, *, warn=True):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(root / ".nox"))

    monkeypatch.setattr(commands, "tidy", refuse)
    assert main(["runs"], root=tmp_path) == EXIT_MISUSE
    said = f"{tmp_path / '.nox'}: cannot be used: Permission denied. Give yourself the right to use it, "
    assert capsys.readouterr().err.startswith(said)
