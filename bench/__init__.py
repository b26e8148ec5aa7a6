"""Compares machine-learning frameworks.

Two rings share this package: ``bench.worker`` (with ``bench.frameworks`` and ``bench.workloads``) runs inside every
environment under test, ``bench.host`` plans, runs and reports. Nothing in the worker ring imports the host ring.

The way of a sample, from the clock to a table:

  worker/timing/stopwatch.py       times some steps: ``Stopwatch.turn``
  worker/session.py                answers the request ``turn``
  host/workers/messages.py         checks the answer
  host/executors/cell_process.py   adds it to the record of the process
  host/storage/journal.py          keeps each turn at once, and each record
  host/analysis/processes.py       selects the samples that count
  host/analysis/results.py         makes one time of the processes of a cell
  host/analysis/run_analysis.py    compares it with the baseline, and gives verdicts
  host/analysis/quality.py         grades it
  host/reporting/tables/           put it into rows and columns, with the marks of ``words/answer.py``
  host/reporting/outputs/          write the tables as files
"""

__version__ = "0.1.0"
