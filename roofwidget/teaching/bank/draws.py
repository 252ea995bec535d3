"""What a question of a bank draws: one of some values, a number of a range, a chip."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Protocol

from roofwidget.chips import Chip
from roofwidget.kernels.presets import preset
from roofwidget.support.did_you_mean import did_you_mean
from roofwidget.teaching.bank.arithmetic import element_bytes
from roofwidget.teaching.bank.counts import record
from roofwidget.teaching.bank.exercise import Draw
from roofwidget.teaching.bank.phrases import name as name_of
from roofwidget.workloads.tensors import DTYPES

MADE_UP: Final = "A"
"""In the place of a chip of the catalogue: a chip with drawn figures, which has no real name."""
_BANDWIDTHS: Final = (0.8e12, 9.9e12, 0.1e12)
_RIDGES: Final = (100.0, 600.0)
_PEAK_DIGITS: Final = 3
_NOISE: Final = 12
_PARTS: Final = ("printed", "or", "chips", "bandwidth", "ridge")
_FORMS: Final = (
    '"600; 192 to 1536 step 64", "1e12; 1e11 to 1e14, 3 digits", "bf16; fp32, fp64", a table with printed and or, or a '
    "table with chips"
)
_RANGE: Final = re.compile(r"([\d_.e+-]+) to ([\d_.e+-]+)(?: step ([\d_.e+-]+)|, (\d+) digits?)?")


class Drawn(Protocol):
    """What is drawn under a name. `first` is its value without a seed."""

    @property
    def first(self) -> Any: ...

    def draw(self, drawing: Draw) -> tuple[Any, Any]:
        """Return a drawn value, and the same as JSON can hold it."""

    def restored(self, param: Any) -> Any:
        """Return the value that was stored. Raise `ValueError` if it cannot be one."""


@dataclass(frozen=True)
class MadeUp:
    """The figures of a chip that is made up. Most draws need no `Chip`, which is slow to make."""

    peaks: Mapping[str, float]
    precision: str
    memory: str
    bandwidth: float

    def chip(self) -> Chip:
        """Return the chip."""
        return Chip(MADE_UP, dict(self.peaks), {self.memory: self.bandwidth})

    def figures(self) -> dict[str, Any]:
        """Return what expressions and texts can name of the chip."""
        peak = self.peaks[self.precision]
        names = {"name": "chip A", "the": "Chip A", "of": "chip A", "many": "chips A", "chips": "chips A"}
        return {
            **names,
            "precision": self.precision,
            "memory": self.memory,
            "size": element_bytes(self.precision),
            "peak": peak,
            "bandwidth": self.bandwidth,
            "ridge": peak / self.bandwidth,
            "capacity": 0.0,
            "link": 0.0,
            **self.peaks,
        }


def put(values: dict[str, Any], name: str, value: Any) -> None:
    """Put a drawn value under its name. The members of a group are put under ``name.member``."""
    if isinstance(value, (Chip, MadeUp)):
        values[f"{name}."] = value
        of_chip = value.figures() if isinstance(value, MadeUp) else figures(value)
        values.update((f"{name}.{member}", figure) for member, figure in of_chip.items())
    elif isinstance(value, Mapping):
        values.update((f"{name}.{member}", one) for member, one in value.items())
    else:
        values[name] = value


@dataclass(frozen=True)
class Among:
    """One of some numbers, texts or groups, each as likely as the others."""

    first: Any
    values: Sequence[Any]

    def draw(self, drawing: Draw) -> tuple[Any, Any]:
        value = self.values[int(drawing.number() * len(self.values))]
        return value, value

    def restored(self, param: Any) -> Any:
        return _alike(param, self.first)


def _alike(param: Any, first: Any) -> Any:
    """Return a stored value if it is of the kind of the printed one."""
    if isinstance(first, Mapping) and isinstance(param, Mapping) and param.keys() == first.keys():
        return {name: _alike(one, first[name]) for name, one in param.items()}
    if isinstance(first, str) and isinstance(param, str):
        return param
    if isinstance(first, (int, float)) and isinstance(param, (int, float)) and 0 <= param < math.inf:
        return param
    raise ValueError(f"{param!r:.60} is no value such as {first!r:.60}")


@dataclass(frozen=True)
class Range:
    """A number of a range: in steps, each as likely as the others, or log-uniform with some digits."""

    first: float
    low: float
    high: float
    step: float
    digits: int

    def draw(self, drawing: Draw) -> tuple[Any, Any]:
        place = drawing.number()
        if self.digits:
            value = _rounded(self.low * (self.high / self.low) ** place, self.digits)
        else:
            count = math.floor((self.high - self.low) / self.step + 1e-9) + 1
            value = _rounded(self.low + self.step * int(place * count), _NOISE)
        number = int(value) if isinstance(self.low, int) and isinstance(self.step, int) else value
        return number, number

    def restored(self, param: Any) -> Any:
        return _alike(param, self.first)


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits - 1}e}")


@dataclass(frozen=True)
class AChip:
    """A chip of the catalogue, or one that is made up: its ridge point is log-uniform."""

    first: Chip
    chips: Sequence[str]
    bandwidths: tuple[float, float, float]
    ridges: tuple[float, float]

    def draw(self, drawing: Draw) -> tuple[Any, Any]:
        text = self.chips[int(drawing.number() * len(self.chips))]
        word, *precisions = text.split()
        if word != MADE_UP:
            return catalogued(text), text
        low, high, step = self.bandwidths
        bandwidth = _rounded(low + step * int(drawing.number() * (round((high - low) / step) + 1)), _NOISE)
        ridge = self.ridges[0] * (self.ridges[1] / self.ridges[0]) ** drawing.number()
        peak = _rounded(bandwidth * ridge, _PEAK_DIGITS)
        precision = precisions[0] if precisions else self.first.precision()
        param = {"precision": precision, "peak": peak, "bandwidth": bandwidth}
        return self.restored(param), param

    def restored(self, param: Any) -> Any:
        if isinstance(param, str):
            return _known(param)
        figure = _alike(param, {"precision": "bf16", "peak": 1.0, "bandwidth": 1.0})
        first = self.first
        if figure["precision"] not in DTYPES:
            raise ValueError(f"there is no format {figure['precision']!r:.40}")
        # Other formats have the same share of the peak as on the printed chip.
        share = figure["peak"] / first.peak()
        others = {one: first.peak(one) * share for one in first.peak_flops if one != first.precision()}
        peaks = {figure["precision"]: figure["peak"], **others}
        return MadeUp(peaks, figure["precision"], first.memory(), figure["bandwidth"])


@lru_cache(maxsize=256)
def catalogued(text: str) -> Chip:
    """Return a chip of the catalogue with some precisions, such as "v5e bf16 int8"; or one of a preset."""
    word, *precisions = text.split()
    source, _, ident = word.partition("/")
    if ident:
        found = [one for one in preset(source).chips if one.id == ident]
        if not found:
            raise ValueError(f"the preset '{source}' has no chip '{ident}'")
        return found[0]
    return record(word, *(precisions or ["bf16"]))


@lru_cache(maxsize=256)
def figures(chip: Chip) -> dict[str, Any]:
    """Return what expressions and texts can name of a chip."""
    memory, name = chip.memory(), name_of(chip)
    links = [link.per_link for link in chip.links.values() if link.per_link]
    peaks = {precision: chip.peak(precision) for precision in chip.peak_flops if precision in DTYPES}
    return {
        "name": name,
        "the": f"The {name}",
        "of": f"the {name}",
        "many": name,
        "chips": f"{name} chips",
        "precision": chip.precision(),
        "memory": memory,
        "size": element_bytes(chip.precision()),
        "peak": chip.peak(),
        "bandwidth": chip.bandwidth(),
        "ridge": chip.ridge_point(),
        "capacity": chip.memories[memory].capacity or 0.0,
        "link": links[0] if links else 0.0,
        **peaks,
    }


def read_draw(written: Any) -> Drawn:
    """Return what a field of ``draw`` draws.

    Raises
    ------
    ValueError
        If it has none of the forms of a draw.

    Examples
    --------
    >>> read_draw("600; 192 to 1536 step 64").first, read_draw("bf16; fp32, fp64").first
    (600, 'bf16')
    """
    if isinstance(written, str):
        return _from_text(written)
    table = written if isinstance(written, Mapping) else {"": written}
    for name in table:
        if name not in _PARTS:
            raise ValueError(f"a draw has no '{name}'{did_you_mean(name, _PARTS)}; a draw is {_FORMS}")
    if "chips" in table:
        return _chip_draw(table)
    first, others = table.get("printed"), table.get("or")
    if isinstance(first, Mapping) and isinstance(others, list):
        return Among(first, [first, *(_alike(one, first) for one in others)])
    raise ValueError(f"a draw is {_FORMS}")


def _from_text(text: str) -> Drawn:
    """Return a draw of a text: the printed value, a semicolon, and a range or other values."""
    printed, _, rest = (part.strip() for part in text.partition(";"))
    if not printed or not rest:
        raise ValueError(f"'{text}' has no ';' between the printed value and the others; a draw is {_FORMS}")
    first: Any = _value(printed)
    found = _RANGE.fullmatch(rest)
    if found is None:
        return Among(first, [first, *(_alike(_value(part.strip()), first) for part in rest.split(","))])
    numbers = [one for one in map(_value, (printed, found[1], found[2], found[3] or "1")) if not isinstance(one, str)]
    if len(numbers) < 4 or not all(0 < one < math.inf for one in numbers) or numbers[1] > numbers[2]:  # noqa: PLR2004
        raise ValueError(f"'{text}': a range goes from a number above zero to a larger one")
    first, low, high, step = numbers
    return Range(first, low, high, step, min(int(found[4] or 0), _NOISE))


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def _chip_draw(table: Mapping[str, Any]) -> AChip:
    chips = table["chips"]
    if not isinstance(chips, list) or not chips or not all(isinstance(one, str) and one.split() for one in chips):
        raise ValueError(f"'chips' is a list of names of the catalogue, or '{MADE_UP}' for a chip that is made up")
    for text in chips:
        if text.split()[0] != MADE_UP:
            _known(text)
    limits = [table.get("bandwidth", _BANDWIDTHS), table.get("ridge", _RIDGES)]
    if [len(one) for one in limits if isinstance(one, Sequence)] != [len(_BANDWIDTHS), len(_RIDGES)]:
        raise ValueError("'bandwidth' is [lowest, highest, step] in B/s, and 'ridge' is [lowest, highest] in FLOP/B")
    return AChip(_printed_chip(table.get("printed", chips[0])), chips, tuple(limits[0]), tuple(limits[1]))


def _known(text: str) -> Chip:
    try:
        return catalogued(text)
    except (LookupError, ValueError) as error:
        raise ValueError(f"'{text}' is no chip of the catalogue: {error}") from None


def _printed_chip(first: Any) -> Chip:
    """Return a chip of the catalogue, or that of a table such as {name = "TPU v5e", bf16 = 1.97e14, HBM = 8.1e11}."""
    if isinstance(first, str):
        return _known(first)
    table = first if isinstance(first, Mapping) else {}
    peaks = {word: value for word, value in table.items() if word in DTYPES}
    memories = {word: value for word, value in table.items() if word not in DTYPES and word != "name"}
    if not peaks or len(memories) != 1 or not isinstance(table.get("name"), str):
        raise ValueError('a printed chip is a name, or a table {name = "TPU v5e", bf16 = 1.97e14, HBM = 8.1e11}')
    return Chip(table["name"], peaks, memories)
