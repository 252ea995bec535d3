"""What measures a device with JAX: a product of matrices, and ``a += b`` in the memory of an accelerator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final

from roofwidget.measure.probes import Clock, Probe, timed

DTYPES: Final = {"fp64": "float64", "fp32": "float32", "tf32": "float32", "bf16": "bfloat16", "fp16": "float16"}
_MOVES: Final = 3
_ITEM_BYTES: Final = 4
_SEED: Final = 0
# Short runs are timed together: at most this many calls, for about this many seconds.
_MAX_QUEUED: Final = 16
_QUEUE_S: Final = 0.01


class JaxProbes:
    """The probes of JAX on one device.

    Parameters
    ----------
    device
        ``cpu``, ``gpu:0``, ``tpu:0``.
    threads
        How many threads JAX uses on a CPU.
    clock
        Returns seconds.
    notes
        What a reader must know about figures of these probes.
    """

    active_wait_s = 0.0
    no_latency = "JAX has no loop of single loads; PyTorch with Triton has"

    def __init__(self, device: str, threads: int, clock: Clock, notes: Sequence[str] = ()) -> None:
        import jax  # noqa: PLC0415 - optional

        kind, _, index = device.partition(":")
        self.device: Any = jax.devices(kind)[int(index or 0)]
        self.notes = notes
        self._jax = jax
        self._threads = threads if kind == "cpu" else None
        self._clock = clock

    def matmul(self, precision: str, size: int) -> Probe:
        jax = self._jax
        # By default TPUs multiply fp32 matrices as bf16, and GPUs as TF32.
        exact = jax.lax.Precision.HIGHEST if precision in {"fp32", "fp64"} else jax.lax.Precision.DEFAULT
        product = jax.jit(lambda left, right: jax.numpy.matmul(left, right, precision=exact))
        with self._wide(precision):
            a, b = self._operands(DTYPES[precision], size)

        def run() -> Any:
            with self._wide(precision):
                return product(a, b)

        return Probe(2.0 * size**3, self._seconds(run), f"JAX matmul {size}×{size}", self._threads, framework="jax")

    def _operands(self, dtype: str, size: int) -> list[Any]:
        """Return two matrices: constants on a CPU; random numbers elsewhere, as GPUs multiply constants faster."""
        random, numbers = self._jax.random, self._jax.numpy
        if self._threads is not None:
            return [numbers.full((size, size), value, dtype) for value in (1.0, 0.5)]
        return [random.normal(key, (size, size), dtype) for key in random.split(random.PRNGKey(_SEED))]

    def _seconds(self, run: Callable[[], Any]) -> Callable[[int], Sequence[float]]:
        """Return a function that runs a compiled function a number of times and returns the seconds of each run.

        On a device a run is the mean of several calls in its queue, which hides what Python and JAX add to a call.
        """

        def finished() -> None:
            run().block_until_ready()

        # The first call compiles.
        finished()
        if self._threads is not None:
            return timed(finished, self._clock)
        (alone,) = timed(finished, self._clock)(1)
        calls = max(1, min(_MAX_QUEUED, int(_QUEUE_S / max(alone, _QUEUE_S / _MAX_QUEUED))))

        def queued() -> None:
            for _ in range(calls - 1):
                run()
            finished()

        all_calls = timed(queued, self._clock)
        return lambda count: [seconds / calls for seconds in all_calls(count)]

    def memory(self, array_bytes: int, setup_s: float) -> Probe:  # noqa: ARG002 - for a CPU
        jax, count = self._jax, array_bytes // _ITEM_BYTES
        a, b = (jax.numpy.full(count, value, "float32") for value in (0.0, 1.0))
        # The donated input gives its memory to the output.
        update = jax.jit(lambda left, right: left + right, donate_argnums=0)

        def run() -> Any:
            nonlocal a
            a = update(a, b)
            return a

        return Probe(float(_MOVES * _ITEM_BYTES * count), self._seconds(run), "JAX a += b", self._threads)

    def _wide(self, precision: str) -> ExitStack:
        """Return a context in which JAX does not turn fp64 into fp32."""
        context = ExitStack()
        if precision == "fp64":
            context.enter_context(_with_64_bits(self._jax))
        return context


@contextmanager
def probes(*, device: str, threads: int, usable: int, clock: Clock) -> Iterator[JaxProbes]:
    """Yield JAX's probes, see `JaxProbes`. On a CPU JAX uses all `usable` threads."""
    import jax  # noqa: PLC0415 - optional

    notes = []
    if device == "cpu" and threads != usable:
        notes.append(f"JAX ran with its own {usable} threads, not with {threads}: it has no setting for them")
    found = JaxProbes(device, usable, clock, notes)
    with jax.default_device(found.device):
        yield found


def find(device: str) -> tuple[str, str, str]:
    """Return a device as its kind and number, and its name; or two empty texts and why it cannot be used."""
    import jax  # noqa: PLC0415 - optional

    kind, _, index = device.partition(":")
    try:
        devices = jax.devices(kind)
    except RuntimeError:
        return "", "", f"JAX finds no {kind.upper()}"
    number = int(index or 0)
    if number >= len(devices):
        return "", "", f"JAX finds only {len(devices)} of them"
    return (kind if kind == "cpu" else f"{kind}:{number}"), str(devices[number].device_kind), ""


def cudnn_benchmark() -> bool:
    """Return False: the setting is PyTorch's."""
    return False


def _with_64_bits(jax: Any) -> Any:
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)  # noqa: FBT003 - JAX's form
    from jax.experimental import enable_x64  # noqa: PLC0415 - optional

    return enable_x64()
