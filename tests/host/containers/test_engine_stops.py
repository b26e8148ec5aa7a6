"""Tests a cell whose engine stops while it runs, on an engine that the test starts."""

from __future__ import annotations

import gc
import io
import os
import re
import shutil
import signal
import subprocess
import tarfile
import time

import pytest
from container_project import REPOSITORY

from bench.host.containers import leftovers
from bench.host.containers.engine import EngineConnection, NoEngine, connect
from bench.host.containers.isolation import VARIABLES, Bounds
from bench.host.containers.labels import CONTAINER, checkout, selector
from bench.host.containers.worker import ContainerWorker
from bench.host.workers.protocol import Ended

# The SDK leaves its own end of a refused connection to the garbage collector, which warns.
pytestmark = [
    pytest.mark.engine,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.long,
]
IMAGE = "benchmatrix-shell:1"
SPEAK = """echo '{"event": "ready"}'; exec sleep 1000"""


def shell_image() -> bytes:
    """Pack a shell, what it calls and their libraries: a real image would take the second engine half a minute."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for program in ("/bin/sh", "/bin/sleep"):
            listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
            for path in (program, *re.findall(r"/\S+", listed)):
                if path[1:] not in archive.getnames():
                    archive.add(os.path.realpath(path), path)
    return packed.getvalue()


class Daemon:
    """A second Docker engine with its own folders and socket."""

    def __init__(self, folder) -> None:
        self.folder = folder
        self.environ = {"DOCKER_HOST": f"unix://{folder}/docker.sock"}

    def start(self) -> None:
        places = {name: self.folder / name for name in ("data-root", "exec-root", "pidfile")}
        options = [f"--{name}={path}" for name, path in places.items()]
        with (self.folder / "log").open("ab") as log:
            # In its own network namespace: an engine without a bridge removes the bridge of the machine's engine.
            self.process = subprocess.Popen(
                ["unshare", "--net", "dockerd", *options, "--host", self.environ["DOCKER_HOST"], "--bridge=none"],
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + 120
        while True:
            try:
                self.engine = connect(self.environ)
                return
            except NoEngine:
                assert time.monotonic() < deadline, (self.folder / "log").read_text()[-2000:]
                time.sleep(0.1)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)


@pytest.fixture(scope="module")
def daemon(engine, tmp_path_factory):
    if engine.product != "docker" or os.getuid() != 0 or shutil.which("dockerd") is None:
        pytest.skip("only root can start a second Docker engine")
    made = Daemon(tmp_path_factory.mktemp("dockerd"))
    made.start()
    try:
        repository, tag = IMAGE.split(":")
        made.engine.api.import_image_from_data(shell_image(), repository=repository, tag=tag)
        yield made
        leftovers.sweep(made.engine, REPOSITORY)
    finally:
        made.stop()
    shutil.rmtree(made.folder)


def test_a_cell_that_loses_its_engine_failed_outside_and_the_next_cell_reconnects(daemon, tmp_path):
    line = EngineConnection(lambda: connect(daemon.environ))

    def start() -> ContainerWorker:
        return ContainerWorker(
            line.engine,
            IMAGE,
            ["/bin/sh", "-c", SPEAK],
            folder=REPOSITORY,
            variables=VARIABLES,
            bounds=Bounds(read=[REPOSITORY / "bench"]),
            log=tmp_path / "worker.log",
            checkout=checkout(REPOSITORY),
        )

    worker = start()
    assert worker.receive(60)["event"] == "ready"
    worker.pause()
    daemon.stop()
    worker.resume()
    with pytest.raises(Ended) as caught:
        worker.receive(60)
    assert (caught.value.status, caught.value.stage) == ("failed", "environment")
    assert "stopped while the cell ran" in caught.value.reason
    daemon.start()
    again = start()
    assert again.receive(60)["event"] == "ready"
    again.close()
    leftovers.sweep(daemon.engine, REPOSITORY)
    mine = {"label": selector(CONTAINER, REPOSITORY)}
    assert daemon.engine.api.containers(all=True, filters=mine) == []
    del worker, again, caught
    gc.collect()
