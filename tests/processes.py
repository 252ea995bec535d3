"""Python in a process of its own, and the memory of this one."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager


def run_python(code: str) -> str:
    """Return what code writes in a fresh interpreter; raise CalledProcessError if it fails or exits with a value."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, encoding="utf-8").stdout


@contextmanager
def memory_below(limit: int) -> Iterator[None]:
    """Check that the most memory of Python objects made within is less than a number of bytes."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < limit
    finally:
        tracemalloc.stop()
