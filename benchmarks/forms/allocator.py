"""Forms of the memory allocation of all frameworks: what the C library does with a large block that is released.

The GNU allocator gives a block of 32 MiB and more back to the kernel at once. The next step gets it page by page.
"""

from __future__ import annotations

FORMS = {
    # The allocator takes large blocks from its heap, and keeps the heap.
    "kept": {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "100000000000"},
    # The kernel provides pages of 2 MiB in place of 4 KiB, where its setting is ``madvise`` or ``always``.
    "huge pages": {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"},
    # TensorFlow without oneDNN, and so without the allocator that it brings.
    "without oneDNN": {"TF_ENABLE_ONEDNN_OPTS": "0"},
}
