"""Tests the status and the reason of an error that ended a cell."""

import pytest

from bench.program import Unsupported
from bench.worker.checking.parity import Mismatch
from bench.worker.exit_status import reason_of, status_of

#: PyTorch 1.13 on a processor.
HALF = "\"addmm_impl_cpu_\" not implemented for 'Half'"
#: As PyTorch words the end of a compiler.
COMPILER = """C++ compile error

Command:
g++ /home/someone/kept/ab/cab.main.cpp -o cab.main.so

Output:
In file included from /home/someone/kept/ab/cab.main.cpp:1:
/home/someone/kept/ab/cab.main.cpp:3:10: fatal error: error writing to /home/someone/tmp/ccX.s: No space left on device
compilation terminated.
"""
PLACE = "mine/workloads/toy/numpy.py:12"


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (ValueError("no"), "failed", "ValueError: no (mine/workloads/toy/numpy.py:12)"),
        (ValueError(), "failed", "ValueError (mine/workloads/toy/numpy.py:12)"),
        (ValueError("a\n\n b\nc"), "failed", "ValueError: a | b (mine/workloads/toy/numpy.py:12)"),
        (
            RuntimeError(COMPILER),
            "failed",
            "RuntimeError: C++ compile error | fatal error: error writing to ccX.s: No space left on device"
            " (mine/workloads/toy/numpy.py:12)",
        ),
        (
            RuntimeError("C++ compile error\n\nCommand:\ng++\nOutput:\ng++: error: had to relocate PCH"),
            "failed",
            "RuntimeError: C++ compile error | error: had to relocate PCH (mine/workloads/toy/numpy.py:12)",
        ),
        (
            RuntimeError(
                "C++ compile error\n\nCommand:\ng++\nOutput:\n/usr/bin/ld: final link failed\ncollect2: error: ld"
            ),
            "failed",
            "RuntimeError: C++ compile error | ld: final link failed (mine/workloads/toy/numpy.py:12)",
        ),
        (
            RuntimeError("C++ compile error\n\nCommand:\ng++\ng++: internal compiler error: Killed (program cc1plus)"),
            "failed",
            "RuntimeError: C++ compile error | internal compiler error: Killed (program cc1plus)"
            " (mine/workloads/toy/numpy.py:12)",
        ),
        (MemoryError("large"), "out-of-memory", "MemoryError: large"),
        (RuntimeError("CUDA out of memory"), "out-of-memory", "RuntimeError: CUDA out of memory"),
        (RuntimeError("CUBLAS_STATUS_ALLOC_FAILED"), "out-of-memory", "RuntimeError: CUBLAS_STATUS_ALLOC_FAILED"),
        (RuntimeError("CUDA_ERROR_OUT_OF_MEMORY"), "out-of-memory", "RuntimeError: CUDA_ERROR_OUT_OF_MEMORY"),
        (Unsupported("no GPU"), "unsupported", "no GPU"),
        (Mismatch("loss errs"), "mismatch", "loss errs"),
        (RuntimeError(HALF), "unsupported", "no kernel for float16: " + HALF),
        (RuntimeError("Traceback of TorchScript:\n" + HALF), "unsupported", "no kernel for float16: " + HALF),
        (
            NotImplementedError(HALF.replace("Half", "BFloat16")),
            "unsupported",
            "no kernel for bfloat16: " + HALF.replace("Half", "BFloat16"),
        ),
        # A program that multiplies integers by mistake.
        (
            RuntimeError(HALF.replace("Half", "Long")),
            "failed",
            "RuntimeError: " + HALF.replace("Half", "Long") + " (mine/workloads/toy/numpy.py:12)",
        ),
        (Mismatch(HALF), "mismatch", HALF),
    ],
)
def test_only_the_reason_of_a_failure_names_file_and_line(error, status, reason):
    assert status_of(error) == status
    assert reason_of(error, PLACE) == reason


def test_an_error_outside_of_workloads_and_frameworks_names_no_place():
    assert reason_of(ValueError("no")) == "ValueError: no"


@pytest.mark.parametrize(
    ("lines", "chosen"),
    [
        ("{standard input}: Assembler messages:\n{standard input}: Fatal error: can't write 9 bytes: No space left", 1),
        ("/tmp/ccX.s:7: Error: no such instruction: `vdpbf16ps'", 0),
        ("/usr/bin/ld: skipping incompatible libc10.so\n/usr/bin/ld: cannot find -lc10", 1),
        ("/usr/bin/ld: /tmp/ccX.o: in function `kernel':\nk.cpp:(.text+0x1): undefined reference to `Sleef_expf16'", 1),
        ("cc1plus: out of memory allocating 65536 bytes", 0),
        ("/usr/bin/x86_64-linux-gnu-ld: final link failed", 0),
    ],
)
def test_the_line_of_a_compiler_that_says_most_is_the_reason(lines, chosen):
    reason = reason_of(RuntimeError("C++ compile error\n\nCommand:\ng++ x.cpp\n\nOutput:\n" + lines))
    said = reason[len("RuntimeError: C++ compile error | ") :]
    assert said
    assert lines.splitlines()[chosen].endswith(said)
