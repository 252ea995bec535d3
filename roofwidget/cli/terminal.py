"""Draws a roofline with letters, in any number of columns and lines.

plotille draws the lines, in braille dots. Names, numbers and axes are letters in a grid of cells.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from plotille import Canvas

from roofwidget.analysis.chip_frame import ChipFrame
from roofwidget.support.precisions import operation
from roofwidget.support.text_tables import aligned, and_more, one_line
from roofwidget.units import format_intensity, format_quantity, ratio_units

MIN_WIDTH: Final = 60
MIN_HEIGHT: Final = 12
_MARKS: Final = "123456789abcdefghijklmnopqrstuvwxyz"
_UNNUMBERED: Final = "•"
_EMPTY_BRAILLE: Final = "⠀"
# The longest name on the chart, and the longest where that one has no space.
_NAME_CELLS: Final = (28, 16)
_MIN_KEY_LINES: Final = 4
_KEY_SHARE: Final = 0.3
_FIXED_LINES: Final = 4  # the title, the unit of the rates, the horizontal axis, its numbers
_KEY_HEADER: Final = ("#", "kernel", "", "bound by", "of roof", "to gain")
_MAX_KEY_NAME: Final = 60
_MIN_KEY_NAME: Final = 12
# Space around the points and the ridge point, in decades.
_MARGIN: Final = 0.25
_LEFT_OF_RIDGE: Final = 1.5
_RIGHT_OF_RIDGE: Final = 1.0
_MAX_DECADES: Final = 9.0
# Lines above the highest roof, for its name.
_LINES_ABOVE: Final = 1.5
_MIN_LINES_PER_TICK: Final = 2
_MIN_CELLS_PER_TICK: Final = 9
# Colours of the 256-colour palette that have a contrast of at least 3.8 with black and with white: the background of
# the terminal is unknown.
_COLOURS: Final = {"memory": 32, "compute": 166, "network": 97, "overhead": 97, "above": 160, "quiet": 244}
_RESET: Final = "\x1b[0m"


@dataclass(frozen=True)
class Roof:
    """A chip's peak in FLOP/s and its bandwidth in bytes/s."""

    name: str
    peak: float
    bandwidth: float
    precision: str

    @property
    def ridge(self) -> float:
        """FLOP/byte."""
        return self.peak / self.bandwidth

    @property
    def operation(self) -> str:
        """The unit of the operations that the peak counts."""
        return operation(self.precision)


@dataclass(frozen=True)
class Point:
    """A kernel.

    Parameters
    ----------
    name
        The name.
    ai, rate
        FLOP/byte and FLOP/s.
    kind
        A regime, ``above`` or ``unmeasured``.
    cells
        What binds it, its share of the roof, and the time to gain.
    absence
        Why it is not on the chart, if it has no place there.
    is_outside
        Whether it is outside the axes.
    operation
        The unit of its operations: ``FLOP`` or ``OP``.
    """

    name: str
    ai: float
    rate: float
    kind: str
    cells: tuple[str, str, str]
    absence: str = ""
    is_outside: bool = False
    operation: str = "FLOP"

    @property
    def has_place(self) -> bool:
        """Whether a logarithmic chart has a place for it."""
        return not self.is_outside and 0 < self.ai < math.inf and 0 < self.rate < math.inf


