"""Formats of quantised weights: the bits of an element with its scales, and how a configuration names them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final

from roofwidget.kernels.columns import is_whole
from roofwidget.support.did_you_mean import choose_from
from roofwidget.support.precisions import precision_key
from roofwidget.workloads.tensors import DTYPES

# The keys of the modules that are not quantised: of transformers, of compressed-tensors and of ModelOpt.
_KEPT: Final = ("modules_to_not_convert", "ignore", "exclude_modules")
UNQUANTISED_BITS: Final = 16
"""Bits of an element that a block format leaves as it is: embedding, logits, routers, norms and biases."""
WEIGHT_FORMATS: Final[Mapping[str, Fraction]] = MappingProxyType(
    {
        "mxfp4": 4 + Fraction(8, 32),
        "mxfp6": 6 + Fraction(8, 32),
        "mxfp8": 8 + Fraction(8, 32),
        "nvfp4": 4 + Fraction(8, 16),
        "int4-g128": 4 + Fraction(16, 128),
        "int4-g128-zero": 4 + Fraction(16 + 4, 128),
        "int4-g32": 4 + Fraction(16, 32),
        "fp8-128x128": 8 + Fraction(32, 128 * 128),
        "nf4": 4 + Fraction(32, 64),
        "nf4-double": 4 + Fraction(8, 64) + Fraction(32, 64 * 256),
    }
)
"""Bits of an element of a weight with its share of the scales, by format.

