"""Ridge points by year: the catalogue's years and families, a model's what-ifs, labels that do not overlap."""

from __future__ import annotations

from typing import Any

import pytest

from roofwidget import Chip, RooflineModel, chips, preset
from roofwidget.companions import ridge_history
from roofwidget.companions.histories import named_points


def chip(name: str, ridge: float, year: int | None, family: str = "F") -> Chip:
    return Chip(name, {"bf16": ridge * 1e12}, {"HBM": 1e12}, vendor="V", family=family, year=year)


def points(figure: Any) -> dict[str, tuple[int, float]]:
    mark = figure.marks[1]
    return dict(zip(mark.names.tolist(), zip(mark.x.tolist(), mark.y.round(1).tolist(), strict=True), strict=True))


def test_each_chip_stands_at_its_year_and_ridge_point() -> None:
    guide = [
        one.replace(year=year)
        for one, year in zip(preset("tpu-roofline-guide").chips, (2025, 2025, 2024, 2023), strict=True)
    ]
    assert points(ridge_history(guide)) == {
        "v5p": (2023, 166.3),
        "v6e": (2024, 573.8),
        "v7x (fp8)": (2025, 640.8),
        "v7x (bf16)": (2025, 320.4),
    }


def test_a_familys_line_goes_through_the_geometric_mean_of_each_year() -> None:
    figure = ridge_history([chip("c", 90, 2024), chip("a", 20, 2020), chip("b", 80, 2020), chip("x", 5, 2021, "G")])
    lines = figure.marks[0]
    assert lines.labels == ["V F", "V G"]
    assert lines.x.tolist() == [[2020, 2024], [2021, 2021]]
    assert lines.y[0].tolist() == pytest.approx([40, 90])
    assert len(set(figure.marks[1].colors)) == 2


def test_chips_without_a_year_or_the_precision_are_left_out_and_told() -> None:
    figure = ridge_history([chip("a", 20, 2020), chip("b", 80, None)])
    assert list(points(figure)) == ["a"]
    assert figure.title == "Ridge point by year (1 chip left out: no year, precision or memory)"
    assert points(ridge_history([chip("a", 20, 2020)], precision="fp8")) == {}
    assert points(ridge_history([])) == {}


def test_the_whole_catalogue_is_drawn_with_names_that_do_not_collide() -> None:
    known = [one for one in chips() if one.year is not None]
    figure = ridge_history(chips())
    assert len(points(figure)) == len(known)
    names = figure.marks[2]
    assert 10 < len(names.text) < len(known)
    assert set(names.text.tolist()) <= set(points(figure))
    assert not figure.marks[0].display_legend, "too many families for one"


def test_chips_at_the_same_place_are_all_named_there() -> None:
    figure = ridge_history([chip("a", 20, 2020), chip("b", 20.1, 2020), chip("c", 20, 2021), chip("d", 40, 2020)])
    assert list(points(figure)) == ["a / b", "b / a", "d", "c"]
    assert set(figure.marks[2].text.tolist()) == {"a / b", "d", "c"}
    many = ridge_history([chip(name, 20, 2020) for name in "abcde"])
    assert many.marks[2].text.tolist() == ["e / 4 more"]


def test_a_name_on_another_or_on_a_point_or_outside_is_left_out() -> None:
    assert named_points([(0.1, 0.5), (0.15, 0.52), (0.1, 0.6)], ["long enough", "b", "c"]) == [1, 2]
    assert named_points([(0.1, 0.5), (0.05, 0.49), (0.99, 0.1)], ["long enough", "long enough", "long"]) == [0]


def test_a_models_shown_chips_and_what_ifs_are_followed() -> None:
    model = RooflineModel([chip("a", 20, 2020), chip("b", 80, 2021)])
    figure = ridge_history(model)
    model.peak_flops = "40 TFLOP/s"
    assert points(figure) == {"a": (2020, 40.0), "b": (2021, 80.0)}
    model.shown = ["b"]
    assert points(figure) == {"b": (2021, 80.0)}
    model.chips = []
    assert points(figure) == {}


@pytest.mark.parametrize(
    ("given", "keywords", "error", "message"),
    [
        (7, {}, TypeError, "chips must be a model, or chips and names of them, got 7"),
        (["h1000"], {}, LookupError, "no chip is called 'h1000'"),
        ([None], {}, TypeError, "a chip's name or a Chip, got None"),
        (["v5p"], {"precision": 8}, TypeError, "precision must be text, got 8"),
        (["v5p"], {"presision": "fp8"}, TypeError, "did you mean 'precision'?"),
    ],
)
def test_what_is_no_chip_is_refused(given: Any, keywords: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ridge_history(given, **keywords)


def test_a_model_has_a_precision_of_its_own() -> None:
    with pytest.raises(ValueError, match="a model has its own precision and memory"):
        ridge_history(RooflineModel(), precision="fp8")
