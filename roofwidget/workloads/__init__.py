"""Workloads as graphs of operations on tensors. The FLOPs and bytes of kernels are computed from such a graph.

>>> from roofwidget.workloads import Graph, dim
>>> batch = dim("batch", 1, 1024, default=32)
>>> g = Graph()
>>> x = g.input("x", (batch, 4096), "bf16")
>>> y = g.relu(x)
>>> g.flops("relu"), g.bytes(y)
(4096·batch, 8192·batch)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from roofwidget.support.late import late
from roofwidget.workloads import ops as _ops  # noqa: F401 - registers the operators
from roofwidget.workloads.convention import CONVENTIONS, Convention
from roofwidget.workloads.expressions import (
    Call,  # noqa: F401 - pickles of expressions name it here
    Dim,
    Expression,
    Symbol,  # noqa: F401 - the same
    dim,
)
from roofwidget.workloads.forms import KernelForm
from roofwidget.workloads.graph import Graph, register_op
from roofwidget.workloads.legality import FusionError, Refusal
from roofwidget.workloads.models.chains import chain
from roofwidget.workloads.models.config import DecoderConfig
from roofwidget.workloads.models.hpc import hpc_set
from roofwidget.workloads.models.huggingface import ARCHITECTURES
from roofwidget.workloads.models.quantisation import WEIGHT_FORMATS, WeightFormat
from roofwidget.workloads.models.resnet import resnet18, resnet50
from roofwidget.workloads.models.serving import Serving, serve
from roofwidget.workloads.models.training import model_flops
from roofwidget.workloads.models.transformer import DECODERS, decoder, decoder_config, transformer_block
from roofwidget.workloads.op import CLASSES, KINDS, Op
from roofwidget.workloads.ops.attention import flash_blocks
from roofwidget.workloads.ops.mixture import expected_experts
from roofwidget.workloads.tensors import DTYPES, Tensor

__all__ = [
    "ARCHITECTURES",
    "CLASSES",
    "CONVENTIONS",
    "DECODERS",
    "DTYPES",
    "KINDS",
    "WEIGHT_FORMATS",
    "Convention",
    "DecoderConfig",
    "Dim",
    "Expression",
    "FusionError",
    "Graph",
    "KernelForm",
    "Op",
    "Refusal",
    "Serving",
    "Tensor",
    "WeightFormat",
    "chain",
    "decoder",
    "decoder_config",
    "dim",
    "expected_experts",
    "flash_blocks",
    "hpc_set",
    "model_flops",
    "register_op",
    "resnet18",
    "resnet50",
    "serve",
    "transformer_block",
]

if not TYPE_CHECKING:
    __getattr__ = late(__name__, "partition")
