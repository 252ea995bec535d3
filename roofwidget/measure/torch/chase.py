"""A kernel of Triton that follows a chain of loads on a GPU: each load needs the result of the load before."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


@functools.cache
def chase() -> Callable[[Any, Any, int], None]:
    """Return a function that launches one warp, which loads items of a chain.

    Its arguments are a tensor with the first position, which is the last one afterwards; a tensor with the position of
    the next item at each item, both of int32; and how many items to load.
    """
    import triton  # noqa: PLC0415 - optional
    import triton.language as tl  # noqa: PLC0415 - optional

    @triton.jit  # type: ignore[untyped-decorator, unused-ignore]
    def follow(at, chain, loads):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202 - Triton reads annotations
        position = tl.load(at).to(tl.int64)
        for _ in range(loads):
            position = tl.load(chain + position).to(tl.int64)
        tl.store(at, position.to(tl.int32))

    return lambda at, chain, loads: follow[(1,)](at, chain, loads, num_warps=1)
