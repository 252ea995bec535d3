"""What is measured and recorded on a GPU, a function a step: ``python -m tests.gpu.steps NAME FOLDER`` runs a step.

Each step imports what it needs, so that a package that is missing stops that step alone. Without a GPU the steps of
PyTorch and JAX run on the CPU.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import platform
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

SOURCE: Final = Path(__file__).with_name("kernels.cu")
SLOW: Final = Path(__file__).with_name("slow.cu")
# Of these the axes of the instruction roofline follow, Ding and Williams 2019, with today's names of the counters.
INSTRUCTION_METRICS: Final = (
    "gpu__time_duration.sum",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
    "smsp__thread_inst_executed_pred_on.sum",
    "sm__inst_executed.sum",
    "smsp__inst_executed_op_global_ld.sum",
    "smsp__inst_executed_op_global_st.sum",
    "smsp__inst_executed_op_shared_ld.sum",
    "smsp__inst_executed_op_shared_st.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_op_write.sum",
    "dram__sectors_read.sum",
    "dram__sectors_write.sum",
)
BATCH, SEQUENCE, WIDTH, HEADS = 8, 2048, 4096, 32


def machine(out: Path) -> None:
    """Record the device, the versions of what is installed, and the chip that roofwidget recognises."""
    import roofwidget as rw

    print(sys.version, platform.platform())
    for name, command in {
        "nvidia_smi": "nvidia-smi",
        "nvidia_smi_all": "nvidia-smi -q",
        "nvcc": "nvcc --version",
        "ncu": "ncu --version",
        "packages": f"{sys.executable} -m pip list",
    }.items():
        (out / f"figures/{name}.txt").write_text(_printed(command), encoding="utf-8")
    print(_printed("find / -xdev -iname *nsys* -not -path */doc/* -maxdepth 6"))
    with _shown_error():
        found = rw.this_chip()
        print(found, found.notes)


def peaks(out: Path) -> None:
    """Measure the peaks as the tutorial does, of all precisions, and by JAX."""
    import roofwidget as rw

    device, jax_device = ("cuda", "gpu") if _has_cuda() else ("cpu", "cpu")
    requests: dict[str, dict[str, Any]] = {
        "tutorial": {"device": device, "steps": 20, "warmup": 5},
        "default": {"device": device},
        "all": {
            "device": device,
            "dtype": ["fp64", "fp32", "tf32", "bf16", "fp16", "fp8"] if device == "cuda" else None,
        },
        "jax": {"device": jax_device, "backend": "jax"},
    }
    for name, arguments in requests.items():
        with _shown_error():
            found = rw.measure_peaks(cache=False, progress=False, **arguments)
            print(name, found)
            print(found.chip.notes)
            (out / f"figures/peaks_{name}.json").write_text(json.dumps(found.as_dict(), indent=1), encoding="utf-8")


def probe(out: Path) -> None:
    """Measure the same peaks by plain loops of CUDA, products of PyTorch and a copy of Triton."""
    rates: dict[str, float] = {}
    with _shown_error():
        for line in _printed(f"{_compiled(out)} probe").splitlines():
            rates |= json.loads(line)
    if _has_cuda():
        with _shown_error():
            rates |= _torch_rates()
        with _shown_error():
            rates |= _triton_rates()
    print(json.dumps(rates, indent=1))
    (out / "figures/probe.json").write_text(json.dumps(rates, indent=1), encoding="utf-8")


def tutorial(_out: Path) -> None:
    """Run the listing of fasterbench's tutorial, with the names of its package."""
    import torch
    from torchvision.models import resnet18

    from roofwidget import RooflineAnalyzer, measure_peaks

    device = "cuda" if _has_cuda() else "cpu"
    found = measure_peaks(device, steps=20, warmup=5)
    print(found)
    model = resnet18()
    analyzer = RooflineAnalyzer(model, torch.randn(1, 3, 224, 224))
    analyzer.profile(device=device, warmup=5, steps=20)
    analyzer.summary(top=10)
    analyzer.plot(title="ResNet-18 roofline (CUDA)")
    for side in (224, 512):
        analyzer = RooflineAnalyzer(model, torch.randn(1, 3, side, side), peaks=found)
        analyzer.profile(device=device, warmup=3, steps=10)
        memory = sum(1 for result in analyzer.results if result.bound == "memory")
        compute = sum(1 for result in analyzer.results if result.bound == "compute")
        print(f"{side}x{side}: {memory} memory-bound, {compute} compute-bound")


