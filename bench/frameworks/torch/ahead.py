"""Compiles modules for inference ahead of time with AOTInductor: a shared library that is loaded and called."""

from __future__ import annotations

import os
import tempfile

import torch

from ...program import Unsupported


class Ahead:
    """Exports, compiles and loads what it is given, at the first call of each shape of the first argument."""

    def __init__(self):
        #: Libraries that were compiled.
        self.packages = 0
        # The libraries are loaded from here, until the process ends.
        self._folder = None

    def apply(self, function, training):
        if training:
            raise Unsupported("AOTInductor compiles for inference only: see compile")
        if not hasattr(torch, "_inductor") or not hasattr(torch._inductor, "aoti_compile_and_package"):
            raise Unsupported("torch {} has no aoti_compile_and_package".format(torch.__version__))
        module = function if isinstance(function, torch.nn.Module) else Called(function)
        known = {}
        latest = run = None

        def call(*batch):
            nonlocal latest, run
            # The shapes of all other arguments depend on this one: to compare two took 0.6 of 11 µs more.
            shape = batch[0].shape
            if shape != latest:
                if shape not in known:
                    known[shape] = self._package(module, batch)
                latest, run = shape, known[shape]
            return run(*batch)

        return call

    def _package(self, module, batch):
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="aot-inductor-")
        self.packages += 1
        path = os.path.join(self._folder.name, "{}.pt2".format(self.packages))
        # A library that is exported in inference mode would hold tensors of it, which no other mode can use.
        with torch.inference_mode(False), torch.no_grad():
            exported = torch.export.export(module, tuple(value.clone() for value in batch))
            if writes_to_buffers(module, exported):
                raise Unsupported("each library of AOTInductor has buffers of its own; here one call needs another's")
            torch._inductor.aoti_compile_and_package(exported, package_path=path)
            return torch._inductor.aoti_load_package(path)

    def report(self):
        return {
            "compiled": "forward" if self.packages else "nothing",
            "graphs": self.packages,
            # An export is one graph, or an error.
            "graph_breaks": 0,
            "graph_break_reasons": [],
            "compilations": self.packages,
        }


def writes_to_buffers(module, exported):
    # An export tells of it when its operations are made functional.
    return any(True for _ in module.buffers()) and exported.run_decompositions({}).graph_signature.buffers_to_mutate


class Called(torch.nn.Module):
    """A function as a module, as an export needs it."""

    def __init__(self, function):
        super().__init__()
        self._function = function

    def forward(self, *batch):
        return self._function(*batch)
