"""Graphs of models without the framework that the model needs."""

from __future__ import annotations

import sys

import pytest

import roofwidget as rw


@pytest.mark.parametrize(
    ("framework", "sentence"),
    [
        ("torch", r"this needs PyTorch: pip install 'torch>=2.6'"),
        ("jax", r"this needs JAX: pip install 'jax>=0.4.30'"),
    ],
)
def test_a_missing_framework_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, framework: str, sentence: str
) -> None:
    monkeypatch.setitem(sys.modules, framework, None)
    with pytest.raises(ImportError, match=sentence):
        getattr(rw.Graph, f"from_{framework}")(None)
