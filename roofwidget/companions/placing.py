"""Which labels there is room for: a figure of bqplot draws all that it is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

__all__ = ["apart"]

# A letter, a line and a point as shares of the narrowest plot, 664 by 380 px: wider ones have room to spare.
_LETTER: Final = 6.6 / 664
_LINE: Final = 15 / 380
_POINT: Final = 8 / 664
# A label stands above and to the right of what it names: so far up is its middle, and so near to it no point may be.
_UP: Final = 10 / 380
_CLEAR: Final = 9 / 380


def apart(places: Sequence[tuple[float, float]], texts: Sequence[str]) -> list[int]:
    """Return which points are named, the first before the others: no name lies on another, on a point or outside.

    Parameters
    ----------
    places
        Where the points are, from 0 to 1 across and up.
    texts
        What they are called.

    Examples
    --------
    >>> apart([(0.1, 0.5), (0.09, 0.51), (0.1, 0.9), (0.99, 0.1)], ["first", "over it", "above", "outside"])
    [0, 2]
    """
    kept: list[int] = []
    for i, (x, y) in enumerate(places):
        end = x + _POINT + _LETTER * len(texts[i])
        on_name = (
            x <= places[j][0] + _POINT + _LETTER * len(texts[j])
            and end >= places[j][0]
            and abs(y - places[j][1]) < _LINE
            for j in kept
        )
        on_point = (x + _POINT < px < end and abs(y + _UP - py) < _CLEAR for px, py in places)
        if end <= 1 and not any(on_name) and not any(on_point):
            kept.append(i)
    return kept
