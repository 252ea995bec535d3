"""Attention: in three ops, in one kernel, by FlashAttention, in a window, and for one new token with a cache.

A query tensor has shape (N, d), (H, N, d), (B, H, N, d), or (B, N, H·d) with ``heads=H``. Keys and values have the same
form, with H heads or a divisor of H (grouped-query attention; one head: multi-query attention). Query heads that share
keys and values read these once.

For B sequences, H heads, Nq queries and Nk keys, the scores (queries times keys) take 2·B·H·Nq·Nk·d FLOPs. The product
of scores and values takes as many FLOPs again, and the softmax takes 5·B·H·Nq·Nk FLOPs. With ``causal=True`` the
queries are the last Nq positions of the sequence of keys: the mask is aligned bottom-right, as in flash_attn from
version 2.1 on. The mask of PyTorch's ``scaled_dot_product_attention(is_causal=True)`` is aligned top-left: its queries
are the first Nq positions, so it is the same only if Nq = Nk. The convention decides which pairs of a query and a key
count. By default the pairs that the mask leaves count: ``Nq·Nk - Nq·(Nq - 1) / 2``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from roofwidget.workloads.expressions import Count, ceil_div, evaluate, maximum, minimum
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.ops.formulas import (
    COUNTS_ALL_PAIRS,
    COUNTS_HALF,
    FMA,
    SOFTMAX,
    Term,
    add,
    attended,
    fail,
    like,
    multiply,
    named,
    positive,
    whole,
    work,
)
from roofwidget.workloads.registry import operator
from roofwidget.workloads.tensors import Tensor, bits


@dataclass(frozen=True)
class _Sizes:
    batch: Count
    heads: Count
    kv_heads: Count
    queries: Count
    keys: Count
    d: Count

    def terms(self, *, causal: bool) -> tuple[Term, ...]:
        return self._terms(lambda each, d: attended(each, self.queries, self.keys, d, causal=causal))

    def windowed_terms(self, window: Count) -> tuple[Term, ...]:
        """Return the terms of attention in which a query sees its own key and the `window` - 1 keys before it."""
        seeing = minimum(self.queries, self.keys)
        before = self.keys - seeing
        # The number of queries at positions up to `window`. Such a query sees itself and all keys before it.
        first = minimum(seeing, maximum(0, window - before))
        left = 2 * first * before + first * (first + 1) + 2 * (seeing - first) * window
        dense = 2 * self.queries * minimum(window, self.keys)
        return self._terms(lambda each, d: ceil_div(each * (left + COUNTS_ALL_PAIRS * (dense - left)) * d, 2))

    def _terms(self, pairs: Callable[[Count, Count], Count]) -> tuple[Term, ...]:
        """Return the terms. ``pairs(a, b)`` returns ``a * b`` times the number of pairs that count."""
        many = self.batch * self.heads
        product = pairs(FMA * many, self.d)
        return (
            ("Q Kᵀ", "tensor", product),
            ("softmax", "vector", pairs((SOFTMAX - 1) * many, 1)),
            ("exp", "transcendental", pairs(many, 1)),
            ("P V", "tensor", product),
        )


@operator
def attention(
    graph: Graph,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    heads: Count | None = None,
    causal: bool = False,
    log_sum_exp: bool = False,
    name: str | None = None,
) -> Tensor:
    """Attend in one kernel with compulsory bytes: q, k, v and the output move once.

    With `causal` the mask is aligned bottom-right: the last query sees all keys, and each query before it sees one key
    less. With `log_sum_exp` the kernel also writes what a backward pass needs: one fp32 number per query and head.

    Examples
    --------
    >>> from roofwidget.workloads import Graph
    >>> g = Graph()
    >>> q, k, v = (g.input(name, (4096, 128), "bf16") for name in "qkv")
    >>> out = g.attention(q, k, v)
    >>> g.count("bytes"), round(g.count("flops") / g.count("bytes"))
    (4194304, 2068)
    """
    op = named(graph, name, "attention")
    sizes = _sizes(graph, op, (q, k, v), heads)
    outputs = [like(q, op)]
    if log_sum_exp:
        outputs.append(Tensor(f"{op}.log_sum_exp", (sizes.batch, sizes.heads, sizes.queries), "fp32"))
    add(graph, "opaque", [q, k, v], outputs, work(*sizes.terms(causal=causal)))
    return outputs[0]


@operator
def unfused_attention(
    graph: Graph,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    heads: Count | None = None,
    causal: bool = False,
    name: str | None = None,
) -> Tensor:
    """Attend in three ops (scores, softmax, values). Unfused, the B·H·Nq·Nk scores are written and read twice.

    With `causal` the mask is aligned bottom-right, as in `attention`.
    """
    op = named(graph, name, "attention")
    sizes = _sizes(graph, op, (q, k, v), heads)
    first, *middle, last = sizes.terms(causal=causal)
    shape = (sizes.batch, sizes.heads, sizes.queries, sizes.keys)
    scores, weights = Tensor(f"{op}.scores", shape, q.dtype), Tensor(f"{op}.softmax", shape, q.dtype)
    query, key, pairs = _loops(q, k, heads)
    multiply(graph, [q, k], scores, work(first), index=f"{query},{key}->{pairs}")
    add(graph, "reduction", [scores], weights, work(*middle))
    index = f"{pairs},{key}->{query}"
    return multiply(graph, [weights, v], like(q, op), work(last), index=index, name=f"{op}.values")


def _loops(q: Tensor, k: Tensor, heads: Count | None) -> tuple[str, str, str]:
    """Return the letters of queries, of keys and values, and of their pairs. Heads are g groups of r heads."""
    shared = q.shape != k.shape and (heads is not None or (len(q.shape) > 2 and q.shape[-3] != k.shape[-3]))  # noqa: PLR2004
    many = "(gr)" if shared else "g"
    if heads is not None:
        return f"bq({many.strip('()')}d)", "bk(gd)", f"b{many}qk"
    rank = len(q.shape)
    if rank == 2:  # noqa: PLR2004 - one head of one sequence
        return "qd", "kd", "11qk"
    batch = "b" if rank == 4 else ""  # noqa: PLR2004 - batch, heads, length, head size
    return f"{batch}{many}qd", f"{batch}gkd", f"{batch or '1'}{many}qk"


def flash_blocks(cache: int, d: int) -> tuple[int, int]:
    """Return FlashAttention's block rows and block columns for a cache of `cache` elements and heads of size d.

    ``B_c = ⌈M / 4 d⌉`` and ``B_r = min(B_c, d)`` with M elements of cache (Dao et al. 2022, algorithm 1). Four blocks
    of d columns are on chip: one block each of q, k, v and the output.

    Examples
    --------
    >>> flash_blocks(96 * 1024, 128)
    (128, 192)
    """
    columns = ceil_div(cache, 4 * d)
    return min(evaluate(columns, {}), d), evaluate(columns, {})


@operator
def flash_attention(
    graph: Graph,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    heads: Count | None = None,
    causal: bool = False,
    block_rows: int | None = None,
    cache: int | None = None,
    kv_reuse: Literal["none", "l2"] = "none",
    version: Literal[1, 2] = 2,
    name: str | None = None,
) -> Tensor:
    """Attend by FlashAttention: the scores are not in memory, but some of the tensors move repeatedly.

    Version 2 loops over rows of q and reads keys and values repeatedly: ``2 Nq d + 2 Nk d ⌈Nq / B_r⌉`` elements per
    query head. With ``kv_reuse="l2"`` the keys and values of a head stay in cache and move once. Version 1 loops over
    columns and moves queries and output repeatedly: ``2 Nk d + ⌈Nk / B_c⌉ (3 Nq d + 4 Nq)`` elements per query head
    (Dao et al. 2022). If the convention counts a causal mask exactly, a block of rows reads only the keys and values
    that its last row sees. A block of columns then moves only the rows that see its first column. If the convention
    counts half of the pairs, the repeated bytes are halved.

    Parameters
    ----------
    graph, q, k, v, heads, causal, name
        As in `attention`.
    block_rows
        B_r. By default it is derived from `cache`, or 128 without `cache`.
    cache
        The number of elements that fit on chip. It determines the blocks (`flash_blocks`). Version 1 needs it.
    kv_reuse
        ``"l2"``: keys and values stay in a cache. ``"none"``: they move for each block of rows.
    version
        1 or 2.

    Examples
    --------
    >>> from roofwidget.workloads import Graph
    >>> g = Graph()
    >>> q, k, v = (g.input(name, (4096, 128), "bf16") for name in "qkv")
    >>> out = g.flash_attention(q, k, v, block_rows=128)
    >>> g.count("bytes") / 2**20
    66.0
    """
    op = named(graph, name, "flash_attention")
    sizes = _sizes(graph, op, (q, k, v), heads)
    if kv_reuse not in ("none", "l2"):
        raise fail(op, f"kv_reuse must be 'none' or 'l2', got {kv_reuse!r:.40}")
    blocks = _blocks(op, block_rows, cache, sizes.d, version)
    many = sizes.batch * sizes.heads
    own = _bytes(2 * many * sizes.queries * sizes.d, q.dtype)
    once = _bytes(2 * sizes.batch * sizes.kv_heads * sizes.keys * sizes.d, k.dtype)
    if version == 1:
        each = 3 * sizes.d + 4
        full, exact = (_bytes(many * rows * each, q.dtype) for rows in _rows_by_columns(sizes, blocks[1]))
        read = _bytes(many * 2 * sizes.keys * sizes.d, k.dtype)
        moved = read + _masked(sizes, full, exact, own, causal=causal)
    elif kv_reuse == "l2":
        moved = own + once
    else:
        full, exact = (_bytes(many * 2 * elements, k.dtype) for elements in _columns_by_rows(sizes, blocks[0]))
        moved = own + _masked(sizes, full, exact, once, causal=causal)
    extra = moved - own - once
    return add(graph, "opaque", [q, k, v], like(q, op), work(*sizes.terms(causal=causal)), extra_bytes=extra)


def _columns_by_rows(sizes: _Sizes, rows: int) -> tuple[Count, Count]:
    """Return the number of key elements that all blocks of rows read together: without and with a causal mask."""
    seeing = minimum(sizes.queries, sizes.keys)
    blocks = ceil_div(seeing, rows)
    # The last row of block b (b from 1) sees all keys before the first row, and min(b * rows, seeing) keys more.
    causal = blocks * (sizes.keys - seeing) + ceil_div(rows * blocks * (blocks - 1), 2) + seeing
    return sizes.keys * sizes.d * ceil_div(sizes.queries, rows), causal * sizes.d


def _rows_by_columns(sizes: _Sizes, columns: int) -> tuple[Count, Count]:
    """Return the number of rows that all blocks of columns move together: without and with a causal mask."""
    seeing = minimum(sizes.queries, sizes.keys)
    blocks = ceil_div(sizes.keys, columns)
    # The number of blocks that all rows see: the first column of the block is not after the first row.
    whole = minimum(blocks, ceil_div(sizes.keys - seeing + 1, columns))
    skipped = ceil_div(columns * (blocks * (blocks - 1) - whole * (whole - 1)), 2)
    return blocks * sizes.queries, whole * seeing + (blocks - whole) * sizes.keys - skipped


def _masked(sizes: _Sizes, full: Count, exact: Count, least: Count, *, causal: bool) -> Count:
    """Return the bytes that move repeatedly, with a causal mask counted as the convention counts it.

    The result is never below `least`, the bytes that move once.
    """
    if not causal:
        return full
    half: Count = COUNTS_HALF if sizes.queries == sizes.keys else 0
    kept = (1 - COUNTS_ALL_PAIRS - half) * maximum(exact, least)
    return COUNTS_ALL_PAIRS * full + half * maximum(ceil_div(full, 2), least) + kept


@operator
def sliding_window_attention(
    graph: Graph,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    window: Count,
    heads: Count | None = None,
    name: str | None = None,
) -> Tensor:
    """Attend in one kernel from each query to itself and the keys before it, `window` keys at most.

    The queries are the last Nq positions of the sequence of keys. The query at position p, counted from 1, sees
    min(p, W) keys. A convention that counts all pairs of a causal mask counts min(W, Nk) keys for each query. q, k, v
    and the output move once: give only keys that a query sees.

    Examples
    --------
    >>> from roofwidget.workloads import Graph
    >>> g = Graph()
    >>> q, k, v = (g.input(name, (8192, 128), "bf16") for name in "qkv")
    >>> out = g.sliding_window_attention(q, k, v, window=4096)
    >>> g.count("tensor") == 4 * 128 * sum(min(p, 4096) for p in range(1, 8193))
    True
    """
    op = named(graph, name, "sliding_window_attention")
    sizes = _sizes(graph, op, (q, k, v), heads)
    done = work(*sizes.windowed_terms(positive(op, "window", window)))
    return add(graph, "opaque", [q, k, v], like(q, op), done)


@operator
def decode_attention(
    graph: Graph,
    q: Tensor,
    k: Tensor | None = None,
    v: Tensor | None = None,
    *,
    context: Count,
    heads: Count,
    kv_heads: Count | None = None,
    cache_dtype: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Attend from one new token to a cache: 4·B·H·S·d + 5·B·H·S FLOPs for a context of S tokens.

    q has shape (B, 1, H·d). Keys and values of S tokens are read, 2·B·S·Hk·d elements, in the cache's dtype. `k` and
    `v` of the new token, (B, 1, Hk·d), are optional. The new token is one of the S tokens: its `k` and `v` are read and
    appended to the cache.

    Examples
    --------
    >>> from roofwidget.workloads import Graph
    >>> g = Graph()
    >>> out = g.decode_attention(g.input("q", (1, 1, 4096), "bf16"), context=8192, heads=32, kv_heads=8)
    >>> round(g.count("tensor") / g.count("bytes"), 2)
    4.0
    """
    op = named(graph, name, "decode_attention")
    if len(q.shape) != 3 or q.shape[1] != 1:  # noqa: PLR2004 - batch, one token, width
        raise fail(op, f"the query of one new token has shape (batch, 1, heads * d), got {q}")
    if (k is None) != (v is None):
        raise fail(op, f"needs both k and v of the new token, or neither: {'k' if k is None else 'v'} is missing")
    d = whole(graph, op, f"the last axis of '{q.name}'", q.shape[-1], positive(op, "heads", heads))
    groups = heads if kv_heads is None else kv_heads
    whole(graph, op, "heads", heads, positive(op, "kv_heads", groups))
    new = [tensor for tensor in (k, v) if tensor is not None]
    shape = (q.shape[0], 1, groups * d)
    for tensor in new:
        if tensor.shape != shape:
            raise fail(op, f"{tensor} must have shape (batch, 1, kv_heads * d) = ({', '.join(map(str, shape))})")
    dtype = cache_dtype or (k or q).dtype
    stored = positive(op, "context", context) - (1 if new else 0)
    lengths = (q.shape[0], positive(op, "context before the new token", stored), groups * d)
    caches = [graph.input(f"{op}.{word}_cache", lengths, dtype) for word in "kv"]
    slots = [Tensor(f"{op}.{tensor.name}_slot", shape, dtype) for tensor in new]
    sizes = _Sizes(q.shape[0], heads, groups, 1, context, d)
    return add(graph, "opaque", [q, *new, *caches], [like(q, op), *slots], work(*sizes.terms(causal=False)))


