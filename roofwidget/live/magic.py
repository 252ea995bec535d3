"""`%%roofline` and `%roofline`: run code in a notebook and show what it runs as points on a chart.

IPython loads this module by ``%load_ext roofwidget``.
"""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Mapping
from functools import partial
from statistics import median
from types import CodeType
from typing import Any, Final

import numpy as np
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand, output_can_be_silenced
from IPython.display import display
from traitlets import TraitError

from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.live.record import record
from roofwidget.measure.hardware_peaks import remarks_on_roofs
from roofwidget.measure.peaks import measure_peaks
from roofwidget.measure.recording import Recording, active_recording
from roofwidget.measure.tally import ROWS
from roofwidget.measure.variables import plain_parts
from roofwidget.model import RooflineModel
from roofwidget.support.did_you_mean import choose_from
from roofwidget.support.text_tables import counted
from roofwidget.units import format_percent, format_quantity
from roofwidget.widget import RooflineWidget

_SEEN: Final = "_roofwidget_seen"
"""The name of `Recording.seen` among the variables of the notebook while a cell runs."""
_PROGRESS_SECONDS: Final = 1.0
"""Code that runs longer gets a line that says how far it is."""
_NOTHING: Final = (
    "nothing was counted. Counted are operations on numpy arrays and on tensors of PyTorch, calls of functions of "
    "jax.jit, and calls of functions with @rw.measured(flops=…, bytes=…). Operations on JAX arrays outside of a "
    "function of jax.jit are not seen"
)
_ACCELERATORS: Final = frozenset({"cuda", "gpu", "mps", "tpu"})
_OPTIONS: Final = {"w": "widget", "n": "name", "b": "by", "r": "repeat"}


@magics_class
class RooflineMagics(Magics):
    """The magics `%%roofline` and `%roofline`."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._shell = shell
        self._widget: RooflineWidget | None = None

    @no_var_expand
    @output_can_be_silenced
    @line_cell_magic
    def roofline(self, line: str, cell: str | None = None) -> Any:
        """Run code and show what it runs as points on a roofline.

        ::

            %%roofline [-w WIDGET] [-n NAME] [-b op|module|call] [-r N]
            code

            %roofline [options] statement

        The code runs as in any other cell. Counted and timed are the operations on numpy arrays and on tensors of
        PyTorch, the calls of functions of ``jax.jit``, and the calls of functions with ``@rw.measured(flops=…,
        bytes=…)``. The points land on the chart while the code runs. Each run is a series of its own.

        Options
        -------
        -w, --widget WIDGET
            The variable with the RooflineWidget that shows the points. By default the widget of the run before; the
            first run makes one on the measured peaks of this machine.
        -n, --name NAME
            The name of the run; by default "run 1", "run 2" and so on.
        -b, --by op|module|call
            What a point is: equal operations (the default), a module of a model, or all of the code.
        -r, --repeat N
            Run the code N times. With ``--by call`` the first run is counted and the others are timed without counting.

        Not seen are numpy arrays that compiled code makes and uses by itself, JAX calls outside of a jitted function,
        and operations of PyTorch in other threads.
        """
        options, statement = self._options(line)
        if cell is not None and statement:
            is_widget = isinstance(self._shell.user_ns.get(statement), RooflineModel)
            hint = f"for this widget write -w {statement}" if is_widget else "code begins in the next line"
            raise UsageError(f"%%roofline: unknown text {statement!r} after the options; {hint}")
        if cell is None and not statement:
            raise UsageError("%roofline: give a statement, or write %%roofline in the first line of a cell")
        code = _Code(self._shell, statement if cell is None else cell, is_cell=cell is not None)
        repeat, by = _repeat(options.get("repeat", "1")), options.get("by", "op")
        if by not in ROWS:
            raise UsageError(f"%roofline: --by: unknown {by!r}{choose_from(by, ROWS)}")
        if (active := active_recording()) is not None:
            raise UsageError(f"%roofline: '{active.name}' is being recorded; a run cannot be inside a recording")
        widget = self._widget_of(options.get("widget"))
        try:
            run = record(widget, options.get("name"), by=by)  # type: ignore[arg-type]  # checked above
        except ValueError as error:
            raise UsageError(f"%roofline: {error}") from None
        if isinstance(widget, RooflineWidget):
            self._widget = widget
        run.variables, run.warns_if_empty = self._shell.user_ns, False
        line_below = _Line(run, is_live=hasattr(self._shell, "kernel"))
        run.on_update = line_below.update
        return _run(run, code, repeat, line_below)

    def _options(self, line: str) -> tuple[Mapping[str, str], str]:
        given, statement = self.parse_options(
            line,
            "".join(f"{letter}:" for letter in _OPTIONS),
            *(f"{word}=" for word in _OPTIONS.values()),
            posix=False,
            strict=False,
            preserve_non_opts=True,
        )
        return {_OPTIONS.get(key, key): str(value).strip("'\"") for key, value in given.items()}, statement.strip()

    def _widget_of(self, name: str | None) -> RooflineModel:
        if name is None:
            if self._widget is None or self._widget.comm is None:
                self._widget = RooflineWidget(measure_peaks(_device_of(self._shell.user_ns)).chip)
            self._widget.show()
            return self._widget
        widget = self._shell.user_ns.get(name)
        if not isinstance(widget, RooflineModel):
            widgets = [key for key, value in self._shell.user_ns.items() if isinstance(value, RooflineModel)]
            hint = choose_from(name, widgets) if widgets else "; without --widget the first run makes one"
            raise UsageError(f"%roofline: --widget: {name!r} is no RooflineWidget{hint}")
        return widget


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register ``%%roofline`` and ``%roofline``; ``%load_ext roofwidget`` calls this."""
    shell.register_magics(RooflineMagics)


