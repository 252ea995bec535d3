"""Conventions: five presets, what each costs, and how they are shown."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from roofwidget.workloads import CONVENTIONS, Convention, Graph

ENVIRONMENT = {
    "@fma": 2,
    "@transcendental": 1,
    "@divide": 1,
    "@sqrt": 1,
    "@compare": 1,
    "@causal": 2,
    "@write_allocate": 0,
    "@padding": 1,
    "@softmax": 5,
    "@accumulator": 0,
    "@vector": 1,
    "@apart": 0,
    "@exact": 1,
}


@pytest.mark.parametrize(
    ("name", "differs"),
    [
        ("textbook", {}),
        ("xla", {"@padding": 0, "@apart": 1, "@exact": 0}),
        ("torch", {"@vector": 0, "@exact": 0}),
        ("mac", {"@fma": 1, "@vector": 0, "@exact": 0}),
        ("hpc", {"@write_allocate": 1}),
    ],
)
def test_a_preset_is_the_textbook_but_for_some_words(name: str, differs: dict[str, int]) -> None:
    assert dict(CONVENTIONS[name].environment) == ENVIRONMENT | differs


def test_every_word_reaches_the_environment() -> None:
    mine = Convention(
        "mine",
        fma=3,
        transcendental=4,
        divide=5,
        sqrt=6,
        compare=7,
        causal="half",
        write_allocate=True,
        count_padding=False,
        softmax=8,
        accumulator_bytes=9,
        vector=False,
        transcendentals_apart=True,
    )
    assert list(mine.environment.values()) == [3, 4, 5, 6, 7, 1, 1, 0, 8, 9, 0, 1, 0]
    assert list(mine.environment) == list(ENVIRONMENT)


def test_repr_shows_what_differs_and_str_shows_all_that_is_in_force() -> None:
    assert (
        repr(CONVENTIONS["xla"]) == "Convention('xla', causal='full', count_padding=False, transcendentals_apart=True)"
    )
    assert str(CONVENTIONS["torch"]).startswith("torch: fma=2, transcendental=1,")
    assert "vector=False" in str(CONVENTIONS["torch"])


@pytest.mark.parametrize(
    ("word", "value", "error"),
    [
        ("fma", 2.0, TypeError),
        ("fma", -1, ValueError),
        ("fma", True, TypeError),
        ("vector", 1, ValueError),
        ("vector", None, TypeError),
        ("accumulator_bytes", "4", TypeError),
        ("softmax", 0, ValueError),
        ("causal", "third", ValueError),
    ],
)
def test_a_wrong_word_is_named(word: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=f"{word} of convention 'mine' must be"):
        Convention("mine", **{word: value})


def test_an_unknown_keyword_and_an_unknown_preset_are_refused_with_the_nearest() -> None:
    with pytest.raises(TypeError, match="did you mean 'softmax'"):
        Convention("mine", soft_max=4)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="unknown convention 'torhc'; did you mean 'torch'"):
        Graph(convention="torhc")


def test_conventions_are_values() -> None:
    mine = Convention("mine", fma=1)
    assert mine == Convention("mine", fma=1)
    assert hash(mine) == hash(Convention("mine", fma=1))
    assert pickle.loads(pickle.dumps(mine)) == mine  # noqa: S301 - it was written on the line itself
