"""Graphs of whole models, and of small sets of kernels."""

from __future__ import annotations

from roofwidget.workloads.models.chains import chain
from roofwidget.workloads.models.hpc import hpc_set
from roofwidget.workloads.models.resnet import resnet18, resnet50
from roofwidget.workloads.models.transformer import DECODERS, Layer, decoder, transformer_block

__all__ = ["DECODERS", "Layer", "chain", "decoder", "hpc_set", "resnet18", "resnet50", "transformer_block"]
