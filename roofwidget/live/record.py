"""`record`: what runs in a block lands on a chart as points, while it runs."""

from __future__ import annotations

import itertools

from roofwidget.measure.recording import Recording
from roofwidget.measure.tally import ROWS, Row
from roofwidget.model import RooflineModel
from roofwidget.support.arguments import shown_value, text_argument
from roofwidget.support.did_you_mean import choose_from


def record(widget: RooflineModel, name: str | None = None, *, by: Row = "op") -> Recording:
    """Show what runs in a block as points on a chart, as it finishes.

    Use it as ``with rw.record(widget) as run:``. Counted and timed are:

    - the operations of PyTorch that the block's thread runs;
    - outside of functions, in a notebook or at the top of a script: operations on the numpy arrays and calls of the
      functions of `jax.jit` that variables hold when the block begins. ``%%roofline`` sees more of them;
    - the calls of functions with `measured`, in any thread;
    - what `Recording.profile` is given, and the points of `Recording.add`.

    Each recording is a series of its own: its rows in ``widget.kernels`` have its name as their
    category, and other rows stay. Operations that are equal, with the same shapes, are one row with their count.

    The chart is updated a few times a second, and at the end of the block. An error in the block passes through, and
    what was recorded before it stays.

    Parameters
    ----------
    widget
        The `RooflineWidget` or `RooflineModel` that shows the points.
    name
        The name of the series: by default "run 1", "run 2" and so on. A name that the widget has already gets a number.
    by
        What a row is: ``"op"``, equal operations; ``"module"``, a module of a model; ``"call"``, the whole block.

    Raises
    ------
    TypeError
        If `widget` is no widget.
    ValueError
        If `by` is unknown, or the widget shows a graph.
    RuntimeError
        When the block is entered inside another recording.

    Warns
    -----
    UserWarning
        If the block recorded nothing.

    Examples
    --------
    >>> import roofwidget as rw
    >>> model = rw.RooflineModel(["v5p"], [])
    >>> with rw.record(model, "copies") as run:
    ...     run.add("copy", 0, "12 MB", time="20 us")
    >>> model.kernels.category.tolist(), run
    (['copies'], Recording(copies: 1 operation, 20 µs))
    """
    if not isinstance(widget, RooflineModel):
        raise TypeError(
            f"record needs the RooflineWidget that shows the points, got {shown_value(widget)}; "
            "make one with rw.RooflineWidget([chip])"
        )
    if widget.partition is not None:
        raise ValueError("record: this widget shows the kernels of its graph; use a widget without a graph")
    if by not in ROWS:
        raise ValueError(f"by: unknown {by!r:.40}{choose_from(by, ROWS)}")
    return Recording(widget, _next_name(widget) if name is None else text_argument(name, "record: name"), by)


def _next_name(widget: RooflineModel) -> str:
    """Return the first of "run 1", "run 2" and so on that no row of the widget has as its category."""
    taken = set(widget.kernels.category)
    return next(name for number in itertools.count(1) if (name := f"run {number}") not in taken)
