"""`RooflineAnalyzer`: FLOPs, bytes and time of each module of a PyTorch model, beside the roof of the device."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from roofwidget.analysis.bound_lenient import bound_lenient
from roofwidget.analysis.result import ABOVE_ROOF_FROM, Bound
from roofwidget.kernels.filters import whole_from_one
from roofwidget.kernels.table import Kernels
from roofwidget.measure.counts import Request, checked_count
from roofwidget.measure.frameworks import counter, required
from roofwidget.measure.profile import Profile, as_chip, own_operations, peaks_for
from roofwidget.support.arguments import shown_value
from roofwidget.support.text_tables import aligned, and_more, counted, first_few

if TYPE_CHECKING:
    from roofwidget.widget import RooflineWidget

_BOUNDS: Final[dict[str, Literal["memory", "compute"]]] = {"memory": "memory", "compute": "compute"}
_HEADER: Final = ("name", "type", "FLOPs", "bytes", "AI", "GFLOPs/s", "bound", "util%")
# The columns of numbers end at the same position.
_NUMBERS: Final = (2, 3, 4, 5, 7)
_PREFIXES: Final = ("", "k", "M", "G", "T", "P", "E")
_MAX_NAME_CHARACTERS: Final = 40
_MAX_IDLE_NAMED: Final = 4


@dataclass(frozen=True)
class RooflinePoint:
    """What one module of a model did in one call: a point of a roofline.

    Parameters
    ----------
    name
        The path of the module, such as ``layer1.0.conv1``; the class of the model for its own operations.
    type
        The class of the module, such as ``Conv2d``.
    flops
        FLOPs of all operations that ran in the module itself, not in its submodules. None if unknown.
    bytes_moved
        Bytes of main memory if nothing stays in a cache between two operations. None if unknown.
    time_s
        Median seconds. None if not measured.
    arithmetic_intensity
        FLOPs per byte; NaN if unknown.
    achieved_gflops
        10⁹ FLOPs per second; NaN if unknown.
    bound
        ``memory`` or ``compute``: what limits the module on the device. ``undefined`` if FLOPs or bytes are unknown, or
        if the device's peak for this precision is unknown.
    utilization_pct
        The time at the roof over the measured time, percent; NaN if unknown. It is also defined for modules without
        FLOPs. Above 100 % a count, the time or the roof is wrong; see `above_roof`.

    Examples
    --------
    >>> point = RooflinePoint("fc", "Linear", 1_024_000, 2_056_096, 1e-4, 0.498, 10.24, "memory", 40.0)
    >>> point.as_dict()["bound"], point.above_roof
    ('memory', False)
    """

    __module__ = "roofwidget"

    name: str
    type: str
    flops: int | None
    bytes_moved: int | None
    time_s: float | None
    arithmetic_intensity: float
    achieved_gflops: float
    bound: Literal["memory", "compute", "undefined"]
    utilization_pct: float

    @property
    def above_roof(self) -> bool:
        """Whether the module was faster than the roof allows, so that a count, the time or the roof must be wrong."""
        return self.utilization_pct > 100 * ABOVE_ROOF_FROM

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return asdict(self)


class RooflineAnalyzer:
    """Measures each module of a PyTorch model and compares it with the roof of the device.

    Every operation counts, not only those of known layers: element-wise ones, attention, residual additions. An
    operation belongs to the innermost module that runs it. Operations that a model runs itself have a row with the
    model's class as their name.

    Parameters
    ----------
    model
        A `torch.nn.Module`. It runs in evaluation mode and without gradients; to measure training, use `rw.profile`.
        Afterwards the mode of each module and the device are as before, also after an error.
    sample
        The input: a tensor or another single value, a tuple of positional inputs, or a dict of inputs by keyword.
    peaks
        The roof: `HardwarePeaks`, a `Chip` or the name of one. If it is None, `profile` measures the peaks of the
        device.

    Attributes
    ----------
    results : list of RooflinePoint
        One point per module that computes or moves bytes, in the order in which they first ran. Empty before `profile`.
    kernels : Kernels
        The same as a table: the names are the paths, the categories are the classes of the modules.
    peaks : HardwarePeaks or Chip
        The roof; after `profile` never None.

    Raises
    ------
    ImportError
        If PyTorch is not installed. The message names the extra that installs it.
    TypeError
        If `model` is not a `torch.nn.Module`.
    """

    __module__ = "roofwidget"

    def __init__(self, model: Any, sample: Any, peaks: Any = None) -> None:
        torch = required("torch")
        if not isinstance(model, torch.nn.Module):
            raise TypeError(f"model must be a torch.nn.Module, got {shown_value(model)}; for a function: rw.profile")
        if peaks is not None:
            as_chip(peaks)
        self._model = model
        self._sample = sample
        self._given_peaks = peaks
        self.peaks = peaks
        self.results: list[RooflinePoint] = []
        self._profile: Profile | None = None
        self._table = Kernels()

    def profile(self, device: Any = None, warmup: int = 5, steps: int = 20) -> list[RooflinePoint]:
        """Count and time every module, and return `results`.

        Parameters
        ----------
        device
            Where to run, such as ``"cpu"`` or ``"cuda:0"``; by default where the model is. If the device is missing, a
            warning says so, and the model runs on the CPU.
        warmup, steps
            The number of calls before the timed calls, and the number of timed calls.

        Raises
        ------
        ValueError
            If `warmup` is negative, `steps` is less than one, or the device is unknown.
        """
        warmup, steps = checked_count(warmup, "warmup", 0), checked_count(steps, "steps", 1)
        torch = required("torch")
        place = _device(torch, device, self._model)
        args, kwargs = _inputs(self._sample, place)
        with _prepared(self._model, place), torch.no_grad():
            counts = counter("torch").count(self._model, args, kwargs, Request("module", "op", warmup, steps))
        profile = Profile(type(_plain(self._model)).__name__, counts, "module")
        self.peaks = peaks_for([profile]) if self._given_peaks is None else self._given_peaks
        self._profile, self._table = profile, _table(profile, _plain(self._model))
        self.results = _points(self._table, bound_lenient(self._table, as_chip(self.peaks)))
        return self.results

    @property
    def kernels(self) -> Kernels:
        return self._table

    def summary(self, top: int | None = 10) -> None:
        """Print a table of the slowest modules; with ``top=None`` of all modules.

        Raises
        ------
        RuntimeError
            If nothing is measured yet.
        """
        most = None if top is None else whole_from_one(top, "summary: top")
        print("\n".join(self._summary_lines(self._profiled(), most)))  # noqa: T201 - its purpose

    def plot(self, title: str | None = None, **traits: Any) -> RooflineWidget:
        """Return a `RooflineWidget` with a point per module. A point's colour shows the class of its module.

        Parameters
        ----------
        title
            The text above the chart; by default the name of the model and of the device.
        **traits
            Any trait of `RooflineModel`.

        Raises
        ------
        RuntimeError
            If nothing is measured yet.
        """
        profile = self._profiled()
        text = f"{profile.name} on {profile.device}" if title is None else title
        return self._table.roofline(chips=[as_chip(self.peaks)], title=text, **traits)

    def __repr__(self) -> str:
        name = type(_plain(self._model)).__name__
        if self._profile is None:
            return f"RooflineAnalyzer({name}, not measured yet)"
        return f"RooflineAnalyzer({name} on {self._profile.device}, {counted(len(self.results), 'point')})"

    def _profiled(self) -> Profile:
        if self._profile is None:
            raise RuntimeError("call profile() first: nothing is measured yet")
        return self._profile

    def _summary_lines(self, profile: Profile, top: int | None) -> Iterator[str]:
        found = bound_lenient(self._table, as_chip(self.peaks))
        slowest = sorted(self.results, key=lambda point: math.inf if point.time_s is None else -point.time_s)
        names = _shortened([point.name for point in slowest])
        shown = slowest[:top]
        flagged = any(point.above_roof for point in shown)
        yield f"=== {profile.name} on {profile.device} · roof of {found.chip.name} ==="
        rows = [_cells(name, point, flagged=flagged) for name, point in zip(names, shown, strict=False)]
        yield from aligned([_HEADER, *rows], right=_NUMBERS)
        yield from and_more(len(slowest), len(shown))
        idle = _idle(_plain(self._model), {point.name for point in self.results})
        if idle:
            yield f"No operations of their own: {first_few(idle, _MAX_IDLE_NAMED)}"
        above = sum(point.above_roof for point in self.results)
        if above:
            yield f"! {above:,} faster than the roof: a cache holds the data, or a count, a time or the roof is wrong"
        yield from (f"Note: {note}" for note in (*profile.warnings, *found.remarks))


def _table(profile: Profile, model: Any) -> Kernels:
    """Return the rows of a profile by module: their names are the paths, their categories the classes of modules."""
    types = {path or profile.name: type(module).__name__ for path, module in model.named_modules()}
    own = own_operations(profile.name)
    paths = [profile.name if path == own else path for path in profile.kernels.extra["module"]]
    return profile.kernels.replace(names=paths, category=[types.get(path) for path in paths])


def _points(table: Kernels, found: Bound) -> list[RooflinePoint]:
    return [
        RooflinePoint(
            kernel.name,
            kernel.category or "unknown",
            _whole(table.flops[row]),
            _whole(table.bytes[row]),
            kernel.time,
            float(table.arithmetic_intensity[row]),
            float(table.achieved[row]) / 1e9,
            _BOUNDS.get(found.regime[row], "undefined"),
            100 * float(found.utilization[row]),
        )
        for row, kernel in enumerate(table)
    ]


def _whole(amount: float) -> int | None:
    return None if math.isnan(amount) else round(amount)


def _idle(model: Any, busy: Collection[str]) -> list[str]:
    """Return the paths of the modules without submodules that have no row.

    They make views or nothing, or another module computes for them.
    """
    return [
        path
        for path, module in model.named_modules()
        if path and path not in busy and not any(True for _ in module.children())
    ]


def _cells(name: str, point: RooflinePoint, *, flagged: bool) -> list[str]:
    mark = "!" if point.above_roof else " " if flagged else ""
    return [
        name,
        point.type,
        _scaled(point.flops),
        _scaled(point.bytes_moved),
        _decimals(point.arithmetic_intensity),
        _decimals(point.achieved_gflops),
        point.bound,
        ("unknown" if math.isnan(point.utilization_pct) else f"{point.utilization_pct:.1f}%") + mark,
    ]


def _decimals(value: float) -> str:
    return "unknown" if math.isnan(value) else f"{value:.2f}"


def _scaled(amount: int | None) -> str:
    """Return an amount with a prefix and two decimals, so that a column of amounts is easy to compare."""
    if amount is None:
        return "unknown"
    exponent = min((len(str(amount)) - 1) // 3, len(_PREFIXES) - 1)
    return f"{amount / 1000**exponent:.2f}{_PREFIXES[exponent]}" if exponent else str(amount)


def _shortened(paths: Sequence[str]) -> list[str]:
    """Return the paths with at most `_MAX_NAME_CHARACTERS` characters each, where this keeps them distinct.

    The end of a path says most, so the beginning is cut. If two paths become equal, the middle is cut. If they still
    are equal, the paths stay as they are.
    """
    for ahead in (0, _MAX_NAME_CHARACTERS // 2):
        short = [
            path
            if len(path) <= _MAX_NAME_CHARACTERS
            else f"{path[:ahead]}…{path[len(path) - _MAX_NAME_CHARACTERS + 1 + ahead :]}"
            for path in paths
        ]
        if len(set(short)) == len(set(paths)):
            return short
    return list(paths)


def _plain(model: Any) -> Any:
    """Return the module that `torch.compile` compiled, or the module itself."""
    return getattr(model, "_orig_mod", model)


def _inputs(sample: Any, place: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the positional inputs and the inputs by keyword of a sample, on a device."""
    if isinstance(sample, Mapping):
        return (), {str(name): _moved(value, place) for name, value in sample.items()}
    values = sample if isinstance(sample, tuple) else (sample,)
    return tuple(_moved(value, place) for value in values), {}


