"""FLOPs of each launch by precision: instructions that threads executed, and the tensor cores' work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from roofwidget.kernels.columns import Floats, Texts, sum_of_known
from roofwidget.readers.ncu.evidence import Told, amount, cycles, first_known, whole
from roofwidget.readers.ncu.launches import Launches
from roofwidget.readers.ncu.paths import Mask
from roofwidget.readers.ncu.tensor import Tensor, tensor_flops

__all__ = ["HALF", "Counts", "counted"]

HALF: Final = "fp16_vector"
"""Half precision outside the tensor cores."""

_FAMILIES: Final = {"fp64": "d", "fp32": "f", HALF: "h"}


@dataclass(frozen=True, eq=False)
class Counts:
    """The FLOPs of each launch.

    Parameters
    ----------
    flops
        By precision, with the rule; NaN where there are none of it, and everywhere in a row whose sum is unknown.
    reasons
        Why a row's FLOPs are unknown, or None.
    tensor
        What is known of the tensor cores.
    missing
        Precisions that no counter of the file tells of, and operations such as ``fadd`` of which none does.
    """

    flops: Mapping[str, Told]
    reasons: Texts
    tensor: Tensor
    missing: Sequence[str]


def counted(launches: Launches, *, fp16_packed: bool = True) -> Counts:
    """Return FLOPs: add and mul count one, fma two, in half precision twice that where instructions are packed."""
    n = len(launches)
    words = {key: [f"{letter}{form}" for form in ("add", "mul", "fma")] for key, letter in _FAMILIES.items()}
    executed = {word: _executed(launches, word) for three in words.values() for word in three}
    families = {
        key: _family(three, executed, n, packed=2 if key == HALF and fp16_packed else 1) for key, three in words.items()
    }
    other_halves = sum_of_known([executed[word].values for word in ("hadd", "hmul")], n)
    tensor = tensor_flops(launches, executed["hfma"].values, other_halves)
    moved = tensor.moves | tensor.may_move
    families[HALF] = Told(np.where(moved, 0.0, families[HALF].values), families[HALF].rules)
    parts: dict[str, Told] = {**families, **tensor.flops}
    known = sum_of_known([told.values for told in parts.values()], n)
    is_zero_known = families["fp32"].is_known & (known == 0)
    is_known = ~tensor.is_unknown & ((known > 0) | is_zero_known)
    missing = [key for key, told in families.items() if not told.is_known.any()]
    partly = [word for key, three in words.items() if key not in missing for word in three]
    missing += [word for word in partly if not executed[word].is_known.any()]
    # A precision without FLOPs is none; a kernel without any has 0 of the most common one.
    flops = {key: told.where(is_known & (told.values > 0)) for key, told in parts.items()}
    flops["fp32"] = flops["fp32"].or_else(families["fp32"].where(is_known & is_zero_known))
    kept = {key: told for key, told in flops.items() if told.is_known.any()}
    return Counts(kept, _reasons(tensor, known, is_known), tensor, missing)


def _family(words: Sequence[str], executed: Mapping[str, Told], n: int, *, packed: int) -> Told:
    """Return the FLOPs of one precision outside the tensor cores."""
    weights = {word: packed * (2 if word.endswith("fma") else 1) for word in words}
    parts = {word: executed[word] for word in words}
    values = whole(sum_of_known([weights[word] * told.values for word, told in parts.items()], n))
    told = list(zip(*(part.rules for part in parts.values()), strict=True))
    texts = {rules: _rule(weights, rules) for rules in set(told)}
    rules = np.array([texts[row] for row in told], dtype=object)
    return Told(values, rules)


def _rule(weights: Mapping[str, int], told: Sequence[str | None]) -> str | None:
    """Say what was added up, of which metrics: ``fadd + fmul + 2 x ffma of smsp__…_op_*_pred_on.sum``."""
    known = {word: rule for word, rule in zip(weights, told, strict=True) if rule is not None}
    terms = " + ".join(f"{weights[word]} x {word}" if weights[word] != 1 else word for word in known)
    forms = dict.fromkeys(rule.replace(f"_{word}_", "_*_") for word, rule in known.items())
    return f"{terms} of {' and '.join(forms)}" if known else None


def _executed(launches: Launches, word: str) -> Told:
    """Return how often threads executed an operation such as ``ffma``."""
    metrics = [f"{unit}__sass_thread_inst_executed_op_{word}_pred_on" for unit in ("smsp", "sm")]
    told = amount(launches, metrics)
    for factor in (2, 4):
        # Of the sums that sections derive, only those of smsp are what was executed: those of sm are the peak.
        name = f"derived__{metrics[0]}_x{factor}"
        derived = whole(launches.metric(name) / factor * cycles(launches))
        rule = f"{name} / {factor} x cycles"
        told = told.or_else(first_known(len(derived), [(derived, rule)]))
    return told


def _reasons(tensor: Tensor, known: Floats, is_known: Mask) -> Texts:
    reasons = np.full(len(known), "unknown: the file has no counter of FLOPs", dtype=object)
    reasons[~np.isnan(known)] = "unknown: only some kinds of FLOPs were counted, all 0"
    reasons[tensor.all_zero] = "unknown: all counters of tensor cores are 0, which proves nothing on this chip"
    reasons[tensor.is_unknown & ~tensor.is_counted] = "unknown: the name tells of tensor cores, which were not counted"
    reasons[tensor.no_shape] = "unknown: tensor instructions were counted, but the name does not tell their shape"
    reasons[is_known] = None
    return reasons
