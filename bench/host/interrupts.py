"""Turns the signals that end a process into the interruption that Ctrl-C is, so that each leaves a table of results."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

#: A scheduler or a shutdown sends SIGTERM, a terminal that closes SIGHUP.
ENDING = (signal.SIGTERM, signal.SIGHUP)
INTERRUPTING = (signal.SIGINT, *ENDING)


class Terminated(KeyboardInterrupt):
    """A signal asked the process to end; ``number`` is the signal's."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


@contextlib.contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Raise Terminated where the process is asked to end; a signal that is ignored, as by nohup, stays so."""

    def end(number: int, _frame: FrameType | None) -> None:
        raise Terminated(number)

    with _handling({one: end for one in ENDING if signal.getsignal(one) is signal.SIG_DFL}):
        yield


@contextlib.contextmanager
def keyboard_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt at Ctrl-C within the block, whatever it does outside; one that is ignored stays so."""
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    with _handling({} if ignored else {signal.SIGINT: signal.default_int_handler}):
        yield


@contextlib.contextmanager
def deferring_interrupts() -> Iterator[None]:
    """Let interruptions wait until the end of the block. What is forked in it must call ``admit_interrupts``."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def admit_interrupts() -> None:
    """Let interruptions come, also one that has waited."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTING)


@contextlib.contextmanager
def ignoring_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C and the other signals that end a run: a second one must not cut the report short."""
    with _handling(dict.fromkeys(INTERRUPTING, signal.SIG_IGN)):
        yield


@contextlib.contextmanager
def _handling(handlers: dict[signal.Signals, signal._HANDLER]) -> Iterator[None]:
    # Python lets only the main thread set handlers.
    if threading.current_thread() is not threading.main_thread():
        handlers = {}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