def _moved(value: Any, place: Any) -> Any:
    """Return a value with its tensors on a device. None as the device leaves them where they are."""
    if place is None:
        return value
    if hasattr(value, "to"):
        return value.to(place)
    if isinstance(value, Mapping):
        return {key: _moved(part, place) for key, part in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_moved(part, place) for part in value)
    return value


def _device(torch: Any, asked: Any, model: Any) -> Any:
    """Return the device to run on; None for a model without parameters and buffers that may stay where it is."""
    if asked is None:
        tensors = (*model.parameters(), *model.buffers())
        return tensors[0].device if tensors else None
    try:
        found = torch.device(asked)
    except (RuntimeError, TypeError) as error:
        raise ValueError(
            f"device must be one that PyTorch knows, such as 'cpu' or 'cuda', got {asked!r:.60}"
        ) from error
    backend = getattr(torch.backends if found.type == "mps" else torch, found.type, None)
    if found.type == "cpu" or (backend is not None and backend.is_available()):
        return found
    warnings.warn(f"PyTorch finds no device '{found}' here: the model runs on the CPU", stacklevel=3)
    return torch.device("cpu")


@contextlib.contextmanager
def _prepared(model: Any, device: Any) -> Iterator[None]:
    """Put a model on a device and in evaluation mode; afterwards restore the device and the mode of each part."""
    modes = [(module, module.training) for module in model.modules()]
    restore = _position(model) if device is not None else None
    try:
        model.eval()
        if device is not None:
            model.to(device)
        yield
    finally:
        for module, training in modes:
            module.training = training
        if restore is not None:
            restore()


def _position(model: Any) -> Callable[[], None]:
    """Return a function that puts all parameters, gradients and buffers where they are now, without copies."""
    gradients = [(one, one.grad) for one in model.parameters()]
    tensors = [(one, one.data) for pair in gradients for one in pair if one is not None]
    # `Module.to` replaces buffers, and parameters too where it cannot change them in place.
    owned = [vars(module)[kind] for module in model.modules() for kind in ("_parameters", "_buffers")]
    tables = [(table, dict(table)) for table in owned]

    def restore() -> None:
        for table, content in tables:
            table.update(content)
        for tensor, data in tensors:
            tensor.data = data
        for parameter, gradient in gradients:
            parameter.grad = gradient

    return restore