@operator
def kv_append(graph: Graph, k: Tensor, v: Tensor, *, dtype: str | None = None, name: str | None = None) -> Tensor:
    """Write keys and values into a cache: no FLOPs, one read and one write. Returns the cached keys."""
    op = named(graph, name, "kv_append")
    slots = [Tensor(f"{op}.{word}", tensor.shape, dtype or tensor.dtype) for word, tensor in (("k", k), ("v", v))]
    add(graph, "elementwise", [k, v], slots, work(), name=op)
    return slots[0]


def _bytes(elements: Count, dtype: str) -> Count:
    return ceil_div(elements * bits(dtype), 8)


def _blocks(op: str, rows: int | None, cache: int | None, d: Count, version: int) -> tuple[int, int]:
    """Return block rows and block columns. Without a cache the columns are not used."""
    if version not in (1, 2):
        raise fail(op, f"version must be 1 or 2, got {version!r:.40}")
    for word, value in (("block_rows", rows), ("cache", cache)):
        if value is not None and not (type(value) is int and value > 0):
            raise fail(op, f"{word} must be an int of at least 1, got {value!r:.40}")
    if cache is None:
        if version == 1:
            raise fail(op, "version 1 needs cache=, the elements that fit on chip")
        return rows or 128, 1
    if not isinstance(d, int):
        raise fail(op, f"blocks from a cache need heads of a plain size, got d = {d}; give block_rows instead")
    found = flash_blocks(cache, d)
    return rows or found[0], found[1]


