"""JAX functions: rows against XLA's own totals, forms of arguments, and times with a clock of our own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from itertools import count as numbers
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.measure.counts import Counts, Request
from roofwidget.measure.jax import counter
from roofwidget.measure.jax.programs import Program, Totals, counts_of, totals_of
from roofwidget.measure.passes import Passes
from tests.tables import warns

jax = pytest.importorskip("jax", reason="JAX is not installed")
jnp = jax.numpy
lax = jax.lax
# What XLA fuses, and so the bytes, differ between releases.
needs_release = pytest.mark.skipif(
    jax.__version__ != "0.10.2", reason=f"the expected figures are those of JAX 0.10.2, not {jax.__version__}"
)
Function = Callable[..., Any]


@pytest.fixture(autouse=True)
def _on_the_cpu() -> Iterator[None]:
    with jax.default_device(jax.devices("cpu")[0]):
        yield


def shape(*dims: int, dtype: str = "float32") -> Any:
    return jax.ShapeDtypeStruct(dims, dtype)


def normalised(x: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    return jax.nn.gelu(centred * lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5)) + x


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = jnp.einsum("bhtd,bhsd->bhts", q, k) / 8
    return jnp.einsum("bhts,bhsd->bhtd", jax.nn.softmax(scores), v)


def layers(weights: Any, x: Any) -> Any:
    for weight, bias in weights:
        x = jax.nn.gelu(x @ weight + bias)
    return x


def convolved(x: Any, w: Any) -> Any:
    return lax.conv_general_dilated(x, w, (2, 2), "SAME", feature_group_count=4)


def pooled(x: Any) -> Any:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


WEIGHTS = [(shape(256, 256), shape(256))] * 2
LOOP_FREE: dict[str, tuple[Function, tuple[Any, ...]]] = {
    "product": (jnp.matmul, (shape(512, 512), shape(512, 512))),
    "bf16 product": (jnp.matmul, (shape(512, 512, dtype="bfloat16"), shape(512, 512, dtype="bfloat16"))),
    "int8 product": (
        functools.partial(lax.dot, preferred_element_type=jnp.int32),
        (shape(512, 512, dtype="int8"), shape(512, 512, dtype="int8")),
    ),
    "three products": (lambda a, b, c: a @ b @ c, (shape(128, 128),) * 3),
    "normalisation": (normalised, (shape(4096, 1024),)),
    "softmax": (jax.nn.softmax, (shape(1024, 1024),)),
    "attention": (attention, (shape(2, 8, 512, 64),) * 3),
    "unfused attention": (
        lambda q, k, v: jax.nn.dot_product_attention(q, k, v, scale=0.125),
        (shape(2, 512, 8, 64),) * 3,
    ),
    "layers": (layers, (WEIGHTS, shape(64, 256))),
    "convolution": (convolved, (shape(2, 64, 16, 16), shape(64, 16, 3, 3))),
    "transposed convolution": (
        lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"),
        (shape(2, 16, 16, 8), shape(3, 3, 8, 4)),
    ),
    "pooling": (pooled, (shape(2, 28, 28, 16),)),
    "running sum": (functools.partial(jnp.cumsum, axis=-1), (shape(64, 1000),)),
    "largest": (functools.partial(jnp.argmax, axis=-1), (shape(64, 1000),)),
    "choice of elements": (lambda x: jnp.where(x > 0, x, 0), (shape(512, 512),)),
    "update": (
        lambda a, b, i: lax.dynamic_update_slice(a, b, (i, 0)),
        (shape(99, 64), shape(3, 64), shape(dtype="int32")),
    ),
}


@needs_release
@pytest.mark.parametrize("name", LOOP_FREE)
def test_rows_add_up_to_the_totals_of_xla(name: str) -> None:
    function, args = LOOP_FREE[name]
    compiled = jax.jit(function).lower(*args).compile()
    p = rw.from_jax(compiled)
    totals = totals_of(compiled.cost_analysis())
    by_class = {key: int(np.nansum(column)) for key, column in p.kernels.flops_by_precision.items()}
    assert by_class.get("tensor", 0) + by_class.get("vector", 0) == totals.flops
    assert by_class.get("transcendental", 0) == totals.transcendentals
    assert p.bytes == totals.bytes


@needs_release
def test_a_training_step_adds_up_to_the_totals_of_xla_but_for_the_pointers_of_its_result() -> None:
    def loss(weights: Any, x: Any) -> Any:
        return jnp.mean(layers(weights, x) ** 2)

    compiled = jax.jit(jax.value_and_grad(loss)).lower(WEIGHTS, shape(64, 256)).compile()
    p = rw.from_jax(compiled)
    totals = totals_of(compiled.cost_analysis())
    # The loss and four gradients, 8 bytes a pointer.
    assert (p.flops + p.other_flops, p.bytes) == (
        (totals.flops or 0) + (totals.transcendentals or 0),
        (totals.bytes or 0) - 5 * 8,
    )


@needs_release
def test_a_fused_normalisation_has_its_fused_its_unfused_and_its_compulsory_bytes() -> None:
    p = rw.from_jax(normalised, shape(4096, 1024))
    assert (len(p.kernels), p.bytes, p.compulsory_bytes) == (2, 83_886_080, 33_554_432)
    assert p.unfused_bytes > 8 * p.bytes


def test_a_scan_counts_its_body_as_often_as_it_runs() -> None:
    def scan(x: Any, w: Any) -> Any:
        return lax.scan(lambda carry, _: (carry @ w, None), x, None, length=10)[0]

    assert rw.from_jax(scan, shape(256, 256), shape(256, 256)).flops == 335_544_320


def test_a_loop_of_unknown_length_warns() -> None:
    def loop(x: Any, n: Any) -> Any:
        return lax.while_loop(lambda state: state[0] < n, lambda state: (state[0] + 1, state[1] @ x), (0, x))[1]

    p = rw.from_jax(loop, shape(64, 64), shape(dtype="int32"))
    assert p.flops == 2 * 64**3
    assert warns(p, "counted once")


def test_a_call_to_lapack_is_unknown() -> None:
    p = rw.from_jax(jnp.linalg.cholesky, shape(64, 64))
    assert any(k.flops is None for k in p.kernels)
    assert warns(p, "calls to libraries")


def test_scopes_are_modules() -> None:
    def model(x: Any, w: Any) -> Any:
        with jax.named_scope("first"):
            x = x @ w
        with jax.named_scope("second"):
            return jnp.tanh(x) @ w

    p = rw.from_jax(model, shape(64, 64), shape(64, 64), by="module")
    assert {"first", "second"} <= set(p.kernels.names)


def test_a_profile_has_by_default_what_runs_as_one_kernel() -> None:
    x = jnp.ones((64, 64))
    timed, counted_only = rw.profile(normalised, x, repeat=1, warmup=0), rw.count_flops(normalised, shape(64, 64))
    assert (timed.by, counted_only.by) == ("fusion", "fusion")
    assert timed.bytes == counted_only.bytes == rw.from_jax(normalised, x).bytes
    assert rw.count_flops(normalised, shape(64, 64), by="op").bytes == timed.unfused_bytes


# Forms of functions and arguments


def doubled(x: Any, *, by_hand: bool = False) -> Any:
    return x + x if by_hand else 2 * x


def test_functions_jitted_lowered_and_compiled_ones_give_the_same_counts() -> None:
    x = jnp.ones((64, 64))
    jitted = jax.jit(jnp.matmul)
    lowered = jitted.lower(x, x)
    profiles = [
        rw.from_jax(jnp.matmul, x, x),
        rw.from_jax(jitted, x, x),
        rw.from_jax(lowered),
        rw.from_jax(lowered.compile()),
        rw.from_jax(jnp.matmul, shape(64, 64), np.ones((64, 64), np.float32)),
        rw.count_flops(jitted, shape(64, 64), shape(64, 64)),
        rw.count_flops(jnp.matmul, shape(64, 64), shape(64, 64)),
    ]
    assert {p.flops for p in profiles} == {2 * 64**3}
    assert {p.name for p in profiles} == {"matmul"}
    assert {p.device for p in profiles} == {"cpu"}
    assert {p.time for p in profiles} == {None}


def test_keywords_reach_the_function_and_static_ones_are_static() -> None:
    jitted = jax.jit(doubled, static_argnames="by_hand")
    assert rw.from_jax(jitted, shape(8), by_hand=True).other_flops == 8
    assert rw.from_jax(functools.partial(doubled, by_hand=True), shape(8)).name == "doubled"


def test_an_argument_that_is_no_array_is_named() -> None:
    with pytest.raises(
        TypeError, match=r"argument 2 of f holds 'mean', .* make it static: jax.jit\(f, static_argnames"
    ):
        rw.from_jax(named(lambda x, _kind: x, "f"), shape(8), "mean")
    with pytest.raises(TypeError, match=r"kind of f holds 'mean'"):
        rw.from_jax(named(lambda x, kind: (x, kind), "f"), shape(8), kind={"a": ["mean"]})


def named(function: Function, name: str) -> Function:
    function.__name__ = name
    return function


def test_an_argument_whose_value_is_needed_is_to_be_made_static() -> None:
    with pytest.raises(TypeError, match=r"f needs the value of an argument while it is compiled; make that argument"):
        rw.from_jax(named(lambda x, flag: x if flag else -x, "f"), shape(8), True)  # noqa: FBT003 - a traced flag
    with pytest.raises(TypeError, match=r"convert it to numpy outside the function"):
        rw.from_jax(named(lambda x: np.sin(x) + 1, "f"), shape(8))


def test_errors_of_the_function_pass_through() -> None:
    def fails(x: Any) -> Any:
        raise KeyError(x.shape)

    with pytest.raises(KeyError):
        rw.from_jax(fails, shape(8))
    with pytest.raises(TypeError, match="contracting"):
        rw.from_jax(jnp.matmul, shape(8, 4), shape(8, 4))


@pytest.mark.parametrize("function", [3, None, "jnp.sin"])
def test_what_cannot_be_called_is_refused(function: Any) -> None:
    with pytest.raises(TypeError, match="must be a JAX function, or a lowered or compiled one, got"):
        rw.from_jax(function)


def test_a_compiled_function_takes_no_arguments_and_an_unknown_grouping_is_refused() -> None:
    compiled = jax.jit(jnp.sin).lower(shape(8)).compile()
    with pytest.raises(TypeError, match="a lowered or compiled function takes no arguments here"):
        rw.from_jax(compiled, shape(8))
    with pytest.raises(ValueError, match="by: unknown 'kernel'"):
        rw.from_jax(compiled, by="kernel")  # type: ignore[arg-type]


# Times


def ticking(step: float) -> Callable[[], float]:
    """Return a clock that advances by a step each time it is read."""
    readings = (step * number for number in numbers())
    return lambda: next(readings)


def test_calls_are_timed_after_warm_up_with_the_given_clock() -> None:
    calls = []

    def run(*args: Any) -> Any:
        calls.append(args)
        return args[0]

    x = jnp.ones(8)
    compiled = jax.jit(jnp.sin).lower(x).compile()
    program = Program.of(compiled, call=run)
    request = Request(warmup=3, repeat=4, clock=ticking(0.5))
    found = counter._call_times(jax, program, (x,), {}, request, Passes(request))
    assert found == (0.5, 0.5, 0.5, 0.5)
    assert len(calls) == 7


def request(**options: Any) -> Request:
    return Request(by="fusion", warmup=1, repeat=3, clock=ticking(0.25), **options)


def counted(function: Function, *args: Any, **options: Any) -> Counts:
    return counter.count(function, args, {}, request(**options))


def test_a_kernel_that_runs_alone_has_the_time_of_the_call() -> None:
    counts = counted(jnp.matmul, jnp.ones((64, 64)), jnp.ones((64, 64)))
    assert [op.time for op in counts.ops] == [0.25]
    assert (counts.call_times, counts.warnings) == ((0.25, 0.25, 0.25), ())


def test_several_kernels_have_no_times_of_their_own_and_a_note_says_so() -> None:
    x = jnp.eye(64)
    counts = counted(lambda a: jnp.linalg.cholesky(a @ a.T), x)
    assert len(counts.ops) > 1
    assert {op.time for op in counts.ops} == {None}
    assert warns(counts, "calls are timed, and rows are not")
    silent = counted(lambda a: jnp.linalg.cholesky(a @ a.T), x, timing="call")
    assert not warns(silent, "rows are not")


def test_without_timing_nothing_runs() -> None:
    counts = counted(jnp.sin, shape(8), timing=None)
    assert counts.call_times == ()
    with pytest.raises(TypeError, match="a shape without data cannot be timed"):
        counted(jnp.sin, shape(8))


def test_donated_arrays_survive_the_timing() -> None:
    x = jnp.ones((64, 64))
    added = jax.jit(jnp.add, donate_argnums=0)
    assert counted(added, x, x).call_times == (0.25, 0.25, 0.25)
    assert not x.is_deleted()


def test_static_arguments_are_timed_too() -> None:
    jitted = jax.jit(lambda x, kind: x @ x if kind == "product" else x, static_argnums=1)
    p = rw.profile(jitted, jnp.ones((64, 64)), "product", repeat=1, warmup=0)
    assert p.flops == 2 * 64**3
    assert len(p.call_times) == 1


# What XLA says of a program


@pytest.mark.parametrize(
    ("analysis", "totals"),
    [
        ({"flops": 8.0, "transcendentals": 2.0, "bytes accessed": 96.0}, Totals(8, 2, 96, calls_libraries=False)),
        ([{"flops": 8.0}], Totals(8, 0, 0, calls_libraries=False)),
        (({"transcendentals": 2.0},), Totals(0, 2, 0, calls_libraries=False)),
        ({"bytes accessed": 96.0, "optimal_seconds": 1e-9}, Totals(0, 0, 96, calls_libraries=False)),
        (
            {"flops": 5.0, "bytes accessed": 95.0, "optimal_seconds": -1.0},
            Totals(None, None, None, calls_libraries=True),
        ),
        ({"flops": -1.0, "bytes accessed": -1.0}, Totals(None, None, None, calls_libraries=True)),
        (None, Totals(None, None, None, calls_libraries=False)),
        ([], Totals(None, None, None, calls_libraries=False)),
        ([None], Totals(None, None, None, calls_libraries=False)),
        ({}, Totals(None, None, None, calls_libraries=False)),
    ],
)
def test_every_form_of_cost_analysis_is_read(analysis: Any, totals: Totals) -> None:
    assert totals_of(analysis) == totals


class Silent:
    """A compiled function of a device that does not show its programs."""

    def __init__(self, analysis: Any) -> None:
        self._analysis = analysis

    def as_text(self) -> None:
        return None

    def cost_analysis(self) -> Any:
        return self._analysis

    def runtime_executable(self) -> Any:
        return self

    def local_devices(self) -> list[Any]:
        return [jax.devices("cpu")[0]] * 4


def test_without_a_text_the_totals_of_xla_are_the_only_row_and_a_warning_says_so() -> None:
    program = Program.of(Silent([{"flops": 8.0, "transcendentals": 2.0, "bytes accessed": 96.0}]), call=jnp.sin)
    counts = counts_of(program, "fusion")
    (row,) = counts.ops
    assert (row.flops, row.bytes) == ({"tensor": 8, "transcendental": 2}, 96)
    assert (counts.device, program.name) == ("cpu", "program")
    assert "does not show its programs" in counts.warnings[0]
    (unknown,) = counts_of(Program.of(Silent(None), call=jnp.sin), "op").ops
    assert (unknown.flops, unknown.bytes) == (None, None)