def profiles(out: Path) -> None:
    """Count and time a convolutional network and a transformer block, eager and compiled."""
    import torch

    import roofwidget as rw

    cuda = _has_cuda()
    found = rw.measure_peaks("cuda" if cuda else "cpu", budget_s=3, progress=False)
    with torch.no_grad():
        for name, (model, sample) in _models().items():
            for kind, function in {"eager": model, "compiled": torch.compile(model)}.items():
                with _shown_error():
                    print(f"-- {name}, {kind}")
                    made = rw.profile(function, sample)
                    made.summary(found)
                    made.kernels.to_dataframe().to_csv(out / f"figures/profile_{name}_{kind}.csv")
            with _shown_error():
                rw.profile(model, sample, by="module").summary(found, top=5)
            with _shown_error():
                print(f"-- {name}, by fusion")
                made = rw.profile(torch.compile(model), sample, by="fusion")
                made.summary(found)
                made.kernels.to_dataframe().to_csv(out / f"figures/profile_{name}_fusion.csv")
    with _shown_error():
        widget = rw.RooflineWidget([found.chip])
        with rw.record(widget, "recorded"):
            block, sample = _models()["block"]
            block(sample)
        print(len(widget.kernels), "operations recorded")


def traces(out: Path) -> None:
    """Trace eager, compiled and captured steps with PyTorch's profiler, and print its tables."""
    import torch

    models = _models()
    block, sample = models["block"]
    network, image = models["resnet18"]
    compiled = torch.compile(block)
    with torch.no_grad():
        _trace(out, "resnet18_eager", lambda: network(image))
        _trace(out, "block_eager", lambda: block(sample), tables=True)
        with _shown_error():
            _trace(out, "block_compiled", lambda: compiled(sample))
        if _has_cuda():
            with _shown_error():
                _trace_graph(out, block, sample)
            with _shown_error():
                _trace(out, "scaled_products", _scaled_products())
    with _shown_error():
        _trace(out, "block_training", _training_step(block, sample))
    with _shown_error():
        _trace(out, "block_training_compiled", _training_step(torch.compile(block), sample))
    if _has_cuda():
        with torch.no_grad(), _shown_error():
            _trace(out, "block_replayed", partial(torch.compile(block, mode="reduce-overhead"), sample))


def ncu(out: Path) -> None:
    """Profile kernels of known counts with Nsight Compute: the reports, their pages, and what is read of them."""
    import roofwidget as rw

    program = _compiled(out)
    folder = out / "ncu"
    (folder / "truth.jsonl").write_text(_printed(program), encoding="utf-8")
    report = folder / "kernels.ncu-rep"
    print(_printed(f"ncu --set full --clock-control none --force-overwrite --export {report} {program}")[-2000:])
    small = folder / "roofline.ncu-rep"
    print(_printed(f"ncu --set roofline --clock-control none --force-overwrite --export {small} {program}")[-500:])
    for name, (source, options) in {
        "raw": (report, "--page raw --csv"),
        "raw_base_units": (report, "--page raw --csv --print-units base"),
        "details": (report, "--page details --csv"),
        "details_printed": (report, "--page details"),
        "summary": (report, "--page raw --csv --print-summary per-kernel"),
        "roofline_raw": (small, "--page raw --csv"),
    }.items():
        text = _printed(f"ncu --import {source} {options}")
        (folder / f"{name}.{'csv' if 'csv' in options else 'txt'}").write_text(text, encoding="utf-8")
    for path in (report, small, folder / "raw.csv", folder / "roofline_raw.csv"):
        with _shown_error():
            read = rw.read(path)
            print(path.name, read.chip, *read.warnings, sep="\n  ")
            print(read.to_dataframe().filter(regex="^name|^flops|^bytes|^time").to_string(max_colwidth=24))
    shutil.copy(SOURCE, folder)
    metrics = "dram__bytes_read.sum,dram__bytes_write.sum,gpu__time_duration.sum"
    text = _printed(f"ncu --metrics {metrics} --clock-control none --csv {program}")
    (folder / "metrics.csv").write_text(text, encoding="utf-8")


