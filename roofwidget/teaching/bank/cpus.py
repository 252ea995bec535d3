"""Exercises of numerical computing: STREAM, stencils, sparse products, transforms, and the machines of 2009."""

from __future__ import annotations

from math import log2
from typing import Final, TypeAlias

from roofwidget.analysis.bound import bound
from roofwidget.analysis.roofline import attainable, ridge_point
from roofwidget.chips import Chip
from roofwidget.kernels.kernel import Kernel
from roofwidget.kernels.presets import preset
from roofwidget.teaching.bank.counts import intensity, itemsize, kernel, of_2009, of_op, record
from roofwidget.teaching.bank.exercise import Draw, exercise, exercises
from roofwidget.teaching.bank.phrases import MODAL, exact
from roofwidget.teaching.bank.slips import not_equal
from roofwidget.teaching.question import Question
from roofwidget.workloads import Graph, Tensor

_WILLIAMS: Final = (
    "Williams, Waterman, Patterson: Roofline: an insightful visual performance model for multicore architectures, "
    "CACM 52(4), 2009"
)
_UTEP: Final = "UTEP CPS 5401, activity on the roofline in class"
_STANFORD: Final = "Stanford CS149, assignment 1, saxpy"
_BERKELEY: Final = "Lawrence Berkeley National Laboratory, roofline pages on crd.lbl.gov"
_BALANCE: Final = "NHR, Node-Level Performance Engineering: code balance"
_TEXTBOOK: Final = "Hennessy and Patterson, Computer Architecture, chapter 4"
_STREAM: Final = "McCalpin's STREAM and the BLAS"
_ALLOCATE: Final = "The cache reads a line before it stores into it (write-allocate). "
_ALLOCATES: Final = {
    True: "The cache also reads the line that is stored.",
    False: "These stores bypass the cache: no line is read before it is stored.",
}
_NO_ALLOCATE: Final = "Stores bypass the cache (no write-allocate). "
_WORD: Final = 8
"""Bytes of a word; any size gives the same FLOP/word."""
_N: Final = 1000
_POINTS: Final = 1024


def _of_hpc(draw: Draw) -> str:
    return draw.pick("fp64", ["fp32", "fp16"])


# -- words -------------------------------------------------------------------------------------------------------------


def _word_machine(draw: Draw) -> tuple[float, float]:
    """Return FLOP/s and words/s."""
    return draw.pick((8e9, 2e9), [(24e9, 4e9), (25e9, 5e9), (16e9, 2e9)])


def _of_machine(peak: float, words: float) -> str:
    return f"A machine does {peak / 1e9:g} GFLOP/s and reads or writes {words / 1e9:g} Gword/s. "


def _word_chip(peak: float, words: float) -> Chip:
    return Chip("machine", {"fp64": peak}, {"DRAM": words * _WORD})


_UPDATE: Final = ("E + 2*S + W + 2*N", 6)
_UPDATES: Final = [("E + S + W + N", 4), ("E + 2*S + W + N", 5), ("2*E + 2*S + 2*W + 2*N", 8)]
_CACHED: Final = "Several rows fit into the cache, so each point is read once and written once. "
_TWO_ROWS: Final = "An LRU cache holds only two rows, so each point is read three times and written once. "


def _of_update(update: str, flops: int) -> str:
    return f"A stencil updates a large square grid in place: `x += {update}`, {flops} FLOP for each point. "


def _word_stencil(flops: int, *, cached: bool) -> Graph:
    how = "held" if cached else "rows"
    return of_op("stencil", "fp64", (_N, _N), points=5, layer_condition=how, in_place=True, flops=flops)


@exercise("word-machine-ridge")
def _word_ridge(draw: Draw) -> Question:
    peak, words = _word_machine(draw)
    return draw.question(
        prompt=f"{_of_machine(peak, words)}Where is its ridge point?",
        answer=_word_chip(peak, words).ridge_point() * _WORD,
        unit="FLOP/word",
        explanation=f"{peak / 1e9:g} / {words / 1e9:g} FLOP for each word.",
        source=_UTEP,
    )


@exercise("word-machine-next-ridge")
def _next_ridge(draw: Draw) -> Question:
    peak, words = _word_machine(draw)
    return draw.question(
        prompt=f"{_of_machine(peak, words)}The next machine has four times the peak and twice the bandwidth. "
        "Where is the ridge point of the next machine?",
        answer=_word_chip(4 * peak, 2 * words).ridge_point() * _WORD,
        unit="FLOP/word",
        explanation="The peak grew twice as much as the bandwidth, so the ridge point doubled.",
        source=_UTEP,
    )


