"""Tests images on a real engine: building once from a lock alone, naming, listing, exporting and pruning."""

from __future__ import annotations

import functools
import json
import tarfile
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from container_project import BASE, REPOSITORY, forget, make_project
from tiny_framework import STUDY, environment, write_lock
from wheels import make_wheel

from bench.host import __main__ as host
from bench.host import environments
from bench.host.containers import image, labels
from bench.host.containers.archive import export
from bench.host.containers.context import Extras, write_context
from bench.host.containers.engine_request import run_command
from bench.host.containers.isolation import PYTHON, Bounds
from bench.host.containers.recipe import dockerfile_path

pytestmark = [pytest.mark.engine, pytest.mark.long]
#: A valid name with characters that some parts of an image's name do not allow.
NAME = "a.b-..c__d"


class Project:
    """A project with one wheel and an environment that is locked to it."""

    def __init__(self, folder, engine) -> None:
        self.engine = engine
        self.root = make_project(folder / "project")
        self.wheel = make_wheel(folder / "wheels")
        write_lock(self.root, self.wheel, NAME)
        self.study = folder / "study.toml"
        self.study.write_text(STUDY.format(base=BASE, name=NAME))

    def prepare(self, **changes):
        """Prepare the environment without an index, where pip would look for the wheel too."""
        messages: list[str] = []
        wanted = environment(NAME, BASE).model_copy(update=changes)
        extras = Extras(None, (self.wheel.parent,))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PIP_NO_INDEX", "1")
            return environments.prepare(wanted, root=self.root, announce=messages.append, extras=extras), messages

    def run_command(self, identity: str, *command: str) -> bytes:
        return run_command(self.engine, identity, command, root=self.root, bounds=Bounds([]))

    def parts(self) -> list:
        part = {"label": labels.selector(labels.PART, self.root)}
        api = self.engine.api
        return [*api.containers(all=True, filters=part), *api.images(filters={"dangling": True, **part})]


@pytest.fixture(scope="module")
def project(tmp_path_factory, engine):
    made = Project(tmp_path_factory.mktemp("images"), engine)
    yield made
    forget(engine, made.root)


@pytest.fixture(scope="module")
def built(project):
    """The outcome of building the image."""
    outcome, messages = project.prepare()
    assert (outcome.reason, outcome.status) == (None, "ok")
    assert any(f"building benchmatrix:{NAME}-" in line for line in messages)
    return outcome


def test_an_image_has_the_locked_packages_and_a_label_with_its_environment(project, built, engine):
    assert built.manifest["packages"] == {"tinyframe": "1.0"}
    assert built.manifest["interpreter"]["version"].startswith("3.11")
    found = image.inspect(engine, built.manifest["image"]["tag"])
    assert found["Id"] == built.manifest["image"]["id"]
    assert found["Config"]["Labels"][labels.ENVIRONMENT] == NAME
    assert project.run_command(found["Id"], PYTHON, "-c", "import tinyframe; print(tinyframe.value)") == b"1\n"


def test_an_unchanged_image_is_not_built_again(project, built, monkeypatch):
    monkeypatch.setattr(image, "build", lambda *_, **__: pytest.fail("it is built again"))
    again, messages = project.prepare()
    assert (again.manifest, messages) == (built.manifest, [])


def test_the_installer_is_not_in_the_image(project, built):
    listed = project.run_command(built.manifest["image"]["id"], "ls", "/", "/opt", "/opt/environment/bin")
    for name in (b"installer", b"pip", b"build\n"):
        assert name not in listed
    assert project.parts() == []


def test_a_lock_that_cannot_be_installed_failed_and_leaves_nothing(project, tmp_path):
    write_lock(project.root, make_wheel(tmp_path, value=2), "other")
    outcome, _ = project.prepare(name="other")
    assert (outcome.status, outcome.stage) == ("failed", "environment")
    assert "the image could not be built" in outcome.reason
    assert "No matching distribution found for tinyframe" in outcome.reason
    assert project.parts() == []


def test_a_base_that_cannot_be_pulled_is_reported(project):
    outcome, _ = project.prepare(base="localhost:1/nothing:here")
    assert outcome.status == "failed"
    assert "the base image localhost:1/nothing:here cannot be pulled" in outcome.reason
    assert "docker/make-base" in outcome.reason


