"""Write `operators.md` from the operators themselves: `python docs/make_operators.py`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))

from roofwidget.workloads import CONVENTIONS, DECODERS, DTYPES, Graph, Op, Tensor, dim
from roofwidget.workloads.ops.elementwise import BINARY, UNARY
from roofwidget.workloads.ops.sources import SOURCES
from roofwidget.workloads.registry import OPERATORS, built_in

PAGE = DOCS / "operators.md"

B, T, D, F, H, S, V = (dim(name, 1, 10**6, default=64) for name in ("B", "T", "D", "F", "H", "S", "V"))
M, N, K = (dim(name, 1, 10**6, default=64) for name in "MNK")
C, E, I, L, P = (dim(name, 1, 10**6, default=64) for name in ("C", "E", "I", "L", "P"))  # noqa: E741 - usual names
Y, X = (dim(name, 3, 10**6, default=64) for name in ("Y", "X"))
Z = dim("nnz", 1, 10**9, default=64)

Built: TypeAlias = Callable[[Graph], Any]

TOP = f"""# Operators

The {len(built_in())} operators of `rw.Graph`, each a method: `y = graph.layernorm(x)`. This page is written by
`docs/make_operators.py` from the operators themselves: FLOPs and bytes are those of the call beside them, with the
convention `textbook` and elements of 2 bytes (8 for numerical kernels, 4 for optimizers and bodies, indices 4).
`help(graph.layernorm)` tells the formula; beneath each table stands where it comes from.

