"""`measure_peaks`: the peaks of this machine's processors, or of an accelerator, within a time budget."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from itertools import chain
from threading import RLock
from typing import Any, Final

import numpy as np

from roofwidget.measure import system
from roofwidget.measure.counts import checked_count
from roofwidget.measure.frameworks import TITLES, is_imported, is_installed, probes_of, required
from roofwidget.measure.hardware_peaks import HardwarePeaks
from roofwidget.measure.peak_figures import LEVELS, PeakRequest, measure
from roofwidget.support.arguments import list_argument, shown_value
from roofwidget.support.did_you_mean import choose_from, keywords
from roofwidget.support.extras import install_command
from roofwidget.support.precisions import precision_key
from roofwidget.support.progress import Progress

_PRECISIONS: Final = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8")
_BACKENDS: Final = ("auto", "numpy", "torch", "jax")
_DEVICES: Final = ("cpu", "cuda", "mps", "gpu", "tpu")
# What is measured without a `dtype`, by kind of device. On a CPU bf16 is added, see `_default_precisions`.
_DEFAULTS: Final = {
    "cpu": ("fp32", "fp64"),
    "cuda": ("fp32", "bf16", "fp16", "fp64"),
    "gpu": ("fp32", "bf16", "fp16", "fp64"),
    "mps": ("fp32", "bf16", "fp16"),
    "tpu": ("bf16", "fp32"),
}
_INSTEAD: Final = {
    "matmul_size": "sizes double while the rate grows; budget_s limits the time",
    "bandwidth_mb": "arrays are larger than the last cache; levels=['DRAM'] leaves out the caches",
    "dtypes": "give dtype, one precision or a list",
    "n_threads": "give threads",
}

_lock = RLock()
_cache: dict[Any, HardwarePeaks] = {}


@keywords("measure_peaks", _INSTEAD)
def measure_peaks(
    device: Any = "cpu",
    *,
    dtype: Any = None,
    steps: int | None = None,
    warmup: int | None = None,
    allow_tf32: bool = False,
    levels: Iterable[str] | None = None,
    threads: int | None = None,
    budget_s: float = 5.0,
    backend: str = "auto",
    cache: bool = True,
    progress: Progress = None,
) -> HardwarePeaks:
    """Measure the peak FLOP rates and the memory bandwidths of this machine.

    FLOP rates come from products of square matrices (2 size³ FLOPs), on accelerators of normally distributed random
    numbers, as GPUs multiply constants faster than data; bandwidths from ``a += b`` (two loads and one
    store). The result has the best rate of each, and says how much the rates vary. Other programs on the same machine
    make rates lower: the figures say so in their warnings.

    Parameters
    ----------
    device
        ``cpu``; ``cuda``, ``cuda:1`` or ``mps``, by PyTorch; ``gpu`` or ``tpu``, by JAX. If the device is missing, this
        function warns and measures the CPU.
    dtype
        A precision (``fp32``, ``torch.float32``, ``numpy.float64``, …) or a list of them. `peak_flops` is that of the
        first. By default fp32 and fp64 on a CPU, also bf16 if PyTorch is imported; fp32, bf16, fp16 and fp64 on a GPU,
        also tf32 if PyTorch can use it there.
    steps, warmup
        The number of timed runs of each figure, and of the runs before them. By default one warm-up, and as many timed
        runs as the best three need to agree within 2 %.
    allow_tf32
        Whether `peak_flops` is that of TF32 where fp32 is asked for. Only GPUs have TF32.
    levels
        The memory levels to measure: ``L3``, ``L2``, ``L1``. DRAM is always measured. By default all that the system
        names; only the main memory on an accelerator.
    threads
        How many threads work on a CPU; by default as many as this process may run at the same time.
    budget_s
        Seconds for all figures. A run starts only if it should end in time; each figure gets at least one run.
        Importing a framework takes additional time; so do compiling and the first run of each size on an accelerator,
        at most 20 s for each figure.
    backend
        Which framework multiplies matrices: ``numpy``, ``torch``, ``jax``, or ``auto``. On a CPU ``auto`` means numpy
        for fp32 and fp64, or PyTorch if it is imported and faster; and PyTorch for the rest.
    cache
        Whether to return the result of an earlier equal call in this process, see `clear_peaks_cache`.
    progress
        None: a progress bar in a notebook where tqdm is installed. True: a bar. False: none. Or a function of (done,
        total) in figures.

    Returns
    -------
    HardwarePeaks
        The peaks; its ``chip`` is a `Chip` with the measured figures.

    Raises
    ------
    TypeError
        If an argument has a wrong type, or a keyword is unknown.
    ValueError
        If a device, precision, level or backend is unknown, if a number is not positive, if there are more threads than
        processors, or if the CPU computes a precision that was asked for in a naive loop.
    ImportError
        If a precision or backend needs a framework that is not installed. The message names the extra.

    Warns
    -----
    UserWarning
        If the device is missing.

    Examples
    --------
    >>> peaks = measure_peaks(budget_s=0.2)
    >>> peaks.device, peaks.dtype, peaks.chip.kind, peaks.ridge_point == peaks.peak_flops / peaks.peak_bandwidth
    ('cpu', 'fp32', 'cpu', True)
    """
    _check_numbers(steps, warmup, budget_s)
    machine = system.machine()
    threads = _threads(threads, machine)
    asked = _asked_precisions(dtype)
    chosen_levels = _asked_levels(levels)
    found, framework, name, missing = _find(_device(device), _backend(backend))
    if missing:
        warnings.warn(missing, stacklevel=3)
    if missing and asked:
        precisions, optional = _precisions_instead(asked)
    else:
        precisions, optional = _precisions(asked, found, framework, allow_tf32=bool(allow_tf32))
    frameworks = tuple(_frameworks_for(precision, found, framework) for precision in precisions)
    request = PeakRequest(
        *(found, precisions, frameworks, optional, chosen_levels),
        *(threads, steps, warmup, float(budget_s)),
    )
    key = (request, missing)
    with _lock:
        if cache and key in _cache:
            return _cache[key]
        result = measure(request, machine, name=name, notes=(missing,) if missing else (), progress=progress)
        if cache:
            _cache[key] = result
        return result


def clear_peaks_cache() -> None:
    """Forget all results of `measure_peaks`: the next call measures again."""
    with _lock:
        _cache.clear()


# -- arguments ---------------------------------------------------------------------------------------------------------


def _check_numbers(steps: Any, warmup: Any, budget_s: Any) -> None:
    for word, count, least in (("steps", steps, 1), ("warmup", warmup, 0)):
        if count is not None:
            checked_count(count, word, least)
    if isinstance(budget_s, bool) or not isinstance(budget_s, int | float):
        raise TypeError(f"budget_s must be a number of seconds, got {shown_value(budget_s)}")
    if not 0 < budget_s < math.inf:
        raise ValueError(f"budget_s must be above zero and finite, got {budget_s} s")


def _threads(given: Any, machine: system.Machine) -> int:
    if given is None:
        return machine.threads
    if isinstance(given, bool) or not isinstance(given, int):
        raise TypeError(f"threads must be a whole number, got {shown_value(given)}")
    if not 1 <= given <= machine.threads:
        raise ValueError(f"threads must be from 1 to {machine.threads}, which this process may run, got {given}")
    return given


def _asked_precisions(given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    many = given if isinstance(given, list | tuple) else [given]
    if not many:
        raise ValueError("dtype must name a precision, such as 'fp32'; the list is empty")
    return tuple(dict.fromkeys(_precision(one) for one in many))


def _precision(given: Any) -> str:
    if isinstance(given, str):
        word = given
    elif str(given).startswith("torch."):
        word = str(given)
    else:
        try:
            word = np.dtype(given).name
        except TypeError:
            raise TypeError(f"dtype must be a precision such as 'fp32', got {shown_value(given)}") from None
    key = precision_key(word)
    if key not in _PRECISIONS:
        raise ValueError(f"dtype: no peak is measured for {word!r:.40}{choose_from(key, _PRECISIONS)}")
    return key


def _asked_levels(given: Any) -> tuple[str, ...] | None:
    if given is None:
        return None
    words = list_argument(given, "levels", "['DRAM', 'L2']")
    found = {str(word).upper() for word in words}
    for word, upper in ((word, str(word).upper()) for word in words):
        if upper not in LEVELS:
            raise ValueError(f"levels: unknown {word!r:.40}{choose_from(upper, LEVELS)}")
    return tuple(level for level in LEVELS if level == "DRAM" or level in found)


def _backend(given: Any) -> str:
    if given not in _BACKENDS:
        raise ValueError(f"backend: unknown {given!r:.40}{choose_from(given, _BACKENDS)}")
    return str(given)


def _device(given: Any) -> str:
    text = str(given).casefold().strip()
    kind, colon, index = text.partition(":")
    if kind not in _DEVICES or (colon and not index.isdigit()):
        raise ValueError(f"device: unknown {given!r:.40}{choose_from(kind, _DEVICES)}")
    return "cpu" if kind == "cpu" else text


def _find(device: str, backend: str) -> tuple[str, str, str, str]:
    """Return the device that is there, the framework for it, its name, and why it is not the device that was asked."""
    kind = device.partition(":")[0]
    if kind == "cpu":
        if backend not in {"auto", "numpy"}:
            required(backend)
        return device, backend, "", ""
    frameworks = {"mps": ("torch",), "cuda": ("torch", "jax")}.get(kind, ("jax",))
    framework = frameworks[0] if backend == "auto" else backend
    if framework not in frameworks:
        words = " or ".join(repr(one) for one in frameworks)
        raise ValueError(f"backend={backend!r} cannot measure the device {device!r}: give backend={words}")
    if is_installed(framework):
        there, name, reason = probes_of(framework).find(device)
        if there:
            return there, framework, name, ""
    elif backend != "auto":
        required(framework)
    else:
        reason = f"{TITLES[framework]} is not installed: {install_command(framework)}"
    return "cpu", "auto", "", f"device={device!r} is missing ({reason}), so the CPU was measured"


def _precisions(
    asked: tuple[str, ...], device: str, framework: str, *, allow_tf32: bool
) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return what to measure, and which of it may be left out if the CPU computes it in a naive loop."""
    kind = device.partition(":")[0]
    if not asked:
        found, optional = _default_precisions(kind, framework)
        if kind == "cuda" and framework == "torch" and probes_of(framework).has_tf32(device):
            # PyTorch convolves fp32 numbers in TF32 by default.
            found = tuple(chain.from_iterable((one, "tf32") if one == "fp32" else (one,) for one in found))
    else:
        found, optional = asked, frozenset()
    has_tf32 = kind in {"cuda", "gpu"}
    if "tf32" in found and not has_tf32:
        raise ValueError(f"dtype: {device!r} has no TF32; give dtype='fp32'")
    if "fp8" in found and not (kind == "cuda" and framework == "torch" and probes_of(framework).has_fp8(device)):
        raise ValueError(
            f"dtype: no product of fp8 matrices is measured on {device!r}, but on NVIDIA GPUs from compute capability "
            "8.9 on, by PyTorch; leave out fp8"
        )
    if allow_tf32 and has_tf32 and "fp32" in found:
        at = found.index("fp32")
        found = tuple(dict.fromkeys((*found[:at], "tf32", *found[at:])))
    return found, optional


