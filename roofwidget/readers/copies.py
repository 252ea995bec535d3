"""Copies of profiles: which way their bytes go, and what they mean for `Kernels`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from roofwidget.kernels.columns import ASKED_PRECISION, MAIN_LEVEL, Bools, Floats
from roofwidget.readers.kernel_families import kernel_family

# A copy within a device reads and writes its memory. Other copies cross a link, which no memory roof bounds.
WITHIN: Final = re.compile(
    r"Device -> Device|\b[AD](?:to|2)[AD]\b|(?:Array|Device)[-_ ]?to[-_ ]?(?:Array|Device)\b", re.IGNORECASE
)
ACROSS: Final = {
    "host": re.compile(
        r"\b(?:[HM](?:to|2)[ADH]|[AD](?:to|2)[HM])\b"
        r"|(?:Host|Managed)[-_ ]?to[-_ ]?(?:Array|Device|Host)\b|(?:Array|Device)[-_ ]?to[-_ ]?(?:Host|Managed)\b",
        re.IGNORECASE,
    ),
    "peer": re.compile(r"\bP(?:to|2)P\b|Peer[-_ ]?to[-_ ]?Peer\b|Unified Device-to-Device", re.IGNORECASE),
}
_NAMED: Final = re.compile(
    # Nsight Systems and nvprof
    r"(?i:\[(?:CUDA |Unified )?(?:Unified )?(?:Memory )?mem(?:cpy|set)\b.*\])"
    # rocprof and rocprofv3
    r"|(?:MEMORY_COPY_)?(?:HOST|DEVICE)_TO_(?:HOST|DEVICE)"
    r"|(?:Memory)?Copy(?:Host|Device|Peer|Array)To(?:Host|Device|Peer|Array)"
    r"|(?:Host|Device) to (?:Host|Device)"
    # Level Zero and OpenCL
    r"|zeCommandListAppend(?:Memory(?:Copy|Fill)|Image\w*Copy).*"
    r"|clEnqueue(?:Read|Write|Copy|Fill|SVMMemcpy|MemcpyINTEL).*",
    re.DOTALL,
)
"""Matches the names that tools give to copies and fills."""
COPY: Final = "copy"
"""The category of copies and fills."""


def are_copies(names: Sequence[str]) -> Bools:
    """Return which names are those of copies or fills, shape (n,).

    Examples
    --------
    >>> are_copies(["[CUDA memcpy HtoD]", "MEMORY_COPY_HOST_TO_DEVICE", "copy_tokens"]).tolist()
    [True, True, False]
    """
    told = {name: _NAMED.fullmatch(name.strip()) is not None for name in dict.fromkeys(names)}
    return np.array([told[name] for name in names], dtype=np.bool_)


def level_and_passes(name: str) -> tuple[str, int]:
    """Return the memory level or link of a copy, and how often its bytes are moved there.

    Examples
    --------
    >>> [level_and_passes(name) for name in ("[CUDA memcpy Host-to-Device]", "[CUDA memcpy DtoD]", "[CUDA memset]")]
    [('host', 1), ('main', 2), ('main', 1)]
    """
    across = next((level for level, pattern in ACROSS.items() if pattern.search(name)), None)
    if across is not None:
        return across, 1
    return MAIN_LEVEL, 2 if WITHIN.search(name) else 1


def with_copies(arguments: dict[str, Any], is_copy: Bools, words: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the arguments of `Kernels` with the meaning of rows that are copies or fills, and families of kernels.

    A copy computes nothing. Its bytes cross a link, or are read and written in the main memory. A kernel without a
    category gets the family that its name tells.

    Parameters
    ----------
    arguments
        Names, FLOPs, bytes under ``"main"``, and more. Categories of rows that are no copies are kept.
    is_copy
        The rows that are copies, shape (n,).
    words
        The texts that say which way the bytes go, n of them; None if the names do.
    """
    category = [
        known or kernel_family(name)
        for name, known in zip(arguments["names"], arguments.get("category") or [None] * len(is_copy), strict=True)
    ]
    if not is_copy.any():
        return {**arguments, "category": category}
    texts = arguments["names"] if words is None else words
    ways = {text: level_and_passes(text) for text in dict.fromkeys(texts)}
    levels = np.array([ways[text][0] for text in texts], dtype=object)
    passes = np.array([ways[text][1] for text in texts], dtype=np.float64)
    amounts = dict(arguments["bytes"])
    moved: Floats = amounts.get(MAIN_LEVEL, np.full(len(is_copy), np.nan))
    for level in sorted({MAIN_LEVEL, *levels[is_copy]}):
        here = is_copy & (levels == level)
        elsewhere = np.nan if level != MAIN_LEVEL else np.where(is_copy, np.nan, moved)
        amounts[level] = np.where(here, moved * passes, elsewhere)
    flops = {key: np.where(is_copy, np.nan, column) for key, column in arguments["flops"].items()}
    plain = flops.get(ASKED_PRECISION, np.full(len(is_copy), np.nan))
    flops[ASKED_PRECISION] = np.where(is_copy, 0.0, plain)
    return {
        **arguments,
        "flops": flops,
        "bytes": amounts,
        "category": [COPY if copied else word for copied, word in zip(is_copy.tolist(), category, strict=True)],
    }
