"""Converts photographs of cats and dogs to one file of small grey images, and reads that file.

Any interpreter with Pillow decodes the photographs once, so that every framework gets the same pixels and no worker
spends time on decoding:

    python -m bench.workloads.images FOLDER cats-and-dogs.npz

FOLDER has subfolders Cat and Dog (any case), or files named cat.*.jpg and dog.*.jpg. Unreadable files are printed and
listed in the output with the reason.
"""

from __future__ import annotations

import argparse
import os
import sys
import zipfile
import zlib
from typing import NamedTuple

import numpy as np

LABELS = {"cat": 0, "dog": 1}
REMEDY = "Make one with: python -m bench.workloads.images FOLDER OUT.npz"


class Archive(NamedTuple):
    """Grey images (images, side, side) of bytes, labels as in LABELS, and "name: reason" of unreadable files."""

    images: np.ndarray
    labels: np.ndarray
    unreadable: np.ndarray


def read_archive(path, side):
    """Read an archive of images of ``side`` pixels. Raises ValueError for any other file."""
    if os.path.isdir(path):
        raise ValueError("{}: a folder, expected an archive of images. {}".format(path, REMEDY))
    try:
        with open(path, "rb") as file:
            content = np.load(file, allow_pickle=False)
            archive = Archive(*(content[field] for field in Archive._fields))
    # The error depends on the place of the damage; IndexError comes from a file with a single array.
    except (OSError, LookupError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError("{}: not a readable archive of images ({}). {}".format(path, error, REMEDY)) from error
    images, labels, _ = archive
    if images.dtype != np.uint8 or images.ndim != 3 or images.shape[1:] != (side, side) or not len(images):
        raise ValueError(
            "{}: images {} of {}, expected (images, {}, {}) of uint8. {}".format(
                path, images.shape, images.dtype, side, side, REMEDY
            )
        )
    if labels.dtype != np.uint8 or labels.shape != images.shape[:1] or labels.max() > max(LABELS.values()):
        raise ValueError("{}: labels are not one of {} per image. {}".format(path, sorted(LABELS.values()), REMEDY))
    return archive


def photographs(folder):
    """Return the files of a folder: ``(paths with their labels, names that are neither cat nor dog)``, both sorted."""
    subfolders = {name.lower(): os.path.join(folder, name) for name in sorted(os.listdir(folder))}
    if all(os.path.isdir(subfolders.get(animal, "")) for animal in LABELS):
        found = [
            (os.path.join(subfolders[animal], name), label)
            for animal, label in LABELS.items()
            for name in sorted(os.listdir(subfolders[animal]))
        ]
        return found, []
    names = sorted(os.listdir(folder))
    labels = {name: LABELS.get(name.lower().split(".")[0]) for name in names}
    found = [(os.path.join(folder, name), labels[name]) for name in names if labels[name] is not None]
    return found, [name for name in names if labels[name] is None]


def obstacle(path, folder):
    """Say why a file is not to be opened; None where it is.

    Opening a named pipe would wait for ever. A link may lead to somebody's own images, which the archive would then
    show to a container that sees nothing else of this machine.
    """
    if not os.path.isfile(path):
        return "not a file"
    place, home = os.path.realpath(path), os.path.realpath(folder)
    if os.path.commonpath([place, home]) != home:
        return "a link that leads out of the folder; copy the file into it"
    return None


def decoded(path, side):
    """Decode one photograph to grey bytes (side, side). Raises OSError, SyntaxError or ValueError for other files."""
    from PIL import Image

    with Image.open(path) as photograph:
        return np.asarray(photograph.convert("L").resize((side, side), Image.BILINEAR))


def collected(folder, side, progress=None):
    """Decode a folder of photographs into an Archive, calling ``progress(done, total)`` before each.

    Raises ValueError where no cat or no dog is readable.
    """
    from PIL import Image

    files, others = photographs(folder)
    images, labels = [], []
    unreadable = ["{}: neither cat nor dog by its name".format(name) for name in others]
    for done, (path, label) in enumerate(files):
        if progress is not None:
            progress(done, len(files))
        why = obstacle(path, folder)
        if why is not None:
            unreadable.append("{}: {}".format(os.path.relpath(path, folder), why))
            continue
        try:
            images.append(decoded(path, side))
            labels.append(label)
        # Pillow raises SyntaxError for some broken PNG files, and ValueError for others.
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
            unreadable.append("{}: {}".format(os.path.relpath(path, folder), error))
    missing = [animal for animal, label in LABELS.items() if label not in labels]
    if missing:
        raise ValueError(
            "{}: no readable image of a {}. It needs subfolders Cat and Dog, or files cat.*.jpg and dog.*.jpg.".format(
                folder, " or a ".join(missing)
            )
        )
    return Archive(np.stack(images), np.array(labels, np.uint8), np.array(unreadable, dtype=str))


def write_archive(folder, path, side, progress=None):
    """Write the archive of a folder of photographs and return it. Raises ValueError as ``collected`` does."""
    archive = collected(folder, side, progress)
    with open(path, "wb") as file:
        np.savez_compressed(file, **archive._asdict())
    return archive


def main(arguments=None):
    """Make an archive of a folder; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.workloads.images", description="Make an archive of cats and dogs."
    )
    parser.add_argument("folder", help="with subfolders Cat and Dog, or files cat.*.jpg and dog.*.jpg")
    parser.add_argument("archive", help="the .npz file to write")
    parser.add_argument("--side", type=int, default=50, help="pixels in height and width (default 50)")
    chosen = parser.parse_args(arguments)
    try:
        archive = write_archive(chosen.folder, chosen.archive, chosen.side)
    except ImportError:
        parser.error("decoding images needs Pillow in this interpreter: python -m pip install pillow")
    except (ValueError, OSError) as error:
        parser.error(str(error))
    for line in archive.unreadable:
        print("left out: " + line)
    print("{}: {:,} images, {:,} left out".format(chosen.archive, len(archive.images), len(archive.unreadable)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
