"""Runs a function without computing: its tensors have shapes and dtypes, but no values and no memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
)
from torch.utils._pytree import tree_map

from roofwidget.measure.torch.state import modules_in
from roofwidget.measure.torch.tensors import Tensor, tensors_in


@contextmanager
def without_values(
    function: Callable[..., Any], values: Sequence[Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Iterator[tuple[Callable[[], Any], Callable[[], list[Tensor]]]]:
    """Give a function that calls `function` on tensors without values, and one that returns the gradients it leaves.

    While the context is open, the modules among `values` have such parameters and buffers too. A tensor on the meta
    device is taken for one on the CPU, since PyTorch replaces fused operations, such as attention, on the meta device.

    Raises
    ------
    ValueError
        If what the function does depends on values. The message names the operation.
    """
    modules = modules_in(values)
    parts = [part for module in modules for part in (module._parameters, module._buffers)]  # noqa: SLF001 - in place
    before = [dict(part) for part in parts]
    mode = _mode_of([*tensors_in(before), *tensors_in(values)])
    made: dict[int, Tensor] = {}

    def without(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or isinstance(value, FakeTensor):
            return value
        if id(value) not in made:
            made[id(value)] = _without_values(value, mode)
        return made[id(value)]

    try:
        for part in parts:
            for name, tensor in part.items():
                part[name] = without(tensor)
        with mode:
            call = partial(function, *tree_map(without, args), **tree_map(without, dict(kwargs)))
            yield partial(_checked, call), lambda: [each.grad for each in made.values() if _has_gradient(each)]
    finally:
        for part, tensors in zip(parts, before, strict=True):
            part.clear()
            part.update(tensors)


def _mode_of(tensors: Sequence[Tensor]) -> Any:
    """Return the mode in which some of the tensors were made, or a new one."""
    made = next((tensor.fake_mode for tensor in tensors if isinstance(tensor, FakeTensor)), None)
    return FakeTensorMode(allow_non_fake_inputs=True) if made is None else made


def _without_values(tensor: Tensor, mode: Any) -> Tensor:
    if not tensor.is_meta:
        return mode.from_tensor(tensor)
    with mode:
        made = torch.empty_strided(
            tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cpu", requires_grad=tensor.requires_grad
        )
    return torch.nn.Parameter(made, tensor.requires_grad) if isinstance(tensor, torch.nn.Parameter) else made


def _has_gradient(tensor: Tensor) -> bool:
    return bool(tensor.is_leaf and tensor.grad is not None)


def _checked(call: Callable[[], Any]) -> Any:
    """Call a function; say what to do where its operations need values."""
    try:
        return call()
    except (DataDependentOutputException, DynamicOutputShapeException) as error:
        name = getattr(error.func, "_overloadpacket", error.func)
        raise ValueError(
            f"{name}: its result depends on the values of tensors, which do not exist when nothing is run: "
            "use rw.profile(…, timing=None)"
        ) from error
