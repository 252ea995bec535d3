"""Draw random models: chips, kernels, what-ifs, memory, precision, communication, overhead, filters and graphs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, TypeVar

import roofwidget as rw
from roofwidget import workloads
from roofwidget.analysis.bound_lenient import bound_lenient

if TYPE_CHECKING:
    from random import Random

NAN: Final = math.nan
PRECISIONS: Final = ("fp64", "fp32", "bf16", "fp8", "bf16_vector", "transcendental", "matmul")
LEVELS: Final = ("HBM", "L2", "L1", "VMEM read")
NAMES: Final = ("matmul", "gelu", "copy", "fusion.1", "fusion.12", "all-reduce", " softmax ", "void k<float>(int)", "")
CATEGORIES: Final = ("gemm", "Loop Fusion", "infeed", "", None)
CATALOGUE: Final = tuple(chip.id for chip in rw.chips())


def _around(rng: Random, value: float, decades: float = 2.0) -> float:
    """Return a number of this size: sometimes round, sometimes with all its digits."""
    drawn = value * 10 ** rng.uniform(-decades, decades)
    return float(f"{drawn:.{rng.choice((0, 1, 2))}e}") if rng.random() < 0.6 else drawn


def _some(rng: Random, values: Any, least: int = 0) -> list[Any]:
    """Return some of the values, in their order."""
    count = rng.randint(least, len(values))
    return [values[index] for index in sorted(rng.sample(range(len(values)), count))]


def chip(rng: Random, index: int) -> rw.Chip:
    """Return a chip of the catalogue, or one that no maker sells."""
    if rng.random() < 0.3:
        return rw.chip(rng.choice(CATALOGUE))
    peaks = {name: _around(rng, 1e14) for name in _some(rng, PRECISIONS[:4], 1) + _some(rng, PRECISIONS[4:])}
    main = rng.choice(("HBM", "HBM3", "DRAM", "GDDR6"))
    memories: dict[str, Any] = {main: _around(rng, 1e12)}
    for level in _some(rng, LEVELS[1:]):
        memories[level] = None if rng.random() < 0.2 else _around(rng, 1e13)
    links = rng.choice(({}, {"NVLink": _around(rng, 1e11)}, {"PCIe": _around(rng, 1e10)}))
    ceilings = [
        rw.Ceiling("no FMA", _around(rng, 1e13)),
        rw.Ceiling("STREAM", _around(rng, 5e11), memory=main, measured=True),
        rw.Ceiling("dense", _around(rng, 1e13), precision=next(iter(peaks))),
    ]
    return rw.Chip(
        f"{rng.choice(('Made', 'Ridge X100', 'Chip (SXM)'))} {index}",
        peaks,
        memories,
        id=f"chip-{index}",
        links=links,
        default_precision=rng.choice(list(peaks)) if rng.random() < 0.5 else None,
        ceilings=_some(rng, ceilings),
        clock=rng.choice((None, 1.5e9)),
    )


def _column(rng: Random, n: int, size: float, unknown: float) -> list[float]:
    kinds = (1 - unknown - 0.1, 0.1, unknown)
    return [rng.choices((_around(rng, size), 0.0, NAN), kinds)[0] for _ in range(n)]


def kernels(rng: Random, chips: list[rw.Chip], *, exposed: bool) -> rw.Kernels:
    """Return a table of up to eight kernels, measured and not, of which much may be unknown."""
    n = rng.choice((0, 1, 1, 2, 3, 5, 8))
    unknown = rng.choice((0.0, 0.0, 0.15))
    levels = ["main"] if rng.random() < 0.5 else _some(rng, ("main", *LEVELS, "DRAM", "MALL"), 1)
    if not exposed and rng.random() < 0.2:
        levels.append(rng.choice(("network", "Network")))
    moved = {level: _column(rng, n, 1e9, unknown) for level in dict.fromkeys(levels)}
    keys = [""] if rng.random() < 0.6 else _some(rng, ("", *PRECISIONS, "vector"), 1)
    flops = {key: _column(rng, n, 1e11, unknown) for key in keys}
    precisions = (None, None, *rng.choice(chips).peak_flops, "fp16")
    own = [rng.choice(precisions) for _ in range(n)]
    if rng.random() < 0.3:
        own = [next(iter(chips[0].peak_flops))] * n
    table = rw.Kernels(
        [rng.choice(NAMES) for _ in range(n)],
        flops,
        moved,
        precision=own,
        category=[rng.choice(CATEGORIES) for _ in range(n)],
        count=[rng.choice((1, 1, 1, 7, 4096)) for _ in range(n)],
        chip=rng.choice((None, None, *chips, chip(rng, 9))),
        extra={"Rank": [float(row) for row in range(n)], "input shapes": [None] * n} if rng.random() < 0.2 else None,
    )
    timed = table.replace(**_times(rng, table, rng.choice(chips)))
    return _by_ratios(rng, timed) if rng.random() < 0.25 else timed


def _by_ratios(rng: Random, table: rw.Kernels) -> rw.Kernels:
    """Return the table with intensities and rates in place of the amounts of some rows, or of a part of the amounts."""
    n = len(table)

    def blank(column: Any, share: float) -> list[float]:
        return [NAN if by_ratios[row] and rng.random() < share else column[row] for row in range(n)]

    by_ratios = [rng.random() < 0.7 for _ in range(n)]
    is_timed = rng.random() < 0.2
    return table.replace(
        flops={key: blank(column, 1.0) for key, column in table.flops_by_precision.items()},
        bytes={level: blank(column, 0.9) for level, column in table.bytes_by_level.items()},
        time=table.time if is_timed else blank(table.time, 1.0),
        self_time=blank(table.self_time, 1.0) if table.has_self_time and not is_timed else None,
        intensity=_column(rng, n, 30, 0.15),
        rate=_column(rng, n, 1e13, 0.15),
    )


def _times(rng: Random, table: rw.Kernels, on: rw.Chip) -> dict[str, Any]:
    """Return times near the roof of a chip, above it too, at 100 % of it, or far from it; some are unknown."""
    try:
        bounds = bound_lenient(table, on).time.tolist()
    except rw.MissingFigureError:
        bounds = [NAN] * len(table)
    how = rng.choice(("none", "some", "all", "all", "all"))
    shares = (1.0, 0.9951, 1.002, 0.5, 0.123456, 12.34, 1e-4, 0.999, rng.random(), 3 * rng.random())
    times = []
    for bound in bounds:
        share = rng.choice(shares)
        time = bound / share if bound > 0 and math.isfinite(bound) else _around(rng, 1e-4)
        is_measured = how == "all" or (how == "some" and rng.random() < 0.6)
        times.append((0.0 if rng.random() < 0.02 else time) if is_measured else NAN)
    if rng.random() < 0.7:
        return {"time": times}
    return {"time": times, "self_time": [time * rng.choice((1.0, 0.5, 0.1)) for time in times]}


def _graph(rng: Random) -> rw.Graph:
    batch, size = rw.dim("batch", 1, 512, default=8), rw.dim("n", 16, 8192, default=512)
    convention = rng.choice(tuple(workloads.CONVENTIONS))
    dtype = rng.choice(("bf16", "fp32", "fp8"))
    if rng.random() < 0.5:
        ops = [(name, rng.choice((1, 2, 8))) for name in _some(rng, ("gelu", "relu", "add", "dropout", "scale"), 1)]
        return rw.chain(ops, elements=batch * size, dtype=dtype, convention=convention)
    return workloads.transformer_block(
        batch,
        rw.dim("seq", 1, 4096, default=128),
        rng.choice((256, 512)),
        8,
        dtype=dtype,
        convention=convention,
        phase=rng.choice(("prefill", "decode")),
        attention=rng.choice(("fused", "unfused")),
    )


def _what_if(rng: Random, model: rw.RooflineModel) -> None:
    for one in model.chips:
        if rng.random() < 0.4:
            precision = rng.choice(list(one.peak_flops))
            model.set_what_if(one.id, peak_flops=one.peak(precision) * _around(rng, 1.0, 1.0), precision=precision)
        known = [level for level, memory in one.memories.items() if memory.bandwidth is not None]
        if known and rng.random() < 0.4:
            level = rng.choice(known)
            model.set_what_if(one.id, bandwidth=one.bandwidth(level) * _around(rng, 1.0, 1.0), memory=level)


def _filters(rng: Random, table: rw.Kernels) -> dict[str, Any]:
    n = len(table)
    drawn = {
        "search": rng.choice(("", "fusion", "FUS*2", "e l", "zzz")),
        "categories": rng.choice((None, _some(rng, ["gemm", "Loop Fusion", "infeed", ""]))),
        "precisions": rng.choice((None, _some(rng, ["bf16", "fp32", ""]))),
        "bounds": rng.choice((None, _some(rng, ["compute", "network", "overhead", "unknown"]))),
        "time_share": rng.choice((1.0, 0.9, rng.uniform(0.01, 1))),
        "top": rng.choice((1000, None, rng.randint(1, max(1, n)))),
        "infeed": rng.random() < 0.8,
    }
    return dict(_some(rng, list(drawn.items())))


M = TypeVar("M", bound=rw.RooflineModel)


def model(rng: Random, kind: type[M]) -> M:
    """Return a random model. The same random numbers give the same model."""
    chips = list({one.id: one for one in (chip(rng, index) for index in range(rng.randint(1, 3)))}.values())
    exposed = rng.choice((0.0, 0.0, 0.0, 0.2, rng.uniform(0, 0.95)))
    choices: dict[str, Any] = {
        "launch_overhead": rng.choice((0.0, 0.0, 5e-6, _around(rng, 1e-5))),
        "exposed_comm": exposed,
        "exposed_roofs": tuple(rng.sample((0.2, 0.4, 0.995, 0.125), rng.randint(0, 2))),
        "all_levels": rng.random() < 0.5,
    }
    if rng.random() < 0.15:
        found = kind(chips, graph=_graph(rng), **choices)
        _count_graph(rng, found)
    else:
        table = kernels(rng, chips, exposed=exposed > 0)
        found = kind(chips, table, **choices)
        for name, value in _filters(rng, table).items():
            setattr(found, name, value)
    found.focus_chip = rng.choice([one.id for one in chips])
    found.shown = [one.id for one in chips if one.id == found.focus_chip or rng.random() < 0.7]
    known = [memory.name for one in chips for memory in one.memories.values() if memory.bandwidth is not None]
    found.precision = rng.choice(("auto", "auto", *(name for one in chips for name in one.peak_flops)))
    found.memory = rng.choice(("main", "main", "all", *known))
    _what_if(rng, found)
    names = [ceiling.key for one in chips for ceiling in one.ceilings] + [p for one in chips for p in one.peak_flops]
    if rng.random() < 0.3:
        found.ceilings = _some(rng, list(dict.fromkeys(names)))
    _move(rng, found)
    found.at_roof = _some(rng, range(len(found.shown_kernels)))
    return found


def _count_graph(rng: Random, found: rw.RooflineModel) -> None:
    graph = found.graph
    if graph is None:
        return
    for dim in graph.dims:
        if rng.random() < 0.5:
            found.dims = {**found.dims, dim.name: rng.randint(dim.low, dim.high)}
    if rng.random() < 0.5:
        found.partition = rng.choice((rw.Partition.pairs, rw.Partition.fully))(graph)
    if rng.random() < 0.4:
        found.convention = rng.choice(tuple(workloads.CONVENTIONS))
    if rng.random() < 0.4:
        found.dtype = rng.choice(("fp32", "bf16", "fp8"))


def _move(rng: Random, found: rw.RooflineModel) -> None:
    """Set what-ifs of kernels. Like the page, it may ask for more than a roof allows."""
    n = len(found.shown_kernels)
    moves = {
        row: {word: _around(rng, 1.0, 0.5) for word in _some(rng, ("bytes", "time"), 1)}
        for row in range(n)
        if rng.random() < 0.3
    }
    found.moves = moves
