"""Holds the workloads: a folder is a workload's registration, a file in it a framework's implementation.

A specification (``bench/workloads/<workload>/__init__.py``) imports NumPy only and defines:

  ITEM          what a step processes, in the singular ("image", "row", "token", "step")
  SIZES         {name: {parameter: int}}; always "check" (parity in milliseconds), "tiny" and "small", often "medium"
  PRECISIONS    the precisions it is specified for
  TRAINING      whether a step updates parameters
  parameters(size, random)            {name: float32 array}, drawn from a numpy RandomState
  batch(size, random, source=None)    tuple of float32 and int32 arrays: one step's input
  items(size), useful_flops(size), compulsory_bytes(size, itemsize)     per step
  inference:  reference(size, parameters, batch) -> {name: array}, computed in the dtype of what it is given; for an
              output that is random, bench.worker.checking.draws.expected(distribution, count)
  training:   loss(size, parameters, state, batch) -> (loss, state), likewise: the forward pass only, written in plain
              NumPy. bench.differentiation gives its gradients and names the functions of NumPy that it can
              differentiate; ``state`` is {name: array}, see initial_state
              OPTIMIZER, a dictionary {"name": "sgd", "learning_rate": …} (or "adam", "adamw") that
              bench.worker.checking.optimizers applies to the reference
  optional:   initial_state(size)     {name: float32 array} that steps update without gradients, such as running
              statistics. A program's parameters() has these names, too, and they are compared
              source(path=None) -> (anything batch() understands, a description for the record)
              write_archive(folder, path, progress): make of a folder what source() reads; the host calls it once
              TOLERANCE_FACTOR: the candidate may err by this many times what the precision itself does (default in
              bench.worker.checking.parity)
              FLOPS_DIVISOR: how many times fewer operations than useful_flops the fastest known algorithm needs; a time
              below what the machine needs for that many is an error (default 1)
              examples(source, rows) -> a batch of these examples, and labels(source) -> the labels of all of them: a
              workload that can be trained to a result, see bench.worker.learning. Its last input is the labels
              GIVEN_GRADIENTS: the batch has the gradients, so that no difference of ``loss`` shows them

An implementation (``bench/workloads/<workload>/<framework>.py``) imports its framework and its own specification and
defines ``build(size, parameters, batch, transform) -> bench.program.Program``: ``size`` is the preset's dictionary,
``parameters`` and ``batch`` are the specification's arrays already on the device, ``transform`` is a
bench.program.Transform.
No such file means *unsupported*; an ImportError inside one that exists means *failed*.

``page.md`` beside a specification is its page in the documentation, see docs/workload_pages.py.
"""
