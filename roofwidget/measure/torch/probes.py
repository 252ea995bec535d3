"""What measures a device with PyTorch: a product of matrices, and of an accelerator ``a += b`` and the latency."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import pairwise
from typing import Any, Final

import torch

from roofwidget.measure.probes import Clock, Probe, timed
from roofwidget.measure.torch.chase import chase

DTYPES: Final = {
    "fp64": torch.float64,
    "fp32": torch.float32,
    "tf32": torch.float32,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "fp8": torch.float8_e4m3fn,
}
_SEED: Final = 0
_FIRST_WITH_FP8: Final = (8, 9)
_FIRST_WITH_TF32: Final = (8, 0)
_MOVES: Final = 3
_MS_PER_S: Final = 1e3
# A chain of loads has one item in each cache line, of the longest lines of GPUs.
_LINE_BYTES: Final = 128
# So many that a launch takes less than 1 % of the time.
_LOADS: Final = 10_000


class TorchProbes:
    """The probes of PyTorch on one device.

    Parameters
    ----------
    device
        ``cpu``, ``cuda:0`` or ``mps``.
    threads
        How many threads work on a CPU.
    clock
        Returns seconds. CUDA has a clock of its own.
    """

    notes: Sequence[str] = ()
    active_wait_s = 0.0

    def __init__(self, device: str, threads: int, clock: Clock) -> None:
        self.device = device
        self.threads = threads
        self._clock = clock

    def matmul(self, precision: str, size: int) -> Probe:
        a, b = self._operands(precision, size)
        if precision == "fp8":
            run, word = _scaled_product(a, b), "_scaled_mm"
        else:
            out = torch.empty_like(a)
            run, word = lambda: torch.mm(a, b, out=out), "mm"

        def seconds(count: int) -> Sequence[float]:
            with tf32(torch.backends.cuda.matmul, allowed=precision == "tf32"):
                return self._seconds(run, count)

        if self._threads is None:
            # The first product loads and chooses a kernel.
            seconds(1)
        return Probe(2.0 * size**3, seconds, f"torch {word} {size}×{size}", self._threads, framework="torch")

    def _operands(self, precision: str, size: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return two matrices: constants on a CPU; random numbers on a GPU, which multiplies constants faster."""
        if self._threads is not None:
            dtype = DTYPES[precision]
            return torch.full((size, size), 1.0, dtype=dtype), torch.full((size, size), 0.5 / size, dtype=dtype)
        random = torch.Generator(self.device).manual_seed(_SEED)
        made = torch.float32 if precision == "fp8" else DTYPES[precision]
        a, b = (torch.randn(size, size, dtype=made, device=self.device, generator=random) for _ in range(2))
        return a.to(DTYPES[precision]), b.to(DTYPES[precision])

    def memory(self, array_bytes: int, setup_s: float) -> Probe:  # noqa: ARG002 - for a CPU
        count = array_bytes // torch.float32.itemsize
        a, b = (torch.full((count,), value, dtype=torch.float32, device=self.device) for value in (0.0, 1.0))
        moved = float(_MOVES * count * torch.float32.itemsize)
        return Probe(moved, lambda runs: self._seconds(lambda: a.add_(b), runs), "torch a += b", self._threads)

    @property
    def no_latency(self) -> str:
        if not self.device.startswith("cuda"):
            return f"PyTorch cannot follow a chain of loads on {self.device}"
        return "" if find_spec("triton") is not None else "it needs Triton, which is not installed"

    def latency(self, chain_bytes: int) -> Probe:
        follow = chase()
        items = _LINE_BYTES // torch.int32.itemsize
        order = torch.randperm(chain_bytes // _LINE_BYTES, device=self.device, dtype=torch.int32) * items
        chain = torch.zeros(len(order) * items, dtype=torch.int32, device=self.device)
        chain[order.long()] = order.roll(-1)
        at = torch.zeros(1, dtype=torch.int32, device=self.device)

        def seconds(count: int) -> Sequence[float]:
            return self._seconds(lambda: follow(at, chain, _LOADS), count)

        # The first chase compiles.
        seconds(1)
        return Probe(float(_LOADS), seconds, f"Triton chain of loads, {chain_bytes // 2**20} MiB", self._threads)

    @property
    def _threads(self) -> int | None:
        return self.threads if self.device == "cpu" else None

    def _seconds(self, run: Callable[[], object], count: int) -> Sequence[float]:
        kind = self.device.partition(":")[0]
        if kind == "cuda":
            with torch.cuda.device(self.device):
                return seconds_by_events(run, count, torch.cuda)
        if kind == "mps":
            return [self._mean_seconds(run, count)] * count
        return timed(run, self._clock)(count)

    def _mean_seconds(self, run: Callable[[], object], count: int) -> float:
        torch.mps.synchronize()
        start = self._clock()
        for _ in range(count):
            run()
        torch.mps.synchronize()
        return (self._clock() - start) / count


@contextmanager
def probes(*, device: str, threads: int, usable: int, clock: Clock) -> Iterator[TorchProbes]:  # noqa: ARG001 - for a BLAS
    """Yield PyTorch's probes, see `TorchProbes`. PyTorch's number of threads is as before at the end."""
    before = torch.get_num_threads()
    if device == "cpu":
        torch.set_num_threads(threads)
    try:
        with torch.inference_mode():
            yield TorchProbes(device, threads, clock)
    finally:
        torch.set_num_threads(before)


def find(device: str) -> tuple[str, str, str]:
    """Return a device as PyTorch writes it, and its name; or two empty texts and why it cannot be used."""
    kind, _, index = device.partition(":")
    if kind == "cpu":
        return "cpu", "", ""
    if kind == "mps":
        is_there = torch.backends.mps.is_available()
        return ("mps", "Apple GPU", "") if is_there else ("", "", "PyTorch finds no Apple GPU")
    if not torch.cuda.is_available():
        built = torch.version.cuda or torch.version.hip
        return "", "", "PyTorch finds no CUDA device" if built else "this PyTorch is built without CUDA"
    number = int(index) if index else torch.cuda.current_device()
    if number >= torch.cuda.device_count():
        return "", "", f"PyTorch finds only {torch.cuda.device_count()} CUDA devices"
    return f"cuda:{number}", str(torch.cuda.get_device_name(number)), ""


def cudnn_benchmark() -> bool:
    """Return whether cuDNN searches for the fastest convolution."""
    return bool(torch.backends.cudnn.benchmark)


def seconds_by_events(run: Callable[[], object], count: int, cuda: Any) -> Sequence[float]:
    """Return the seconds of each run by events on the device, with one synchronisation; `cuda` is `torch.cuda`."""
    events = [cuda.Event(enable_timing=True) for _ in range(count + 1)]
    events[0].record()
    for event in events[1:]:
        run()
        event.record()
    cuda.synchronize()
    return [start.elapsed_time(end) / _MS_PER_S for start, end in pairwise(events)]


@contextmanager
def tf32(settings: Any, *, allowed: bool) -> Iterator[None]:
    """Allow or forbid TF32 in products of fp32 matrices until the end; `settings` is `torch.backends.cuda.matmul`.

    Newer versions of PyTorch have two settings for the same thing, and raise if a program writes one and reads the
    other. The new setting is written, if there is one, and gets its old value back: both settings then agree as before.
    """
    name = _name_of_setting(settings)
    before = getattr(settings, name)
    setattr(settings, name, allowed if name == "allow_tf32" else "tf32" if allowed else "ieee")
    try:
        yield
    finally:
        setattr(settings, name, before)


def _scaled_product(a: torch.Tensor, b: torch.Tensor) -> Callable[[], object]:
    """Return a product of fp8 matrices with a bf16 result, whose operation has no public name."""
    one = torch.ones((), device=a.device)
    return lambda: torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True)  # noqa: SLF001


