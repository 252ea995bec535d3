"""`sol`: the speed of light of a graph, of a PyTorch model or of a JAX function, which is traced without running it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roofwidget.chips import ChipLike
from roofwidget.measure.frameworks import framework_of
from roofwidget.support.did_you_mean import keywords
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.partition import Dims
from roofwidget.workloads.speed_of_light import SpeedOfLight, speed_of_light


@keywords("sol")
def sol(
    graph: Any,
    chip: ChipLike,
    precision: str = "auto",
    *,
    inputs: Any = (),
    dims: Dims = None,
    launch_overhead: float | str = 0.0,
    warm: bool = False,
) -> SpeedOfLight:
    """Return the speed of light of a graph or a model on a chip, and how near kernels can come to it.

    The result has four times, each at most as long as the one before: ``unfused``, one kernel per op; ``compiler``,
    the fastest kernels that compilers make today; ``best``, the fastest kernels that people can write; ``light``, the
    time that no program for these ops is below. It judges measured times by `SpeedOfLight.score` and
    `SpeedOfLight.verdict`.

    Parameters
    ----------
    graph
        A `Graph`; or a PyTorch model, or a function of PyTorch tensors or JAX arrays, which is traced as by
        `Graph.from_torch` or `Graph.from_jax`. Nothing is computed.
    chip
        The chip, its name in the catalogue, or `HardwarePeaks`.
    precision
        The precision whose peak applies to every op; ``"auto"``: each op has its own. Bytes follow the dtypes of the
        tensors.
    inputs
        Example inputs of a model: a tuple of its arguments, a mapping of its keywords, or a single argument. Only
        shapes and dtypes matter, so tensors of the device ``"meta"`` and `jax.ShapeDtypeStruct` do.
    dims
        Values of dimensions that differ from their defaults.
    launch_overhead
        The least seconds of a kernel. They are no part of ``light``.
    warm
        Whether inputs and outputs are in cache before the program runs, as in a benchmark that does not clear the
        cache: ``light`` then counts only the bytes beyond what all units of the chip share.

    Raises
    ------
    TypeError, ValueError
        If there is no graph, no model, or no example input of a framework; or if the model cannot be traced.
    ImportError
        If the framework is not installed.
    MissingFigureError
        If the chip lacks a precision.

    Examples
    --------
    >>> from roofwidget import Graph
    >>> g = Graph("int8 linear")
    >>> x, q = g.input("x", (16, 8192), "bf16"), g.input("q", (8192, 8192), "int8")
    >>> g.output(g.matmul(x, g.cast(q, "bf16")))
    >>> linear = sol(g, "h100-sxm")
    >>> linear
    speed of light of int8 linear on NVIDIA H100 SXM5 80GB, 2.15 GFLOP
    unfused   100.3 µs   336 MB  one kernel per op
    compiler  20.19 µs  67.6 MB  what a compiler does today, at best
    best      20.19 µs  67.6 MB  what one can write: 1 kernel, optimal
    light     20.19 µs  67.6 MB  speed of light, bound by HBM
    >>> print(linear.score("24 us", baseline="30 us"))
    score 0.7202 against a measured baseline of 30 µs; 84 % of the speed of light
    >>> linear.verdict("6 us").word
    'impossible'
    """
    how: dict[str, Any] = {"dims": dims, "launch_overhead": launch_overhead, "warm": warm}
    return speed_of_light(graph_of(graph, inputs), chip, precision, **how)


def graph_of(graph: Any, inputs: Any = ()) -> Graph:
    """Return a graph, or the graph of a model that is traced with these example inputs."""
    has_inputs = not (isinstance(inputs, (tuple, list, Mapping)) and not inputs)
    if isinstance(graph, Graph):
        if has_inputs:
            raise TypeError(f"inputs= are for models, and '{graph.name}' is a graph: leave inputs out")
        return graph
    if not callable(graph):
        raise TypeError(f"sol needs a Graph, a PyTorch model, or a function of tensors or arrays, got {graph!r:.60}")
    args = inputs if isinstance(inputs, (tuple, list)) else () if isinstance(inputs, Mapping) else (inputs,)
    kwargs = inputs if isinstance(inputs, Mapping) else {}
    framework = framework_of(graph, (*args, *kwargs.values()))
    if framework == "numpy":
        name = getattr(graph, "__name__", type(graph).__name__)
        raise ValueError(
            f"sol needs example inputs to trace {name}, and got no tensor of PyTorch and no array of JAX; "
            "give them as inputs=(x, w)"
        )
    trace = Graph.from_torch if framework == "torch" else Graph.from_jax
    return trace(graph, *args, **kwargs)