@exercises(
    {
        "word-stencil-cached-intensity": {"cached": True},
        "word-stencil-two-rows-intensity": {"cached": False},
    }
)
def _word_intensity(draw: Draw, *, cached: bool) -> Question:
    update, flops = draw.pick(_UPDATE, _UPDATES)
    return draw.question(
        prompt=f"{_of_update(update, flops)}{_CACHED if cached else _TWO_ROWS}What is the arithmetic intensity?",
        answer=intensity(_word_stencil(flops, cached=cached)) * _WORD,
        unit="FLOP/word",
        explanation=f"{flops} FLOP over {'1 read' if cached else '3 reads'} and 1 write.",
        source=_UTEP,
    )


@exercises(
    {
        "word-stencil-cached-rate": {"cached": True, "faster": False},
        "word-stencil-two-rows-rate": {"cached": False, "faster": False},
        "word-stencil-cached-next-rate": {"cached": True, "faster": True},
        "word-stencil-two-rows-next-rate": {"cached": False, "faster": True},
    }
)
def _word_rate(draw: Draw, *, cached: bool, faster: bool) -> Question:
    peak, words = _word_machine(draw)
    graph = _word_stencil(_UPDATE[1], cached=cached)
    new_peak, new_words = (4 * peak, 2 * words) if faster else (peak, words)
    change = "The next machine has four times the peak and twice the bandwidth. " if faster else ""
    ai = intensity(graph) * _WORD
    return draw.question(
        prompt=f"{_of_machine(peak, words)}{change}{_of_update(*_UPDATE)}{_CACHED if cached else _TWO_ROWS}"
        f"Which rate can the stencil attain{' on the next machine' if faster else ''}?",
        answer=attainable(intensity(graph), new_peak, new_words * _WORD),
        unit="FLOP/s",
        explanation=f"At {ai:g} FLOP/word, left of the ridge point of {new_peak / new_words:g} FLOP/word, "
        f"it is memory-bound: {ai:g} FLOP/word · {new_words / 1e9:g} Gword/s.",
        source=_UTEP,
        difficulty=2,
    )


@exercise("word-stencil-what-helps")
def _word_helps(draw: Draw) -> Question:
    peak, words = _word_machine(draw)
    ai = intensity(_word_stencil(_UPDATE[1], cached=True))
    rates = {
        "twice the vector peak": attainable(ai, 2 * peak, words * _WORD),
        "twice the memory bandwidth": attainable(ai, peak, 2 * words * _WORD),
        "twice the cache capacity": attainable(ai, peak, words * _WORD),
    }
    answer = max(rates, key=rates.__getitem__)
    before = attainable(ai, peak, words * _WORD)
    at = f"The stencil has {ai * _WORD:g} FLOP/word, left of the ridge point of {peak / words:g} FLOP/word."
    options = {
        "twice the vector peak": f"{at} A higher peak moves the ridge point further away, and the stencil "
        f"stays at {before / 1e9:g} GFLOP/s.",
        "twice the cache capacity": "Each point is already read once and written once. No cache saves these bytes.",
        "twice the memory bandwidth": at,
    }
    return draw.question(
        prompt=f"{_of_machine(peak, words)}{_of_update(*_UPDATE)}{_CACHED}Which change makes the stencil faster?",
        answer=answer,
        options=options,
        explanation=f"{at} With twice the bandwidth it attains {rates[answer] / 1e9:g} GFLOP/s.",
        source=_UTEP,
    )


# -- streams -----------------------------------------------------------------------------------------------------------


def _saxpy(elements: int, dtype: str, *, allocate: bool) -> Graph:
    """Return ``result = a x + y``, which has the reads and writes of STREAM's triad."""
    return of_op("stream_triad", dtype, (elements,), (elements,), allocate=allocate)


@exercise("saxpy-bytes")
def _saxpy_bytes(draw: Draw) -> Question:
    millions = draw.pick(20, [10, 50, 100])
    return draw.question(
        prompt=f"`result[i] = scale * X[i] + Y[i]` runs over {millions} million elements in fp32 (4 B). {_ALLOCATE}"
        "How many bytes move between memory and cache?",
        answer=_saxpy(millions * 10**6, "fp32", allocate=True).count("bytes"),
        wrong_answers={
            _saxpy(millions * 10**6, "fp32", allocate=False).count(
                "bytes"
            ): "The cache also reads the lines of `result`.",
        },
        unit="B",
        explanation="X and Y are read, `result` is read into the cache and later written: four arrays.",
        source=_STANFORD,
    )


