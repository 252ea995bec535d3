"""The public interface is the one that `tests/api.txt` keeps."""

from __future__ import annotations

import inspect

import pytest

import roofwidget as rw
from tests import api
from tests.places import text_of


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return api.lines()


def test_the_public_interface_is_the_one_that_was_kept(lines: list[str]) -> None:
    kept, found = text_of(api.FILE).splitlines(), lines
    removed = [line for line in kept if line not in found]
    added = [line for line in found if line not in kept]
    advice = ['"make api" writes tests/api.txt anew.']
    if removed:
        advice.append("Something was removed or changed: it needs a deprecation first, see CONTRIBUTING.md.")
    assert found == kept, "\n".join([*advice, *(f"- {line}" for line in removed), *(f"+ {line}" for line in added)])


def test_the_lines_have_every_public_name_with_its_parameters(lines: list[str]) -> None:
    starts = [line.removeprefix("class ").partition("(")[0].split(" is a ")[0] for line in lines]
    names = [name for name in vars(rw)["__all__"] if not inspect.ismodule(getattr(rw, name))]
    assert {f"roofwidget.{name}" for name in names} <= set(starts)
    assert {"roofwidget.chip(name)", "roofwidget.chips(vendor=None, family=None)"} <= set(lines)
    assert "roofwidget.Kernels.top(n=5, by='headroom', chip=None)" in lines
    kernel = "name, flops, bytes, time=None, *, precision=None, category=None, count=1, intensity=None, rate=None"
    assert f"class roofwidget.Kernel({kernel})" in lines
    assert "class roofwidget.RooflineWidget is a RooflineModel" in lines
    assert "wire: what_if (shared)" in lines
    assert any(line.startswith("$ roofwidget check --fail-below") for line in lines)
    assert "check.schema.json: /exit_status (always)" in lines
    assert not any(".__" in line or "._" in line for line in lines)