class _Code:
    """Code of a cell or of a line, compiled as IPython compiles it.

    Parameters
    ----------
    shell
        The shell whose transformations apply.
    text
        The code.
    is_cell
        Whether the code begins in the line after the magic. Errors then name the lines that the notebook shows.
    """

    def __init__(self, shell: Any, text: str, *, is_cell: bool) -> None:
        source = ("\n" if is_cell else "") + shell.transform_cell(text)
        self._shell = shell
        self._name = shell.compile.cache(source, shell.execution_count, raw_code=text)
        tree = shell.transform_ast(shell.compile.ast_parse(source, filename=self._name))
        self._watched = self._compiled(ast.fix_missing_locations(_Seeing().visit(copy.deepcopy(tree))))
        self._plain = self._compiled(tree)

    def _compiled(self, tree: ast.Module) -> tuple[CodeType, CodeType | None]:
        """Return the code of the statements, and of the last expression if there is one."""
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        statements = self._shell.compile(tree, self._name, "exec")
        if not isinstance(last, ast.Expr):
            return statements, None
        return statements, self._shell.compile(ast.Expression(last.value), self._name, "eval")

    def run(self, *, watched: bool = False) -> Any:
        """Run the code and return the value of its last expression."""
        statements, last = self._watched if watched else self._plain
        everywhere, here = self._shell.user_global_ns, self._shell.user_ns
        try:
            exec(statements, everywhere, here)  # noqa: S102 - the user's own code, as in any cell
            return None if last is None else eval(last, everywhere, here)  # noqa: S307 - the same
        except BaseException as error:
            self._show_only_own_frames(error)
            raise

    def _show_only_own_frames(self, error: BaseException) -> None:
        """Leave the frames of the magic out of the traceback that IPython shows."""
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code.co_filename != self._name:
            traceback = traceback.tb_next
        if traceback is not None and not isinstance(error, SyntaxError):
            formatter, kind = self._shell.InteractiveTB, type(error)
            # IPython asks an error for this method.
            render = partial(formatter.structured_traceback, kind, error, traceback, tb_offset=0)
            vars(error)["_render_traceback_"] = render


class _Seeing(ast.NodeTransformer):
    """Makes the values of calls, attributes and subscripts seen: arrays of other libraries, and parts of containers.

    Bodies of functions and classes stay, because they outlive the cell. So do operands of ``is``, and patterns.
    """

    def _stay(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_GeneratorExp = _stay  # noqa: N815
    visit_MatchValue = visit_MatchMapping = visit_MatchClass = _stay  # noqa: N815 - ast's names, as above

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        return node if any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops) else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        return _seen(self.generic_visit(node))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        # An attribute is set on the object itself.
        return _seen(self.generic_visit(node)) if isinstance(node.ctx, ast.Load) else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        found = self.generic_visit(node)
        return _seen(found) if isinstance(node.ctx, ast.Load) else found


def _seen(node: Any) -> ast.AST:
    return ast.copy_location(ast.Call(ast.copy_location(ast.Name(_SEEN, ast.Load()), node), [node], []), node)


