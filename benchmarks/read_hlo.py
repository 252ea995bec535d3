"""Seconds to read and count the program text of a large model, and whether they grow in proportion to its length.

Writes the text of a made-up network in memory: layers of a matrix product, and a fused bias with tanh, in XLA's
format with layouts and metadata. The second text is four times as long as the first one of 2.5 MB.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import roofwidget as rw

MEGABYTES: Final = (2.5, 10)
FLOPS_OF_LAYER: Final = 2 * 512**3
LAYER: Final = """
%fused.{n} (p.{n}: f32[512,512], b.{n}: f32[512]) -> f32[512,512] {{
  %p.{n} = f32[512,512]{{1,0}} parameter(0)
  %b.{n} = f32[512]{{0}} parameter(1)
  %broadcast.{n} = f32[512,512]{{1,0}} broadcast(%b.{n}), dimensions={{1}}, metadata={{op_name="jit(f)/layer{n}/add"}}
  %add.{n} = f32[512,512]{{1,0}} add(%p.{n}, %broadcast.{n}), metadata={{op_name="jit(f)/layer{n}/add"}}
  ROOT %tanh.{n} = f32[512,512]{{1,0}} tanh(%add.{n}), metadata={{op_name="jit(f)/layer{n}/tanh"}}
}}
"""
CALL: Final = """\
  %dot.{n} = f32[512,512]{{1,0}} dot(%x.{m}, %w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, \
metadata={{op_name="jit(f)/layer{n}/dot_general" source_file="model.py" source_line={n}}}
  %x.{n} = f32[512,512]{{1,0}} fusion(%dot.{n}, %b), kind=kLoop, calls=%fused.{n}, \
metadata={{op_name="jit(f)/layer{n}/tanh"}}, backend_config={{"outer_dimension_partitions":["2"]}}
"""


def text_of(layers: int) -> str:
    """Return the text of a network."""
    fused = "".join(LAYER.format(n=n) for n in range(1, layers + 1))
    calls = "".join(CALL.format(n=n, m=n - 1) for n in range(1, layers + 1))
    return (
        f"HloModule jit_f, is_scheduled=true\n{fused}\n"
        "ENTRY %main (x.0: f32[512,512], w: f32[512,512], b: f32[512]) -> f32[512,512] {\n"
        "  %x.0 = f32[512,512]{1,0} parameter(0)\n  %w = f32[512,512]{1,0} parameter(1)\n"
        f"  %b = f32[512]{{0}} parameter(2)\n{calls}"
        f"  ROOT %result = f32[512,512]{{1,0}} copy(%x.{layers})\n}}\n"
    )


def main() -> None:
    rw.from_hlo_text(text_of(1))
    size_of_layer = (len(text_of(1001)) - len(text_of(1))) / 1000
    seconds = []
    for megabytes in MEGABYTES:
        layers = round(megabytes * 1e6 / size_of_layer)
        text = text_of(layers)
        start = time.perf_counter()
        profile = rw.from_hlo_text(text)
        seconds.append(time.perf_counter() - start)
        assert profile.flops == layers * FLOPS_OF_LAYER
        print(f"{len(text) / 1e6:5.1f} MB, {len(text.splitlines()):,} lines: {seconds[-1]:.2f} s")
    print(f"four times the text takes {seconds[1] / seconds[0]:.1f} times as long")


if __name__ == "__main__":
    main()
