"""Plays macOS on Linux as far as a process can notice: no /proc, no /sys, no binding to processors, another name.

A copy of this file as ``sitecustomize.py`` changes every Python process that has its folder on PYTHONPATH.
"""

import builtins
import errno
import io
import os
import platform
import sys
import sysconfig

HIDDEN = ("/proc", "/sys/")


def hiding(function):
    def without(path, *arguments, **options):
        if not isinstance(path, int) and os.fspath(path).startswith(HIDDEN):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return function(path, *arguments, **options)

    return without


def play():
    sysconfig.get_config_vars()  # while it still finds those of this Python
    sys.platform = "darwin"
    builtins.open = io.open = hiding(open)
    for name in ("open", "listdir", "scandir", "stat", "lstat", "readlink"):
        setattr(os, name, hiding(getattr(os, name)))
    for name in ("sched_getaffinity", "sched_setaffinity"):
        delattr(os, name)
    platform.system = lambda: "Darwin"
    platform.release = lambda: "24.0"


if __name__ == "sitecustomize":
    play()
