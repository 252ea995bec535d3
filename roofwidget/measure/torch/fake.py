"""Runs a function without computing: its tensors have shapes and dtypes, but no values and no memory."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
)
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from roofwidget.measure.torch.state import modules_in
from roofwidget.measure.torch.tensors import Tensor, has_values, tensors_in

_NEEDS_VALUES: Final = (
    "depends on the values of tensors, which do not exist when nothing is run: use rw.profile(…, timing=None)"
)


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
    optimizers = [value for value in values if isinstance(value, torch.optim.Optimizer)]
    # The state of an optimizer is by parameter.
    parts += [part for optimizer in optimizers for part in (*optimizer.param_groups, optimizer.state)]
    before = [dict(part) for part in parts]
    _check_shapes(tensors_in(values))
    mode = _mode_of([*tensors_in(before), *tensors_in(values)])
    # The tensors themselves are kept too, so that no other tensor gets the same id.
    made: dict[int, tuple[Tensor, Tensor]] = {}

    def without(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or (isinstance(value, FakeTensor) and value.fake_mode is mode):
            return value
        if id(value) not in made:
            made[id(value)] = value, _without_values(value, mode)
        return made[id(value)][1]

    try:
        for part in parts:
            for name, value in list(part.items()):
                part.pop(name)
                part[without(name)] = tree_map(without, value)
        with mode, no_logged_traces():
            call = partial(function, *tree_map(without, args), **tree_map(without, dict(kwargs)))
            yield (
                partial(_checked, call, _Converter(without)),
                lambda: [each.grad for _, each in made.values() if _has_gradient(each)],
            )
    finally:
        for part, tensors in zip(parts, before, strict=True):
            part.clear()
            part.update(tensors)


@contextmanager
def no_logged_traces() -> Iterator[None]:
    """Keep PyTorch from logging a traceback when an operation fails: the error that is raised says the same."""
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    logger.addFilter(_is_no_failure)
    try:
        yield
    finally:
        logger.removeFilter(_is_no_failure)


def _is_no_failure(record: logging.LogRecord) -> bool:
    return record.levelno != logging.ERROR


def _mode_of(tensors: Sequence[Tensor]) -> Any:
    """Return the mode in which some of the tensors were made, or a new one."""
    made = next((tensor.fake_mode for tensor in tensors if isinstance(tensor, FakeTensor)), None)
    return FakeTensorMode(allow_non_fake_inputs=True) if made is None else made


def _check_shapes(tensors: Sequence[Tensor]) -> None:
    for tensor in tensors:
        if not all(isinstance(size, int) for size in tensor.shape):
            sizes = "×".join(map(str, tensor.shape))
            raise ValueError(f"a tensor has the symbolic shape {sizes}, but counts need numbers: give it a fixed shape")


def _without_values(tensor: Tensor, mode: Any) -> Tensor:
    if has_values(tensor):
        return mode.from_tensor(tensor)
    device = "cpu" if tensor.is_meta else tensor.device
    with mode:
        made = torch.empty_strided(
            tensor.shape, tensor.stride(), dtype=tensor.dtype, device=device, requires_grad=tensor.requires_grad
        )
    return torch.nn.Parameter(made, tensor.requires_grad) if isinstance(tensor, torch.nn.Parameter) else made


def _has_gradient(tensor: Tensor) -> bool:
    return bool(tensor.is_leaf and tensor.grad is not None)


class _Converter(TorchDispatchMode):  # type: ignore[misc]  # torch is not typed here
    """Takes the values from tensors that a function uses and that are no arguments: variables of its closure."""

    supports_higher_order_operators = True

    def __init__(self, without: Callable[[Any], Any]) -> None:
        super().__init__()
        self._without = without

    def __torch_dispatch__(
        self, operation: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        # A new constant keeps its value: PyTorch follows it.
        if operation is torch.ops.aten.lift_fresh.default:
            return operation(*args, **(kwargs or {}))
        given = {name: self._converted(value) for name, value in (kwargs or {}).items()}
        return operation(*map(self._converted, args), **given)

    def _converted(self, value: Any) -> Any:
        """Return an argument of an operation without values; arguments nest lists only."""
        return [self._without(part) for part in value] if isinstance(value, list) else self._without(value)


def _checked(call: Callable[[], Any], converter: _Converter) -> Any:
    """Call a function; say what to do where its operations need values."""
    try:
        with converter:
            return call()
    except (DataDependentOutputException, DynamicOutputShapeException) as error:
        name = getattr(error.func, "_overloadpacket", error.func)
        raise ValueError(f"{name}: its result {_NEEDS_VALUES}") from error
    except RuntimeError as error:
        # A mode of the user's may follow shapes that depend on values, until they are asked for.
        if type(error).__name__ != "GuardOnDataDependentSymNode":
            raise
        raise ValueError(f"the shape of a tensor {_NEEDS_VALUES}") from error