def slow(out: Path) -> None:
    """Profile kernels that are slow for known reasons with Nsight Compute, and measure the latency of memory."""
    import roofwidget as rw

    program, folder = _compiled(out, SLOW), out / "slow"
    (folder / "truth.jsonl").write_text(_printed(program), encoding="utf-8")
    (folder / "latency.jsonl").write_text(_printed(f"{program} latency"), encoding="utf-8")
    print((folder / "latency.jsonl").read_text(encoding="utf-8"))
    report = folder / "slow.ncu-rep"
    print(_printed(f"ncu --set full --clock-control none --force-overwrite --export {report} {program}")[-1500:])
    for name, options in {
        "raw": "--page raw --csv",
        "details": "--page details --csv",
        "printed": "--page details",
    }.items():
        text = _printed(f"ncu --import {report} {options}")
        (folder / f"{name}.{'csv' if 'csv' in options else 'txt'}").write_text(text, encoding="utf-8")
    metrics = ",".join(INSTRUCTION_METRICS)
    text = _printed(f"ncu --metrics {metrics} --clock-control none --csv --page raw {program}")
    (folder / "instructions.csv").write_text(text, encoding="utf-8")
    with _shown_error():
        read = rw.read(report)
        print(read.chip, *read.warnings, sep="\n  ")
        print(read.to_dataframe().filter(regex="^name|^flops|^bytes|^time").to_string(max_colwidth=24))
    if _has_cuda():
        with _shown_error():
            print(json.dumps(_triton_latency(), indent=1))


def jax(out: Path) -> None:
    """Trace a compiled layer of JAX, and keep the text of its program before and after XLA's passes."""
    import jax as framework
    import jax.numpy as jnp

    import roofwidget as rw

    def layer(x: Any, up: Any, down: Any) -> Any:
        hidden = framework.nn.gelu(x @ up)
        return framework.nn.softmax(x + hidden @ down, axis=-1)

    keys = framework.random.split(framework.random.PRNGKey(0), 3)
    rows, inner = (BATCH * 512, 4 * WIDTH) if _has_cuda() else (64, 512)
    width = inner // 4
    shapes = ((rows, width), (width, inner), (inner, width))
    arguments = [framework.random.normal(key, shape, jnp.bfloat16) for key, shape in zip(keys, shapes, strict=True)]
    step = framework.jit(layer)
    lowered = step.lower(*arguments)
    (out / "jax/stablehlo.txt").write_text(lowered.as_text(), encoding="utf-8")
    compiled = lowered.compile()
    (out / "jax/optimized_hlo.txt").write_text(compiled.as_text(), encoding="utf-8")
    (out / "jax/cost_analysis.json").write_text(json.dumps(compiled.cost_analysis(), default=str), encoding="utf-8")
    step(*arguments).block_until_ready()
    with framework.profiler.trace(str(out / "jax/trace")):
        for _ in range(3):
            step(*arguments).block_until_ready()
    with _shown_error():
        made = rw.from_jax(step, *arguments)
        print(made)
        print(made.kernels)
    with _shown_error():
        made = rw.profile(step, *arguments)
        made.summary(rw.measure_peaks("gpu" if _has_cuda() else "cpu", backend="jax", progress=False))


STEPS: Final[Mapping[str, int]] = {
    "machine": 20,
    "peaks": 110,
    "probe": 40,
    "tutorial": 40,
    "profiles": 120,
    "traces": 80,
    "ncu": 90,
    "slow": 120,
    "jax": 90,
}
"""Seconds after which a step is stopped, by name, in the order in which the steps run."""