def _precisions_instead(asked: tuple[str, ...]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return what to measure on the CPU in place of a missing device: fp32 in any case, the rest if the CPU can."""
    usual = probes_of("numpy").DTYPES
    on_cpu = ["fp32" if precision == "tf32" else precision for precision in asked]
    found = [one for one in on_cpu if one in usual or (one != "fp8" and is_installed("torch"))]
    return tuple(dict.fromkeys((*found, "fp32"))), frozenset(found).difference(usual)


def _default_precisions(kind: str, framework: str) -> tuple[tuple[str, ...], frozenset[str]]:
    found = _DEFAULTS[kind]
    # Importing PyTorch takes seconds: bf16 is worth them only if it is asked for.
    if kind == "cpu" and (framework in {"torch", "jax"} or (framework == "auto" and is_imported("torch"))):
        return (*found, "bf16"), frozenset({"bf16"})
    return found, frozenset()


def _frameworks_for(precision: str, device: str, framework: str) -> tuple[str, ...]:
    """Return the frameworks that may multiply matrices of a precision on a device fastest."""
    kind = device.partition(":")[0]
    if kind == "cpu" and framework in {"auto", "numpy"}:
        if precision in probes_of("numpy").DTYPES:
            return ("numpy", "torch") if framework == "auto" and is_imported("torch") else ("numpy",)
        if framework == "numpy":
            raise ValueError(
                f"dtype: numpy multiplies {precision} matrices in a naive loop or not at all; give backend='torch'"
            )
        framework = "jax" if is_imported("jax") and not is_installed("torch") else "torch"
        required(framework)
    if kind == "mps" and precision == "fp64":
        raise ValueError("dtype: Apple GPUs have no fp64; give dtype='fp32'")
    return (framework,)