@exercise("saxpy-write-allocate")
def _saxpy_why(draw: Draw) -> Question:
    millions = draw.pick(20, [10, 50, 100])
    bytes_of_all = _saxpy(millions * 10**6, "fp32", allocate=True).count("bytes")
    why = "Before a store, the cache reads the line of `result` from memory."
    return draw.question(
        prompt=f"`result[i] = scale * X[i] + Y[i]` names three arrays of {millions} million floats (4 B). "
        f"Counters show {bytes_of_all / 1e6:g} MB, which are four arrays. Why?",
        answer="write-allocate reads result",
        options={
            "write-allocate reads result": why,
            "scale is read for each element": "`scale` is one number and stays in a register.",
            "a multiply-add counts twice": "This is how FLOPs are counted. It moves no bytes.",
            "Y is read twice": "Each element of Y is used once and is read once.",
        },
        explanation=f"{why} Non-temporal stores avoid this read.",
        source=_STANFORD,
    )


@exercises(
    {
        "saxpy-intensity-write-allocate": {"allocate": True, "source": _STANFORD},
        "saxpy-intensity": {"allocate": False, "source": f"{_STANFORD}; {MODAL}"},
    }
)
def _saxpy_intensity(draw: Draw, *, allocate: bool, source: str) -> Question:
    dtype = draw.pick("fp32", ["fp64", "fp16"])
    return draw.question(
        prompt=f"`result[i] = scale * X[i] + Y[i]` runs over long arrays in {dtype} ({itemsize(dtype)} B). "
        f"{_ALLOCATE if allocate else _NO_ALLOCATE}What is the arithmetic intensity?",
        answer=intensity(_saxpy(_N, dtype, allocate=allocate)),
        unit="FLOP/B",
        wrong_answers={intensity(_saxpy(_N, dtype, allocate=not allocate)): _ALLOCATES[allocate]},
        explanation=f"2 FLOP over {'3 reads' if allocate else '2 reads'} and 1 write of {itemsize(dtype)} B.",
        source=source,
    )


@exercise("add-in-place-intensity")
def _add_in_place(draw: Draw) -> Question:
    dtype = _of_hpc(draw)
    return draw.question(
        prompt=f"`x[i] += y[i]` runs over long arrays in {dtype} ({itemsize(dtype)} B). What is the arithmetic "
        "intensity?",
        answer=intensity(of_op("add", dtype, (_N,), (_N,))),
        unit="FLOP/B",
        explanation=f"1 FLOP over 2 reads and 1 write of {itemsize(dtype)} B. The line of x is in the cache already.",
        source=_BERKELEY,
    )


@exercises(
    {
        "triad-intensity": {"allocate": False},
        "triad-intensity-write-allocate": {"allocate": True},
    }
)
def _triad(draw: Draw, *, allocate: bool) -> Question:
    dtype = _of_hpc(draw)
    return draw.question(
        prompt=f"STREAM's triad, `a[i] = b[i] + s * c[i]`, runs over long arrays in {dtype} ({itemsize(dtype)} B). "
        f"{_ALLOCATE if allocate else _NO_ALLOCATE}What is the arithmetic intensity?",
        answer=intensity(_saxpy(_N, dtype, allocate=allocate)),
        unit="FLOP/B",
        wrong_answers={intensity(_saxpy(_N, dtype, allocate=not allocate)): _ALLOCATES[allocate]},
        explanation=f"2 FLOP over {'3 reads' if allocate else '2 reads'} and 1 write of {itemsize(dtype)} B.",
        source=_STREAM,
    )


@exercise("dot-intensity")
def _dot(draw: Draw) -> Question:
    dtype = _of_hpc(draw)
    return draw.question(
        prompt=f"`sum += x[i] * y[i]` runs over long arrays in {dtype} ({itemsize(dtype)} B), and the sum stays in a "
        "register. What is the arithmetic intensity?",
        answer=of_op("dot", dtype, (_N,), (_N,)).count("flops") / (2 * itemsize(dtype) * _N),
        unit="FLOP/B",
        explanation=f"2 FLOP over 2 reads of {itemsize(dtype)} B.",
        source=_STREAM,
    )