def _models() -> dict[str, tuple[Any, Any]]:
    """Return models in evaluation mode, each with an input: ResNet-18 in fp32, a transformer block in bf16."""
    import torch
    from torch import nn

    class Block(nn.Module):  # type: ignore[misc, unused-ignore]
        def __init__(self, width: int, heads: int) -> None:
            super().__init__()
            self.heads = heads
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            batch, length, width = x.shape
            shape = (batch, length, self.heads, width // self.heads)
            q, k, v = (part.view(shape).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, -1))
            attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
            return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))

    cuda = _has_cuda()
    torch.manual_seed(0)
    device = "cuda" if cuda else "cpu"
    sizes = (BATCH, SEQUENCE, WIDTH, HEADS) if cuda else (1, 64, 128, 4)
    block = Block(sizes[2], sizes[3]).to(device, torch.bfloat16).eval()
    models = {"block": (block, torch.randn(sizes[:3], device=device, dtype=torch.bfloat16))}
    try:
        from torchvision.models import resnet18
    except ImportError as missing:
        print("torchvision is missing:", missing)
        network: Any = nn.Sequential(nn.Conv2d(3, 16, 7, 2, 3), nn.BatchNorm2d(16), nn.ReLU()).to(device).eval()
    else:
        network = resnet18().to(device).eval()
    models["resnet18"] = (network, torch.randn(32 if cuda else 1, 3, 224, 224, device=device))
    return models


def _trace(out: Path, name: str, step: Callable[[], Any], *, tables: bool = False) -> None:
    """Trace two annotated steps after a warm-up, and keep the trace and the table of averages."""
    import torch
    from torch.profiler import record_function

    for _ in range(3):
        step()
    if _has_cuda():
        torch.cuda.synchronize()
    with torch.profiler.profile(record_shapes=True, with_flops=True, profile_memory=tables) as prof:
        for number in range(2):
            with record_function(f"step_{number}"):
                step()
        if _has_cuda():
            torch.cuda.synchronize()
    path = out / f"torch/{name}.json"
    prof.export_chrome_trace(str(path))
    with gzip.open(f"{path}.gz", "wb") as packed:
        packed.write(path.read_bytes())
    path.unlink()
    kind = "self_cuda_time_total" if _has_cuda() else "self_cpu_time_total"
    written = {"": prof.key_averages().table(sort_by=kind, row_limit=30)}
    if tables:
        written["_by_shape"] = prof.key_averages(group_by_input_shape=True).table(sort_by=kind, row_limit=30)
        written["_wide"] = prof.key_averages().table(sort_by=kind, row_limit=30, max_name_column_width=30)
    for suffix, text in written.items():
        (out / f"torch/{name}_table{suffix}.txt").write_text(text, encoding="utf-8")


def _trace_graph(out: Path, block: Any, sample: Any) -> None:
    """Trace the capture of a CUDA graph, and then its replays."""
    import torch

    graph = torch.cuda.CUDAGraph()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            block(sample)
    torch.cuda.current_stream().wait_stream(side)
    with torch.profiler.profile(record_shapes=True) as prof, torch.cuda.graph(graph):
        block(sample)
    prof.export_chrome_trace(str(out / "torch/capture.json"))
    _trace(out, "replay", graph.replay)


def _scaled_products() -> Callable[[], Any]:
    """Return a step of products that serving systems run: fp8 with scales, a batch, one with ``out=``, convolutions."""
    import torch

    def made(*shape: int, dtype: Any = torch.bfloat16) -> Any:
        return torch.randn(shape, device="cuda", dtype=torch.float32).to(dtype)

    float8 = torch.float8_e4m3fn
    a, b = made(2048, 4096, dtype=float8), made(8192, 4096, dtype=float8).t()
    one = torch.ones((), device="cuda")
    x, w, bias, result = made(2048, 4096), made(4096, 8192), made(8192), made(2048, 8192)
    q, k = made(16, 32, 1, 128), made(16, 8, 4096, 128)

    def step() -> None:
        torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
        torch.mm(x, w, out=result)
        torch.addmm(bias, x, w)
        torch.bmm(made(8, 256, 128), made(8, 128, 512))
        torch.nn.functional.scaled_dot_product_attention(q, k, k, enable_gqa=True)
        torch.nn.functional.rms_norm(x, (4096,))
        torch.softmax(result.float(), -1)
        torch.nn.functional.silu(result)
        torch.topk(result.float(), 40)
        torch.cumsum(x.float(), 0)
        x.cpu()

    return step


