"""FLOPs of each launch by precision, from instruction counters, tensor core counters and the user."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from roofwidget import units
from roofwidget.kernels.columns import Bools, Floats, Texts, folded, sum_of_known
from roofwidget.readers.ncu.metrics import (
    Launches,
    Rule,
    Sourced,
    all_unknown,
    amount,
    count_of_rate,
    first_known,
    joined_rules,
    quotient,
    round_counts,
    rules_where,
)
from roofwidget.support.did_you_mean import listed, nearest
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.op import Op

# -- counters of arithmetic paths ----------------------------------------------------------------------------------


PATH_METRIC: Final = re.compile(
    r"(?P<base>sm__ops_path_tensor_(?:op_(?P<unit>[a-z0-9]+)_)?src_(?P<src>[a-z0-9_]+?)"
    r"(?:_dst_(?P<dst>[a-z0-9]+))?(?:_sparsity_(?P<sparsity>on|off))?)\.sum(?P<form>\..*)?"
)
_SPLITS: Final = ("unit", "dst", "sparsity")


@dataclass(frozen=True, eq=False)
class PathFlops:
    """FLOPs from the counters of arithmetic paths.

    Parameters
    ----------
    flops
        FLOPs by the type that is multiplied, NaN where there are none.
    total
        The sum over all types, shape (n,): 0 where all counters are 0, NaN where there is no counter.
    sparse
        A mask, shape (n,): true where some FLOPs were counted with structured sparsity.
    """

    flops: Mapping[str, Sourced]
    total: Floats
    sparse: Bools


def flops_by_path(launches: Launches) -> PathFlops:
    """Return the FLOPs of each launch by the type that its tensor cores multiply.

    A source type has a total counter, and partial counters that split the total in three ways: by sparsity, by result
    type and by unit (``op_hmma``). Any counter may be missing, and the unit counters are 0 on new chips. So the result
    is the largest of four numbers: the total, and for each way the sum of its partial counters.
    """
    n = len(launches)
    parts: dict[tuple[str, ...], Sourced] = {}
    sparse = np.zeros(n, dtype=np.bool_)
    # Sorted, because the order of metrics in a file may depend on the order of launches.
    bases = {found["base"]: found for found in map(PATH_METRIC.fullmatch, sorted(launches.metrics)) if found}
    for base, part in bases.items():
        sourced = amount(launches, [base])
        parts[tuple(part[word] or "" for word in ("src", *_SPLITS))] = sourced
        sparse |= (part["sparsity"] == "on") & (sourced.values > 0)
    for _ in _SPLITS:
        splits: dict[tuple[str, ...], dict[str, Sourced]] = {}
        for (*whole, kind), sourced in parts.items():
            splits.setdefault(tuple(whole), {})[kind] = sourced
        parts = {whole: _larger_of_whole_and_parts(split, n) for whole, split in splits.items()}
    by_source = {source: sourced for (source,), sourced in parts.items()}
    flops: dict[str, Sourced] = {}
    # Start with the counters of a single type. A counter that several types share is used only in launches where the
    # counters of the single types are 0.
    for source in sorted(by_source, key=lambda word: word.count("_")):
        sourced = by_source[source]
        types = source.split("_")
        own = [by_source[other].values for other in by_source if other != source and {*other.split("_")} < {*types}]
        used = sourced.where((sourced.values > 0) & ~(sum_of_known(own, n) > 0))
        flops[types[-1]] = flops[types[-1]].or_else(used) if types[-1] in flops else used
    used_values = [sourced.values for sourced in flops.values()]
    read = [sourced.values for sourced in by_source.values()]
    total = np.where(np.isnan(sum_of_known(read, n)), np.nan, np.nan_to_num(sum_of_known(used_values, n)))
    return PathFlops({key: sourced for key, sourced in flops.items() if sourced.is_known.any()}, total, sparse)


def _larger_of_whole_and_parts(parts: Mapping[str, Sourced], n: int) -> Sourced:
    """Return for each launch the larger of two numbers: the total (key ``""``), and the sum of all other keys."""
    whole = parts.get("", all_unknown(n))
    others = [sourced for key, sourced in parts.items() if key]
    summed = sum_of_known([sourced.values for sourced in others], n)
    is_more = summed > np.nan_to_num(whole.values, nan=-1)
    columns = (rules_where(sourced.values > 0, sourced.rules) for sourced in others)
    rules = np.array([joined_rules(row) for row in zip(*columns, strict=True)] or [None] * n, dtype=object)
    return Sourced(np.where(is_more, summed, whole.values), np.where(is_more, rules, whole.rules))


# -- matrix instructions in kernel names --------------------------------------------------------------------------

_INT: Final = r"(?:\(int\))?"
_PATTERNS: Final = (
    # cuBLAS, cuDNN, CUTLASS: s16816gemm, h884, i16832; the letter is the accumulator type.
    re.compile(r"(?<![A-Za-z0-9])(?P<kind>[shdi])(16|8)(8)(4|8|16|32|64)(?![0-9])"),
    # CUTLASS templates.
    re.compile(rf"\bMma<(?:\w+::)*GemmShape<{_INT}(\d{{1,3}}), ?{_INT}(\d{{1,3}}), ?{_INT}(\d{{1,3}})>"),
    re.compile(r"(?<![A-Za-z0-9])(?:tensor|SM[78]\d_)(\d{1,3})x(\d{1,3})x(\d{1,3})(?!\d)"),
    re.compile(r"(?<![A-Za-z0-9])m(\d{1,3})n(\d{1,3})k(\d{1,3})(?!\d)"),
)
_SHAPES: Final = frozenset({(8, 8, 4), (8, 8, 16), (8, 8, 32), *((16, 8, k) for k in (4, 8, 16, 32, 64))})
_KINDS: Final = {"d": "fp64", "h": "fp16"}
_TYPES: Final = (
    ("bf16", re.compile(r"bf16|bfloat16", re.IGNORECASE)),
    ("tf32", re.compile(r"tf32|tfloat32", re.IGNORECASE)),
    ("fp16", re.compile(r"fp16|(?<!b)f16|half", re.IGNORECASE)),
    ("fp64", re.compile(r"fp64|f64|double", re.IGNORECASE)),
    ("int8", re.compile(r"int8|\b[su]8\b|_[su]8", re.IGNORECASE)),
)
_MAX_OPERAND_CHARS: Final = 160
# Does not match inside words such as "gemma" and "lgamma". CUTLASS also calls scalar products Mma, with the shape
# 1x1x1.
_MMA: Final = rf"(?<![a-z])(?:wg|[bdghiqw])?mma(?![a-z])(?!<(?:\w+::)*GemmShape<{_INT}1,)|(?:Collective|Tiled|TmaG)mma"
_TENSOR_NAME: Final = re.compile(
    rf"tensorop|nvjet|{_MMA}|xmma|tcgen05|fmha|flash_|SM(?:8|9|10|12)\d_\d+x\d+x\d+", re.IGNORECASE
)
# Libraries with tensor kernels also have kernels of scalar instructions. The name of a scalar kernel contains its
# instruction, such as "_ffma", or "simt".
_SCALAR_NAME: Final = re.compile(r"_[fd]fma(?![a-z])|simt", re.IGNORECASE)


@dataclass(frozen=True)
class MmaShape:
    """A matrix instruction of the tensor pipe: one M x N x K product, 2MNK FLOPs.

    Parameters
    ----------
    text
        The shape as written in names: ``16816``.
    flops
        FLOPs (or integer operations) of one instruction.
    precision
        The type that is multiplied, or ``""`` if the name does not contain the type.
    """

    text: str
    flops: int
    precision: str


@functools.lru_cache(maxsize=4096)
def mma_shape(name: str) -> MmaShape | None:
    """Return the matrix instruction in a kernel's name, or None.

    Examples
    --------
    >>> mma_shape("ampere_s16816gemm_fp16_256x128_ldg8_stages_64x3_nn")
    MmaShape(text='16816', flops=4096, precision='fp16')
    >>> mma_shape("volta_h884gemm_128x64_nt").flops, mma_shape("volta_sgemm_32x128_nn")
    (512, None)
    """
    for pattern in _PATTERNS:
        for found in pattern.finditer(name):
            *_, m, n, k = found.groups()
            sides = (int(m), int(n), int(k))
            if sides in _SHAPES:
                kind = found.groupdict().get("kind")
                return MmaShape(
                    "".join(map(str, sides)),
                    2 * sides[0] * sides[1] * sides[2],
                    _mma_precision(name, found.end(), kind),
                )
    return None


def is_tensor_name(name: str) -> bool:
    """Whether a kernel's name indicates that the kernel uses tensor cores.

    Examples
    --------
    >>> is_tensor_name("nvjet_sm100_tst_128x256_64x6_2x1_2cta_v_bz_TNT"), is_tensor_name("ampere_sgemm_128x64_nn")
    (True, False)
    """
    return mma_shape(name) is not None or (_TENSOR_NAME.search(name) is not None and _SCALAR_NAME.search(name) is None)


def _mma_precision(name: str, end: int, kind: str | None) -> str:
    """Return the type that is multiplied. If the text after the shape has no type, search the whole name."""
    if kind in _KINDS:
        return _KINDS[kind]
    if kind == "i":
        return "int4" if name[:end].endswith("64") else "int8"
    for text in (name[end : end + _MAX_OPERAND_CHARS], name):
        for precision, pattern in _TYPES:
            if pattern.search(text):
                return precision
    return ""


# -- tensor cores --------------------------------------------------------------------------------------------------

_VOLTA: Final = 7.0
_GA100: Final = 8.0
_HOPPER: Final = 9.0
_WARP: Final = 32
_VOLTA_SHAPE: Final = MmaShape("884", 512, "fp16")
# Counters of instructions: of a subpipe such as hmma, of an operation, or of an operation within a subpipe.
_PIPE: Final = re.compile(
    r"(?P<base>(?P<unit>sm|smsp)__inst_executed_pipe_tensor(?:_subpipe_[a-z0-9]+)?(?:_op_[a-z0-9]+)?)\.sum(?:\..*)?"
)
# Whatever is above 0 if a tensor pipe worked: instructions, active cycles, and shares of their peaks. The peak itself
# and register moves prove nothing.
_ACTIVITY: Final = re.compile(
    r"(?:sm|smsp)__(?:inst_executed_pipe_(?:tensor|tc|fp64_op_dmma)(?!\w*_type_hfma2)\w*"
    r"|pipe_(?:tensor|tc)\w*cycles_active)\.(?:sum|avg)(?!\.peak_sustained)(?:\..*)?"
)
# Hopper runs HFMA2.MMA, which is packed half-precision arithmetic or a register move of threads, on the tensor pipe.
# These metrics have it; the pipe's other metrics do not.
_HMMA_ACTIVITY: Final = re.compile(r"\w*(?:_pipe_tensor(?:_op_hmma)?(?:_cycles_active)?|_type_hmma_\w*)\..*")
_HMMA_PATH: Final = re.compile(r"sm__ops_path_tensor_op_hmma_\w+\.sum")
_WARPGROUP: Final = re.compile(r"(?:sm|smsp)__inst_executed_pipe_tensor_op_gmma\..*")
# All that Hopper's tensor cores multiply; ``op_hgmma`` are instructions of warp groups.
_HOPPER_PATHS: Final = tuple(
    re.compile(rf"sm__ops_path_tensor_{path}\w*\.sum")
    for path in (
        "op_hmma",
        "op_hgmma",
        "src_int1",
        "src_int8",
        "src_fp8",
        "src_fp16",
        "src_bf16",
        "src_tf32",
        "src_fp64",
    )
)
_PIPE_BUSY: Final = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"
_FMA_PIPE_HALVES: Final = re.compile(
    r"(?:sm|smsp)__inst_executed_pipe_fma_type_fp16\.(?:sum|avg)(?!\.peak_sustained)(?:\..*)?"
)
# Instructions of the new tensor cores are in the counters of a whole pipe or subpipe, but not in those of the older
# operations.
_WHOLE_PIPE: Final = re.compile(r"(?:sm|smsp)__(?:inst_executed_)?pipe_tensor(?!\w*_op_)\w*\..*")


@dataclass(frozen=True, eq=False)
class TensorWork:
    """The tensor cores' work. Every mask has shape (n,).

    Parameters
    ----------
    flops
        FLOPs by precision, NaN where there are none; ``""`` is for FLOPs of unknown precision.
    is_unknown
        Bools: true where tensor cores did work that no counter has, certainly or probably.
    is_counted
        Bools: true where some counter of the tensor cores exists.
    is_active
        Bools: true where a tensor pipe worked, but its FLOPs were not counted.
    all_zero
        Bools: true where all counters of the tensor cores are 0, on a chip whose counters are 0 even if tensor cores
        worked.
    moves
        Bools: true where the tensor pipe only moved registers.
    may_move
        Bools: true where the counted hfma may be register moves, and no other half-precision arithmetic was counted. On
        A100 this is so if the tensor pipe has no counter, on H100 unless some hfma ran on the fma pipe.
    no_shape
        Bools: true where instructions were counted, but the kernel's name does not have their shape.
    sparse
        Bools: true where some work used structured sparsity.
    """

    flops: Mapping[str, Sourced]
    is_unknown: Bools
    is_counted: Bools
    is_active: Bools
    all_zero: Bools
    moves: Bools
    may_move: Bools
    no_shape: Bools
    sparse: Bools


def tensor_flops(launches: Launches, hfma: Floats, other_halves: Floats) -> TensorWork:
    """Return the tensor cores' FLOPs of each launch.

    Parameters
    ----------
    launches
        The launches.
    hfma
        Half-precision fused multiply-adds of threads, shape (n,); NaN where not counted.
    other_halves
        Half-precision additions and products of threads, shape (n,); NaN where not counted.
    """
    capability = launches.capability
    # From Hopper on, an instruction may have many shapes, and some counters miss the new instructions.
    is_new = capability >= _HOPPER
    paths = flops_by_path(launches)
    instructions = _instructions(launches)
    # GA100 runs HFMA2.MMA, a register move, on the tensor pipe. The counter of hfma counts each of these moves as
    # an hfma of 32 threads.
    moved = np.isclose(hfma, _WARP * instructions.values, rtol=1e-6, atol=0)
    is_ga100 = capability == _GA100
    says = {name: is_tensor_name(name) for name in set(launches.names)}
    named = np.array([says[name] for name in launches.names], dtype=np.bool_)
    halves_only = _runs_only_halves(launches, hfma, named)
    on_fma_pipe = _most(launches, _FMA_PIPE_HALVES)
    is_lone = ~(other_halves > 0)
    moves = (is_ga100 & (instructions.values > 0) & moved) | (halves_only & is_lone & (on_fma_pipe == 0))
    # Compilers run half of the arithmetic on the fma pipe, and no move: a quarter leaves room for rounding.
    all_on_tensor_pipe = np.isnan(on_fma_pipe) & ~(_share_on_fma_pipe(launches, hfma) > 0.25)  # noqa: PLR2004
    may_move = is_lone & ((is_ga100 & np.isnan(instructions.values) & (hfma > 0)) | (halves_only & all_on_tensor_pipe))
    executed = np.where(moves, 0, instructions.values)
    is_told = paths.total > 0
    estimated, no_shape = _by_shape(
        launches, Sourced(executed, instructions.rules), (executed > 0) & ~is_told & ~is_new
    )

    is_counted = ~np.isnan(paths.total) | ~np.isnan(executed)
    # The pipe of GA100 is active for register moves too, so there the name decides.
    is_seen = (_most(launches, _ACTIVITY) > 0) & (is_new | (np.isnan(executed) & (~is_ga100 | named))) & ~halves_only
    is_active = ~is_told & is_seen
    all_zero = is_new & is_counted & ~is_told & ~is_seen & ~halves_only & ~_is_idle(launches)
    is_unknown = no_shape | is_active | (all_zero & named) | (~is_counted & named)
    flops = {**estimated, **paths.flops}
    for key in estimated.keys() & paths.flops.keys():
        flops[key] = paths.flops[key].or_else(estimated[key])
    return TensorWork(flops, is_unknown, is_counted, is_active, all_zero, moves, may_move, no_shape, paths.sparse)


def _instructions(launches: Launches) -> Sourced:
    """Return the instructions that the tensor pipe executed for matrix products."""
    n = len(launches)
    sourced = amount(launches, ["sm__inst_executed_pipe_tensor", "smsp__inst_executed_pipe_tensor"])
    for unit in ("sm", "smsp"):
        bases = _disjoint_counters(launches, unit)
        summed = sum_of_known([amount(launches, [base]).values for base in bases], n)
        sourced = sourced.or_else(first_known(n, [(summed, Rule(" + ".join(f"{base}.sum" for base in bases)))]))
    never = np.where(_most(launches, _ACTIVITY) == 0, 0.0, np.nan)
    sourced = sourced.or_else(first_known(n, [(never, Rule("pipe never active"))]))
    moves = amount(launches, [f"{unit}__inst_executed_pipe_tensor_op_hmma_type_hfma2" for unit in ("sm", "smsp")])
    return Sourced(np.maximum(sourced.values - np.nan_to_num(moves.values), 0), sourced.rules)


def _disjoint_counters(launches: Launches, unit: str) -> list[str]:
    """Return the counters of instructions of a unit that no other of its counters includes, sorted."""
    found = [match for match in map(_PIPE.fullmatch, launches.metrics) if match and match["unit"] == unit]
    bases = sorted({match["base"] for match in found})
    return [base for base in bases if not any(base.startswith(f"{other}_") for other in bases)]


def tensor_activity(launches: Launches) -> dict[str, Floats]:
    """Return the metrics that are above 0 where a tensor pipe worked, sorted by name."""
    return {name: launches.metrics[name] for name in sorted(launches.metrics) if _ACTIVITY.fullmatch(name)}


def _most(launches: Launches, pattern: re.Pattern[str]) -> Floats:
    """Return the largest of the metrics with such a name, shape (n,): NaN where all are unknown."""
    columns = [column for name, column in launches.metrics.items() if pattern.fullmatch(name)]
    return np.fmax.reduce(columns) if columns else np.full(len(launches), np.nan)


def _runs_only_halves(launches: Launches, hfma: Floats, named: Bools) -> Bools:
    """Return a mask, shape (n,): true where threads' half-precision instructions alone kept Hopper's tensor pipe busy.

    Of a matrix product either the FLOPs of the hmma paths are above 0, or instructions of warp groups (gmma), or the
    activity of another operation. Without a counter of instructions of warp groups the FLOPs of all paths must be there
    and 0, and the name of the kernel (`named`) must not indicate tensor cores.
    """
    others = [column for name, column in tensor_activity(launches).items() if not _HMMA_ACTIVITY.fullmatch(name)]
    is_other: Bools = np.fmax.reduce([np.zeros(len(launches)), *others]) > 0
    no_product = (_most(launches, _HMMA_PATH) == 0) & (_most(launches, _WARPGROUP) == 0)
    paths = np.array([_most(launches, path) for path in _HOPPER_PATHS])
    no_product |= (paths == 0).all(axis=0) & ~(_most(launches, _WARPGROUP) > 0) & ~named
    is_busy = (_most(launches, _ACTIVITY) > 0) & ~is_other
    halves: Bools = (launches.capability == _HOPPER) & (hfma > 0) & is_busy & no_product
    return halves


def _share_on_fma_pipe(launches: Launches, hfma: Floats) -> Floats:
    """Return the part of Hopper's hfma that the tensor pipe's active cycles leave to the fma pipe, shape (n,).

    An hfma of a warp keeps the tensor pipe of one scheduler active for two cycles.
    """
    units = ("multiprocessor_count", "num_schedulers_per_multiprocessor")
    pipes = np.prod([launches.metric(f"device__attribute_{unit}") for unit in units], axis=0)
    busy = launches.metric(_PIPE_BUSY) / 100 * launches.cycles * pipes
    return 1 - quotient(busy / 2, hfma / _WARP)


def _is_idle(launches: Launches) -> Bools:
    """Return a mask, shape (n,): true where the tensor pipe certainly did nothing.

    A zero is certain if the counter has the instructions of new tensor cores, and counts for another launch of the same
    compute capability: then it counts on this chip.
    """
    capability = np.nan_to_num(launches.capability)
    idle = np.zeros(len(launches), dtype=np.bool_)
    for name, column in tensor_activity(launches).items():
        if _WHOLE_PIPE.fullmatch(name):
            idle |= (column == 0) & np.isin(capability, capability[column > 0])
    return idle


def _by_shape(launches: Launches, instructions: Sourced, wanted: Bools) -> tuple[dict[str, Sourced], Bools]:
    """Return FLOPs by precision (instructions x FLOPs of their shape), and a mask: true where the name has no shape."""
    n = len(launches)
    flops: dict[str, Sourced] = {}
    no_shape = np.zeros(n, dtype=np.bool_)
    is_volta = launches.capability == _VOLTA
    for row in np.flatnonzero(wanted).tolist():
        shape = mma_shape(launches.names[row])
        where = "in the kernel's name"
        if shape is None and is_volta[row]:
            shape, where = _VOLTA_SHAPE, "the only one of this chip"
        if shape is None:
            no_shape[row] = True
            continue
        sourced = flops.setdefault(shape.precision, all_unknown(n))
        sourced.values[row] = instructions.values[row] * shape.flops
        text = f"{instructions.rules[row]} x {shape.flops} ({shape.text} shape {where})"
        sourced.rules[row] = Rule(text, is_estimate=True)
    return flops, no_shape


# -- all units -----------------------------------------------------------------------------------------------------

FP16_VECTOR: Final = "fp16_vector"
"""The key for half precision outside the tensor cores."""

INTEGER: Final = "int32"
"""The key for operations of integers outside the tensor cores. The counter does not tell their widths."""

_VECTOR_PRECISIONS: Final = {"fp64": "d", "fp32": "f", FP16_VECTOR: "h"}


@dataclass(frozen=True, eq=False)
class FlopCounts:
    """The FLOPs of each launch.

    Parameters
    ----------
    flops
        FLOPs by precision, with the rule; NaN where there are none, and in rows whose sum is unknown.
    reasons
        For each row, why its FLOPs are unknown; None if they are known.
    tensor
        The work of the tensor cores.
    missing
        Precisions without any counter in the file, and operations such as ``fadd`` without a counter.
    """

    flops: Mapping[str, Sourced]
    reasons: Texts
    tensor: TensorWork
    missing: Sequence[str]


def integer_operations(launches: Launches) -> Sourced:
    """Return operations of integers outside the tensor cores: one for each instruction of a thread."""
    return _executed(launches, "integer", shown="integer")


def count_flops(launches: Launches, *, fp16_packed: bool = True, integers: bool = False) -> FlopCounts:
    """Return FLOPs. An add or mul counts 1, an fma counts 2, and packed half-precision instructions count twice.

    With `integers`, operations of integers outside the tensor cores are counted too.
    """
    n = len(launches)
    words = {key: [f"{letter}{form}" for form in ("add", "mul", "fma")] for key, letter in _VECTOR_PRECISIONS.items()}
    executed = {word: _executed(launches, word, shown="*") for three in words.values() for word in three}
    families = {
        key: _vector_flops(three, executed, n, packed=2 if key == FP16_VECTOR and fp16_packed else 1)
        for key, three in words.items()
    }
    other_halves = sum_of_known([executed[word].values for word in ("hadd", "hmul")], n)
    tensor = tensor_flops(launches, executed["hfma"].values, other_halves)
    moved = tensor.moves | tensor.may_move
    families[FP16_VECTOR] = Sourced(np.where(moved, 0.0, families[FP16_VECTOR].values), families[FP16_VECTOR].rules)
    parts: dict[str, Sourced] = {**families, **tensor.flops}
    if integers:
        parts[INTEGER] = integer_operations(launches)
    known = sum_of_known([sourced.values for sourced in parts.values()], n)
    is_zero_known = families["fp32"].is_known & (known == 0)
    is_known = ~tensor.is_unknown & ((known > 0) | is_zero_known)
    missing = [key for key, sourced in families.items() if not sourced.is_known.any()]
    partly = [word for key, three in words.items() if key not in missing for word in three]
    missing += [word for word in partly if not executed[word].is_known.any()]
    # Only precisions with FLOPs are kept; a kernel without FLOPs gets 0 FLOPs in fp32.
    flops = {key: sourced.where(is_known & (sourced.values > 0)) for key, sourced in parts.items()}
    flops["fp32"] = flops["fp32"].or_else(families["fp32"].where(is_known & is_zero_known))
    known_flops = {key: sourced for key, sourced in flops.items() if sourced.is_known.any()}
    return FlopCounts(known_flops, _reasons(tensor, known, is_known), tensor, missing)


def _vector_flops(words: Sequence[str], executed: Mapping[str, Sourced], n: int, *, packed: int) -> Sourced:
    """Return the FLOPs of one precision outside the tensor cores."""
    weights = {word: packed * (2 if word.endswith("fma") else 1) for word in words}
    parts = {word: executed[word] for word in words}
    values = round_counts(sum_of_known([weights[word] * sourced.values for word, sourced in parts.items()], n))
    rule_rows = list(zip(*(part.rules for part in parts.values()), strict=True))
    texts = {rules: _vector_rule(weights, rules) for rules in set(rule_rows)}
    rules = np.array([texts[row] for row in rule_rows], dtype=object)
    return Sourced(values, rules)


def _vector_rule(weights: Mapping[str, int], rules: Sequence[Rule | None]) -> Rule | None:
    """Return the rule of a sum, such as ``fadd + fmul + 2 x ffma of smsp__…_op_*_pred_on.sum``."""
    known = {word: rule for word, rule in zip(weights, rules, strict=True) if rule is not None}
    terms = " + ".join(f"{weights[word]} x {word}" if weights[word] != 1 else word for word in known)
    return Rule(f"{terms} of {' and '.join(dict.fromkeys(map(str, known.values())))}") if known else None


def _executed(launches: Launches, word: str, *, shown: str) -> Sourced:
    """Return how often threads executed an operation such as ``ffma``; `shown` replaces the word in rules."""
    units = ("smsp", "sm")
    metrics, texts = (
        [f"{unit}__sass_thread_inst_executed_op_{each}_pred_on" for unit in units] for each in (word, shown)
    )
    sourced = amount(launches, metrics, shown=dict(zip(metrics, texts, strict=True)))
    for factor in (2, 4):
        # Use the counters of smsp: derived sums of smsp count executed instructions, but derived sums of sm are peaks.
        derived = count_of_rate(launches.metric(f"derived__{metrics[0]}_x{factor}") / factor, launches.cycles)
        rule = Rule(f"derived__{texts[0]}_x{factor} / {factor} x cycles")
        sourced = sourced.or_else(first_known(len(derived), [(derived, rule)]))
    return sourced


def _reasons(tensor: TensorWork, known: Floats, is_known: Bools) -> Texts:
    reasons = np.full(len(known), "unknown: the file has no counter of FLOPs", dtype=object)
    reasons[tensor.is_counted] = "unknown: tensor cores were counted, but not the other units"
    reasons[~np.isnan(known)] = "unknown: only some kinds of FLOPs were counted, all 0"
    reasons[tensor.all_zero] = "unknown: all counters of tensor cores are 0, which proves nothing on this chip"
    reasons[tensor.is_unknown & ~tensor.is_counted] = "unknown: the name indicates tensor cores, which were not counted"
    reasons[tensor.is_active] = "unknown: a tensor pipe was active, but its FLOPs were not counted"
    reasons[tensor.no_shape] = "unknown: tensor instructions were counted, but the name does not have their shape"
    reasons[is_known] = None
    return reasons


# -- FLOPs that the user gives by kernel name ----------------------------------------------------------------------

GivenFlops: TypeAlias = Mapping[str, "float | str | Mapping[str, float | str] | Op"]
"""FLOPs of one launch, by a regular expression that is searched for in kernel names."""

_MAX_NAME_CHARS: Final = 60


def match_given(
    given: GivenFlops, names: list[str], is_unknown: Bools
) -> tuple[dict[int, tuple[dict[str, float], str | None, str]], list[str]]:
    """Return the FLOPs that the user gives, by row, and warnings.

    For each row whose name matches a pattern, the result has the FLOPs by precision, the kernel's precision, and the
    rule. If several patterns match a name, the first pattern counts.

    Raises
    ------
    ValueError
        If a pattern is not a regular expression or matches no name (the message has similar names), or a number is
        invalid.
    TypeError
        If `given` is not a mapping, or a value is not a number, text, a mapping by precision or an `Op`.
    """
    if not isinstance(given, Mapping):
        raise TypeError(f"flops must map patterns of kernels' names to FLOPs of one launch, got {type(given).__name__}")
    found: dict[int, tuple[dict[str, float], str | None, str]] = {}
    messages: list[str] = []
    for pattern, value in given.items():
        test = _compiled(pattern)
        rows = [row for row, name in enumerate(names) if test.search(name)]
        if not rows:
            close = nearest(pattern, names) or list(dict.fromkeys(names))
            shown = listed(name[:_MAX_NAME_CHARS] for name in close[:3])
            raise ValueError(f"flops: no kernel's name contains '{pattern}'; there are {shown}")
        flops, precision = _of_launch(value, pattern)
        open_rows = [row for row in rows if is_unknown[row]]
        if not open_rows:
            messages.append(
                f"flops: '{pattern}' has no effect, because counters give the FLOPs of all its {len(rows)} launches"
            )
        for row in open_rows:
            found.setdefault(row, (flops, precision, f"given for names that contain '{pattern}'"))
    return found, messages


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, TypeError) as error:
        raise ValueError(f"flops: {pattern!r:.60} is not a regular expression: {error}") from None


def _of_launch(value: Any, pattern: str) -> tuple[dict[str, float], str | None]:
    """Return the FLOPs of one launch by precision (for an `Op`: by class), and the kernel's precision."""
    what = f"flops['{pattern}']"
    if isinstance(value, Op):
        kernel = Graph(value.name, [value], value.outputs).kernels()[0]
        flops = kernel.flops
        return dict(flops) if isinstance(flops, Mapping) else {"": float(flops or 0.0)}, kernel.precision
    if isinstance(value, Mapping):
        if not value:
            raise ValueError(f"{what} is empty; give FLOPs by precision, such as {{'bf16': 1e12}}")
        parts = {folded(key): _number(number, f"{what}['{key}']") for key, number in value.items()}
        return parts, max(parts, key=lambda key: parts[key]) or None
    if callable(value) or isinstance(value, (bool, np.bool_)):
        raise TypeError(
            f"{what} must be a number, text such as '155 GFLOP', a mapping by precision or an Op, got {value!r:.40}"
        )
    return {"": _number(value, what)}, None


def _number(value: object, what: str) -> float:
    return units.finite(units.parse(value, "FLOP", what), what)
