"""Makes a virtual environment from a hashed lock, with uv, or with pip where uv is missing."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..project import STATE
from .caches import cache_folder, can_clone, near_cache, same_file_system
from .tool import ToolFailed, run_tool

# A tool prints its version at once or not at all.
TRIAL_S = 20

# A wheel with CUDA takes an hour on a slow network. By default uv gives up after five minutes.
LOCK_TIMEOUT_S = 24 * 3600

# These variables would install elsewhere, add another interpreter's packages, or leave out bytecode.
DROPPED = frozenset(
    [
        *("VIRTUAL_ENV", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT"),
        *("PYTHONHOME", "PYTHONPATH", "PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE"),
    ]
)

# A setting for pip also holds for uv, unless uv has its own.
SAME_FOR_UV = (("PIP_INDEX_URL", "UV_DEFAULT_INDEX"), ("PIP_CERT", "SSL_CERT_FILE"))

#: Wheels only: building a source distribution runs its code, and fetches build requirements that no lock lists.
PIP_OPTIONS = (
    *("--quiet", "--disable-pip-version-check", "--no-input", "--no-compile"),
    *("--require-hashes", "--no-deps", "--only-binary", ":all:"),
)

NO_INSTALLER = """{python} cannot make an environment: {reason}, and neither uv nor pip 22.3 or newer was found.
Install one of them and run the same command again, for example:
  apt install python3-venv     (Debian, Ubuntu: pip for this Python)
  pipx install uv              (or install uv in another way, so that it is on PATH)"""


class NoInstaller(Exception):
    """Neither uv nor pip works on this machine; the message says how to get one."""


def installer_environ(place: Path) -> dict[str, str]:
    """Return the variables for an installer that works in ``place``."""
    environ = {name: value for name, value in os.environ.items() if name not in DROPPED}
    for pip_name, uv_name in SAME_FOR_UV:
        if environ.get(pip_name):
            environ.setdefault(uv_name, environ[pip_name])
    # Never links, whatever a setting says: a program that writes to a linked file changes it in uv's cache, and so in
    # every environment that is built from it. uv links where it cannot clone, so this tries first.
    environ["UV_LINK_MODE"] = "clone" if can_clone(place) else "copy"
    # Environments are built side by side, and one waits while another downloads a wheel that both need.
    environ.setdefault("UV_LOCK_TIMEOUT", str(LOCK_TIMEOUT_S))
    if "UV_CACHE_DIR" not in environ:
        usual = cache_folder("uv")
        if not same_file_system(usual, place):
            environ["UV_CACHE_DIR"] = str(near_cache(place, "uv"))
    return environ


def find_uv(root: Path) -> str | None:
    """Return a uv that runs: the one locked with the host environment first, then the one on PATH."""
    locked = sorted((root / STATE / "host").glob("*/bin/uv"), key=lambda path: path.stat().st_mtime, reverse=True)
    on_path = shutil.which("uv")
    candidates = [Path(sys.executable).parent / "uv", *locked, *([Path(on_path)] if on_path else [])]
    return next((str(path) for path in candidates if path.is_file() and answers((str(path), "--version"))), None)


@functools.cache
def answers(command: tuple[str, ...]) -> bool:
    """Tell whether ``command`` runs and succeeds."""
    try:
        trial = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TRIAL_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return trial.returncode == 0


@dataclass(frozen=True)
class Installation:
    """What it takes to make one environment: the folder, the interpreter and the lock."""

    folder: Path
    python: str
    lock: Path
    label: str
    #: The descriptor of the file lock that the tools hold while they work.
    hold: int | None
    announce: Callable[[str], None]
    #: The lock of what source distributions are built with; None where only wheels are installed.
    build_lock: Path | None = None
    #: A further index, or a folder with wheels, for packages that the lock lists by their hashes.
    source: str | None = None

    @property
    def inside(self) -> str:
        return str(self.folder / "bin" / "python")

    def run(self, *command: str, cache: Path | None = None) -> None:
        """Run a tool, with another cache of uv where one is given. Raises ToolFailed."""
        label = f"{self.label}: installing"
        environ = installer_environ(self.folder)
        if cache is not None:
            environ["UV_CACHE_DIR"] = str(cache)
        run_tool(command, label=label, announce=self.announce, environ=environ, hold=self.hold)


def install_with_uv(site: Installation, uv: str) -> None:
    """Make a relocatable environment with exactly the wheels that the lock lists. Raises ToolFailed."""
    options = ("--quiet", "--no-project", "--relocatable", "--prompt", site.label, "--python", site.python)
    site.run(uv, "venv", *options, str(site.folder))
    if site.build_lock is None:
        _sync(site, uv)
    else:
        _build(site, uv, site.build_lock)


def make_build_environment(folder: Path, python: str, lock: Path, uv: str, announce: Callable[[str], None]) -> str:
    """Make an environment with exactly the wheels of a lock, and return its interpreter. Raises ToolFailed."""
    site = Installation(folder, python, lock, folder.name, None, announce)
    install_with_uv(site, uv)
    return site.inside


def _build(site: Installation, uv: str, build_lock: Path) -> None:
    """Install the lock, and build its source distributions with exactly what ``build_lock`` lists.

    uv keeps what it builds. So the cache is a new one, since what another program built with other requirements must
    not be taken.
    """
    options = ("--quiet", "--require-hashes", "--python", site.inside)
    site.run(uv, "pip", "sync", *options, "--no-build", str(build_lock))
    with tempfile.TemporaryDirectory(dir=site.folder.parent, prefix="source-build-") as cache:
        # Removes the build requirements again, unless the environment requires them, too.
        site.run(uv, "pip", "sync", *options, "--no-build-isolation", str(site.lock), cache=Path(cache))


def install_again(site: Installation, uv: str, packages: Sequence[str]) -> None:
    """Install the named packages once more, after removing them from uv's cache. Raises ToolFailed."""
    site.run(uv, "cache", "clean", "--quiet", *packages)
    again = [text for package in packages for text in ("--reinstall-package", package)]
    site.run(*_sync_command(site, uv), *again)


