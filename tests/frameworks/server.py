"""Runs inside an environment, as ``python server.py FRAMEWORK``: runs programs of the tests, each in a forked process.

It imports the framework, and what its modes import when they compile, once. A request is a line, ``[program, variables,
argument …]``: the module of that name beside this file, whose ``main(framework, *arguments)`` returns what JSON can
hold; ``variables`` are set before it is imported. The reply is a line: ``[true, what main returned]``, or ``[false, the
last of what the process printed]``.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from importlib import import_module

from bench.registry import BUILT_IN
from bench.worker.imported import Imported

THREADS = int(os.environ["OMP_NUM_THREADS"])
LONGEST = 20_000


def reply(framework, program, variables, *arguments):
    """Fork a process for a program; return the reply."""
    with tempfile.TemporaryDirectory() as folder:
        answer, printed = os.path.join(folder, "answer.json"), os.path.join(folder, "printed.txt")
        process = os.fork()
        if process == 0:
            os.environ.update(variables)
            run(answer, printed, framework, program, arguments)
        if os.waitpid(process, 0)[1] == 0:
            with open(answer, encoding="utf-8") as file:
                return [True, json.load(file)]
        with open(printed, encoding="utf-8", errors="replace") as file:
            return [False, file.read()[-LONGEST:]]


def run(answer, printed, framework, program, arguments):
    """Run a program in this process and end it; ``answer`` and ``printed`` are the files that it writes."""
    try:
        with open(printed, "wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        with open(answer, "w", encoding="utf-8") as file:
            json.dump(import_module(program).main(framework, *arguments), file)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(1)


def serve(framework):
    registered = BUILT_IN.facts(framework)
    imported = Imported()
    imported.adapter(BUILT_IN, framework)
    imported.preload([module for mode in registered.modes for module in mode.preloads])
    # What a framework prints must not come between the replies.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        print(json.dumps(reply(framework, *json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    # As a worker is bound: JAX sizes its threads by this alone.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    serve(sys.argv[1])
