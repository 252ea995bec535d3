"""Attention: FLOPs and traffic of each form, and the mistakes that other counters make."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofwidget.workloads import Convention, Graph, Tensor, dim, flash_blocks

HALF = Convention("half", causal="half")
FULL = Convention("full", causal="full")
CAUSAL = (Convention("exact"), HALF, FULL)
lengths = st.integers(1, 200)
few = st.integers(1, 4)


def attend(method: str, *sizes: int, **how: Any) -> Graph:
    """Attend with sizes (batch, heads, kv heads, queries, keys, head size)."""
    batch, heads, groups, nq, nk, d = sizes
    g = Graph()
    q = g.input("q", (batch, heads, nq, d), "bf16")
    k, v = (g.input(name, (batch, groups, nk, d), "bf16") for name in "kv")
    g.output(getattr(g, method)(q, k, v, **how))
    return g


@given(batch=few, groups=few, share=few, nq=lengths, nk=lengths, d=st.integers(1, 64))
def test_attention_moves_its_operands_once_and_unfused_the_scores_four_times(
    *, batch: int, groups: int, share: int, nq: int, nk: int, d: int
) -> None:
    heads = groups * share
    scores = batch * heads * nq * nk
    operands = 2 * (2 * batch * heads * nq * d + 2 * batch * groups * nk * d)
    fused = attend("attention", batch, heads, groups, nq, nk, d)
    unfused = attend("unfused_attention", batch, heads, groups, nq, nk, d)
    assert fused.count("flops") == unfused.count("flops") == scores * (4 * d + 5)
    assert fused.count("tensor") == scores * 4 * d
    assert fused.count("bytes") == operands
    assert unfused.count("bytes") == operands + 2 * 4 * scores
    assert [op.kind for op in unfused.ops] == ["matmul", "reduction", "matmul"]


@given(groups=few, share=few, nq=lengths, nk=lengths, d=st.integers(1, 64), rows=st.integers(1, 256))
def test_flash_attention_reads_keys_and_values_for_each_block_of_rows(
    *, groups: int, share: int, nq: int, nk: int, d: int, rows: int
) -> None:
    heads = groups * share
    g = attend("flash_attention", 1, heads, groups, nq, nk, d, block_rows=rows)
    passes = -(-nq // min(rows, nq))
    assert g.count("bytes") == 2 * heads * (2 * nq * d + 2 * nk * d * passes)
    reused = attend("flash_attention", 1, heads, groups, nq, nk, d, block_rows=rows, kv_reuse="l2")
    assert reused.count("bytes") == attend("attention", 1, heads, groups, nq, nk, d).count("bytes")
    assert g.count("flops") == heads * nq * nk * (4 * d + 5)


def test_the_first_flash_attention_goes_over_columns() -> None:
    n, d, cache = 1024, 64, 48 * 1024
    g = attend("flash_attention", 1, 1, 1, n, n, d, version=1, cache=cache)
    columns = -(-cache // (4 * d))
    assert g.count("bytes") == 2 * (2 * n * d + -(-n // columns) * (3 * n * d + 4 * n))


def test_a_causal_mask_halves_what_is_computed_and_read_again_if_the_convention_says_so() -> None:
    for method in ("attention", "unfused_attention", "flash_attention"):
        g = attend(method, 1, 2, 2, 256, 256, 64, causal=True).with_convention(FULL)
        full = attend(method, 1, 2, 2, 256, 256, 64)
        assert g.count("flops") == full.count("flops") == 2 * g.with_convention(HALF).count("flops")
        assert full.with_convention(HALF).count("flops") == full.count("flops")
    flash = attend("flash_attention", 1, 1, 1, 1024, 1024, 64, causal=True, block_rows=128).with_convention(FULL)
    own, read = 2 * 2 * 1024 * 64, 2 * 2 * 1024 * 64 * 8
    assert flash.count("bytes") == own + read
    assert flash.with_convention(HALF).count("bytes") == own + read // 2


def seen(nq: int, nk: int, window: int | None = None) -> int:
    """Count the pairs of a query and a key one by one; the queries are the last positions of the keys."""
    pairs = [(i, j) for i in range(1, nq + 1) for j in range(1, nk + 1) if j <= nk - nq + i]
    return sum(window is None or nk - nq + i - j < window for i, j in pairs)


@given(groups=few, share=few, nq=st.integers(1, 40), nk=st.integers(1, 60), d=st.integers(1, 9))
def test_a_causal_mask_leaves_each_query_the_keys_up_to_its_own_position(
    *, groups: int, share: int, nq: int, nk: int, d: int
) -> None:
    sizes = (2, groups * share, groups, nq, nk, d)
    pairs = 2 * groups * share * seen(nq, nk)
    for method in ("attention", "unfused_attention", "flash_attention"):
        g = attend(method, *sizes, causal=True)
        assert g.count("tensor") == pairs * 4 * d
        assert g.count("flops") == pairs * (4 * d + 5)
        full = attend(method, *sizes).count("flops")
        assert g.with_convention("torch").count("flops") == 2 * groups * share * nq * nk * 4 * d
        assert g.with_convention(FULL).count("flops") == full
        assert (g.with_convention(HALF).count("flops") == g.count("flops")) == (nq != nk)


def test_a_chunk_of_queries_is_not_halved() -> None:
    for convention in CAUSAL:
        one = attend("attention", 1, 1, 1, 1, 64, 16, causal=True).with_convention(convention)
        assert one.count("flops") == attend("attention", 1, 1, 1, 1, 64, 16).count("flops") == 64 * (4 * 16 + 5)
    # Each of 512 queries sees 3584 keys before the chunk, and those of the chunk up to itself.
    chunk = attend("attention", 1, 1, 1, 512, 4096, 128, causal=True)
    for convention in CAUSAL[:2]:
        pairs = 512 * 3584 + 512 * 513 // 2
        assert chunk.with_convention(convention).count("tensor") == 4 * 128 * pairs


def test_a_symbolic_chunk_counts_as_a_chunk_of_that_size() -> None:
    queries, keys = dim("queries", 1, 4096, default=512), dim("keys", 1, 4096, default=2048)
    g = Graph()
    g.attention(g.input("q", (queries, 16), "bf16"), *(g.input(n, (keys, 16), "bf16") for n in "kv"), causal=True)
    for nq, nk in ((1, 64), (64, 64), (7, 100), (100, 7)):
        assert g.count("tensor", {"queries": nq, "keys": nk}) == 4 * 16 * seen(nq, nk)
    seq = dim("seq", 1, 4096, default=512)
    square = Graph()
    square.attention(*(square.input(n, (seq, 16), "bf16") for n in "qkv"), causal=True)
    assert str(square.flops_by_class("attention")["tensor"]) == "32·seq² + 32·seq"


@given(share=few, nq=st.integers(1, 60), nk=st.integers(1, 60), rows=st.integers(1, 20))
def test_a_block_of_rows_reads_the_keys_that_its_last_row_sees(*, share: int, nq: int, nk: int, rows: int) -> None:
    g = attend("flash_attention", 1, share, 1, nq, nk, 8, causal=True, block_rows=rows)
    first = max(nq - nk, 0)  # the first of more queries than keys see nothing
    read = sum(nk - nq + min(last, nq) for last in range(first + rows, nq + rows, rows))
    own, once = 2 * 2 * share * nq * 8, 2 * 2 * nk * 8
    assert g.count("bytes") == own + max(2 * 2 * share * 8 * read, once)
    full = attend("flash_attention", 1, share, 1, nq, nk, 8, block_rows=rows)
    assert g.with_convention(FULL).count("bytes") == full.count("bytes")


@given(nq=st.integers(1, 60), nk=st.integers(1, 60), cache=st.integers(1, 600))
def test_a_block_of_columns_moves_the_rows_that_see_its_first_column(nq: int, nk: int, cache: int) -> None:
    g = attend("flash_attention", 1, 1, 1, nq, nk, 8, causal=True, version=1, cache=cache)
    columns = flash_blocks(cache, 8)[1]
    rows = sum(sum(j <= nk - nq + i for i in range(1, nq + 1)) for j in range(1, nk + 1, columns))
    assert g.count("bytes") == 2 * (2 * nk * 8 + max(rows * (3 * 8 + 4), 2 * nq * 8))


@given(groups=few, nq=st.integers(1, 40), nk=st.integers(1, 60), window=st.integers(1, 70), d=st.integers(1, 9))
def test_a_sliding_window_counts_the_keys_that_each_query_sees(
    *, groups: int, nq: int, nk: int, window: int, d: int
) -> None:
    g = attend("sliding_window_attention", 1, 2 * groups, groups, nq, nk, d, window=window)
    pairs = 2 * groups * seen(nq, nk, window)
    assert g.count("flops") == pairs * (4 * d + 5)
    assert g.count("bytes") == attend("attention", 1, 2 * groups, groups, nq, nk, d).count("bytes")
    assert g.with_convention(FULL).count("flops") == 2 * groups * nq * min(window, nk) * (4 * d + 5)
    wide = attend("sliding_window_attention", 1, 2 * groups, groups, nq, nk, d, window=nk + window)
    masked = attend("attention", 1, 2 * groups, groups, nq, nk, d, causal=True)
    for convention in (CAUSAL[0], FULL):
        assert wide.with_convention(convention).count("flops") == masked.with_convention(convention).count("flops")


def test_a_window_has_a_size_and_may_be_symbolic() -> None:
    window = dim("window", 1, 4096, default=512)
    g = Graph()
    q, k, v = (g.input(name, (2048, 16), "bf16") for name in "qkv")
    g.sliding_window_attention(q, k, v, window=window)
    for size in (1, 512, 4096):
        assert g.count("tensor", {"window": size}) == 4 * 16 * seen(2048, 2048, size)
    with pytest.raises(ValueError, match="op 'short': window must be at least 1, got 0"):
        g.sliding_window_attention(q, k, v, window=0, name="short")


def test_heads_side_by_side_count_as_heads_apart() -> None:
    g = Graph()
    q = g.input("q", (2, 100, 8 * 16), "bf16")
    k, v = (g.input(name, (2, 50, 2 * 16), "bf16") for name in "kv")
    out = g.attention(q, k, v, heads=8)
    apart = attend("attention", 2, 8, 2, 100, 50, 16)
    assert (g.count("flops"), g.count("bytes")) == (apart.count("flops"), apart.count("bytes"))
    assert out.shape == (2, 100, 128)


def test_heads_may_be_symbolic() -> None:
    heads = dim("heads", 1, 64, default=32)
    g = Graph()
    q, k, v = (g.input(name, (heads, 100, 16), "bf16") for name in "qkv")
    g.attention(q, k, v)
    assert str(g.flops("attention")) == "690000·heads"
    shared = [g.input(f"shared_{name}", (8, 100, 16), "bf16") for name in "kv"]
    g.attention(q, *shared, name="grouped")
    with pytest.raises(ValueError, match="heads of 'q' = heads = 32 is no multiple of 5"):
        g.attention(q, *(g.input(f"odd_{name}", (5, 100, 16), "bf16") for name in "kv"))


def test_the_log_sum_exp_is_written_in_fp32() -> None:
    plain = attend("attention", 2, 4, 4, 100, 100, 16)
    kept = attend("attention", 2, 4, 4, 100, 100, 16, log_sum_exp=True)
    assert kept.count("bytes") - plain.count("bytes") == 4 * 2 * 4 * 100


# -- decoding ----------------------------------------------------------------------------------------------------------


@given(few, few, few, st.integers(2, 500), st.integers(1, 64))
def test_decoding_reads_the_cache_of_the_kv_heads(batch: int, groups: int, share: int, context: int, d: int) -> None:
    heads = groups * share
    g = Graph()
    g.decode_attention(g.input("q", (batch, 1, heads * d), "bf16"), context=context, heads=heads, kv_heads=groups)
    assert g.count("tensor") == 4 * batch * heads * context * d
    assert g.count("flops") == batch * heads * context * (4 * d + 5)
    assert g.count("bytes") == 2 * batch * (2 * groups * context * d + 2 * heads * d)

    g = Graph()
    q = g.input("q", (batch, 1, heads * d), "bf16")
    k, v = (g.input(name, (batch, 1, groups * d), "bf16") for name in "kv")
    g.decode_attention(q, k, v, context=context, heads=heads, kv_heads=groups)
    appended = 2 * batch * 2 * groups * d
    assert g.count("bytes") == 2 * batch * (2 * groups * context * d + 2 * heads * d) + appended
    assert g.count("flops") == batch * heads * context * (4 * d + 5)


def test_the_cache_may_have_a_dtype_of_its_own() -> None:
    g = Graph()
    g.decode_attention(g.input("q", (1, 1, 64), "bf16"), context=100, heads=4, kv_heads=2, cache_dtype="int8")
    assert g.count("bytes") == 2 * 100 * 2 * 16 + 2 * 2 * 64


def test_a_symbolic_context_gives_an_expression() -> None:
    seq = dim("seq", 2, 8192, default=100)
    g = Graph()
    g.decode_attention(g.input("q", (1, 1, 64), "bf16"), context=seq, heads=4, kv_heads=2)
    assert str(g.flops("decode_attention")) == "276·seq"
    assert str(g.bytes(g.ops[0])) == "128·seq + 256"


def test_appending_to_a_cache_moves_and_computes_nothing() -> None:
    g = Graph()
    g.kv_append(*(g.input(name, (2, 1, 64), "bf16") for name in "kv"), dtype="int8")
    assert (g.count("flops"), g.count("bytes")) == (0, 2 * 128 * 2 + 2 * 128)


# -- mistakes that other counters make ---------------------------------------------------------------------------------


def test_the_output_of_flash_attention_is_queries_by_head_size_not_queries_by_keys() -> None:
    g = attend("flash_attention", 1, 8, 8, 2048, 2048, 128)
    assert g.bytes(g.outputs[0]) == 2 * 8 * 2048 * 128


def test_the_blocks_of_flash_attention_share_the_cache_by_four() -> None:
    assert flash_blocks(48 * 1024, 64) == (64, 192)
    assert flash_blocks(16 * 1024, 128) == (32, 32)
    assert flash_blocks(10, 128) == (1, 1)
    g = attend("flash_attention", 1, 1, 1, 1024, 1024, 128, cache=16 * 1024)
    assert g.count("bytes") == 2 * (2 * 1024 * 128 + 2 * 1024 * 128 * 32)


def test_a_residual_addition_reads_two_inputs() -> None:
    g = Graph()
    g.add(*(g.input(name, (100, 64), "bf16") for name in "xy"))
    assert g.count("bytes") == 2 * 3 * 6400


def test_the_queries_of_a_prefill_are_read_for_all_query_heads() -> None:
    g = attend("attention", 1, 32, 8, 2048, 2048, 128)
    assert g.bytes("q") == 4 * g.bytes("k") == 2 * 32 * 2048 * 128


def test_the_weights_of_a_norm_are_read() -> None:
    for norm, words in (("layernorm", 2), ("rmsnorm", 1)):
        g = Graph()
        getattr(g, norm)(g.input("x", (100, 64), "bf16"))
        assert g.count("bytes") == 2 * (2 * 6400 + words * 64)


# -- errors ------------------------------------------------------------------------------------------------------------


def three(g: Graph, q: tuple[int, ...], k: tuple[int, ...], v: tuple[int, ...] | None = None) -> list[Tensor]:
    shapes = {"q": q, "k": k, "v": k if v is None else v}
    return [g.input(name, shape, "bf16") for name, shape in shapes.items()]


@pytest.mark.parametrize(
    ("shapes", "how", "message"),
    [
        (((8, 16), (8, 16), (9, 16)), {}, "keys and values must have one shape"),
        (((8, 16), (8, 32)), {}, "'q' and 'k' must agree in batch and head size"),
        (((6, 8, 16), (4, 8, 16)), {}, "heads of 'q' = 6 is no multiple of 4"),
        (((1, 8, 60), (1, 8, 60)), {"heads": 8}, "the last axis of 'q' = 60 is no multiple of 8"),
        (((8, 16), (8, 16)), {"heads": 2}, "with heads= every tensor has shape"),
        (((8,), (8,)), {}, "must have shape"),
    ],
)
def test_attention_names_what_does_not_match(shapes: Any, how: dict[str, Any], message: str) -> None:
    g = Graph()
    with pytest.raises(ValueError, match=f"op 'attention': .*{message}"):
        g.attention(*three(g, *shapes), **how)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"kv_reuse": "l1"}, "kv_reuse must be 'none' or 'l2'"),
        ({"version": 3}, "version must be 1 or 2"),
        ({"version": 1}, "version 1 needs cache="),
        ({"block_rows": 0}, "block_rows must be an int of at least 1"),
        ({"cache": 0}, "cache must be an int of at least 1"),
    ],
)
def test_flash_attention_names_a_wrong_word(how: dict[str, Any], message: str) -> None:
    g = Graph()
    with pytest.raises(ValueError, match=f"op 'flash_attention': {message}"):
        g.flash_attention(*three(g, (8, 16), (8, 16)), **how)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"heads": 5}, "the last axis of 'q' = 64 is no multiple of 5"),
        ({"heads": 4, "kv_heads": 3}, "heads = 4 is no multiple of 3"),
        ({"heads": 4, "context": 0}, "context must be at least 1"),
    ],
)
def test_decoding_names_a_wrong_size(how: dict[str, Any], message: str) -> None:
    g = Graph()
    with pytest.raises(ValueError, match=f"op 'decode_attention': {message}"):
        g.decode_attention(g.input("q", (1, 1, 64), "bf16"), **({"context": 8} | how))


def test_decoding_needs_one_token_and_both_k_and_v() -> None:
    g = Graph()
    q, k, _ = three(g, (1, 1, 64), (1, 1, 32))
    with pytest.raises(ValueError, match="needs both k and v of the new token, or neither: v is missing"):
        g.decode_attention(q, k, context=8, heads=4, kv_heads=2)
    with pytest.raises(ValueError, match=r"must have shape \(batch, 1, kv_heads \* d\) = \(1, 1, 64\)"):
        g.decode_attention(q, k, k, context=8, heads=4)
    with pytest.raises(ValueError, match=r"one new token has shape \(batch, 1, heads \* d\)"):
        g.decode_attention(g.input("long", (1, 2, 64), "bf16"), context=8, heads=4)