def test_an_export_is_in_the_layout_of_oci(built, engine, tmp_path):
    path = tmp_path / "tiny.oci.tar"
    export(engine, built.manifest["image"]["tag"], path)
    with tarfile.open(path) as archive:
        assert json.load(archive.extractfile("oci-layout")) == {"imageLayoutVersion": "1.0.0"}
        manifest = next(iter(json.load(archive.extractfile("index.json"))["manifests"]))
        stored = json.load(archive.extractfile("blobs/" + manifest["digest"].replace(":", "/")))
        for blob in (stored["config"], *stored["layers"]):
            assert archive.getmember("blobs/" + blob["digest"].replace(":", "/")).size == blob["size"]
    assert list(tmp_path.glob("*.partial-*")) == []


@pytest.fixture
def of_another_project(engine, tmp_path):
    """Import an empty image as if another project had built it: the images of other users of the engine may change."""
    label = labels.selector(labels.IMAGE, tmp_path / "another")
    name = f"{labels.REPOSITORY}:other-{labels.checkout(tmp_path)}"
    engine.api.import_image_from_data(bytes(1024), *name.split(":"), changes=[f"LABEL {label.replace('=', ' ', 1)}"])
    yield name
    engine.api.remove_image(name)


def test_the_command_builds_lists_exports_and_prunes_only_images_of_this_project(
    project, built, engine, of_another_project, tmp_path, capsys
):
    def images(*arguments: str) -> tuple[int, str]:
        code = host.main(["images", *arguments, "--matrix", str(project.study)], root=project.root)
        return code, capsys.readouterr().out

    tag = built.manifest["image"]["tag"]
    assert images("build") == (0, f"{NAME}: {tag}  {built.manifest['image']['id']}\n")
    code, listed = images("list")
    assert (code, listed.split()[0]) == (0, tag)
    code, output = images("export", "--to", str(tmp_path))
    archive = tmp_path / f"{NAME}.oci.tar"
    assert (code, output.strip()) == (0, f"{archive}  (apptainer build {NAME}.sif oci-archive:{archive})")
    assert images("prune") == (0, "")
    assert images("prune", "--all") == (0, f"removed {tag}\n")
    assert engine.api.images(filters={"label": labels.selector(labels.IMAGE, project.root)}) == []
    assert [each["RepoTags"] for each in engine.api.images(name=of_another_project)] == [[of_another_project]]
    assert images("list")[1].startswith("this project has built no images")
    assert images("build", "tinny")[0] == host.EXIT_MISUSE


@pytest.fixture
def served(project, tmp_path):
    """Serve the build context over HTTP, from where BuildKit reads one without a session."""
    with (tmp_path / "context.tar").open("wb") as file:
        dockerfile = dockerfile_path("cpu").read_text()
        lock = (project.root / "locks" / f"{NAME}.txt").read_bytes()
        write_context(file, dockerfile=dockerfile, lock=lock, extras=Extras(None, (project.wheel.parent,)))
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/context.tar"
        server.shutdown()


def test_buildkit_builds_the_same_dockerfile(project, engine, served):
    if engine.product == "podman":
        pytest.skip("Podman builds with Buildah only, which the other tests cover")
    tag = "benchmatrix:built-with-buildkit"
    arguments = json.dumps({"BASE": BASE, "PIP_NO_INDEX": "1", "PART": "buildkit-test"})
    parameters = {"version": "2", "t": tag, "remote": served, "buildargs": arguments}
    response = engine.api.post(f"{engine.api.base_url}/v1.40/build", params=parameters, timeout=300)
    try:
        assert f"Successfully tagged {tag}" in response.text, response.text[-2000:]
        assert project.run_command(tag, PYTHON, "-c", "import tinyframe; print(tinyframe.value)") == b"1\n"
    finally:
        engine.api.remove_image(tag, force=True)


def test_both_dockerfiles_have_the_same_steps():
    """They differ in the base, its Python and the variables of NVIDIA's runtime; the rest must stay the same."""
    cpu, cuda = ((REPOSITORY / "docker" / f"{kind}.Dockerfile").read_text() for kind in ("cpu", "cuda"))
    installation = [text[text.index("ARG EXTRAS=") : text.index("FROM system\n")] for text in (cpu, cuda)]
    assert installation[0] == installation[1]
