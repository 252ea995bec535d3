"""Write `readers.md` from the readers themselves: `python docs/make_readers.py`."""

# A row of a table is one line.
# ruff: noqa: E501

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))

from roofwidget.readers import FORMATS
from roofwidget.readers.torch.forms import FORMS
from roofwidget.readers.torch.meanings import MEANINGS

PAGE = DOCS / "readers.md"

TOP = """# Readers

`rw.read(path)` reads each of these into `Kernels`; what a file holds tells which it is, not its name. A path, bytes or
an open file will do, gzip and zip are undone, and a folder stands for the files that a tool writes together. This page
is written by `docs/make_readers.py` from the readers' own texts: how to make the file, and the rule behind each number.

- `kernels.origin["flops"]` tells of each number which metric and which rule gave it; `kernels.extra` holds what else
  the file tells; `kernels.warnings` says what is missing or doubtful.
- Unknown is NaN and zero is zero: a kernel without FLOPs stays in the table.
- `rw.read(path, format="…")` names the format where the content does not show it.
- `rw.read(path, work={"flash*": {"flops": "4 GFLOP", "bytes": "10 MB"}})` gives the work of one launch of kernels that
  the tool cannot count, by name; an op of `rw.workloads` or a function of the row will do too. Every reader takes it;
  `kernels.with_work(…)` does the same later, and `replace=True` there replaces what is known. `work="work.toml"` reads
  [rules](#rules-of-work).
- `rw.read_many("runs/*.json")` reads many at once, with `client=` in processes or on a Dask cluster; a file that fails
  is named in `.failures` and does not lose the others.
- `rw.ranks("traces/rank*.json")` compares the ranks of one program: the slowest rank of each kernel, the median, the
  spread, stragglers, and who waits in collectives. A device that is idle, and a kernel that only one rank has, make no
  straggler.
- `kernels.filter(phases="decode")` keeps a phase of a PyTorch trace; `kernels.groupby("phase")` adds each up.
- `kernels.groupby("name", "shape")` adds launches up, as sums over sums; `kernels.launches_of(row)` gives them back.
- `roofwidget read FILE` in a shell, and *How the file was read* in the widget, say from which column and by which rule
  each field came, and what is unknown.

## What you have in hand

| you have | do this |
| --- | --- |
| a table of your own with FLOPs, bytes and times (CSV, spreadsheet, data frame) | `rw.read("mine.csv")`; units in the header: `time (ms)`, `GFLOP`, `[MB]`, or in a row under it, or in each cell |
| a table of arithmetic intensities and rates (`AI`, `GFLOP/s`) | `rw.read("mine.csv")`: each kernel has its place and its share of the roof; seconds stay unknown |
| a table with other words in its header | `rw.read("mine.csv", columns={"name": "what", "time": ("t", "ms")})` |
| a data frame of pandas, polars, Arrow or DuckDB | `rw.read(frame)`, or `rw.roofline("h100-sxm", frame)` |
| a printed table: Markdown, `print(frame)`, or what psql, DuckDB, polars or rich print | save the text: `rw.read("table.txt")` |
| a list in a notebook | `rw.roofline("h100-sxm", [("matmul", "4.3 GFLOP", "12 MB", "31 us")])` |
| a workbook (`.xlsx`, `.ods`) | `rw.read("mine.xlsx")`, or `sheet="its name"` |
| JSON of your own, with a list of objects or a table by columns somewhere in it, or of `DataFrame.to_json` | `rw.read("results.json")`; the hardware beside the list is its chip |
| what `print(profiler.key_averages().table())` of PyTorch printed | save the text, also within a log: `rw.read("table.txt")` |
| a trace of PyTorch's profiler | `rw.read("trace.json.gz")` |
| a profile of Nsight Compute | `rw.read("profile.ncu-rep")`, or its CSV, or a table copied from its window |
| a profile of Nsight Systems (`.nsys-rep`) | `nsys export --type sqlite profile.nsys-rep`, then `rw.read("profile.sqlite")` |
| reports of `nsys stats` | `nsys stats --format csv --output . profile.nsys-rep`, then `rw.read("…_cuda_gpu_kern_sum.csv")` |
| output of nvprof | `nvprof --csv --log-file out.csv …`, then `rw.read("out.csv")`; also with `--metrics` or `--print-gpu-trace` |
| output of rocprof, rocprofv3 or rocprof-compute | `rw.read("results.stats.csv")`, or the folder, the database or the JSON |
| a profile of Triton's Proton | `rw.read("proton.hatchet")` |
| a JAX or TensorFlow profile | `rw.read("….xplane.pb")`; the `.trace.json.gz` beside it has times, and on TPUs FLOPs |
| an export of XProf | `rw.read("roofline_model.json")`, or its CSV |
| Intel Advisor, VTune or unitrace | a report as CSV: `rw.read("report.csv")` |
| AMD uProf | `AMDuProfPcm -o pcm.csv …`, then `rw.read("pcm.csv")` |
| LIKWID | the output of `likwid-perfctr` or `likwid-bench`: `rw.read("out.txt")` |
| HPC profiles of Caliper or Hatchet | the JSON: `rw.read("profile.json")` |
| TensorRT | `trtexec --exportProfile=profile.json …`, then `rw.read("profile.json")` |
| ONNX Runtime | `enable_profiling`, then `rw.read("onnxruntime_profile….json")` |
| measured peaks of a machine (ERT, CARM Tool, mixbench, LIKWID) | `rw.read_ceilings("roofline.json")`; their kernels with `rw.read` |
| Google Benchmark | `--benchmark_format=json`, then `rw.read("bench.json")` |
| the archive of a job in ClusterCockpit | `rw.read("meta.json")` for the job, `rw.read("data.json.gz")` or the folder for its nodes |
| a trace with operations of unknown work | `kernels.unknown_work()` lists them; [rules](#rules-of-work) in `rw.read("trace.json", work="work.toml")` |
| kernel times without FLOPs and bytes | `rw.read("times.csv", work={"flash*": {"flops": "4 GFLOP", "bytes": "10 MB"}})` |
| a trace or profile with collectives | `rw.network.messages(kernels)`: size, bus bandwidth, the fastest call and what the others took longer; in a shell `roofwidget read FILE` |
| many files, or the ranks of one program | `rw.read_many("runs/*.csv")`, `rw.ranks("traces/rank*.json")`; in a shell `roofwidget check FOLDER` |
| a number that looks wrong | `roofwidget read FILE` |

"""

