"""Imports a framework once in a process, and tells what that cost.

A forked worker finds this done by the process that it was forked from. Its own figures are those of a process that
imports by itself: the import was measured in its parent, a fresh process that did nothing else before.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import sys
import time
from typing import Any, Dict, Iterable, Optional

from ..registry import Registry
from .limits import memory


def spare() -> None:
    """Let the collector pass over what the import made, here and in the workers that are forked from this process.

    To visit an object is to write to it, so that each worker would copy its parent's pages: a first call of JAX took
    1.15 times as long as in a process of its own, and takes 0.98 times as long without.
    """
    gc.disable()
    getattr(gc, "freeze", lambda: None)()


class Imported:
    """The framework that this process, or its parent, has imported."""

    def __init__(self) -> None:
        #: Seconds and bytes of the import. The seconds are not known of what the worker itself has imported: NumPy.
        self.seconds: Optional[float] = None
        self.bytes = 0
        #: Seconds and bytes of every module that a first call would import.
        self._preload_seconds: Dict[str, float] = {}
        self._preload_bytes: Dict[str, int] = {}
        self._name = ""
        self._adapter: Any = None
        self._error: Optional[BaseException] = None

    def adapter(self, registry: Registry, framework: str) -> Any:
        """Return the adapter's module, imported now unless it was before; raises what the import raised."""
        if self._name != framework:
            self._import(registry, framework)
        if self._error is not None:
            raise self._error
        return self._adapter

    def _import(self, registry: Registry, framework: str) -> None:
        known = registry.facts(framework).import_name in sys.modules
        before_bytes, start = memory.resident_bytes(), time.perf_counter()
        try:
            self._adapter = registry.adapter(framework)
        except Exception as error:  # Every forked worker reports it as its own.
            self._error = error
        self.seconds = None if known else time.perf_counter() - start
        self.bytes = max(0, memory.resident_bytes() - before_bytes)
        self._name = framework

    def preload(self, modules: Iterable[str]) -> None:
        """Import what a mode imports in its first call, and call what is named ``module:function``.

        What this installation lacks is left out, and so is what fails.
        """
        for module in modules:
            if module in self._preload_seconds or self._error is not None:
                continue
            before_bytes, start = memory.resident_bytes(), time.perf_counter()
            name, _, function = module.partition(":")
            # The first call reports what is wrong with it.
            try:
                loaded = importlib.import_module(name)
            except Exception:
                continue
            with contextlib.suppress(Exception):
                if function:
                    getattr(loaded, function)()
            self._preload_seconds[module] = time.perf_counter() - start
            self._preload_bytes[module] = max(0, memory.resident_bytes() - before_bytes)

    def preloaded_s(self, modules: Iterable[str]) -> float:
        """Return the seconds that the parent spent on these modules."""
        return sum(self._preload_seconds.get(module, 0.0) for module in modules)

    def preloaded_bytes(self, modules: Iterable[str]) -> int:
        """Return the bytes by which the parent grew with these modules."""
        return sum(self._preload_bytes.get(module, 0) for module in modules)

    def bytes_for_others(self, modules: Iterable[str]) -> int:
        """Return the bytes by which the parent grew with modules that other cells need, and not these."""
        return sum(self._preload_bytes.values()) - self.preloaded_bytes(modules)