@exercise("matrix-vector-intensity-limit")
def _matrix_vector(draw: Draw) -> Question:
    dtype = _of_hpc(draw)
    return draw.question(
        prompt=f"A very large dense matrix in {dtype} ({itemsize(dtype)} B) is multiplied by a vector. The matrix "
        "moves once, and the vectors hardly count. What is the arithmetic intensity?",
        answer=of_op("gemv", dtype, (_N, _N), (_N,)).count("flops") / (itemsize(dtype) * _N * _N),
        unit="FLOP/B",
        explanation=f"2 FLOP for each matrix element of {itemsize(dtype)} B.",
        source=_STREAM,
    )


@exercise("copy-intensity")
def _copy(draw: Draw) -> Question:
    dtype = draw.pick("fp64", ["fp32", "int8"])
    one = 1 / (2 * itemsize(dtype))
    right = f"{intensity(of_op('stream_copy', dtype, (_N,))):g} FLOP/B"
    return draw.question(
        prompt=f"STREAM's copy, `c[i] = a[i]`, runs over long arrays in {dtype} ({itemsize(dtype)} B). "
        "What is its arithmetic intensity?",
        answer=right,
        options={
            right: "It moves bytes and does no arithmetic.",
            f"{one:g} FLOP/B": "A load and a store are no FLOPs. This counts one for each element.",
            "it has none": "Only division by zero bytes is undefined. Zero FLOPs over some bytes are 0.",
        },
        explanation="Its roof is a rate in bytes per second. Its time is its bytes over the bandwidth.",
        source=_STREAM,
    )


@exercise("sgemm-with-c-intensity")
def _sgemm(draw: Draw) -> Question:
    rows = draw.pick(1024, [512, 2048, 4096])
    square = rows, rows
    return draw.question(
        prompt=f"`C += A·B` multiplies matrices of {rows} × {rows} in fp32 (4 B). A, B and C are read once, and C is "
        "written once. What is the arithmetic intensity?",
        answer=intensity(of_op("gemm", "fp32", square, square, square)),
        unit="FLOP/B",
        explanation=f"2 · {rows}³ FLOP over 4 · 4 B · {rows}²: {rows} / 8.",
        source=MODAL,
    )


@exercise("complex-multiply-intensity")
def _complex_multiply(draw: Draw) -> Question:
    dtype = draw.pick("fp32", ["fp64", "fp16"])
    graph = Graph()
    factors = [graph.input(name, (_N, 2), dtype) for name in "xy"]
    written = Tensor("z", (_N, 2), dtype)
    graph.op("elementwise", "multiply", factors, [written], 6 * _N)
    graph.output(written)
    return draw.question(
        prompt=f"`z[i] = x[i] * y[i]` multiplies long arrays of complex numbers. The real and the imaginary part are "
        f"in {dtype} ({itemsize(dtype)} B each). {_NO_ALLOCATE}What is the arithmetic intensity?",
        answer=intensity(graph),
        unit="FLOP/B",
        explanation=f"4 multiplications and 2 additions, 6 FLOP, over 3 complex numbers of {2 * itemsize(dtype)} B.",
        source=_TEXTBOOK,
    )


def _vector_gpu(draw: Draw) -> tuple[float, int, int]:
    """Return the clock, the SIMD processors and the lanes of each."""
    return draw.pick((1.5e9, 16, 16), [(1.2e9, 32, 16), (2.0e9, 8, 32), (1.0e9, 24, 32)])


def _of_gpu(clock: float, processors: int, lanes: int) -> str:
    return (
        f"A GPU runs at {clock / 1e9:g} GHz. It has {processors} SIMD processors with {lanes} lanes each. "
        "A lane does 1 FLOP per cycle in single precision. "
    )


@exercise("simd-gpu-peak")
def _gpu_peak(draw: Draw) -> Question:
    clock, processors, lanes = _vector_gpu(draw)
    return draw.question(
        prompt=f"{_of_gpu(clock, processors, lanes)}What is its peak rate?",
        answer=clock * processors * lanes,
        unit="FLOP/s",
        explanation=f"{clock / 1e9:g} GHz · {processors} · {lanes} lanes.",
        source=_TEXTBOOK,
    )