RULES = """## Rules of work

A file of rules says what operations compute and move, by name and one rule a line:

```toml
"vllm::moe_forward"       = { op = "moe", x = 0, experts = "dims[1][1]", active = 4, ffn = 2880, d = 2880, weight_bits = 4.25 }
"vllm::unified_attention*" = { op = "attention", q = 0, k = 1, v = 2, pairs = "step", windows = [128, 0] }
"my_ext::fused_mlp"       = { flops = "4 * dims[0][0] * dims[0][1] * dims[1][0]", bytes = "tensors", precision = "bf16" }
"_matmul_ogs_*"           = { part_of = "vllm::moe_forward" }
"nvjet_*"                 = { op = "gemm", m = 46, n = 201088, k = 2880, precision = "bf16" }
"deep_ep::*dispatch*"     = { link_bytes = "8192 * 8 * 7168 * (1 - 1/8)" }
```

`rw.read(path, work="work.toml")` and `roofwidget check FILE --work work.toml` use it, and a file `work.toml` beside the
profile is used without being named. `rw.WorkRules` has the same rules as a Python object, and `.write(path)` saves them.

- The pattern is that of the operation's name, or of the kernel's name if no operation is known. `*` matches any
  characters, and case matters. The pattern with the most characters that are no wildcards wins, then the first line.
- Numbers count for one call. An amount is a number, a text with a unit (`"4 GFLOP"`), or an expression of `dims[i][j]`
  (sizes of input i), `size[i]` (its bytes), `value[i]` (an argument that is a number), `step.sq`, `step.sk`, `step.sqsq`,
  `step.sqsk` (sums over the requests of the step), `+ - * / // **`, `min(…)` and `max(…)`. Inputs count from 0 and include
  arguments that are no tensors, as in the trace.
- `flops`, `bytes` (`"tensors"`: each tensor once), `precision`, `category`, `link_bytes` (to other devices) are for any
  rule. `at_least = true` marks a lower bound. `at_most = true` marks an upper bound, which only the origin names.
- `part_of` is for kernels that share the work of an operation by time, in rows of kernels (`by="kernel"`).
- `work=` from Python comes first, then the file that `work=` names, then the file beside the profile, amounts that a compiler
  wrote, rules of this package, and last estimates. Counters of a profiler are never replaced.
- vLLM pads gpt-oss: x of the first line has 3072 columns, of which the model has 2880. `d = 2880` counts the model's work.
  Without `d` the padding counts too.
- A line that matches nothing is no error. Other mistakes are errors that name file, line and operation.

`kernels.unknown_work()` lists operations of unknown work by time, with what is missing and a line to begin with;
`kernels.unknown_work().rules()` is the text of a file. In a widget the tab *Unknown* has the same list: there a person
completes a rule, sees what it says, and saves the file ([Using the widget](using.md#what-can-be-dragged)).

| `op` | what it counts | keys |
| --- | --- | --- |
"""

