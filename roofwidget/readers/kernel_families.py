"""Families of kernels by the names that libraries give them: where the time goes, in a profile without operations."""

from __future__ import annotations

import re
from typing import Final

from roofwidget.kernels.collectives import LIBRARIES

_FAMILIES: Final = {
    "collective": rf"{LIBRARIES}|all_?reduce|all_?gather|reduce_?scatter",
    "attention": r"flash|fmha|attention|attn|sdpa",
    "convolution": r"conv(?!ert)|fprop|dgrad|wgrad|winograd",
    "matrix product": r"gemm|gemv|nvjet|cutlass|matmul|splitk|\bCijk_|(?<![a-z])mm(?![a-z])",
    "normalisation": r"norm(?!al)|\bbn_(?:fw|bw)",
    "softmax": r"softmax",
    "look-up": r"embedding|gather|scatter|index_?select|indexing",
    "element by element": r"element_?wise|pointwise|triton_poi|multi_tensor_apply",
}
_PATTERN: Final = re.compile(
    "|".join(f"(?P<f{number}>{pattern})" for number, pattern in enumerate(_FAMILIES.values())), re.IGNORECASE
)
_NAMES: Final = tuple(_FAMILIES)


def kernel_family(name: str) -> str | None:
    """Return the family of a kernel by the name of its function, None if the name tells none.

    The words are those that the reader of PyTorch's traces gives to operations. If a name has words of several
    families, the family that stands first in the table counts: a flash attention is made of matrix products.

    Examples
    --------
    >>> [kernel_family(name) for name in ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", "void flash_fwd_kernel<…>(…)")]
    ['matrix product', 'attention']
    >>> kernel_family("lulesh_update") is None
    True
    """
    found = {match.lastgroup for match in _PATTERN.finditer(name)}
    return next((family for number, family in enumerate(_NAMES) if f"f{number}" in found), None)