The formats ``mx…`` have 8 bits of scale for 32 elements (Open Compute Project, Microscaling Formats 1.0), and ``nvfp4``
for 16 elements. ``g128`` has a scale of 16 bits for 128 elements, and with ``zero`` a zero point (GPTQ, AWQ).
``128x128`` has a scale of 32 bits for a block (DeepSeek-V3), and ``nf4`` for 64 elements; ``double`` quantises these
scales to 8 bits (QLoRA). The scale of a whole tensor or of a row is not counted.
"""


@dataclass(frozen=True)
class WeightFormat:
    """How weights are stored.

    Parameters
    ----------
    name
        A name for texts, and for `weight_dtype`.
    bits
        Bits of an element, with its share of the scales.
    everywhere
        Whether all parameters have these bits; else the matrices of the layers but those of routers, and all other
        parameters have 16.
    """

    __module__ = "roofwidget.workloads"

    name: str
    bits: Fraction
    everywhere: bool = False


def weight_format(name: str, where: str) -> WeightFormat:
    """Return the format that a text names: one of `WEIGHT_FORMATS`, or a dtype, which all parameters have.

    Examples
    --------
    >>> weight_format("mxfp4", "weights").bits, weight_format("int4", "weights").everywhere
    (Fraction(17, 4), True)
    """
    if isinstance(name, str):
        if name.casefold() in WEIGHT_FORMATS:
            return WeightFormat(name.casefold(), WEIGHT_FORMATS[name.casefold()])
        if precision_key(name) in DTYPES:
            return WeightFormat(precision_key(name), Fraction(DTYPES[precision_key(name)]), everywhere=True)
    raise ValueError(f"{where}: unknown dtype {name!r:.40}{choose_from(name, [*DTYPES, *WEIGHT_FORMATS])}")


def published_format(config: Mapping[str, Any]) -> WeightFormat | None:
    """Return the format that a `quantization_config` describes, or None if its bits are not known.

    Examples
    --------
    >>> published_format({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True})
    WeightFormat(name='int4-g128-zero', bits=Fraction(133, 32), everywhere=False)
    """
    method = str(config.get("quant_method")).casefold()
    reader = _METHODS.get(method)
    return None if reader is None else reader(config)


def keeps_attention(config: Mapping[str, Any], layers: int) -> bool:
    """Return whether a `quantization_config` leaves the matrices of attention of all layers at 16 bits.

    Examples
    --------
    >>> keeps_attention({"modules_to_not_convert": ["model.layers.*.self_attn", "lm_head"]}, 36)
    True
    """
    kept = next((config[key] for key in _KEPT if config.get(key)), None)
    if not isinstance(kept, Sequence):
        # In transformers the method "mxfp4" converts the matrices of experts only.
        return config.get("quant_method") == "mxfp4"
    words = [str(word) for word in kept if "attn" in str(word)]
    numbers = {found.group(1) for word in words if (found := re.search(r"layers\.(\d+)\.", word))}
    return len(numbers) >= layers or any(not re.search(r"\d", word) for word in words)


def _gptq(config: Mapping[str, Any]) -> WeightFormat | None:
    return _grouped(config.get("bits"), config.get("group_size"), has_zero=not config.get("sym", True))


def _awq(config: Mapping[str, Any]) -> WeightFormat | None:
    return _grouped(config.get("bits"), config.get("group_size"), has_zero=bool(config.get("zero_point", True)))


def _fp8(config: Mapping[str, Any]) -> WeightFormat | None:
    block = config.get("weight_block_size")
    return WeightFormat("fp8-tensor", Fraction(8)) if block is None else _block(block)


def _modelopt(config: Mapping[str, Any]) -> WeightFormat | None:
    word = str(config.get("quant_algo")).casefold()
    return weight_format("nvfp4", "modelopt") if word == "nvfp4" else _fp8(config) if word == "fp8" else None


def _bitsandbytes(config: Mapping[str, Any]) -> WeightFormat | None:
    if config.get("load_in_8bit"):
        return WeightFormat("int8-row", Fraction(8))
    if config.get("bnb_4bit_quant_type") != "nf4":
        return None
    return weight_format("nf4-double" if config.get("bnb_4bit_use_double_quant") else "nf4", "bitsandbytes")


def _compressed(config: Mapping[str, Any]) -> WeightFormat | None:
    """Return the format of compressed-tensors, if all groups of modules have the same."""
    groups = config.get("config_groups")
    weights = [one.get("weights") for one in groups.values()] if isinstance(groups, Mapping) else []
    if len(weights) != 1 or not isinstance(weights[0], Mapping):
        return None
    one, name = weights[0], str(config.get("format"))
    if name.startswith(("nvfp4", "mxfp4")):
        return weight_format(name[:5], "compressed-tensors")
    if one.get("type") == "int":
        size = one.get("group_size") if one.get("strategy") == "group" else -1
        return _grouped(one.get("num_bits"), size, has_zero=not one.get("symmetric", True))
    if (one.get("type"), one.get("num_bits")) != ("float", 8):
        return None
    block = one.get("block_structure")
    return _fp8({"weight_block_size": block} if one.get("strategy") == "block" else {})


def _grouped(bits: Any, size: Any, *, has_zero: bool) -> WeightFormat | None:
    """Return a format of integers that has a scale of 16 bits for each group, and with `has_zero` a zero point."""
    if not is_whole(bits) or not is_whole(size) or not 1 <= bits <= UNQUANTISED_BITS:
        return None
    if size < 1:
        return WeightFormat(f"int{bits}-row", Fraction(bits))
    name = f"int{bits}-g{size}{'-zero' if has_zero else ''}"
    return WeightFormat(name, bits + Fraction(16 + (bits if has_zero else 0), size))


def _block(block: Any) -> WeightFormat | None:
    if not isinstance(block, Sequence) or not block or not all(is_whole(one) and one >= 1 for one in block):
        return None
    elements = math.prod(block)
    return WeightFormat(f"fp8-{'x'.join(map(str, block))}", 8 + Fraction(32, elements))


_METHODS: Final[Mapping[str, Callable[[Mapping[str, Any]], WeightFormat | None]]] = {
    "mxfp4": lambda _: weight_format("mxfp4", "mxfp4"),
    "fp8": _fp8,
    "gptq": _gptq,
    "awq": _awq,
    "compressed-tensors": _compressed,
    "bitsandbytes": _bitsandbytes,
    "modelopt": _modelopt,
}
