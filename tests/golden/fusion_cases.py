"""Kernels that people write, with their bytes and FLOPs derived by hand. Nothing of the package is imported.

Each number is an expression over the sizes of the tensors: x is the bytes of a tensor x. Textbook counting: a softmax
has 5 FLOPs for each element, a layernorm 8 and an RMS norm 4 (and 3 for each row), SwiGLU 6, GELU 8, a cast none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

CHIPS: Final[dict[str, dict[str, Any]]] = {
    # A GPU: 132 units with 227 KiB each and 50 MiB that they share.
    "G": {"units": 132, "unit": 232_448, "shared": 52_428_800, "bandwidth": 4e12, "vector": 1e14}
    | {"tensor": {"bf16": 1e15, "fp16": 1e15, "fp8": 2e15, "int8": 2e15, "fp32": 5e14}},
    # A core with one large memory.
    "T": {"units": 1, "unit": 134_217_728, "shared": 134_217_728, "bandwidth": 8e11, "vector": 1e13}
    | {"tensor": {"bf16": 2e14, "fp16": 2e14, "fp8": 2e14, "int8": 4e14, "fp32": 5e13}},
    # Four units with 16 KiB each, on which little fits. The rates are powers of two, so that times are exact.
    "S": {"units": 4, "unit": 16_384, "shared": 262_144, "bandwidth": 2.0**40, "vector": 2.0**44}
    | {"tensor": {"bf16": 2.0**47, "fp16": 2.0**47, "fp8": 2.0**48, "int8": 2.0**48, "fp32": 2.0**45}},
}
K2, K4, K8 = 2048, 4096, 8192


class Case(NamedTuple):
    """A graph, and what a person derives of it.

    Parameters
    ----------
    name, sizes, text
        The graph, as `fusion_text.graph_of` reads it.
    flops
        Useful FLOPs.
    unfused, fewest
        Bytes of single ops, and the fewest bytes of all partitions.
    best
        The ops of each kernel of the fastest partition: ``"a+b c"``.
    fastest
        Bytes of the fastest partition; None: the fewest.
    compiler
        Bytes of the fastest partition of a compiler's kernels; None: those of `fastest`.
    compulsory
        Bytes of inputs and outputs, and extra bytes; None: the fewest.
    microseconds
        Times of the single ops, of a compiler's kernels and of the fastest partition, to four digits.
    need
        The most bytes on chip of a kernel of the fastest partition.
    refused
        Groups without a form: their ops, the code and a part of the sentence.
    priced
        Bytes of groups that are not in the fastest partition.
    done
        FLOPs of the fastest partition with repeated ops; None: the useful FLOPs.
    chip
        A key of `CHIPS`.
    """

    name: str
    sizes: str
    text: str
    flops: int
    unfused: int
    fewest: int
    best: str
    microseconds: tuple[float, float, float]
    need: float
    fastest: int | None = None
    compiler: int | None = None
    compulsory: int | None = None
    refused: tuple[tuple[str, str, str], ...] = ()
    priced: tuple[tuple[str, int], ...] = ()
    done: int | None = None
    chip: str = "G"


def cases() -> list[Case]:
    """Return all cases."""
    parts = (_narrow_weights, _operands, _norms_before, _attention, _caches, _mlps, _adapters, _epilogues)
    more = (_convolutions, _elementwise, _sums, _long_rows, _rows, _results)
    return [case for part in (*parts, *more) for case in part()]


def _narrow_weights() -> Iterator[Case]:
    q, w, x = K8 * K8 // 2, 2 * K8 * K8, 2 * 16 * K8
    # The cast runs once, because 16 rows are one block.
    yield Case(
        "dequant_int4",
        "m16 k8192 n8192",
        """
        cast elementwise 0: q[kn]/int4 -> w[kn]
        mm matmul 2: x[mk] w -> y[mn]
        """,
        flops=2 * 16 * K8 * K8,
        unfused=(q + w) + (x + w + x),
        fewest=q + 2 * x,
        best="cast+mm",
        microseconds=(75.63, 8.52, 8.52),
        need=2 * 16 * 128,
    )
    q, w, s = K4 * K4 // 2, 2 * K4 * K4, 2 * 32 * K4
    # 4096 rows are 32 blocks of 128 rows, and each makes the weights again.
    yield Case(
        "dequant_int4_group_scales_prefill",
        "m4096 g32 j128 n4096",
        """
        cast elementwise 0: q[gjn]/int4 -> c[gjn]
        scale broadcast 1: c s[gn] -> w[gjn]
        mm matmul 2: x[mgj] w -> y[mn]
        """,
        flops=2 * K4**3 + K4 * K4,
        unfused=(q + w) + (w + s + w) + 3 * w,
        fewest=q + s + 2 * w,
        best="cast+scale+mm",
        microseconds=(164.8, 142.8, 142.8),
        need=2 * 128 * 128,
        done=2 * K4**3 + 32 * K4 * K4,
    )
    q, v = K4 * K4, 2 * K4
    # The scale of a column multiplies the result instead.
    yield Case(
        "int8_weight_channel_scale",
        "m1 k4096 n4096",
        """
        cast elementwise 0: q[kn]/int8 -> w[kn]
        mm matmul 2: x[mk] w -> y[mn]
        scale broadcast 1: y s[n] -> z[mn]
        """,
        flops=2 * K4 * K4 + K4,
        unfused=(q + 2 * q) + (v + 2 * q + v) + 3 * v,
        fewest=q + 3 * v,
        best="cast+mm+scale",
        microseconds=(20.98, 4.2, 4.2),
        need=2 * 128,
    )
    for rows in (16, K8):
        x, a, q, w = 2 * rows * K4, 4 * rows, rows * K4, K4 * K4
        is_decode = rows == 16
        # Rounding cannot be corrected, so amax is final. 16 rows of x stay on chip. 64 rows have 524,288 B and do not:
        # one kernel would read x twice, for as many bytes as q has when it is written and read, and quantise again.
        yield Case(
            f"fp8_dynamic_quantise_{'decode' if is_decode else 'prefill'}",
            f"m{rows} k4096 n4096",
            """
            amax reduction 1-1 over=k final: x[mk] -> a[m]/fp32
            quantise broadcast 2: x a -> q[mk]/fp8
            mm matmul 2: q w[kn]/fp8 -> y[mn]
            """,
            flops=2 * rows * K4 * K4 + (rows * K4 - rows) + 2 * rows * K4,
            unfused=(x + a) + (x + a + q) + (q + w + x),
            fewest=x + w + x if is_decode else 2 * x + w + x,
            fastest=None if is_decode else (x + q) + (q + w + x),
            compiler=(x + q) + (q + w + x),
            compulsory=x + w + x,
            best="amax+quantise+mm" if is_decode else "amax+quantise mm",
            microseconds=(4.325, 4.293, 4.26) if is_decode else (179.4, 162.6, 162.6),
            need=16 * 2 * K4 + 2 * 16 * 64 if is_decode else 2 * K4 + 128 * 4,
            done=543_161_856 if is_decode else None,
        )


def _operands() -> Iterator[Case]:
    x, w = 2 * 64 * K4, 2 * K4 * K4
    yield Case(
        "transposed_weight",
        "m64 k4096 n4096",
        """
        transpose injective 0: w[nk] -> t[kn]
        mm matmul 2: x[mk] t -> y[mn]
        """,
        flops=2 * 64 * K4 * K4,
        unfused=2 * w + (w + 2 * x),
        fewest=w + 2 * x,
        best="transpose+mm",
        microseconds=(25.43, 8.651, 8.651),
        need=2 * 64 * 128,
    )
    n = K2 * K2
    yield Case(
        "wide_cast_prologue",
        "m2048 k2048 n2048",
        """
        cast elementwise 0: x[mk]/fp32 -> c[mk]
        mm matmul 2: c w[kn] -> y[mn]
        """,
        flops=2 * K2**3,
        unfused=(4 * n + 2 * n) + 6 * n,
        fewest=4 * n + 2 * n + 2 * n,
        best="cast+mm",
        microseconds=(23.47, 17.18, 17.18),
        need=2 * 128 * 128,
    )
    x = 2 * K8 * K8
    # In one kernel GELU would run for each of 64 blocks of columns.
    yield Case(
        "gelu_prologue_prefill",
        "m8192 k8192 n8192",
        """
        gelu elementwise 8: x[mk] -> h[mk]
        mm matmul 2: h w[kn] -> y[mn]
        """,
        flops=2 * K8**3 + 8 * K8 * K8,
        unfused=2 * x + 3 * x,
        fewest=3 * x,
        fastest=5 * x,
        best="gelu mm",
        microseconds=(1167, 1167, 1167),
        need=0,
    )


def _norms_before() -> Iterator[Case]:
    x, w, v = 2 * 64 * K4, 2 * K4 * K4, 2 * K4
    yield Case(
        "layernorm_linear_decode",
        "m64 k4096 n4096",
        """
        norm reduction 8+3 over=k: x[mk] gamma[k] beta[k] -> h[mk]
        mm matmul 2: h w[kn] -> y[mn]
        """,
        flops=2 * 64 * K4 * K4 + 8 * 64 * K4 + 3 * 64,
        unfused=(2 * x + 2 * v) + (2 * x + w),
        fewest=2 * x + w + 2 * v,
        compiler=(2 * x + 2 * v) + (2 * x + w),
        best="norm+mm",
        microseconds=(8.917, 8.917, 8.655),
        need=2 * 64 * 128,
        done=2 * 64 * K4 * K4 + 32 * (8 * 64 * K4 + 3 * 64),
    )
    text = """
        norm reduction 4+3 over=k: x[mk] gamma[k] -> h[mk]
        mmq matmul 2: h wq[kq] -> yq[mq]
        mmr matmul 2: h wr[kr] -> yr[mr]
        mms matmul 2: h ws[ks] -> ys[ms]
        """
    for rows in (16, K4):
        x, w, y, v = 2 * rows * K4, 2 * K4 * 6144, 2 * rows * 6144, 2 * K4
        norm = 4 * rows * K4 + 3 * rows
        is_decode = rows == 16
        blocks = 32 + 8 + 8
        # In one kernel the norm runs 32 + 8 + 8 times. For many rows it is cheaper beside one narrow product: 8 times.
        # The result of the norm leaves then, so it is final and x is read twice.
        apart = (2 * x + v + x) + (w + y) + x
        yield Case(
            f"rmsnorm_qkv_{'decode' if is_decode else 'prefill'}",
            f"m{rows} k4096 q4096 r1024 s1024",
            text,
            flops=2 * rows * K4 * 6144 + norm,
            unfused=(2 * x + v) + 3 * x + w + y,
            fewest=x + v + w + y,
            fastest=None if is_decode else apart,
            compiler=(2 * x + v) + 3 * x + w + y,
            best="norm+mmq+mmr+mms" if is_decode else "norm+mms mmq+mmr",
            microseconds=(12.8, 12.8, 12.67) if is_decode else (222.9, 222.9, 211.5),
            need=2 * 16 * 128 if is_decode else 2 * 128 * 128,
            done=2 * rows * K4 * 6144 + (blocks if is_decode else 8) * norm,
        )


ATTENTION: Final = """
    qk matmul {a}: q[hmd] k[hnd] -> s[hmn]
    softmax reduction {b} over=n: s -> p[hmn]{kept}
    pv matmul {a}: p v[hne] -> o[hme]
    """


def _attention() -> Iterator[Case]:
    t, s = 2 * 8 * 1024 * 128, 2 * 8 * 1024 * 1024
    sizes, text = "h8 m1024 n1024 d128 e128", ATTENTION.format(a=2, b=5, kept="")
    # 64 rows of q and of the result, and 64 columns of the scores and of their softmax.
    usual: dict[str, Any] = {
        "unfused": 4 * t + 4 * s,
        "fewest": 4 * t,
        "best": "qk+softmax+pv",
        "compiler": 4 * t + 4 * s,
    }
    usual |= {"need": 64 * (256 + 256 + 64 * 4)}
    full, half = 8 * 1024**2, 8 * 1024 * 1025 // 2
    yield Case("flash_prefill", sizes, text, flops=full * 517, microseconds=(18.87, 18.87, 4.714), **usual)
    causal = ATTENTION.format(a=f"={half * 256}", b=f"={half * 5}", kept="")
    yield Case("flash_prefill_causal", sizes, causal, flops=half * 517, microseconds=(18.87, 18.87, 2.36), **usual)
    # The probabilities are final where they are written: 64 rows of the scores, of them and of q do not fit.
    yield Case(
        "flash_probabilities_are_an_output",
        sizes,
        ATTENTION.format(a=2, b=5, kept="!"),
        flops=full * 517,
        unfused=4 * t + 4 * s,
        fewest=(2 * t + s) + (s + 2 * t),
        compiler=4 * t + 4 * s,
        compulsory=4 * t + s,
        best="qk+softmax pv",
        microseconds=(18.87, 18.87, 10.49),
        need=64 * 2 * 1024,
        refused=(("qk softmax pv", "capacity", "64 rows of o and q need"),),
    )
    t, s = 2 * 131072 * 128, 2 * 131072**2
    # k and v of a head, 67.1 MB, do not stay in the shared memory. 512 blocks of 256 rows are 4 waves on 132 units. A
    # row of scores has 262,144 B, so the softmax alone reads it twice.
    yield Case(
        "flash_long_context",
        "h1 m131072 n131072 d128 e128",
        text,
        flops=131072**2 * 517,
        unfused=4 * t + 5 * s,
        fewest=2 * t + 4 * 2 * t,
        compiler=4 * t + 5 * s,
        compulsory=4 * t,
        best="qk+softmax+pv",
        microseconds=(42_983, 42_983, 9_655),
        need=256 * (256 + 256 + 64 * 4),
    )


def _caches() -> Iterator[Case]:
    q, c, s = 2 * 64 * 32 * 128, 2 * 64 * 8 * K8 * 128, 2 * 64 * 32 * K8
    sizes, flops = "b64 k8 g4 n8192 d128 e128", 64 * 32 * K8 * 517
    # Four queries share a key. Each entry of the batch has keys of its own.
    tail = """
        qk matmul 2: q[bkgd] kc{k} -> s[bkgn]
        softmax reduction 5 over=n: s -> p[bkgn]
        pv matmul 2: p vc{v} -> o[bkge]
        """
    yield Case(
        "decode_gqa",
        sizes,
        tail.format(k="[bknd]", v="[bkne]"),
        flops=flops,
        unfused=2 * q + 2 * c + 4 * s,
        fewest=2 * q + 2 * c,
        compiler=2 * q + 2 * c + 4 * s,
        best="qk+softmax+pv",
        microseconds=(570.7, 570.7, 537.1),
        need=4 * (256 + 256 + 64 * 4),
    )
    yield Case(
        "decode_int8_cache",
        sizes,
        """
        castk elementwise 0: k8[bknd]/int8 -> kc[bknd]
        castv elementwise 0: v8[bkne]/int8 -> vc[bkne]
        """
        + tail.format(k="", v=""),
        flops=flops,
        unfused=2 * (c // 2 + c) + 2 * q + 2 * c + 4 * s,
        fewest=2 * q + c,
        compiler=2 * q + c + 4 * s,
        best="castk+castv+qk+softmax+pv",
        microseconds=(1_376, 302.3, 268.7),
        need=4 * (256 + 256 + 64 * 4),
    )
    q, u, a, c, s = 2 * 16 * 128**2, 2 * 128 * 128 * 512, 2 * 16 * 128 * 512, 2 * 16 * K4 * 512, 2 * 16 * 128 * K4
    # Four products one after the other are three kernels. The cache is read once for both products of the middle one.
    yield Case(
        "mla_absorbed_decode",
        "b16 h128 n4096 c128 r512 v128",
        """
        absorb matmul 2: q[bhc] uk[hcr] -> a[bhr]
        qk matmul 2: a kv[bnr] -> s[bhn]
        softmax reduction 5 over=n: s -> p[bhn]
        pv matmul 2: p kv -> o[bhr]
        up matmul 2: o uv[hrv] -> y[bhv]
        """,
        flops=2 * (2 * 16 * 128 * 128 * 512) + 16 * 128 * K4 * (4 * 512 + 5),
        unfused=(q + u + a) + (a + c + s) + 2 * s + (s + c + a) + (a + u + q),
        fewest=(q + u + a) + (a + c + a) + (a + u + q),
        compiler=(q + u + a) + (a + c + s) + 2 * s + (s + c + a) + (a + u + q),
        compulsory=q + u + c + u + q,
        best="absorb qk+softmax+pv up",
        microseconds=(61.08, 61.08, 27.53),
        need=64 * (1024 + 1024 + 64 * 4),
        refused=(("absorb qk softmax pv", "kinds", "three matrix products one after the other"),),
    )


MLP: Final = """
    gate matmul 2: x[md] wg[df] -> tg[mf]
    up matmul 2: x wu[df] -> tu[mf]
    swiglu elementwise 6: tg tu -> h[mf]
    down matmul 2: h wd[fe] -> y[me]
    """


def _mlps() -> Iterator[Case]:
    one, two = "gate+up+swiglu+down", "gate+up+swiglu down"
    rows = (
        ("gated_mlp_prefill", "G", K4, K4, 14336, two, (1531, 1447, 1447), 2 * 128 * 128 * 2),
        ("gated_mlp_small", "G", 65536, 256, 1024, one, (226.9, 159.8, 107.1), 64 * (512 + 512 + 64 * 6)),
        # All rows of x and of the result are on chip: one block reads the weights once.
        ("gated_mlp_on_one_core", "T", K2, K4, 14336, one, (3828, 3625, 3625), K2 * (8192 + 8192 + 64 * 6)),
        # One kernel holds 4096 rows, so it would read the weights 8 times.
        ("gated_mlp_large_on_one_core", "T", 32768, K4, 14336, two, (61_248, 58_006, 58_006), 2 * 4096 * 4096 * 2),
    )
    for name, chip, m, d, f, best, microseconds, need in rows:
        x, w, h = 2 * m * d, 2 * d * f, 2 * m * f
        # One product has an operand of h more than two: the epilogue reads the result of the other.
        apart, single = (x + 2 * w + h) + (h + w + x), 2 * x + 3 * w
        refused: tuple[Any, ...] = ()
        priced: tuple[Any, ...] = ()
        if name == "gated_mlp_prefill":
            refused = (("gate up swiglu down", "capacity", "64 rows of y and x need 1.07 MB, 64 rows of h"),)
        if name == "gated_mlp_large_on_one_core":
            priced = (("gate up swiglu down", 2 * x + 8 * 3 * w),)
        yield Case(
            name,
            f"m{m} d{d} f{f} e{d}",
            MLP,
            flops=6 * m * d * f + 6 * m * f,
            unfused=2 * (x + w + h) + 3 * h + (h + w + x),
            fewest=single if best == one else apart,
            compiler=(x + w + h) + (x + w + 2 * h) + (h + w + x),
            compulsory=single,
            best=best,
            microseconds=microseconds,
            need=need,
            refused=refused,
            priced=priced,
            chip=chip,
        )


def _adapters() -> Iterator[Case]:
    x, a = 2 * K4 * K4, 2 * K4 * 16
    # One kernel makes the narrow product again for each of 32 blocks of columns: 17.2 us. Apart it takes 8.5 us.
    yield Case(
        "lora",
        "m4096 d4096 n4096 r16",
        """
        mm matmul 2: x[md] w[dn] -> y0[mn]
        a matmul 2: x wa[dr] -> t[mr]
        b matmul 2: t wb[rn] -> u[mn]
        add elementwise 1: y0 u -> y[mn]
        """,
        flops=2 * K4**3 + 4 * K4 * K4 * 16 + K4 * K4,
        unfused=3 * x + (x + a + a) + (a + a + x) + 3 * x,
        fewest=3 * x + 2 * a,
        fastest=4 * x + 2 * a + 2 * a,
        compiler=3 * x + (x + a + a) + (a + a + x + x),
        best="mm+b+add a",
        microseconds=(179.5, 154.5, 146.6),
        need=2 * 128 * 128 * 2,
    )
    x, i, r, h, w = 2 * 1024 * K4, 4 * 2048, 2 * 2048 * K4, 2 * 2048 * 14336, 8 * K4 * 14336 * 2
    yield Case(
        "moe_grouped",
        "t1024 r2048 g8 d4096 f14336 e4096",
        """
        permute injective 0: x[*td] i[*r]/int32 -> xg[rd]
        gate matmul 2: xg wg[*gdf] -> tg[rf]
        up matmul 2: xg wu[*gdf] -> tu[rf]
        swiglu elementwise 6: tg tu -> h[rf]
        down matmul 2: h wd[*gfe] -> y[re]
        """,
        flops=6 * 2048 * K4 * 14336 + 6 * 2048 * 14336,
        unfused=(x + i + r) + 2 * (r + w + h) + 3 * h + (h + w + r),
        fewest=(x + i + 2 * w + h) + (h + w + r),
        compiler=(x + i + r) + (r + w + h) + (r + w + h + h) + (h + w + r),
        compulsory=x + i + 3 * w + r,
        best="permute+gate+up+swiglu down",
        microseconds=(811.6, 782.2, 740.3),
        need=2 * 128 * 128 * 2,
    )


def _epilogues() -> Iterator[Case]:
    x, w, z, t, row = 2 * K8 * K4, 2 * K4 * 128256, 2 * K8 * 128256, 8 * K8, 4 * K8
    # 128,256 columns are 1,002 tiles. Each writes a maximum and a sum for each row, and they are read once.
    partial = 2 * 4 * 2 * K8 * 1002
    yield Case(
        "linear_cross_entropy",
        "m8192 d4096 v128256",
        """
        mm matmul 2: x[md] w[dv] -> z[mv]
        loss reduction 5 over=v stats=2: z t[m]/int64 -> l[m]/fp32
        """,
        flops=2 * K8 * K4 * 128256 + 5 * K8 * 128256,
        unfused=(x + w + z) + (z + t + row),
        fewest=x + w + t + row + partial,
        compiler=(x + w + z) + (z + t + row),
        compulsory=x + w + t + row,
        best="mm+loss",
        microseconds=(9132, 9132, 8660),
        need=2 * 128 * 128,
    )
    for columns in (1024, 32000):
        x, w, z = 2 * K4 * 1024, 2 * 1024 * columns, 2 * K4 * columns
        is_narrow = columns == 1024
        yield Case(
            "linear_softmax_fits" if is_narrow else "linear_softmax_too_wide",
            f"m4096 d1024 n{columns}",
            """
            mm matmul 2: x[md] w[dn] -> z[mn]
            softmax reduction 5 over=n: z -> p[mn]
            """,
            flops=2 * K4 * 1024 * columns + 5 * K4 * columns,
            unfused=(x + w + z) + 2 * z,
            fewest=x + w + z if is_narrow else x + w + 3 * z,
            compiler=x + w + 3 * z,
            compulsory=x + w + z,
            best="mm+softmax" if is_narrow else "mm softmax",
            microseconds=(12.78, 12.78, 8.8) if is_narrow else (399.5, 399.5, 399.5),
            need=64 * 2048 if is_narrow else 64_000,
            refused=()
            if is_narrow
            else (
                (
                    "mm softmax",
                    "capacity",
                    "64 rows of z need 4.1 MB at a time; a unit's share of the L1 of G holds 232 kB",
                ),
            ),
        )


def _convolutions() -> Iterator[Case]:
    a, w = 2 * 32 * 64 * 3136, 2 * 64 * 64 * 9
    sizes, conv = "b32 c64 o64 y56 x56 r3 s3", 2 * 32 * 3136 * 64 * 64 * 9
    norm = "mean[{c}]/fp16 var[{c}]/fp16 gamma[{c}]/fp16 beta[{c}]/fp16"
    usual: dict[str, Any] = {"flops": conv + 3 * 32 * 64 * 3136, "unfused": (2 * a + w) + (2 * a + 512) + 2 * a}
    usual |= {"fewest": 2 * a + w + 512, "microseconds": (20.24, 7.591, 7.591)}
    yield Case(
        "conv_bn_relu",
        sizes,
        f"""
        conv matmul ={conv}: i[bcyx]/fp16 w[ocrs]/fp16 -> t[boyx]/fp16
        bn broadcast 2: t {norm.format(c="o")} -> u[boyx]/fp16
        relu elementwise 1: u -> z[boyx]/fp16
        """,
        best="conv+bn+relu",
        need=2 * 2 * 128 * 64,
        **usual,
    )
    yield Case(
        "bn_relu_conv",
        sizes,
        f"""
        bn broadcast 2: i[bcyx]/fp16 {norm.format(c="c")} -> u[bcyx]/fp16
        relu elementwise 1: u -> t[bcyx]/fp16
        conv matmul ={conv}: t w[ocrs]/fp16 -> z[boyx]/fp16
        """,
        best="bn+relu+conv",
        need=2 * 128 * 64,
        **usual,
    )
    v, z = 2 * 64 * 256, 2 * 32 * 256 * 3136
    # The 3 x 3 convolution makes 64 pixels for the pointwise one, which keeps their 256 channels.
    yield Case(
        "conv_conv_1x1",
        sizes + " p256",
        f"""
        conv3 matmul ={conv}: i[bcyx]/fp16 w[ocrs]/fp16 -> t[boyx]/fp16
        relu elementwise 1: t -> u[boyx]/fp16
        conv1 matmul 2: u v[po]/fp16 -> z[bpyx]/fp16
        """,
        flops=conv + 32 * 64 * 3136 + 2 * 32 * 3136 * 64 * 256,
        unfused=(2 * a + w) + 2 * a + (a + v + z),
        fewest=a + w + v + z,
        compiler=(2 * a + w) + (a + v + z),
        best="conv3+relu+conv1",
        microseconds=(29.89, 23.46, 16.08),
        need=64 * (512 + 128 + 64 * 4),
    )
    yield Case(
        "conv_conv_3x3",
        sizes + " p64 q3 l3",
        f"""
        conv_a matmul ={conv}: i[bcyx]/fp16 w[ocrs]/fp16 -> t[boyx]/fp16
        conv_b matmul ={conv}: t v[poql]/fp16 -> z[bpyx]/fp16
        """,
        flops=2 * conv,
        unfused=4 * a + 2 * w,
        fewest=4 * a + 2 * w,
        compulsory=2 * a + 2 * w,
        best="conv_a conv_b",
        microseconds=(14.8, 14.8, 14.8),
        need=0,
        refused=(("conv_a conv_b", "kinds", "conv_b reads a window of the result of conv_a"),),
    )


def _elementwise() -> Iterator[Case]:
    p = 10**7
    # The moments m and v are written too.
    yield Case(
        "adam_and_cast",
        "p10000000",
        f"""
        adam elementwise 13 extra={8 * p}: w[p]/fp32 grad[p]/fp32 m[p]/fp32 v[p]/fp32 -> w2[p]!/fp32
        cast elementwise 0: w2 -> w16[p]
        """,
        flops=13 * p,
        unfused=28 * p + 6 * p,
        fewest=28 * p + 2 * p,
        best="adam+cast",
        microseconds=(85, 75, 75),
        need=128 * 4,
    )
    x = 2 * 1024 * 65536
    yield Case(
        "exp_cumsum_multiply",
        "m1024 n65536",
        """
        exp elementwise 1: x[mn] -> e[mn]
        cumsum scan 1: e -> c[mn]
        multiply elementwise 1: c y[mn] -> z[mn]
        """,
        flops=3 * 1024 * 65536,
        unfused=2 * x + 2 * x + 3 * x,
        fewest=3 * x,
        best="exp+cumsum+multiply",
        microseconds=(234.9, 100.7, 100.7),
        need=2 * 128 * 2,
    )


def _sums() -> Iterator[Case]:
    x, v = 4 * K8 * K8, 4 * K8
    # Each unit adds up its rows, and writes one partial sum for each column.
    yield Case(
        "sums_over_both_axes",
        "m8192 n8192",
        """
        rows reduction 1-1 over=n final: x[mn]/fp32 -> r[m]/fp32
        columns reduction 1-1 over=m final: x -> c[n]/fp32
        """,
        flops=2 * (K8 * K8 - K8),
        unfused=2 * (x + v),
        fewest=x + 2 * v + 2 * 4 * K8 * 132,
        compiler=2 * (x + v),
        compulsory=x + 2 * v,
        best="rows+columns",
        microseconds=(134.2, 134.2, 69.29),
        need=0,
    )
    x, v = 2 * 2**24 * 64, 2 * 64
    # The division needs the sums of all blocks.
    yield Case(
        "softmax_and_column_sums",
        "m16777216 n64",
        """
        softmax reduction 5 over=n: x[mn] -> p[mn]
        sum reduction 1-1 over=m final: p -> c[n]
        divide broadcast 1: p c -> z[mn]
        """,
        flops=5 * 2**30 + (2**30 - 64) + 2**30,
        unfused=2 * x + (x + v) + (2 * x + v),
        fewest=(2 * x + v + 2 * 4 * 64 * 132) + (2 * x + v),
        compiler=2 * x + 3 * x,
        compulsory=2 * x,
        best="softmax+sum divide",
        microseconds=(2684, 2684, 2148),
        need=2 * 64,
        refused=(("softmax sum divide", "axes", "softmax reduces axis 1 and sum reduces axis 0"),),
    )


def _long_rows() -> Iterator[Case]:
    x = 2 * 16 * 2**22
    # A row of 8 MB: one pass for the statistics, and one for the result. The norm alone reads twice as well.
    yield Case(
        "layernorm_of_8_mb_rows",
        "m16 n4194304",
        """
        relu_a elementwise 1: x[mn] -> a[mn]
        norm reduction 6+3 over=n: a -> b[mn]
        relu_b elementwise 1: b -> z[mn]
        """,
        flops=8 * 16 * 2**22 + 48,
        unfused=2 * x + 3 * x + 2 * x,
        fewest=3 * x,
        compulsory=2 * x,
        best="relu_a+norm+relu_b",
        microseconds=(234.9, 100.7, 100.7),
        need=2 * 128 * 2,
        done=9 * 16 * 2**22 + 48,
    )
    x, v = 2 * K4 * 60000, 2 * 60000
    # A row of x and the scaled gamma, 240,000 B, do not fit together: the merge would read x twice.
    yield Case(
        "norm_with_a_scaled_gamma",
        "m4096 n60000",
        """
        double elementwise 1: v[n] -> w[n]
        norm reduction 4+3 over=n: x[mn] w -> z[mn]
        """,
        flops=4 * K4 * 60000 + 3 * K4 + 60000,
        unfused=2 * v + (2 * x + v),
        fewest=2 * x + 3 * v,
        compulsory=2 * x + v,
        best="double norm",
        microseconds=(245.9, 245.9, 245.9),
        need=120_000,
        priced=(("double norm", 3 * x + v),),
    )
    x = 2 * 2**16 * 1024
    # A column fits, but the 16 columns of a line of 32 B do not: two passes.
    yield Case(
        "long_columns",
        "m65536 n1024",
        """
        scale elementwise 1: x[mn] -> t[mn]
        softmax reduction 5 over=m: t -> z[mn]
        """,
        flops=6 * 2**26,
        unfused=2 * x + 3 * x,
        fewest=3 * x,
        compulsory=2 * x,
        best="scale+softmax",
        microseconds=(167.8, 100.7, 100.7),
        need=2 * 128,
        done=7 * 2**26,
    )


def _rows() -> Iterator[Case]:
    e, i, v = 2 * K8 * K4, 4 * K8, 2 * K4
    # The rows of the table that the tokens name are the extra bytes.
    yield Case(
        "embedding_layernorm",
        "t8192 d4096",
        f"""
        embed injective 0 extra={e}: i[t]/int32 -> e[td]
        norm reduction 8+3 over=d: e gamma[d] beta[d] -> z[td]
        """,
        flops=8 * K8 * K4 + 3 * K8,
        unfused=(i + 2 * e) + (2 * e + 2 * v),
        fewest=i + 2 * e + 2 * v,
        best="embed+norm",
        microseconds=(67.12, 33.57, 33.57),
        need=2 * K4,
    )
    x = 2 * K8 * K4
    yield Case(
        "residual_rmsnorm",
        "t8192 d4096",
        """
        add elementwise 1: x[td] a[td] -> h[td]!
        norm reduction 4+3 over=d: h gamma[d] -> z[td]
        """,
        flops=5 * K8 * K4 + 3 * K8,
        unfused=3 * x + (2 * x + v),
        fewest=4 * x + v,
        best="add+norm",
        microseconds=(83.89, 67.11, 67.11),
        need=2 * K4,
    )
    x = 2 * K4 * K4
    # The transposed softmax keeps 16 columns of 8,192 B, so that each line of 32 B is used whole.
    yield Case(
        "softmax_of_both_orders",
        "m4096 n4096",
        """
        softmax_a reduction 5 over=n: x[mn] -> p[mn]
        transpose injective 0: x -> t[nm]
        softmax_b reduction 5 over=m: t -> z[nm]
        """,
        flops=10 * K4 * K4,
        unfused=2 * x + 2 * x + 2 * x,
        fewest=2 * x + 2 * x,
        compulsory=3 * x,
        best="softmax_a transpose+softmax_b",
        microseconds=(50.33, 33.55, 33.55),
        need=16 * 8192,
        refused=(("softmax_a transpose softmax_b", "axes", "reduce axis 1, but elements are moved between them"),),
    )


def _results() -> Iterator[Case]:
    x, v = 2 * K4 * K4, 2 * K4
    # The sum with the bias is written, and not read back.
    yield Case(
        "linear_gelu_with_the_pre_activation_kept",
        "m4096 d4096 n4096",
        """
        mm matmul 2: x[md] w[dn] -> y[mn]
        bias broadcast 1: y b[n] -> u[mn]!
        gelu elementwise 8: u -> z[mn]
        """,
        flops=2 * K4**3 + 9 * K4 * K4,
        unfused=3 * x + (2 * x + v) + 2 * x,
        fewest=4 * x + v,
        best="mm+bias+gelu",
        microseconds=(171, 138.9, 138.9),
        need=2 * 128 * 128 * 2,
    )
    yield Case(
        "heads_of_a_product",
        "s4096 d4096 h32 c128",
        """
        mm matmul 2: x[sd] w[dhc] -> y[shc]
        permute injective 0: y -> z[hsc]
        """,
        flops=2 * K4**3,
        unfused=3 * x + 2 * x,
        fewest=3 * x,
        best="mm+permute",
        microseconds=(154.2, 137.4, 137.4),
        need=2 * 128 * 128,
    )