@exercise("simd-gpu-bandwidth")
def _gpu_bandwidth(draw: Draw) -> Question:
    clock, processors, lanes = _vector_gpu(draw)
    peak, h100 = clock * processors * lanes, record("h100-sxm", "fp32")
    return draw.question(
        prompt=f"{_of_gpu(clock, processors, lanes)}Each FLOP of a program reads two operands of 4 B and writes a "
        "result of 4 B, and nothing is reused. Which memory bandwidth lets the program run at the peak rate?",
        answer=peak * 3 * itemsize("fp32"),
        unit="B/s",
        explanation=f"12 B for each FLOP, at {exact(peak, 'FLOP/s')}. Memories deliver a few hundredths of a byte for "
        f"each FLOP, an H100 {h100.bandwidth() / h100.peak():.2g} B in fp32: data must be used again.",
        source=_TEXTBOOK,
        difficulty=2,
    )


# -- stencils, sparse products and others ------------------------------------------------------------------------------


@exercises(
    {
        "jacobi-intensity": {"held": True, "allocate": True},
        "jacobi-no-allocate-intensity": {"held": True, "allocate": False},
        "jacobi-broken-intensity": {"held": False, "allocate": True},
    }
)
def _jacobi(draw: Draw, *, held: bool, allocate: bool) -> Question:
    dtype = _of_hpc(draw)
    how = "held" if held else "rows"
    graph = of_op("stencil", dtype, (_N, _N), allocate=allocate, points=5, layer_condition=how)
    cache = (
        "The cache holds three rows, so each point is read once. "
        if held
        else "The cache does not hold three rows, so each point is read three times. "
    )
    reads = (1 if held else 3) + allocate
    return draw.question(
        prompt="A Jacobi step writes to a second grid: each point is a quarter of the sum of its four neighbours, 4 "
        f"FLOP. The grids are in {dtype} ({itemsize(dtype)} B). {cache}{_ALLOCATE if allocate else _NO_ALLOCATE}"
        "What is the arithmetic intensity?",
        answer=intensity(graph),
        unit="FLOP/B",
        explanation=f"4 FLOP over {reads} {'read' if reads == 1 else 'reads'} and 1 write of {itemsize(dtype)} B.",
        source=_BALANCE,
        difficulty=2,
    )


@exercise("sparse-balance")
def _sparse_balance(draw: Draw) -> Question:
    each = draw.pick(7, [27, 100, 14])
    graph = of_op("spmv_csr", "fp64", (_N,), allocate=True, rows=_N, nonzeros=each * _N)
    # A matrix has one pointer more than rows, which does not count for many rows.
    balance = (graph.count("bytes") - itemsize("int32")) / graph.count("flops")
    return draw.question(
        prompt=f"A large square sparse matrix in CSR form has {each} nonzeros in each row. Values are 8 B, column "
        "indices and row pointers 4 B. The product with a vector of 8 B numbers reads x once and stores the result "
        "with write-allocate. What is the code balance, in bytes per FLOP?",
        answer=balance,
        unit="B/FLOP",
        explanation=f"For a row: {each} · 12 B of values and indices, 4 B of pointer, 8 B of x, 16 B of the result, "
        f"over 2 · {each} FLOP: {balance:.2f} B/FLOP.",
        source=_BALANCE,
        difficulty=3,
    )


def _sparse(dtype: str, index: str = "int32", *, blocked: bool) -> Kernel:
    """Return a sparse product with the bytes of values and indices only. In large blocks, indices do not count."""
    graph = of_op("spmv_csr", dtype, (_N,), rows=_N, nonzeros=_N, index_dtype=index, name="product")
    counted = ("product.values",) if blocked else ("product.values", "product.columns")
    moved = sum(itemsize(graph.dtype_of(name)) * _N for name in counted)
    return Kernel("SpMV", graph.count("flops"), moved)


@exercise("sparse-intensity-limit")
def _sparse_limit(draw: Draw) -> Question:
    dtype = _of_hpc(draw)
    return draw.question(
        prompt=f"A sparse matrix in CSR form has values in {dtype} ({itemsize(dtype)} B) and column indices of 4 B. "
        "Its product with a vector is limited by the bytes of values and indices. "
        "Which arithmetic intensity does the product have at most?",
        answer=_sparse(dtype, blocked=False).arithmetic_intensity,
        unit="FLOP/B",
        explanation=f"2 FLOP for each nonzero of {itemsize(dtype)} + 4 B.",
        source=_WILLIAMS,
    )