KEYS_HEAD = """
| key | what it gives |
| --- | --- |
"""

FORMATS_HEAD = """
## Formats
"""


def page() -> str:
    """Return the page's text."""
    modules = [import_module(name) for name in FORMATS]
    head = ["| format | what it reads |", "| --- | --- |"]
    head += [f"| [`{module.FORMAT}`](#{module.FORMAT}) | {module.EXPECTED} |" for module in modules]
    forms = [
        f"| `{name}` | {_first_line(form.work)} | {_keys(form.keys)} |" for name, form in FORMS.items() if form.keys
    ]
    keys = KEYS_HEAD + "\n".join(f"| `{key}` | {meaning} |" for key, meaning in sorted(MEANINGS.items()))
    return "\n".join([TOP + RULES + "\n".join(forms), keys, FORMATS_HEAD, *head, "", *map(_section, modules)])


def _first_line(function: Callable[..., object]) -> str:
    return (inspect.getdoc(function) or "").split("\n")[0]


def _keys(keys: Iterable[str]) -> str:
    return ", ".join(f"`{key}`" for key in keys)


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


def _section(module: ModuleType) -> str:
    text = _markdown(inspect.getdoc(module) or "")
    return f"## {module.FORMAT}\n\n{text}\n\n`{_call(module)}`\n"


def _call(module: ModuleType) -> str:
    parameters = inspect.signature(module.read).parameters.values()
    options = [f"{p.name}={p.default!r}" for p in parameters if p.kind is p.KEYWORD_ONLY]
    return f"rw.read({', '.join(['path', *options])})"


def _markdown(text: str) -> str:
    """Return a doc string's reStructuredText as Markdown: literals, blocks of code, and terms with what they mean."""
    lines = re.sub(r"``([^`]+)``", r"`\1`", text).split("\n")
    shown: list[str] = []
    in_code = in_term = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line and not line.startswith(" "):
            in_code = in_term = False
        if line.endswith("::"):
            in_code = True
            shown.append(line[:-1])
        elif not in_code and re.match(r"[A-Za-z]", line) and following.startswith("    "):
            in_term = True
            shown.append(f"- **{line}**:")
        else:
            shown.append(f"  {line.strip()}" if in_term and line else line)
    return "\n".join(shown)


if __name__ == "__main__":
    main()