Bytes are one read of each input and one write of each output, the compulsory traffic of Williams, Waterman and
Patterson (2009), plus what the formula names besides. `graph.terms(op)` gives the derivation by name,
`graph.flops_by_class(op)` the classes (`tensor`, `vector`, `transcendental`). *The convention in force* is that of the
graph: see [Conventions](#conventions).

*Kind* is what an operator is to fusion. A reduction names the axes of its first input that it reduces: a kernel that
uses its result has these axes whole on chip, or passes over them again. A reduction without axes combines near
elements, such as a window. Each operator but an opaque one also says which loops it walks, as in einsum: `op.loops`.
[What one kernel can do](arithmetic.md#what-one-kernel-can-do) follows from kinds and loops.
"""

# Family, and the calls that show it: text, and the same as a function of a graph.
FAMILIES: tuple[tuple[str, tuple[tuple[str, Built], ...]], ...] = (
    (
        "Matrix products",
        (
            ("matmul(a[M, K], b[K, N])", lambda g: g.matmul(_in(g, "a", M, K), _in(g, "b", K, N))),
            (
                "batched_matmul(a[B, M, K], b[B, K, N])",
                lambda g: g.batched_matmul(_in(g, "a", B, M, K), _in(g, "b", B, K, N)),
            ),
            ("linear(x[T, D], F, bias=True)", lambda g: g.linear(_in(g, "x", T, D), F, bias=True)),
            ("gemv(a[M, N], x[N])", lambda g: g.gemv(_in(g, "a", M, N), _in(g, "x", N))),
            (
                "gemm(a[M, K], b[K, N], c[M, N])",
                lambda g: g.gemm(_in(g, "a", M, K), _in(g, "b", K, N), _in(g, "c", M, N)),
            ),
            (
                "blocked_matmul(a[N, N], b[N, N], cache=12288)",
                lambda g: g.blocked_matmul(_in(g, "a", N, N), _in(g, "b", N, N), cache=12288),
            ),
            (
                "grouped_linear(x[T, D], F, groups=E)",
                lambda g: g.grouped_linear(_in(g, "x", T, D), F, groups=E),
            ),
            (
                "moe(x[T, D], experts=8, active=2, ffn=F)",
                lambda g: g.moe(_in(g, "x", T, D), experts=8, active=2, ffn=F),
            ),
            (
                'moe(x[T, D], experts=8, active=2, ffn=F, touched="expected")',
                lambda g: g.moe(_in(g, "x", T, D), experts=8, active=2, ffn=F, touched="expected"),
            ),
        ),
    ),
    (
        "Convolutions and pooling",
        (
            ("conv2d(x[B, 64, Y, X], 128, 3, padding=1)", lambda g: g.conv2d(_image(g), 128, 3, padding=1)),
            (
                'conv2d(x[B, 64, Y, X], 128, 3, padding=1, algorithm="im2col")',
                lambda g: g.conv2d(_image(g), 128, 3, padding=1, algorithm="im2col"),
            ),
            (
                "conv2d(x[B, 64, Y, X], 64, 3, padding=1, groups=64)",
                lambda g: g.conv2d(_image(g), 64, 3, padding=1, groups=64),
            ),
            (
                "max_pool2d(x[B, 64, Y, X], 3, stride=1, padding=1)",
                lambda g: g.max_pool2d(_image(g), 3, stride=1, padding=1),
            ),
            ("global_average_pool(x[B, 64, Y, X])", lambda g: g.global_average_pool(_image(g))),
        ),
    ),
    (
        "Elementwise",
        (
            ("relu(x[T, D])", lambda g: g.relu(_in(g, "x", T, D))),
            ("silu(x[T, D])", lambda g: g.silu(_in(g, "x", T, D))),
            ("gelu(x[T, D])", lambda g: g.gelu(_in(g, "x", T, D))),
            ('gelu(x[T, D], approximate="none")', lambda g: g.gelu(_in(g, "x", T, D), approximate="none")),
            ("unary(x[T, D], function)", lambda g: g.unary(_in(g, "x", T, D), "tanh")),
            ("add(x[T, D], y[T, D])", lambda g: g.add(_in(g, "x", T, D), _in(g, "y", T, D))),
            ("binary(x[T, D], y[D], function)", lambda g: g.binary(_in(g, "x", T, D), _in(g, "y", D), "multiply")),
            ('bias_activation(x[T, D], "relu")', lambda g: g.bias_activation(_in(g, "x", T, D), "relu")),
            ("swiglu(gate[T, F], up[T, F])", lambda g: g.swiglu(_in(g, "gate", T, F), _in(g, "up", T, F))),
            ("dropout(x[T, D])", lambda g: g.dropout(_in(g, "x", T, D))),
            ("dropout(x[T, D], mask=True)", lambda g: g.dropout(_in(g, "x", T, D), mask=True)),
            ("rope(x[B, S, 128·H], head_dim=128)", lambda g: g.rope(_in(g, "x", B, S, 128 * H), head_dim=128)),
            ('cast(x[T, D], "fp8")', lambda g: g.cast(_in(g, "x", T, D), "fp8")),
            ("copy(x[T, D])", lambda g: g.copy(_in(g, "x", T, D))),
            ("transpose(x[T, D])", lambda g: g.transpose(_in(g, "x", T, D))),
            ("embedding(tokens[T], D)", lambda g: g.embedding(g.input("tokens", (T,), "int32"), D)),
        ),
    ),
    (
        "Along rows and channels",
        (
            ("layernorm(x[T, D])", lambda g: g.layernorm(_in(g, "x", T, D))),
            (
                "layernorm(x[T, D], affine=False, passes=3)",
                lambda g: g.layernorm(_in(g, "x", T, D), affine=False, passes=3),
            ),
            ("rmsnorm(x[T, D])", lambda g: g.rmsnorm(_in(g, "x", T, D))),
            ("softmax(x[T, D])", lambda g: g.softmax(_in(g, "x", T, D))),
            ("batchnorm(x[B, C, Y, X])", lambda g: g.batchnorm(_in(g, "x", B, C, Y, X))),
            ("batchnorm(x[B, C, Y, X], training=True)", lambda g: g.batchnorm(_in(g, "x", B, C, Y, X), training=True)),
            (
                "cross_entropy(logits[T, V], targets[T])",
                lambda g: g.cross_entropy(_in(g, "logits", T, V), g.input("targets", (T,), "int32")),
            ),
            ("reduce_sum(x[T, D])", lambda g: g.reduce_sum(_in(g, "x", T, D))),
        ),
    ),
    (
        "Attention",
        (
            ("attention(q[H, S, D], k[H, S, D], v[H, S, D])", lambda g: g.attention(*_heads(g))),
            ("attention(q, k, v) with one head of keys (MQA)", lambda g: g.attention(*_heads(g, 1))),
            ("unfused_attention(q, k, v)", lambda g: g.unfused_attention(*_heads(g))),
            ("flash_attention(q, k, v, block_rows=128)", lambda g: g.flash_attention(*_heads(g), block_rows=128)),
            ("attention(q, k, v, causal=True)", lambda g: g.attention(*_heads(g), causal=True)),
            (
                "sliding_window_attention(q, k, v, window=4096)",
                lambda g: g.sliding_window_attention(*_heads(g), window=4096),
            ),
            (
                "decode_attention(q[B, 1, 32·128], context=S, heads=32, kv_heads=8)",
                lambda g: g.decode_attention(_in(g, "q", B, 1, 4096), context=S, heads=32, kv_heads=8),
            ),
            ("kv_append(k[B, 1, D], v[B, 1, D])", lambda g: g.kv_append(_in(g, "k", B, 1, D), _in(g, "v", B, 1, D))),
        ),
    ),
    (
        "Recurrence and optimizers",
        (
            (
                "lstm_cell(x[B, I], h[B, H], c[B, H])",
                lambda g: g.lstm_cell(_in(g, "x", B, I), _in(g, "h", B, H), _in(g, "c", B, H)),
            ),
            (
                "selective_scan(x[B, L, D], delta[B, L, D], b[B, L, N], c[B, L, N])",
                lambda g: g.selective_scan(*_scan(g)),
            ),
            ("selective_scan(…, materialised=True)", lambda g: g.selective_scan(*_scan(g), materialised=True)),
            ("adam_step(parameter[P], gradient[P])", lambda g: g.adam_step(*_in32(g, ("parameter", "gradient"), P))),
            ("sgd_step(parameter[P], gradient[P])", lambda g: g.sgd_step(*_in32(g, ("parameter", "gradient"), P))),
        ),
    ),
    (
        "Numerical computing",
        (
            ("dot(x[N], y[N])", lambda g: g.dot(*_in64(g, ("x", "y"), N))),
            ("axpy(x[N], y[N])", lambda g: g.axpy(*_in64(g, ("x", "y"), N))),
            ("scal(x[N])", lambda g: g.scal(*_in64(g, ("x",), N))),
            (
                "ger(a[M, N], x[M], y[N])",
                lambda g: g.ger(*_in64(g, ("a",), M, N), *_in64(g, ("x",), M), *_in64(g, ("y",), N)),
            ),
            ("stream_copy(a[N])", lambda g: g.stream_copy(*_in64(g, ("a",), N))),
            ("stream_scale(c[N])", lambda g: g.stream_scale(*_in64(g, ("c",), N))),
            ("stream_add(a[N], b[N])", lambda g: g.stream_add(*_in64(g, ("a", "b"), N))),
            ("stream_triad(b[N], c[N])", lambda g: g.stream_triad(*_in64(g, ("b", "c"), N))),
            ("spmv_csr(x[N], rows=N, nonzeros=nnz)", lambda g: g.spmv_csr(*_in64(g, ("x",), N), rows=N, nonzeros=Z)),
            ("stencil(x[Y, X], points=5)", lambda g: g.stencil(*_in64(g, ("x",), Y, X), points=5)),
            ("stencil(x[N, Y, X], points=7)", lambda g: g.stencil(*_in64(g, ("x",), N, Y, X))),
            (
                'stencil(x[N, Y, X], points=27, layer_condition="planes")',
                lambda g: g.stencil(*_in64(g, ("x",), N, Y, X), points=27, layer_condition="planes"),
            ),
            ("fft(x[B, 1024, 2])", lambda g: g.fft(*_in64(g, ("x",), B, 1024, 2))),
            ("nbody(bodies[N, 4])", lambda g: g.nbody(*_in32(g, ("bodies",), N, 4))),
        ),
    ),
)


def _in(g: Graph, name: str, *shape: Any) -> Tensor:
    return g.input(name, shape, "bf16")


def _in32(g: Graph, names: Iterable[str], *shape: Any) -> list[Tensor]:
    return [g.input(name, shape, "fp32") for name in names]


def _in64(g: Graph, names: Iterable[str], *shape: Any) -> list[Tensor]:
    return [g.input(name, shape, "fp64") for name in names]


def _image(g: Graph) -> Tensor:
    return _in(g, "x", B, 64, Y, X)


def _heads(g: Graph, groups: Any = H) -> list[Tensor]:
    return [_in(g, "q", H, S, D), _in(g, "k", groups, S, D), _in(g, "v", groups, S, D)]


def _scan(g: Graph) -> list[Tensor]:
    return [*(_in(g, name, B, L, D) for name in ("x", "delta")), *(_in(g, name, B, L, N) for name in ("b", "c"))]


def page() -> str:
    """Return the page's text."""
    parts = [TOP]
    for title, calls in FAMILIES:
        rows = [_row(text, build) for text, build in calls]
        table = _table(("call", "FLOPs", "bytes", "kind"), rows)
        parts.append(f"## {title}\n\n{table}\n{_sources(_name(text) for text, _ in calls)}")
    parts += [_functions(), _conventions(), _dtypes(), _models()]
    return "\n".join(parts)


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


def shown() -> set[str]:
    """Return the operators that have a row, or stand in a table of functions."""
    return {_name(text) for _, calls in FAMILIES for text, _ in calls} | set(UNARY) | set(BINARY)


def missing() -> set[str]:
    """Return the built-in operators that the page does not show."""
    return {name for name in OPERATORS if name in built_in()} - shown()


def _name(text: str) -> str:
    return text.partition("(")[0]


def _sources(names: Iterable[str]) -> str:
    """Return a line for each source, with the operators that share it."""
    by_source: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        by_source.setdefault(SOURCES[name], []).append(f"`{name}`")
    return "".join(f"- {', '.join(shared)}. Source: {source}.\n" for source, shared in by_source.items())


def _row(text: str, build: Built) -> tuple[str, ...]:
    g = Graph()
    build(g)
    flops: Any = sum((g.flops(op) for op in g.ops), start=0)
    moved: Any = sum((g.bytes(op) for op in g.ops), start=0)
    return f"`{text}`", f"{flops}", f"{moved}", ", ".join(dict.fromkeys(_kind(op) for op in g.ops))


def _kind(op: Op) -> str:
    if not op.axes:
        return op.kind
    return f"{op.kind} over {'axis' if len(op.axes) == 1 else 'axes'} {', '.join(map(str, op.axes))}"


def _functions() -> str:
    def each(function: str, operands: int) -> str:
        g = Graph()
        getattr(g, "unary" if operands == 1 else "binary")(
            *(g.input(n, (1,), "fp32") for n in "xy"[:operands]), function
        )
        return f"`{function}` {g.count('flops')}"

    unary = " · ".join(each(function, 1) for function in UNARY)
    binary = " · ".join(each(function, 2) for function in BINARY)
    sources = _sources(name for name in (*UNARY, *BINARY) if name in SOURCES)
    return (
        "## Functions of `unary` and `binary`\n\nFLOPs an element; each but the two forms of GELU is a method of its"
        f" own too.\n\n- {unary}\n- {binary}\n\n{sources}"
    )


def _conventions() -> str:
    words = [word for word in next(iter(CONVENTIONS.values())).environment if word not in {"@causal", "@exact"}]
    rows = [
        (f"`{name}`", *(str(one.environment[word]) for word in words), one.causal) for name, one in CONVENTIONS.items()
    ]
    head = ("preset", *(word.removeprefix("@").replace("_", "-") for word in words), "causal")
    text = (
        "What an operation costs when two people could count it differently: `rw.Convention`, and its presets. "
        "*fma* is for these counts: kernels, which are held against peaks, count a multiply-add as 2, as peaks do. "
        "*softmax* is all of a softmax, its exponential too, wherever it stands; *transcendental* is every other one. "
        "`rw.Graph(convention=…)` or `graph.with_convention(…)` puts one in force. *vector* 0 counts matrix products "
        "and convolutions only; *apart* 1 keeps transcendental functions as a class of their own; *padding* 0 leaves "
        "out the taps of a convolution that fall on padding; *causal* exact counts the pairs of a query and a key that "
        "a causal mask leaves, full counts all pairs; the mask is aligned bottom-right (the last query sees all keys, "
        "as in flash_attn from 2.1 on), while that of PyTorch's `is_causal` is aligned top-left (the first query sees "
        "the first key): the two differ if there are not as many queries as keys; *write-allocate* 1 makes numerical "
        "kernels read what they store."
    )
    return f"## Conventions\n\n{text}\n\n{_table(head, rows)}"


def _dtypes() -> str:
    widths = " · ".join(f"`{name}` {width}" for name, width in DTYPES.items())
    return f"## Dtypes\n\nBits of an element; the bytes of a tensor are rounded up once. {widths}\n"


def _models() -> str:
    rows = []
    for name, one in DECODERS.items():
        layer = one.layer
        experts = f"{layer.active} of {layer.experts}" if layer.experts else ""
        ffn = 4 * layer.hidden if layer.ffn is None else layer.ffn
        rows.append(
            (
                f"`{name}`",
                *map(str, (one.layers, layer.hidden, layer.heads, layer.groups, ffn, experts, one.vocabulary)),
            )
        )
    head = ("decoder", "layers", "hidden", "heads", "kv heads", "ffn", "experts", "vocabulary")
    text = (
        "`rw.workloads.decoder(name, batch=…, seq=…, phase=…)`; any size can be given in place of the preset's. "
        "In place of a name it takes a `config.json` of Hugging Face's format, see [serving.md](serving.md). "
        "`transformer_block`, `resnet18`, `resnet50` and `hpc_set` make graphs alike. Weights of experts are read for "
        'the mean number of experts that tokens reach if they pick at random; `touched="most"` reads them for the most '
        "experts that tokens can reach."
    )
    return f"## Decoders\n\n{text}\n\n{_table(head, rows)}"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    columns = list(head)
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines) + "\n"


if __name__ == "__main__":
    main()