@exercise("sparse-blocked-intensity-limit")
def _blocked_limit(draw: Draw) -> Question:
    dtype = _of_hpc(draw)
    return draw.question(
        prompt=f"A sparse matrix is stored in dense register blocks with values in {dtype} ({itemsize(dtype)} B). "
        "One index serves a whole block, so the bytes of indices do not count. "
        "Which arithmetic intensity does the product with a vector have at most?",
        answer=_sparse(dtype, blocked=True).arithmetic_intensity,
        unit="FLOP/B",
        explanation=f"2 FLOP for each nonzero of {itemsize(dtype)} B. Blocking moves the product to the right.",
        source=_WILLIAMS,
    )


def _seven_points(dtype: str, *, allocate: bool = False) -> Graph:
    return of_op("stencil", dtype, (100, 100, 100), allocate=allocate, points=7)


@exercises(
    {
        "seven-point-intensity": {"allocate": True},
        "seven-point-no-allocate-intensity": {"allocate": False},
    }
)
def _heat(draw: Draw, *, allocate: bool) -> Question:
    dtype = _of_hpc(draw)
    return draw.question(
        prompt=f"A 7-point stencil on a 3-D grid does 8 FLOP for each point. The grids are in {dtype} "
        f"({itemsize(dtype)} B). Each point is read once from one grid and written once to another. "
        f"{_ALLOCATE if allocate else _NO_ALLOCATE}What is the arithmetic intensity?",
        answer=intensity(_seven_points(dtype, allocate=allocate)),
        unit="FLOP/B",
        wrong_answers={intensity(_seven_points(dtype, allocate=not allocate)): _ALLOCATES[allocate]},
        explanation=f"8 FLOP over {'2 reads' if allocate else '1 read'} and 1 write of {itemsize(dtype)} B.",
        source=_WILLIAMS,
    )


@exercises(
    {
        "lattice-boltzmann-intensity": {"allocate": True},
        "lattice-boltzmann-no-allocate-intensity": {"allocate": False},
    }
)
def _lattice(draw: Draw, *, allocate: bool) -> Question:
    dtype = _of_hpc(draw)
    graph = Graph()
    read = graph.input("read", (73, _N), dtype)
    written = Tensor("written", (79, _N), dtype)
    extra = 79 * _N * itemsize(dtype) if allocate else 0
    graph.op("opaque", "collide and stream", [read], [written], 1300 * _N, extra_bytes=extra)
    graph.output(written)
    return draw.question(
        prompt="LBMHD, a lattice Boltzmann code, does 1300 FLOP for each lattice point. It reads 73 numbers and writes "
        f"79 numbers in {dtype} ({itemsize(dtype)} B). {_ALLOCATE if allocate else _NO_ALLOCATE}"
        "What is the arithmetic intensity?",
        answer=intensity(graph),
        unit="FLOP/B",
        explanation=f"1300 FLOP over {73 + 79 * (2 if allocate else 1)} numbers of {itemsize(dtype)} B.",
        source=_WILLIAMS,
        difficulty=2,
    )


@exercises(
    {
        "fft-3d-intensity": {"allocate": True},
        "fft-3d-no-allocate-intensity": {"allocate": False},
    }
)
def _transform(draw: Draw, *, allocate: bool) -> Question:
    side = draw.pick(128, [64, 256, 512])
    graph = of_op("fft", "fp64", (side, side, side, 2), allocate=allocate, axes=3, passes=2)
    flops, moved = 15 * side.bit_length() - 15, 96 if allocate else 64
    return draw.question(
        prompt=f"A 3-D FFT of {side} × {side} × {side} complex points does 5 · N · log2 N FLOP for N points. "
        "A point has 16 B. The data pass through memory twice, and each pass reads and writes every point. "
        f"{_ALLOCATE if allocate else _NO_ALLOCATE}What is the arithmetic intensity?",
        answer=intensity(graph),
        unit="FLOP/B",
        explanation=f"{flops} FLOP and {moved} B for each point.",
        source=_WILLIAMS,
        difficulty=2,
    )


@exercise("fft-intensity-factor")
def _transform_factor(draw: Draw) -> Question:
    dtype, allocate = draw.pick(("fp64", True), [("fp64", False), ("fp32", True), ("fp32", False)])
    graph = of_op("fft", dtype, (_POINTS, 2), allocate=allocate)
    one = 2 * itemsize(dtype)
    return draw.question(
        prompt=f"A complex FFT in {dtype} ({one} B a point) does 5 · N · log2 N FLOP for N points. It is out of place "
        f"and moves the data once through memory. {_ALLOCATE if allocate else _NO_ALLOCATE}"
        "Its arithmetic intensity is c · log2 N. How large is c, in FLOP/B?",
        answer=intensity(graph) / log2(_POINTS),
        unit="FLOP/B",
        explanation=f"5 FLOP over {3 if allocate else 2} · {one} B for each point.",
        source=_BERKELEY,
        difficulty=2,
    )


