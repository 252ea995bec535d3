"""Finds collectives by their names and categories. A collective waits for other chips."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from roofwidget.kernels.columns import Bools, DictColumn, frozen

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

_OPERATION: Final = (
    r"(?:all[-_ ]?reduce|all[-_ ]?gather|reduce[-_ ]?scatter|(?:ragged[-_ ])?all[-_ ]?to[-_ ]?all"
    r"|collective[-_ ]?(?:permute|broadcast))(?![a-z])"
)
_FUSED: Final = r"multimem_all_|(?:one|two)_?shot_?all_?reduce|all_?reduce_(?:fusion|prototype)"
LIBRARIES: Final = rf"nccl|rccl|cross_device_reduce|deep_ep::|{_FUSED}"
"""A pattern of the names of kernels that communicate.

They are of NCCL and RCCL, of vLLM, SGLang and AITER, of DeepEP, of PyTorch's symmetric memory, and of FlashInfer.
"""
_OF_LIBRARY: Final = re.compile(LIBRARIES, re.IGNORECASE)
# Matches a collective instruction of XLA, such as all-reduce.3, and a kernel of a library.
_NAME: Final = re.compile(
    rf"^%?{_OPERATION}|(?:nccl|rccl)(?:dev)?kernel|cross_device_reduce|deep_ep::|{_FUSED}", re.IGNORECASE
)
_CATEGORY: Final = re.compile(rf"^(?:communication|collectives?)$|{_OPERATION}", re.IGNORECASE)


def collectives(kernels: Kernels) -> Bools:
    """Return a mask, shape (n,): true for collectives.

    Examples
    --------
    >>> import roofwidget as rw
    >>> collectives(rw.Kernels(["all-reduce.3", "reduce"], [0, 0], [1, 1])).tolist()
    [True, False]
    """
    return frozen(_matches(kernels.codes("name"), _NAME) | _matches(kernels.codes("category"), _CATEGORY))


def communicates(names: Sequence[str]) -> Bools:
    """Return for each name of a kernel whether the kernel communicates, shape (n,).

    Examples
    --------
    >>> communicates(["ncclDevKernel_SendRecv", "void vllm::cross_device_reduce_1stage<half, 4>", "gemm"]).tolist()
    [True, True, False]
    """
    return np.array([_OF_LIBRARY.search(name) is not None for name in names], dtype=np.bool_)


def is_collective_category(category: str) -> bool:
    """Return whether a category is that of collectives.

    Examples
    --------
    >>> is_collective_category("all-reduce"), is_collective_category("reduce")
    (True, False)
    """
    return _CATEGORY.search(category) is not None


def unlinked_collectives(kernels: Kernels) -> Bools:
    """Return a mask, shape (n,): true for collectives without bytes over the link.

    A collective waits for its link and for other chips. Without ``"network"`` bytes its bound covers only its memory
    traffic, which explains little of its time.

    Examples
    --------
    >>> import roofwidget as rw
    >>> names = ["all-reduce.3", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "reduce", "step"]
    >>> unlinked_collectives(rw.Kernels(names, [0] * 4, [1] * 4, category=[None, None, None, "all-gather"])).tolist()
    [True, True, False, True]
    """
    return frozen(collectives(kernels) & ~(kernels.network_bytes > 0))


def _matches(column: DictColumn, pattern: re.Pattern[str]) -> Bools:
    # Most tables have no collective. One search in all texts is much faster than a loop over 100,000 names.
    if not _may_match("\n".join(filter(None, column.values))):
        return np.zeros(len(column.codes), dtype=np.bool_)
    return column.where(lambda text: _may_match(text or "") and pattern.search(text or "") is not None)


def _may_match(text: str) -> bool:
    """Return whether a text contains one of the parts of which every text that a pattern matches contains one."""
    low = text.lower()
    return any(part in low for part in ("all", "reduce", "ccl", "collect", "commun", "deep_ep"))
