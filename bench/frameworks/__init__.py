"""Holds the frameworks, one folder each; bench.registry finds them.

A folder has the module ``facts`` (see bench.frameworks.facts), which imports the standard library only, the module
``adapter``, which imports the framework, and what belongs to them. An adapter module has a class
``Adapter(mode, device, precision, threads)``; constructing one allocates nothing on a GPU:

  put(array)            a NumPy array on the device, floats in the cell's precision, integers as they are;
                        ``precisions.array_type`` names the type, which is float32 for TF32 and for mixed precision,
                        and refuses what is not there: mixed precision is for adapters whose training programs know it
  get(value)            back as a NumPy array, floats as float64
  synchronize(outputs)  return only when every array in the dictionary has been computed
  transform(function)   the function or module as the mode executes it; raises Unsupported where the mode does not
                        exist. Keyword ``training`` says whether it is for training, ``part`` whether it is a "module",
                        which will be differentiated, a whole "step", or an "optimizer" alone; ``settings`` is a
                        function that reads back what only the program knows to be in force.
  settings()            what is really in force, read back from the framework, by the names below
  compilation()         what the mode compiled so far: ``compiled`` (nothing; optimizer; forward; forward and backward;
                        forward, backward and optimizer), and where it can be counted ``graphs``, ``graph_breaks``,
                        ``graph_break_reasons``, ``traces`` and ``compilations``, which rises whenever anything is
                        compiled again
  versions()            of the libraries that compute, by their distributions; the framework's own is among them
  memory()              what the framework's allocator reports, in bytes; empty where it reports nothing
  forget_peak()         optional: let the peaks of ``memory()`` begin anew, where the framework can do that
  limit_memory(bytes)   make allocations on the GPU fail beyond this; before anything is put there. Raises Unsupported
                        where there is no such limit.
  keeps_code            optional, an attribute: whether compiled code of the mode can be read back from the disk in this
                        version, where the facts say that the mode leaves it there
  warm()                optional: compile what an installation compiles once for all programs, where the mode has that
  settle()              optional: end what only compiled, threads and processes, before anything is timed
  multiply(a, b)        the framework's fastest product of two square matrices, for measuring the machine
  copy(a)               its fastest copy; both may reuse the memory of what they returned before

``threads`` must be among the settings on Linux, where processes are bound to processors, and be what was asked for; a
framework that cannot tell has ``len(bench.frameworks.loaded.processors())``. Of a framework that computes later than it
is called, ``dispatch`` is not inline, and ``synchronize`` computes what it is given: a program without ``run`` is then
synchronised after every step. The outputs of a training step must include all that it computes.

Settings have one name and one wording in all adapters, so that a table can compare them; what a framework cannot tell
is left out: threads, interop threads, float32 matmul (highest, tf32, bf16, int8; in mixed precision read off the
program, several where its products differ: bf16 and highest), on the processor (TensorFlow on a GPU only: operations on
floats that it leaves to the processor), TF32 matmul, TF32 convolution, x64,
layout, CUDA graphs, donation, cuDNN autotuning, cuDNN deterministic, fused optimizer, optimizer (whose it is, where
there is a choice), attention (fused, composed), allocator, instruction set, compiled, generated for (the vector
instructions of compiled code), BLAS, kernels, frozen weights, dispatch (inline: what a call asks for has been computed
when it returns; asynchronous), synchronised (only by a program that waits for each step itself: every step), devices
(only in a mode that has several for one step: how many hold the parameters).
"""