@exercise("n-body-intensity")
def _bodies(draw: Draw) -> Question:
    bodies = draw.pick(16384, [8192, 32768, 65536])
    return draw.question(
        prompt=f"Each of {bodies} bodies attracts all others: count {bodies}² interactions of 20 FLOP. A body moves 32 "
        "B between memory and chip in all, because tiles stay on chip. What is the arithmetic intensity?",
        answer=intensity(of_op("nbody", "fp32", (bodies, 4))),
        unit="FLOP/B",
        explanation=f"20 · {bodies} FLOP for each body over 32 B: 0.625 · {bodies}.",
        source="Derived; 20 FLOP: Nyland et al., GPU Gems 3",
    )


# -- the machines of 2009 ----------------------------------------------------------------------------------------------


_X2: Final = (17.6e9, 15e9)
_OWN: Final = "a benchmark of the authors"
_TUNED: Final = "the tuned roof of the paper's figure"
_Machine: TypeAlias = tuple[str, float, float, str, float]
"""Name, peak, bandwidth, where the bandwidth is from, and the ridge point that the paper prints."""
_X2_AND_XEON: Final[tuple[_Machine, ...]] = (
    ("Opteron X2", *_X2, _OWN, 1.0),
    ("Xeon E5345", 75e9, 5.9e9, "STREAM", 6.7),
    ("Xeon E5345", 75e9, 11.2e9, _TUNED, 6.7),
)
_X4_AND_OTHERS: Final[tuple[_Machine, ...]] = (
    ("Opteron X4", 74e9, 16.6e9, "STREAM", 4.4),
    ("UltraSPARC T2+", 19e9, 26e9, "STREAM", 0.33),
    ("Cell QS20", 29e9, 47e9, "STREAM", 0.65),
)


@exercises(
    {
        "opteron-x2-ridge": {"machines": _X2_AND_XEON},
        "opteron-x4-ridge": {"machines": _X4_AND_OTHERS},
    }
)
def _ridge(draw: Draw, machines: tuple[_Machine, ...]) -> Question:
    name, peak, bandwidth, measure, said = draw.pick(machines[0], machines[1:])
    return draw.question(
        prompt=f"The {name} does {exact(peak, 'FLOP/s')} in fp64. Its bandwidth by {measure} is "
        f"{exact(bandwidth, 'B/s')}. Where is the ridge point with these figures?",
        answer=ridge_point(peak, bandwidth),
        unit="FLOP/B",
        explanation=f"Peak over bandwidth: {ridge_point(peak, bandwidth):.2f} FLOP/B. A measured bandwidth depends on "
        f"the program that measures it; the paper prints {said:g} FLOP/B.",
        source=f"{_WILLIAMS}; peak of the {name}, and bandwidth by {measure}",
    )


@exercise("opteron-attainable")
def _x2_attainable(draw: Draw) -> Question:
    ai = draw.pick(0.25, [0.5, 0.1, 4.0])
    answer = attainable(ai, *_X2)
    bound_by = "memory-bound" if answer < _X2[0] else "compute-bound"
    return draw.question(
        prompt=f"An Opteron X2 does 17.6 GFLOP/s and reads 15 GB/s. A kernel has {ai:g} FLOP/B. "
        "Which rate can the kernel attain?",
        answer=answer,
        unit="FLOP/s",
        wrong_answers=not_equal(
            answer,
            {
                _X2[0]: "This is the peak. At this intensity the memory does not bring enough for it.",
                ai * _X2[1]: "This is intensity times bandwidth. No kernel is faster than the peak.",
            },
        ),
        explanation=f"The smaller of 17.6 GFLOP/s and {ai:g} · 15 GB/s: {answer / 1e9:g} GFLOP/s, {bound_by}.",
        source=_WILLIAMS,
    )


@exercise("xeon-flops-per-operand")
def _per_operand(draw: Draw) -> Question:
    ridge = draw.pick(6.7, [4.4, 0.33, 0.65])
    return draw.question(
        prompt=f"A machine has its ridge point at {ridge:g} FLOP/B. How many FLOP must a program do for each operand "
        "of 8 B that it reads from memory to reach the peak rate?",
        answer=ridge * itemsize("fp64"),
        unit="FLOP",
        explanation=f"{ridge:g} FLOP for each of the 8 B.",
        source=f"{_WILLIAMS}; for the Xeon with 6.7 FLOP/B the paper says 55",
    )