def _training_step(block: Any, sample: Any) -> Callable[[], Any]:
    """Return a step of training: forward, backward, Adam."""
    import torch

    optimizer = torch.optim.Adam(block.parameters(), fused=_has_cuda())

    def step() -> None:
        optimizer.zero_grad()
        block(sample).float().square().mean().backward()
        optimizer.step()

    return step


def _torch_rates() -> dict[str, float]:
    """Return the best rates of products of square matrices of 8192, and of a copy."""
    import torch

    size = 8192
    flops = 2 * size**3
    rates: dict[str, float] = {}
    one = torch.ones((), device="cuda")
    for name, dtype in {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}.items():
        a, b = (torch.randn(size, size, device="cuda").to(dtype) for _ in range(2))
        rates[f"torch {name} FLOP/s"] = flops / _seconds(partial(torch.matmul, a, b))
    torch.backends.cuda.matmul.allow_tf32 = True
    rates["torch tf32 FLOP/s"] = flops / _seconds(lambda: a @ b)
    torch.backends.cuda.matmul.allow_tf32 = False
    half = 4096
    a, b = (torch.randn(half, half, device="cuda", dtype=torch.float64) for _ in range(2))
    rates["torch fp64 FLOP/s"] = 2 * half**3 / _seconds(lambda: a @ b)
    a, b = (torch.randn(size, size, device="cuda").to(torch.float8_e4m3fn) for _ in range(2))
    scaled = torch._scaled_mm
    rates["torch fp8 FLOP/s"] = flops / _seconds(
        lambda: scaled(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    )
    x, y = (torch.ones(2**29, device="cuda") for _ in range(2))
    rates["torch copy B/s"] = 2 * x.nbytes / _seconds(lambda: y.copy_(x))
    rates["torch a += b B/s"] = 3 * x.nbytes / _seconds(lambda: y.add_(x))
    return rates


def _triton_rates() -> dict[str, float]:
    """Return the best rate of a copy that Triton compiles."""
    import torch
    import triton
    import triton.language as tl

    @triton.jit  # type: ignore[untyped-decorator, unused-ignore]
    def copy(to, source, n, block: tl.constexpr):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
        at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
        tl.store(to + at, tl.load(source + at, mask=at < n), mask=at < n)

    x, y = (torch.ones(2**29, device="cuda") for _ in range(2))
    grid = (triton.cdiv(x.numel(), 4096),)
    return {"triton copy B/s": 2 * x.nbytes / _seconds(lambda: copy[grid](y, x, x.numel(), 4096))}


def _triton_latency() -> dict[str, list[float]]:
    """Return ns of a load that depends on the load before, least to most of seven runs, by KiB of the chain."""
    from roofwidget.measure.torch.probes import probes

    found: dict[str, list[float]] = {}
    with probes(device="cuda:0", threads=1, usable=1, clock=time.perf_counter) as torch_probes:
        for kib in (64, 8192, 24576, 524288, 2097152):
            probe = torch_probes.latency(kib * 1024)
            found[str(kib)] = sorted(seconds * 1e9 / probe.work for seconds in probe.seconds(7))
    return found


def _seconds(run: Callable[[], Any]) -> float:
    """Return the least seconds of ten runs, by events of the device."""
    import torch

    best = float("inf")
    for number in range(13):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        end.synchronize()
        if number > 2:
            best = min(best, begin.elapsed_time(end) / 1e3)
    return best


def _compiled(out: Path, source: Path = SOURCE) -> str:
    """Return the path of the program of a source of CUDA, compiled for the device here."""
    program = out / f"{source.stem}.program"
    if not program.exists():
        print(_printed(f"nvcc -O3 -lineinfo -arch=native -o {program} {source}"), end="")
    return str(program)


def _has_cuda() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def _printed(command: str) -> str:
    """Return what a command prints, also where it fails or is missing."""
    try:
        done = subprocess.run(
            command.split(), check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{error}\n"
    return done.stdout


@contextlib.contextmanager
def _shown_error() -> Iterator[None]:
    """Print an error and go on: one part of a step must not hide the parts after it."""
    try:
        yield
    except Exception:  # noqa: BLE001 - whatever it is, the report has it
        traceback.print_exc(file=sys.stdout)


if __name__ == "__main__":
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(Path(sys.argv[2]) / "inductor"))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    globals()[sys.argv[1]](Path(sys.argv[2]))