@dataclass
class _Grid:
    """Cells with a letter and a colour each."""

    width: int
    height: int
    letters: list[list[str]] = field(init=False)
    colours: list[list[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.letters = [[" "] * self.width for _ in range(self.height)]
        self.colours = [[""] * self.width for _ in range(self.height)]

    def put(self, column: int, line: int, text: str, colour: str = "") -> None:
        for letter in text:
            wide = _cells_of(letter)
            if 0 <= line < self.height and column >= 0 and column + wide <= self.width:
                # A wide letter takes its own cell and the next one, which stays without a letter.
                for at in range(wide):
                    self.letters[line][column + at] = "" if at else letter
                    self.colours[line][column + at] = colour
            column += wide

    def is_free(self, column: int, line: int, cells: int) -> bool:
        inside = 0 <= line < self.height and column >= 0 and column + cells <= self.width
        return inside and all(letter == " " for letter in self.letters[line][column : column + cells])

    def lines(self, *, has_colour: bool) -> list[str]:
        return [
            "".join(_runs(letters, colours) if has_colour else letters).rstrip()
            for letters, colours in zip(self.letters, self.colours, strict=True)
        ]


def draw(
    roofs: Sequence[Roof],
    points: Sequence[Point],
    level: str,
    width: int,
    height: int,
    *,
    has_colour: bool,
    frame: ChipFrame | None = None,
) -> str:
    """Return the drawing: at most `height` lines of at most `width` cells.

    Parameters
    ----------
    roofs
        The first one judges the points.
    points
        In the order of their numbers.
    level
        The memory level of the intensities.
    width, height
        Cells and lines; at least `MIN_WIDTH` and `MIN_HEIGHT`.
    has_colour
        Whether the text has colours, as escape sequences.
    frame
        The range of the axes; None for the range of the roofs and points.
    """
    most = max(_MIN_KEY_LINES, int(height * _KEY_SHARE))
    key_lines = min(most, len(points) + 1) if points else 0
    shown = [point for point in points if point.has_place]
    plot = _Plot(roofs, shown, width, height - _FIXED_LINES - key_lines, frame)
    title = ", dotted: ".join(roof.name for roof in roofs)
    if len(roofs) == 1:
        title += f", {roofs[0].precision}; ridge point {format_intensity(roofs[0].ridge, 4, roofs[0].operation)}"
    numbers = {id(point): number for number, point in enumerate(points)}
    plot.draw_roofs()
    plot.draw_points([numbers[id(point)] for point in plot.points])
    plot.name_roofs(level)
    plot.name_points()
    key = _key(points, width, most, plot.hidden, has_colour=has_colour)
    lines = [one_line(title, width), *plot.with_axes(level, has_colour=has_colour), *key]
    return "\n".join(lines)


class _Plot:
    """The area between the axes. Coordinates are decimal logarithms."""

    def __init__(
        self, roofs: Sequence[Roof], points: Sequence[Point], width: int, height: int, frame: ChipFrame | None
    ) -> None:
        self.roofs, self.points = roofs, points
        if frame is None:
            self.x0, self.x1 = self._x_range()
            self.y0, self.y1 = self._y_range(height)
        else:
            self.x0, self.x1 = map(math.log10, frame.x)
            self.y0, self.y1 = map(math.log10, frame.y)
        self.ticks = list(_ticks(self.y0, self.y1, height // _MIN_LINES_PER_TICK))
        self.gutter = max((len(_short(10.0**tick)) for tick in self.ticks), default=0) + 1
        self.grid = _Grid(width - self.gutter - 1, height)
        # The marks that are seen: the point, its column and its line. And the number that hides a number.
        self.marked: list[tuple[int, int, int]] = []
        self.hidden: dict[int, int] = {}

    def _x_range(self) -> tuple[float, float]:
        ridges = [math.log10(roof.ridge) for roof in self.roofs]
        own = [math.log10(point.ai) for point in self.points]
        low = min([*own, min(ridges) - _LEFT_OF_RIDGE]) - _MARGIN
        high = max([*own, max(ridges) + _RIGHT_OF_RIDGE]) + _MARGIN
        return max(low, high - _MAX_DECADES), high

    def _y_range(self, height: int) -> tuple[float, float]:
        top = max(math.log10(roof.peak) for roof in self.roofs)
        own = [math.log10(point.rate) for point in self.points]
        high = max([*own, top])
        low = max(min([*own, top - _LEFT_OF_RIDGE - _MARGIN]) - _MARGIN, high - _MAX_DECADES)
        return low, high + (high - low) * _LINES_ABOVE / (height - _LINES_ABOVE)

    def column(self, x: float) -> int:
        return min(self.grid.width - 1, max(0, int((x - self.x0) / (self.x1 - self.x0) * self.grid.width)))

    def line(self, y: float) -> int:
        return min(self.grid.height - 1, max(0, int((self.y1 - y) / (self.y1 - self.y0) * self.grid.height)))

    def draw_roofs(self) -> None:
        for at, roof in reversed(list(enumerate(self.roofs))):
            canvas = Canvas(self.grid.width, self.grid.height, self.x0, self.y0, self.x1, self.y1)
            peak, bandwidth, ridge = math.log10(roof.peak), math.log10(roof.bandwidth), math.log10(roof.ridge)
            start = max(self.x0, self.y0 - bandwidth)
            canvas.line(start, start + bandwidth, ridge, peak)
            canvas.line(ridge, peak, self.x1, peak)
            for line, letters in enumerate(canvas.plot().splitlines()):
                for column, letter in enumerate(letters[: self.grid.width]):
                    # The lines of all roofs but the first are dotted.
                    if letter != _EMPTY_BRAILLE and not (at and column % 2):
                        self.grid.put(column, line, letter, "quiet" if at else "")

    def draw_points(self, numbers: Sequence[int]) -> None:
        """Draw the mark of each point. Where several points share a cell, it has the mark of the first."""
        taken: dict[tuple[int, int], int] = {}
        for at, point in enumerate(self.points):
            place = self.column(math.log10(point.ai)), self.line(math.log10(point.rate))
            if place in taken:
                self.hidden[numbers[at]] = taken[place]
                continue
            taken[place] = numbers[at]
            self.marked.append((at, *place))
            self.grid.put(*place, _mark(numbers[at]), _colour(point.kind))

    def name_roofs(self, level: str) -> None:
        for at, roof in enumerate(self.roofs):
            colour = "quiet" if at else ""
            self._name_flat(roof, f"{roof.precision} {format_quantity(roof.peak, f'{roof.operation}/s', 4)}", colour)
            self._name_slope(roof, f"{level} {format_quantity(roof.bandwidth, 'B/s', 4)}", colour)

    def _name_flat(self, roof: Roof, text: str, colour: str) -> None:
        """Put the text above or below the flat, as far to the right as there is space."""
        line, first = self.line(math.log10(roof.peak)), self.column(math.log10(roof.ridge))
        for candidate in (line - 1, line + 1):
            for column in range(self.grid.width - len(text), first, -1):
                if self.grid.is_free(column - 1, candidate, len(text) + 1):
                    self.grid.put(column, candidate, text, colour)
                    return

    def _name_slope(self, roof: Roof, text: str, colour: str) -> None:
        """Put the text to the left of the slope, at the lowest line that has space."""
        for line in range(self.grid.height - 1, self.line(math.log10(roof.peak)), -1):
            y = self.y1 - (line + 0.5) / self.grid.height * (self.y1 - self.y0)
            end = self.column(y - math.log10(roof.bandwidth))
            while end > 0 and self.grid.letters[line][end - 1] != " ":
                end -= 1
            column = end - len(text) - 1
            if self.grid.is_free(column, line, len(text) + 1):
                self.grid.put(column, line, text, colour)
                return

    def name_points(self) -> None:
        """Put the name of each kernel beside its mark, as long as there is space."""
        for at, column, line in self.marked:
            point = self.points[at]
            for cells in _NAME_CELLS:
                name = _clipped(point.name, cells)
                place = self._beside(column, line, _cells_of(name))
                if place is not None:
                    self.grid.put(*place, name, _colour(point.kind))
                    break

    def _beside(self, column: int, line: int, cells: int) -> tuple[int, int] | None:
        """Return a free place for a text beside a mark: right, left, or diagonally."""
        right, left = column + 1, column - cells
        diagonal = [(start, where) for start in (right, left) for where in (line - 1, line + 1)]
        for start, where in ((right + 1, line), (left - 1, line), *diagonal):
            # A free cell before the text separates it from another text. Beside the mark that cell is free too.
            if self.grid.is_free(start, where, cells) and self.grid.is_free(max(0, start - 1), where, 1):
                return start, where
        return None

    def with_axes(self, level: str, *, has_colour: bool) -> Iterator[str]:
        operations = {roof.operation for roof in self.roofs} | {point.operation for point in self.points}
        yield " " * self.gutter + ratio_units(operations, "s")
        labels = {self.line(float(tick)): _short(10.0**tick) for tick in self.ticks}
        for line, content in enumerate(self.grid.lines(has_colour=has_colour)):
            label = labels.get(line, "")
            yield f"{label:>{self.gutter - 1}} {'┤' if label else '│'}{content}".rstrip()
        ticks = {
            self.column(float(at)): _short(10.0**at)
            for at in _ticks(self.x0, self.x1, self.grid.width // _MIN_CELLS_PER_TICK)
        }
        yield " " * self.gutter + "└" + "".join("┬" if at in ticks else "─" for at in range(self.grid.width))
        numbers = _Grid(self.grid.width + self.gutter + 1, 1)
        unit = f"{ratio_units(operations, 'B')} of {level}"
        numbers.put(numbers.width - len(unit), 0, unit)
        for column, label in ticks.items():
            at = max(0, self.gutter + 1 + column - len(label) // 2)
            if numbers.is_free(max(0, at - 1), 0, len(label) + 2):
                numbers.put(at, 0, label)
        yield numbers.lines(has_colour=False)[0]


def _ticks(low: float, high: float, most: int) -> Iterator[int]:
    """Yield whole decades from `low` to `high`, at most about `most`."""
    first, last = math.ceil(low), math.floor(high)
    step = max(1, math.ceil((last - first + 1) / max(1, most)))
    yield from range(first, last + 1, step)


def _short(value: float) -> str:
    """Return a number with its prefix, without a unit."""
    return format_quantity(value, "").replace(" ", "") if value >= 1 else f"{value:g}"


def _key(points: Sequence[Point], width: int, most: int, hidden: Mapping[int, int], *, has_colour: bool) -> list[str]:
    """Return a header, a line for each of the first kernels, and one that counts the others: at most `most` lines."""
    shown = points if len(points) < most else points[: most - 2]
    if not shown:
        return []
    cells_of_rows = [[_remark(point, hidden.get(at)), *point.cells] for at, point in enumerate(shown)]
    rest = aligned([_KEY_HEADER[2:], *cells_of_rows], right=(2, 3))
    letters = max(_MIN_KEY_NAME, min(_MAX_KEY_NAME, width - max(map(len, rest)) - 5))
    names = [_KEY_HEADER[1], *(_clipped(point.name, letters) for point in shown)]
    marks = [_KEY_HEADER[0], *(_mark(at) for at in range(len(shown)))]
    longest = max(map(_cells_of, names))
    colours = ["", *(_colour(point.kind) for point in shown)]
    lines = []
    for mark, name, cells, colour in zip(marks, names, rest, colours, strict=True):
        line = f"{mark}  {name}{' ' * (longest - _cells_of(name))}  {cells}".rstrip()
        line = _clipped_at(line, width)
        lines.append(_coloured(line, colour) if has_colour else line)
    return lines + and_more(len(points), len(shown))


def _mark(number: int) -> str:
    return _MARKS[number] if number < len(_MARKS) else _UNNUMBERED


def _remark(point: Point, hidden_by: int | None) -> str:
    if not point.has_place:
        return point.absence
    return "" if hidden_by is None else f"under {_mark(hidden_by)}"


def _clipped_at(line: str, cells: int) -> str:
    """Return the part of a line that `cells` cells show."""
    while _cells_of(line) > cells:
        line = line[:-1]
    return line


def _clipped(name: str, cells: int) -> str:
    """Return a name as one line of at most `cells` cells."""
    line = one_line(name, cells)
    while _cells_of(line) > cells:
        line = line[:-2] + "…"
    return line


def _cells_of(text: str) -> int:
    """Return how many cells a terminal takes for a text."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def _colour(kind: str) -> str:
    return kind if kind in _COLOURS else "quiet"


def _coloured(text: str, colour: str) -> str:
    return f"\x1b[38;5;{_COLOURS[colour]}m{text}{_RESET}" if colour else text


def _runs(letters: Sequence[str], colours: Sequence[str]) -> Iterator[str]:
    """Yield runs of cells of one colour as text with escape sequences."""
    start = 0
    for at in range(1, len(letters) + 1):
        if at == len(letters) or colours[at] != colours[start]:
            yield _coloured("".join(letters[start:at]), colours[start])
            start = at
