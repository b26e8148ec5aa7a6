"""Reads IDX files, the format of the MNIST data set.

Format: http://yann.lecun.com/exdb/mnist, under "the IDX file format".
"""

from __future__ import annotations

import gzip
import os
import struct
import zlib

import numpy as np

UNSIGNED_BYTE = 0x08
MNIST = "Give a folder with the unchanged MNIST files {0}[.gz] and {1}[.gz].".format(
    "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
)


def read_idx(path):
    """Read an IDX file of unsigned bytes, gzipped or plain. Raises ValueError with the file and the fault."""
    with open(path, "rb") as file:
        content = file.read()
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError("{}: damaged gzip file ({}). Download it again.".format(path, error)) from error
    return parse_idx(content, path)


def parse_idx(content, path):
    """Parse an IDX file: a magic number, the sizes, and as many values as the sizes give. Raises ValueError."""
    if len(content) < 4 or content[:2] != b"\0\0":
        raise ValueError("{}: not an IDX file: it begins with {!r}. {}".format(path, content[:4], MNIST))
    kind, dimensions = content[2], content[3]
    if kind != UNSIGNED_BYTE:
        raise ValueError("{}: IDX type 0x{:02x}, expected 0x08 (unsigned bytes). {}".format(path, kind, MNIST))
    start = 4 + 4 * dimensions
    if len(content) < start:
        raise ValueError("{}: ends within its header of {} bytes. Download it again.".format(path, start))
    shape = struct.unpack(">{}I".format(dimensions), content[4:start])
    expected = 1
    for extent in shape:
        expected *= extent
    if len(content) - start != expected:
        raise ValueError(
            "{}: {} values, but the sizes {} need {}. Download it again.".format(
                path, len(content) - start, shape, expected
            )
        )
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def find(folder, name):
    """Return the path of ``name`` in ``folder``, plain or gzipped. Raises ValueError where neither exists."""
    for candidate in (name, name + ".gz"):
        path = os.path.join(folder, candidate)
        if os.path.isfile(path):
            return path
    raise ValueError("{}: no file {} or {}.gz in this folder. {}".format(folder, name, name, MNIST))


def read_mnist(folder):
    """Read MNIST's training set: bytes (images, 28, 28) and labels 0 to 9. Raises ValueError for other content."""
    image_path, label_path = find(folder, "train-images-idx3-ubyte"), find(folder, "train-labels-idx1-ubyte")
    images, labels = read_idx(image_path), read_idx(label_path)
    if images.ndim != 3 or images.shape[1:] != (28, 28) or not len(images):
        raise ValueError("{}: shape {}, expected (images, 28, 28). {}".format(image_path, images.shape, MNIST))
    if labels.shape != images.shape[:1]:
        raise ValueError("{}: shape {} for {} images. {}".format(label_path, labels.shape, len(images), MNIST))
    if labels.max() > 9:
        raise ValueError("{}: label {}, expected 0 to 9. {}".format(label_path, labels.max(), MNIST))
    return images, labels