@exercise("sparse-place")
def _sparse_place(draw: Draw) -> Question:
    dtype, index = draw.pick(("fp64", "int32"), [("fp64", "int64"), ("fp32", "int32")])
    product = _sparse(dtype, index, blocked=False)
    return draw.question(
        prompt=f"A sparse matrix in CSR form has values in {dtype} ({itemsize(dtype)} B) and column indices of "
        f"{itemsize(index)} B. Only these bytes count. "
        "Drag the marker to the arithmetic intensity of the product with a vector.",
        answer=product.arithmetic_intensity,
        on="intensity",
        kernel="SpMV",
        explanation=f"2 FLOP for each nonzero of {itemsize(dtype)} + {itemsize(index)} B. "
        "This is left of the ridge points of all four machines in the paper.",
        source=_WILLIAMS,
        setup={"chips": list(preset("williams-2009").chips), "kernels": [product]},
    )


_MACHINES: Final = {
    "barcelona": "Opteron X4",
    "clovertown": "Xeon E5345",
    "ultrasparc-t2plus": "UltraSPARC T2+",
    "cell-qs20": "Cell QS20",
}
_STORES: Final = {
    "barcelona": ("Its stores can bypass the cache (no write-allocate), and they do here. ", False),
    "clovertown": ("Its stores can bypass the cache (no write-allocate), and they do here. ", False),
    "ultrasparc-t2plus": ("All its stores read the line first (write-allocate). ", True),
    "cell-qs20": ("It moves data by DMA, without a cache and without write-allocate. ", False),
}
"""How each machine stores, and whether a store first reads its line: a property of the machine (CACM, page 74)."""


@exercise("stencil-bandwidth-needed")
def _bandwidth_needed(draw: Draw) -> Question:
    # On the T2+ the stencil is at the ridge point already, so there would be nothing to drag.
    name = draw.pick("barcelona", ["clovertown", "cell-qs20"])
    chip = of_2009(name)
    how, _ = _STORES[name]
    graph = _seven_points("fp64")
    return draw.question(
        prompt=f"The {_MACHINES[name]} does {exact(chip.peak(), 'FLOP/s')} in fp64. {how}A 7-point stencil does 8 FLOP "
        "for each point and moves 16 B. Drag the memory roof to the bandwidth at which the stencil just reaches the "
        "peak rate.",
        answer=chip.peak() / intensity(graph),
        on="bandwidth",
        explanation=f"The ridge point has to be at 8 / 16 FLOP/B: {exact(chip.peak(), 'FLOP/s')} over 0.5 FLOP/B.",
        source=_WILLIAMS,
        difficulty=2,
        setup={"chips": [chip], "kernels": [kernel(graph, "Stencil")]},
    )


@exercise("opteron-what-binds")
def _x4_binds(draw: Draw) -> Question:
    name = draw.pick("barcelona", ["clovertown", "ultrasparc-t2plus", "cell-qs20"])
    chip = of_2009(name)
    how, allocate = _STORES[name]
    moved = 1848 if allocate else 1216
    found = bound([("LBMHD", 1300, moved)], chip)
    ai, ridge = float(found.ai["DRAM"][0]), chip.ridge_point()
    memory = found.bound_by[0] != "compute"
    at = f"LBMHD is {'left' if memory else 'right'} of the ridge point of {ridge:.2f} FLOP/B."
    answer = "memory bandwidth" if memory else "peak FLOP/s"
    options = {
        "memory bandwidth": f"{at} The memory delivers more than the cores can use.",
        "peak FLOP/s": f"{at} The cores wait for data. A low share of the peak does not show that the cores are slow.",
        "number of FLOPs": f"{at} FLOPs decide only together with the bytes that move.",
    }
    return draw.question(
        prompt=f"The {_MACHINES[name]} does {exact(chip.peak(), 'FLOP/s')} and transfers "
        f"{chip.bandwidth() / 1e9:.1f} GB/s. {how}LBMHD does 1300 FLOP for each {moved} B there, {ai:.2f} FLOP/B. What "
        "bounds it?",
        answer=answer,
        options={**options, answer: at},
        explanation=at,
        source=_WILLIAMS,
    )