def _sizes(graph: Graph, op: str, tensors: tuple[Tensor, Tensor, Tensor], heads: Count | None) -> _Sizes:
    q, k, v = tensors
    views = [_view(graph, op, tensor, heads, q) for tensor in (q, k, v)]
    (batch, many, queries, d), (_, groups, keys, _), _ = views
    if views[1] != views[2]:
        raise fail(op, f"keys and values must have one shape, got {k} and {v}")
    if (views[1][0], views[1][3]) != (batch, d):
        raise fail(op, f"'{q.name}' and '{k.name}' must agree in batch and head size, got {q} and {k}")
    whole(graph, op, f"heads of '{q.name}'", many, groups)
    return _Sizes(batch, many, groups, queries, keys, d)


def _view(graph: Graph, op: str, tensor: Tensor, heads: Count | None, q: Tensor) -> tuple[Count, Count, Count, Count]:
    """Return batch, heads, length and head size of a tensor's shape."""
    shape = tensor.shape
    if heads is None:
        if not 2 <= len(shape) <= 4:  # noqa: PLR2004 - the shapes in the module's doc string
            raise fail(op, f"{tensor} must have shape (N, d), (H, N, d) or (B, H, N, d), or give heads=")
        batch, many, length, d = (1,) * (4 - len(shape)) + shape
        return batch, many, length, d
    if len(shape) != 3 or len(q.shape) != 3:  # noqa: PLR2004 - batch, length, width
        raise fail(op, f"with heads= every tensor has shape (batch, length, heads * d), got {tensor}")
    d = whole(graph, op, f"the last axis of '{q.name}'", q.shape[-1], positive(op, "heads", heads))
    return shape[0], whole(graph, op, f"the last axis of '{tensor.name}'", shape[-1], d), shape[1], d
