"""Counting without running: by shapes alone."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

import roofwidget as rw
from tests.measure.torch.models import Block, ResNet18


def totals(profile: rw.Profile) -> tuple[int, int, int, int | None]:
    return profile.calls, profile.flops, profile.bytes, profile.compulsory_bytes


def test_a_model_with_values_counts_as_if_it_ran() -> None:
    profile = rw.count_flops(ResNet18().eval(), torch.zeros(1, 3, 224, 224))
    assert totals(profile)[:3] == (90, 3_628_146_688, 118_556_224)
    assert profile.time is None


def test_nothing_is_computed() -> None:
    x = torch.zeros(4)
    rw.count_flops(lambda: x.add_(1), framework="torch")
    assert x.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("where", ["values", "meta", "fake"])
def test_a_model_counts_the_same_wherever_it_was_made(where: str) -> None:
    if where == "fake":
        with FakeTensorMode():
            model, x = Block(256, 4), torch.zeros(2, 512, 256)
    else:
        with torch.device("meta" if where == "meta" else "cpu"):
            model, x = Block(256, 4), torch.zeros(2, 512, 256)
    expected = 27, 2_147_483_648, 43_037_696, 5_256_192
    assert totals(rw.count_flops(model, x)) == expected
    assert totals(rw.count_flops(model, torch.zeros(2, 512, 256))) == expected


@pytest.mark.parametrize("where", ["meta", "fake"])
def test_a_model_without_values_cannot_be_profiled_and_the_error_says_what_can(where: str) -> None:
    with FakeTensorMode() if where == "fake" else torch.device("meta"):
        model = nn.Linear(4, 4)
    with pytest.raises(ValueError, match=r"has no values.*rw\.count_flops"):
        rw.profile(model, torch.zeros(2, 4))


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x: x[x > 0], "nonzero"),
        (lambda x: x.nonzero(), "nonzero"),
        (lambda x: x + x.sum().item(), "_local_scalar_dense"),
        (lambda x: x if x.sum() > 0 else -x, "_local_scalar_dense"),
    ],
)
def test_what_depends_on_values_is_one_error_that_names_the_operation(function: Any, name: str) -> None:
    with pytest.raises(ValueError, match=rf"^aten\.\w*{name}: its result depends on the values.*rw\.profile"):
        rw.count_flops(function, torch.zeros(4))
    assert rw.profile(function, torch.zeros(4), timing=None).calls > 0


def test_a_symbolic_shape_is_one_error() -> None:
    mode = FakeTensorMode(shape_env=ShapeEnv(), static_shapes=False)
    with pytest.raises(ValueError, match=r"symbolic shape s\d+×s\d+.*fixed shape"):
        rw.count_flops(nn.Linear(8, 4), mode.from_tensor(torch.zeros(6, 8)))


def test_a_mode_that_follows_unknown_shapes_gives_the_same_error() -> None:
    with FakeTensorMode(shape_env=ShapeEnv()):
        x = torch.zeros(4)
    with pytest.raises(ValueError, match=r"depends on the values of tensors.*rw\.profile"):
        rw.count_flops(lambda x: x.nonzero() + 1, x)


def test_tensors_of_two_modes_are_counted_together() -> None:
    with FakeTensorMode():
        model = nn.Linear(8, 4)
    with FakeTensorMode():
        x = torch.zeros(2, 8)
    assert rw.count_flops(model, x).flops == 2 * 2 * 8 * 4


def test_constants_made_inside_keep_their_values() -> None:
    def f(x: Any) -> Any:
        scale = torch.tensor(2.0)
        return x * scale if scale.item() > 1 else x

    assert rw.count_flops(f, torch.zeros(4)).other_flops == 4


def test_tensors_of_a_closure_have_views_and_changes_like_arguments() -> None:
    table = torch.zeros(8, 8)

    def f(x: Any) -> Any:
        table[0].copy_(x)
        return table.t() + x

    assert totals(rw.count_flops(f, torch.zeros(8))) == totals(rw.profile(f, torch.zeros(8), timing=None))


def test_the_gradients_of_a_training_step_are_outputs() -> None:
    model = nn.Linear(8, 8)

    def step(x: Any) -> None:
        model(x).sum().backward()

    x = torch.zeros(2, 8)
    assert totals(rw.count_flops(step, x)) == totals(rw.profile(step, x, timing=None))


def test_an_optimizer_changes_parameters_without_values() -> None:
    model = nn.Linear(8, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, foreach=True)

    def step(x: Any) -> None:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

    before = model.weight.clone()
    without = rw.count_flops(step, torch.zeros(2, 8))
    assert torch.equal(model.weight, before)
    assert optimizer.param_groups[0]["params"][0] is model.weight
    assert totals(without) == totals(rw.profile(step, torch.zeros(2, 8), timing=None))


def test_fused_groups_need_to_run() -> None:
    with pytest.raises(ValueError, match=r'by="fusion" compiles and runs.*rw\.profile'):
        rw.count_flops(nn.Linear(4, 4), torch.zeros(2, 4), by="fusion")


@pytest.mark.parametrize("follow", [rw.count_flops, rw.Graph.from_torch])
def test_a_model_that_fails_raises_one_error_and_logs_nothing(
    follow: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("torch"), "propagate", True)
    with pytest.raises((RuntimeError, ValueError), match="must have same reduction dim"):
        follow(nn.Linear(8, 4), torch.zeros(3, 5))
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
