"""What measures a device with JAX: a product of matrices, and ``a += b`` in the memory of an accelerator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final

from roofwidget.measure.probes import Clock, Probe, timed

DTYPES: Final = {"fp64": "float64", "fp32": "float32", "tf32": "float32", "bf16": "bfloat16", "fp16": "float16"}
_MOVES: Final = 3
_ITEM_BYTES: Final = 4


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
        exact = jax.lax.Precision.DEFAULT if precision == "tf32" else jax.lax.Precision.HIGHEST
        with self._wide(precision):
            a, b = (jax.numpy.full((size, size), value, DTYPES[precision]) for value in (1.0, 0.5))
            product = jax.jit(lambda left, right: jax.numpy.matmul(left, right, precision=exact))
            product(a, b).block_until_ready()

        def run() -> None:
            with self._wide(precision):
                product(a, b).block_until_ready()

        return Probe(
            2.0 * size**3, timed(run, self._clock), f"JAX matmul {size}×{size}", self._threads, framework="jax"
        )

    def memory(self, array_bytes: int, setup_s: float) -> Probe:  # noqa: ARG002 - for a CPU
        jax, count = self._jax, array_bytes // _ITEM_BYTES
        a, b = (jax.numpy.full(count, value, "float32") for value in (0.0, 1.0))
        # The donated input gives its memory to the output.
        update = jax.jit(lambda left, right: left + right, donate_argnums=0)

        def seconds(runs: int) -> Sequence[float]:
            nonlocal a
            times = []
            for _ in range(runs):
                start = self._clock()
                a = update(a, b)
                a.block_until_ready()
                times.append(self._clock() - start)
            return times

        seconds(1)
        return Probe(float(_MOVES * _ITEM_BYTES * count), seconds, "JAX a += b", self._threads)

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