def forget(uv: str, place: Path, packages: Iterable[str], announce: Callable[[str], None]) -> None:
    """Remove packages from uv's cache: the one from which an environment at ``place`` is built. Raises ToolFailed."""
    command = (uv, "cache", "clean", "--quiet", *packages)
    label = f"{place.name}: emptying the installer's cache"
    run_tool(command, label=label, announce=announce, environ=installer_environ(place))


def _sync(site: Installation, uv: str) -> None:
    command = _sync_command(site, uv)
    try:
        # The lock gives versions and hashes, so a complete cache makes the index unnecessary.
        site.run(*command, "--offline")
    except ToolFailed:
        site.run(*command)


def _sync_command(site: Installation, uv: str) -> tuple[str, ...]:
    options = ("--quiet", "--require-hashes", "--no-build", "--python", site.inside)
    return (uv, "pip", "sync", *options, *further_source(site.source), str(site.lock))


def is_folder(source: str) -> bool:
    """Tell a folder with wheels from the address of an index."""
    return "://" not in source


def further_source(source: str | None, *, pip: bool = False) -> tuple[str, ...]:
    """Return the options by which uv, or pip, also looks for wheels in an index or a folder.

    Which index may serve a package is not left to the installer's rule: the hashes in the lock decide.
    """
    if source is None:
        return ()
    if is_folder(source):
        return ("--find-links", source)
    return ("--extra-index-url", source) if pip else ("--index", source, "--index-strategy", "unsafe-best-match")


def install_with_pip(site: Installation) -> None:
    """Make an environment with what the lock lists. Raises ToolFailed and NoInstaller."""
    pip = _make_for_pip(site)
    site.run(*pip, "install", *PIP_OPTIONS, *further_source(site.source, pip=True), "-r", str(site.lock))


def install_with_fetched_uv(site: Installation) -> None:
    """Install the uv of the lock with pip, and the rest with uv, which is several times faster.

    Raises ToolFailed and NoInstaller.
    """
    pip = _make_for_pip(site)
    alone = site.folder / "uv.txt"
    alone.write_text(entry_of("uv", site.lock.read_text(encoding="utf-8")), encoding="utf-8")
    site.run(*pip, "install", *PIP_OPTIONS, "-r", str(alone))
    alone.unlink()
    _sync(site, str(site.folder / "bin" / "uv"))


def entry_of(name: str, lock: str) -> str:
    """Return the entry of one package in a lock: its line, and the indented lines with its hashes."""
    taken: list[str] = []
    for line in lock.splitlines():
        if line.startswith(f"{name}==") or (taken and line.startswith(" ")):
            taken.append(line)
        elif taken:
            break
    return "\n".join(taken) + "\n"


def _make_for_pip(site: Installation) -> Sequence[str]:
    """Make an empty environment and return the pip command that installs into it."""
    try:
        site.run(site.python, "-m", "venv", "--without-pip", "--prompt", site.label, str(site.folder))
    except ToolFailed as error:
        raise NoInstaller(NO_INSTALLER.format(python=site.python, reason=error.summary)) from None
    for pip in ((site.python, "-m", "pip"), (sys.executable, "-m", "pip"), ("pip3",), ("pip",)):
        if answers((*pip, "--python", site.inside, "--version")):
            return (*pip, "--python", site.inside)
    try:
        site.run(site.inside, "-m", "ensurepip")
    except ToolFailed as error:
        raise NoInstaller(NO_INSTALLER.format(python=site.python, reason=error.summary)) from None
    return (site.inside, "-m", "pip")


def repoint(folder: Path, place: Path) -> None:
    """Replace ``folder`` by ``place`` in the scripts of an environment, before it is renamed."""
    for script in [*(folder / "bin").iterdir(), folder / "pyvenv.cfg"]:
        if script.is_file() and not script.is_symlink():
            content = script.read_bytes()
            if str(folder).encode() in content:
                script.write_bytes(content.replace(str(folder).encode(), str(place).encode()))
