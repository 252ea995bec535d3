"""What a function can reach, and how it is found again after each call: nothing of a profile stays behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

import torch
from typing_extensions import Self

from roofwidget.measure.frameworks import captured
from roofwidget.measure.torch.tensors import Tensor, has_values, tensors_in

_USED: Final = (torch.nn.Module, torch.Tensor, torch.optim.Optimizer)
"""What a variable of a function may be to matter here."""


def root_of(function: Any) -> Any:
    """Return the model that a function is, or whose method it is; else None."""
    while isinstance(function, partial):
        function = function.func
    if isinstance(function, torch.nn.Module):
        return function
    owner = getattr(function, "__self__", None)
    return owner if isinstance(owner, torch.nn.Module) else None


def reachable(function: Any, args: Any, kwargs: Any) -> list[Any]:
    """Return the arguments, and the models, tensors and optimizers that a function uses besides."""
    found = [args, kwargs]
    for value in captured(function):
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else [value]
        found += [part for part in parts if isinstance(part, _USED)]
    return found


def modules_in(values: Iterable[Any]) -> list[Any]:
    """Return the modules among values and in their lists, tuples and dicts, with all parts, each once."""
    found: dict[Any, None] = {}
    for value in values:
        for module in _modules(value):
            found.update(dict.fromkeys(module.modules()))
    return list(found)


def _modules(value: Any) -> Iterator[Any]:
    if isinstance(value, torch.nn.Module):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _modules(part)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for part in value:
            yield from _modules(part)


class State:
    """Puts back what calls of a function change.

    At the end, and with `reset` before each call: the gradients of the model's parameters and of other tensors that the
    function can reach, buffers, which modules are in training mode, the state of the random numbers, whether gradients
    are recorded, the default dtype, the number of threads. So each call does the same, and nothing stays behind.
    Parameters that the function itself changes, as an optimizer does, stay changed.

    During the calls there are no gradients from before: a backward pass makes new ones.
    """

    def __init__(self, values: Iterable[Any]) -> None:
        given = list(values)
        self._modules = modules_in(given)
        self._training = [(module, module.training) for module in self._modules]
        self._buffers = [
            (module, name, buffer, None if buffer is None else _Copy(buffer))
            for module in self._modules
            for name, buffer in module._buffers.items()  # noqa: SLF001 - each place of a shared buffer
        ]
        tensors: list[Tensor] = [
            parameter for module in self._modules for parameter in module.parameters(recurse=False)
        ]
        tensors += [tensor for tensor in tensors_in(given) if tensor.requires_grad and tensor.is_leaf]
        self._leaves = {id(tensor): (tensor, tensor.grad) for tensor in tensors}
        self._random = torch.get_rng_state()
        self._random_of_devices = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
        self._records_gradients = torch.is_grad_enabled()
        self._dtype = torch.get_default_dtype()
        self._threads = torch.get_num_threads()

    def __enter__(self) -> Self:
        self.reset()
        return self

    def __exit__(self, *error: object) -> None:
        self.reset()
        for tensor, gradient in self._leaves.values():
            tensor.grad = gradient

    def gradients(self) -> list[Tensor]:
        """Return the gradients that the call since the latest `reset` has left."""
        return [tensor.grad for tensor, _ in self._leaves.values() if tensor.grad is not None]

    def reset(self) -> None:
        """Put everything back, and take gradients away.

        What has not changed is not assigned again: compiled code may check for assignments, and compile again.
        """
        for tensor, _ in self._leaves.values():
            if tensor.grad is not None:
                tensor.grad = None
        for module, training in self._training:
            if module.training != training:
                module.training = training
        for module, name, buffer, copy in self._buffers:
            if module._buffers.get(name) is not buffer:  # noqa: SLF001 - no public way that keeps the tensor
                module._buffers[name] = buffer  # noqa: SLF001 - the same
            if copy is not None:
                copy.put_back()
        self._reset_settings()

    def _reset_settings(self) -> None:
        torch.set_rng_state(self._random)
        if self._random_of_devices is not None:
            torch.cuda.set_rng_state_all(self._random_of_devices)
        if torch.is_grad_enabled() != self._records_gradients:
            torch.set_grad_enabled(self._records_gradients)
        if torch.get_default_dtype() != self._dtype:
            torch.set_default_dtype(self._dtype)
        if torch.get_num_threads() != self._threads:
            torch.set_num_threads(self._threads)
        # Casts that autocast keeps would be missing from the next call.
        torch.clear_autocast_cache()


class _Copy:
    """A copy of a tensor's values, if it has any."""

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor
        self._values = tensor.detach().clone() if has_values(tensor) else None

    def put_back(self) -> None:
        # A batch normalisation changes its buffers and leaves their version numbers. An assignment without need could
        # make a backward pass fail that is still to come.
        if self._values is not None and not torch.equal(self._tensor, self._values):
            with torch.inference_mode(self._tensor.is_inference()), torch.no_grad():
                self._tensor.copy_(self._values)
