"""Profiles for the tests of the first look: what the profiler of PyTorch and XProf say of two programs."""

from __future__ import annotations

import roofwidget as rw

# Name, category, launches, FLOPs, bytes and seconds of a small BERT on an H100. Products of vectors have FLOPs apart.
_BERT = [
    ("embedding", "look-up", 1, {"auto": 0.0}, 289896, 3.136e-6),
    ("embedding", "look-up", 1, {"auto": 0.0}, 289896, 3.264e-6),
    ("add", "element by element", 9, {"vector": 649728.0}, 3898368, 14.752e-6),
    ("embedding", "look-up", 1, {"auto": 0.0}, 289896, 3.424e-6),
    ("add_", "element by element", 1, {"vector": 72192.0}, 433152, 1.696e-6),
    ("native_layer_norm", "normalisation", 10, {"vector": 5779590.0}, 2908160, 30.912e-6),
    ("eq", None, 1, None, None, 1.76e-6),
    ("all", None, 1, None, None, 3.648e-6),
    ("Memcpy DtoH (Device -> Pinned)", "copy", 1, {"auto": 0.0}, None, 2.24e-6),
    ("addmm 512×512", "matrix product", 17, {"auto": 1256718336.0}, 13839360, 98.718e-6),
    ("scaled_dot_product_flash_attention", "attention", 4, {"auto": 162865152.0}, 2310144, 37.408e-6),
    ("addmm 512×2048", "matrix product", 4, {"auto": 1182793728.0}, 11292672, 24.511e-6),
    ("gelu 141×2048", "element by element", 4, {"vector": 5775360.0}, 4620288, 7.871e-6),
    ("addmm 2048×512", "matrix product", 4, {"auto": 1182793728.0}, 11280384, 33.089e-6),
    ("gelu 141×512", "element by element", 1, {"vector": 360960.0}, 288768, 1.728e-6),
    ("addmm 512×30522", "matrix product", 1, {"auto": 4406888448.0}, 40067160, 41.28e-6),
    ("idle or not profiled", "idle", 1, None, None, 3598.39e-6),
]


def bert() -> rw.Kernels:
    """Return a profile in which the GPU is idle for 92 % of the time."""
    rows = [
        rw.Kernel(name, flops, moved, time=time, category=category, count=count, precision="bf16")
        for name, category, count, flops, moved, time in _BERT
    ]
    return rw.Kernels.from_records(rows).replace(
        chip=rw.chip("h100-sxm"),
        source="bert-small.json.gz",
        read_as={"format": "torch"},
        warnings=["bytes are computed from shapes, not measured", "FLOPs are unknown for 2.5% of the time"],
    )


def copies() -> rw.Kernels:
    """Return a profile of a TPU with asynchronous copies: eight of them seem to be above the roof."""
    long = {"copy-done.4": 77.77, "copy-done.2": 77.64, "copy-done": 75.67, "copy-done.5": 72.95}
    short = {"copy-start.4": 2.4e-6, "copy-start.2": 2.2975e-6, "copy-start": 2.16875e-6, "copy-start.3": 7.25e-7}
    short |= {"copy-start.5": 7.0875e-7, "copy-start.1": 6.8125e-7, "copy-done.1": 1.18875e-6, "copy-done.3": 1.1475e-6}
    rows = [
        rw.Kernel(name, 0, 2.147484e12, time=time, category=name.partition(".")[0], count=400)
        for name, time in {**long, **short}.items()
    ]
    sums = {"broadcast_add_fusion.1": 3.262, "broadcast_add_fusion": 3.191, "broadcast_add_fusion.2": 3.167}
    rows += [
        rw.Kernel(name, 5.368709e11, 4.294967e12, time=time, category="loop fusion", count=400)
        for name, time in sums.items()
    ]
    rows += [
        rw.Kernel("all-reduce", 1.610613e10, 1.28849e11, time=1.460345, category="all-reduce", count=12),
        rw.Kernel("idle or not profiled", None, None, time=48.6118, category="idle"),
    ]
    chip = rw.Chip("TPU v6 Lite", {"bf16": "918 TFLOP/s"}, {"HBM": "1.638 TB/s"}, vendor="Google")
    return rw.Kernels.from_records(rows).replace(chip=chip, source="inference.json", read_as={"format": "xprof"})


def layers(halved: int = 0) -> rw.Kernels:
    """Return 256 kernels of a program of 16 layers; every `halved`-th takes half of its time."""
    kinds = [
        *(
            ("gemm_qkv", "matrix product", 200.0),
            ("flash_fwd", "attention", 120.0),
            ("gelu", "element by element", 0.5),
        ),
        *(("layer_norm", "normalisation", 2.0), ("all_reduce", "collective", 0.1), ("transpose", "copy", 0.0)),
    ]
    rows = []
    for at in range(256):
        name, category, intensity = kinds[at % len(kinds)]
        moved = 10.0 ** (7.3 + 1.5 * ((7 * at) % 11) / 10)
        flops = moved * intensity * (1 + (at % 5) / 5)
        least = max(moved / 3.35e12, flops / 989.5e12)
        time = least * (1.1 + ((3 * at) % 13) / 4) * (0.5 if halved and at % halved == 0 else 1)
        rows.append(rw.Kernel(f"layer{at // 16}/{name}.{at % 16}", flops, moved, time=time, category=category))
    return rw.Kernels.from_records(rows).replace(chip=rw.chip("h100-sxm"), source=f"{'b' if halved else 'a'}.csv")


def chain() -> rw.Graph:
    """Return four operations on 2^28 numbers, one after the other."""
    graph = rw.Graph("chain")
    x = graph.input("x", (65536, 4096), "bf16")
    graph.output(graph.scale(graph.dropout(graph.gelu(graph.layernorm(x)))))
    return graph