class _Line:
    """The line below a cell: how far a run is, and at the end what it did and what it could not see."""

    def __init__(self, run: Recording, *, is_live: bool) -> None:
        self.seconds = 0.0
        self.notes: list[str] = []
        self.error: BaseException | None = None
        """What the code raised."""
        self._run, self._is_live = run, is_live
        self._start = run.clock()
        self._handle: Any = None

    def update(self) -> None:
        """Show how far the run is, if it takes long and the line can change."""
        elapsed = self._run.clock() - self._start
        if self._is_live and elapsed >= _PROGRESS_SECONDS:
            so_far = f"{counted(self._run.calls, 'operation')} so far, {format_quantity(elapsed, 's', 2)}"
            self._show(f"{self._run.name}: {so_far} …")

    def finish(self) -> None:
        """Show what the run did."""
        self._run.on_update = None
        first = f"{self._run.name}: {self._amounts()}"
        notes = dict.fromkeys([*self.notes, *self._run.warnings])
        self._show("\n".join([first, *(f"Note: {note}" for note in notes)]))

    def _show(self, text: str) -> None:
        content = {"text/plain": text}
        if self._handle is None:
            self._handle = display(content, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(content, raw=True)

    def _amounts(self) -> str:
        found = self._counted() if self._run.calls else ""
        if self.error is not None:
            failed = f"the code failed after {format_quantity(self.seconds, 's')} with {type(self.error).__name__}"
            return f"{failed}; {found or 'nothing was counted'}"
        return found or _NOTHING

    def _counted(self) -> str:
        totals = self._run.kernels.totals()
        took = "" if np.isnan(totals["time"]) else f" in {format_quantity(totals['time'], 's')}"
        of_cell = f" of {format_quantity(self.seconds, 's')}" if took and self._run.by != "call" else ""
        amounts = [f"{counted(self._run.calls, 'operation')}{took}{of_cell}"]
        amounts += [format_quantity(totals[key], unit) for key, unit in (("flops", "FLOP"), ("bytes", "B"))]
        return ", ".join([*amounts, *self._share()])

    def _share(self) -> list[str]:
        """Return how close the operations are to the roof of the chip."""
        try:
            chip = self._run.widget.resolved_chip()
        except TraitError:
            return []
        kernels = self._run.kernels
        bound = bound_lenient(kernels, chip)
        known = ~np.isnan(bound.time) & ~np.isnan(kernels.self_time)
        seconds = float(kernels.self_time[known].sum())
        if not seconds:
            return []
        self.notes += remarks_on_roofs(kernels, bound)
        return [f"{format_percent(float(bound.time[known].sum()) / seconds)} of the roof of {chip.name}"]


def _run(run: Recording, code: _Code, repeat: int, line: _Line) -> Any:
    """Run code, show its points and a line about it, and return the value of its last expression."""
    variables = run.variables
    assert variables is not None  # noqa: S101 - set by the caller
    variables[_SEEN] = run.seen
    try:
        with run:
            for _ in range(1 if run.by == "call" else repeat):
                start = run.clock()
                try:
                    result = code.run(watched=True)
                    run.wait(result)
                finally:
                    line.seconds += run.clock() - start
            result = plain_parts(result, run.plain)
        if run.by == "call" and run.calls:
            run.set_call_time(_call_time(run, code, repeat, line))
    except BaseException as error:
        line.error = error
        raise
    finally:
        variables.pop(_SEEN, None)
        line.finish()
    return result


def _call_time(run: Recording, code: _Code, repeat: int, line: _Line) -> float:
    """Return the median seconds of the runs without counting, or the seconds of the run that was counted."""
    if repeat == 1:
        line.notes.append("the time includes counting; --repeat 5 times further runs without counting")
        return line.seconds
    times = []
    for _ in range(repeat - 1):
        start = run.clock()
        run.wait(code.run())
        times.append(run.clock() - start)
    line.seconds = median(times)
    return line.seconds


def _repeat(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"%roofline: --repeat must be a whole number of at least 1, got {text!r}")
    return int(text)


def _device_of(variables: Mapping[str, Any]) -> str:
    """Return the accelerator that holds a tensor, a model or an array of the notebook, or the CPU."""
    torch = sys.modules.get("torch")
    for value in list(variables.values()):
        if torch is not None and isinstance(value, torch.nn.Module):
            value = next(value.parameters(), None)  # noqa: PLW2901 - a model is where its parameters are
        device = getattr(value, "device", None)
        kind = getattr(device, "type", getattr(device, "platform", "cpu"))
        if kind in _ACCELERATORS:
            return str(kind)
    return "cpu"