def has_fp8(device: Any) -> bool:
    """Return whether PyTorch multiplies fp8 matrices on a device: NVIDIA's GPUs from compute capability 8.9 on."""
    return has_tf32(device) and hasattr(torch, "_scaled_mm") and _capability(device) >= _FIRST_WITH_FP8


def has_tf32(device: Any) -> bool:
    """Return whether a device can multiply fp32 numbers as TF32: NVIDIA's GPUs from compute capability 8.0 on."""
    place = torch.device(device)
    if place.type != "cuda" or torch.version.hip is not None or not torch.cuda.is_available():
        return False
    return _capability(place) >= _FIRST_WITH_TF32


def _capability(device: Any) -> tuple[int, int]:
    major, minor = torch.cuda.get_device_capability(device)
    return int(major), int(minor)


def allows_tf32(*, convolution: bool) -> bool:
    """Return whether PyTorch's settings allow TF32: by default in cuDNN's convolutions, not in products of matrices."""
    if not convolution or not torch.backends.cudnn.enabled:
        settings: Any = torch.backends.cuda.matmul
    else:
        newer = getattr(torch.backends.cudnn, "conv", None)
        settings = torch.backends.cudnn if newer is None else newer
    return getattr(settings, _name_of_setting(settings)) in {True, "tf32"}


def _name_of_setting(settings: Any) -> str:
    # Older versions raise an `AssertionError` for names that they do not know.
    try:
        settings.fp32_precision  # noqa: B018 - whether it is there
    except (AttributeError, AssertionError):
        return "allow_tf32"
    return "fp32_precision"
