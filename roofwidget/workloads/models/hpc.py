"""Classic kernels of numerical computing, whose positions on a roofline are very different."""

from __future__ import annotations

from roofwidget.support.did_you_mean import keywords
from roofwidget.workloads.convention import Convention
from roofwidget.workloads.expressions import Count
from roofwidget.workloads.graph import Graph


@keywords("hpc_set")
def hpc_set(
    elements: Count = 10**8,
    *,
    side: Count = 256,
    matrix: Count = 4096,
    points: int = 2**20,
    nonzeros_per_row: int = 27,
    dtype: str = "fp64",
    convention: str | Convention = "hpc",
) -> Graph:
    """Return STREAM, dot, axpy, matrix products, a sparse product, stencils and a Fourier transform, side by side.

    Parameters
    ----------
    elements
        Length of vectors.
    side
        A grid with three axes has side x side x side points. A grid with two axes has side² x side² points. The sparse
        matrix has side³ rows.
    matrix
        Side of dense matrices.
    points
        Complex points of the transform.
    nonzeros_per_row
        Nonzeros per row of the sparse matrix.
    dtype, convention
        The dtype of all data; how FLOPs and bytes are counted. The default convention has write-allocate.

    Examples
    --------
    >>> g = hpc_set(1000, side=8, matrix=16, points=16)
    >>> [op.name for op in g.ops][:4], g.flops("stream_triad"), g.bytes(g.producer("stream_triad"))
    (['stream_copy', 'stream_scale', 'stream_add', 'stream_triad'], 2000, 32000)
    """
    graph = Graph("numerical kernels", convention=convention)
    a, b = (graph.input(name, (elements,), dtype) for name in "ab")
    results = [
        graph.stream_copy(a),
        graph.stream_scale(a),
        graph.stream_add(a, b),
        graph.stream_triad(a, b),
        graph.dot(a, b),
        graph.axpy(a, b),
    ]
    dense = [graph.input(name, (matrix, matrix), dtype) for name in ("A", "B", "C")]
    results += [graph.gemv(dense[0], graph.input("row", (matrix,), dtype)), graph.gemm(*dense)]
    rows = side * side * side
    vector = graph.input("vector", (rows,), dtype)
    results.append(graph.spmv_csr(vector, rows=rows, nonzeros=nonzeros_per_row * rows))
    square = graph.input("square", (side * side, side * side), dtype)
    cube = graph.input("cube", (side, side, side), dtype)
    results.append(graph.stencil(square, points=5, name="stencil_5"))
    results += [graph.stencil(cube, points=count, name=f"stencil_{count}") for count in (7, 27)]
    results.append(graph.fft(graph.input("signal", (points, 2), dtype)))
    graph.output(*results)
    return graph
