"""A profile leaves nothing behind: not in the model, not in PyTorch, not after an error."""

from __future__ import annotations

import time
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.modules import module as hooks

import roofwidget as rw
from roofwidget.measure.torch.watch import Watch


class Restless(nn.Module):  # type: ignore[misc]  # torch is not typed here
    """A model that changes everything a model can reach, and then may fail."""

    def __init__(self, *, fails: bool) -> None:
        super().__init__()
        self.fails = fails
        self.lin = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: Any) -> Any:
        y = self.norm(self.lin(x)) + torch.rand(4)
        self.calls: Any = self.calls + 1
        if torch.is_grad_enabled():
            y.sum().backward()
        self.norm.eval()
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        torch.set_num_threads(torch.get_num_threads() + 1)
        if self.fails:
            raise ArithmeticError("no")
        return y


def everything(model: Any) -> list[Any]:
    """Return what must not change."""
    return [
        {name: value.clone() for name, value in model.state_dict().items()},
        [each.training for each in model.modules()],
        [None if each.grad is None else each.grad.clone() for each in model.parameters()],
        [len(each._forward_hooks) + len(each._forward_pre_hooks) for each in model.modules()],
        (len(hooks._global_forward_hooks), len(hooks._global_forward_pre_hooks)),
        torch.get_rng_state(),
        (torch.is_grad_enabled(), torch.get_default_dtype(), torch.get_num_threads()),
        torch.utils._python_dispatch._get_current_dispatch_mode(),
        [each.device for each in model.parameters()],
    ]


def same(before: Any, after: Any) -> bool:
    if isinstance(before, torch.Tensor):
        return bool(torch.equal(before, after))
    if isinstance(before, dict):
        return before.keys() == after.keys() and all(same(before[name], after[name]) for name in before)
    if isinstance(before, list):
        return len(before) == len(after) and all(map(same, before, after))
    return bool(before == after)


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("through", ["model", "method", "function", "decorated", "arguments"])
def test_the_model_and_pytorch_are_as_before(fails: bool, through: str) -> None:  # noqa: FBT001 - a case
    model = Restless(fails=fails)
    model.lin.weight.grad = torch.ones(4, 4)
    buffers = dict(model.named_buffers())
    before = everything(model)
    call: Any = {
        "model": (model,),
        "method": (model.forward,),
        "function": (lambda x: model(x) + 1,),
        "decorated": (torch.no_grad()(lambda x: model(x) + 1),),
        "arguments": (lambda x, parts: parts["it"][0](x),),
    }[through]
    args = (torch.ones(3, 4), *(({"it": [model]},) if through == "arguments" else ()))
    for run in (rw.profile, rw.count_flops):
        if fails:
            with pytest.raises(ArithmeticError, match="no"):
                run(*call, *args)
        else:
            run(*call, *args)
        assert same(before, everything(model)), run
        assert dict(model.named_buffers()).keys() == buffers.keys()
        assert all(buffer is buffers[name] for name, buffer in model.named_buffers())


def test_parameters_are_the_same_objects_with_their_values_after_counting_without_running() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    model[1].weight = model[0].weight
    before = {name: (value, value.clone()) for name, value in model.named_parameters(remove_duplicate=False)}
    rw.count_flops(model, torch.ones(2, 4))
    after = dict(model.named_parameters(remove_duplicate=False))
    assert list(after) == list(before)
    assert all(after[name] is value and torch.equal(value, copy) for name, (value, copy) in before.items())


def test_gradients_of_arguments_are_put_back() -> None:
    x = torch.ones(4, requires_grad=True)
    x.grad = torch.full((4,), 7.0)
    kept = x.grad
    rw.profile(lambda x: (x * x).sum().backward(), x, repeat=1)
    assert x.grad is kept
    assert x.grad.tolist() == [7.0] * 4


def test_each_call_draws_the_same_random_numbers() -> None:
    drawn: list[float] = []

    def f(x: Any) -> Any:
        drawn.append(float(torch.rand(1)))
        return x + 1

    torch.manual_seed(3)
    expected = float(torch.rand(1))
    torch.manual_seed(3)
    rw.profile(f, torch.ones(1), warmup=1, repeat=2)
    assert set(drawn) == {expected}
    assert float(torch.rand(1)) == expected


def test_buffers_made_under_inference_mode_are_put_back() -> None:
    with torch.inference_mode():
        model = nn.BatchNorm1d(4)
        before = model.running_mean.clone()
        rw.profile(model, torch.ones(3, 4) * 5, repeat=1)
        assert torch.equal(model.running_mean, before)


def test_a_module_whose_error_the_function_catches_is_left() -> None:
    inner = Restless(fails=True)

    def f(x: Any) -> Any:
        try:
            inner(x)
        except ArithmeticError:
            return x + 1

    profile = rw.profile(f, torch.ones(3, 4), timing=None)
    assert profile.kernels.extra["module"].tolist()[-1] == ""


def test_a_compiled_part_of_a_function_is_compiled_still_when_it_is_called_next() -> None:
    compilations: list[Any] = []

    def backend(graph: Any, _inputs: Any) -> Any:
        compilations.append(graph)
        return graph

    model = torch.compile(nn.Sequential(nn.Linear(4, 4)), backend=backend)
    rw.profile(lambda x: model(x) + 1, torch.ones(2, 4), timing=None)
    rw.count_flops(lambda x: model(x) + 1, torch.ones(2, 4))
    with Watch(lambda _: None, time.perf_counter):
        model(torch.ones(2, 4))
    assert not compilations
    model(torch.ones(2, 4))
    assert len(compilations) == 1
