"""Fusion: which ops of a graph run as one kernel, what that moves, and what may not be merged.

>>> from roofwidget.workloads import Graph
>>> g = Graph("mlp tail")
>>> x = g.input("x", (65536, 4096), "bf16")
>>> g.output(g.add(g.dropout(g.gelu(g.layernorm(x))), x))
>>> apart = Partition.unfused(g)
>>> apart.total_bytes(), apart.fuse("layernorm", "gelu").total_bytes(), Partition.fully(g).total_bytes()
(4831854592, 3758112768, 1073758208)
>>> print(apart.why_not("layernorm", "add"))
gelu + dropout must run after layernorm and before add
"""

from __future__ import annotations

from roofwidget.chips import Share, share_on_chip
from roofwidget.workloads.legality import CODES, FusionError, Refusal
from roofwidget.workloads.partition import Partition

__all__ = ["CODES", "FusionError", "Partition", "Refusal", "Share", "share_on_chip"]
