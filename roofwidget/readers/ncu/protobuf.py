"""Decode protocol buffers without a schema: field numbers and raw values."""

from __future__ import annotations

import struct
from collections.abc import Iterator

_VARINT, _EIGHT, _LENGTH, _FOUR = 0, 1, 2, 5
_MAX_SHIFT_BITS = 63
# Every byte of a varint except the last has this bit.
_CONTINUATION = 0x80

Value = int | bytes


class MalformedError(ValueError):
    """Bytes that are not a protocol buffer; `at` is the position of the error."""

    def __init__(self, at: int) -> None:
        super().__init__(f"not a protocol buffer at byte {at}")
        self.at = at


def fields(data: bytes, wanted: frozenset[int] | None = None) -> Iterator[tuple[int, int, Value]]:
    """Yield number, wire type and value of each field. The value of a varint is an int, other values are raw bytes.

    Parameters
    ----------
    data
        One message.
    wanted
        The field numbers to yield; None for all. Other fields are skipped.

    Raises
    ------
    MalformedError
        If the bytes end within a field, or a field has an unknown wire type.

    Examples
    --------
    >>> list(fields(bytes([0x08, 0x96, 0x01, 0x12, 0x02, 0x68, 0x69])))
    [(1, 0, 150), (2, 2, b'hi')]
    """
    at, end = 0, len(data)
    while at < end:
        start = at
        # Nearly all keys and sizes are one byte; a function call for each would take most of the time.
        key, at = (data[at], at + 1) if data[at] < _CONTINUATION else _varint(data, at)
        field, kind = key >> 3, key & 7
        value: Value
        if kind == _VARINT:
            value, at = _varint(data, at)
        else:
            if kind == _LENGTH:
                size, at = (data[at], at + 1) if at < end and data[at] < _CONTINUATION else _varint(data, at)
            elif kind in {_EIGHT, _FOUR}:
                size = 8 if kind == _EIGHT else 4
            else:
                raise MalformedError(start)
            if at + size > end:
                raise MalformedError(start)
            if wanted is not None and field not in wanted:
                at += size
                continue
            value = data[at : at + size]
            at += size
        if wanted is None or field in wanted:
            yield field, kind, value


def first_number(data: bytes, field: int) -> int | None:
    """Return the value of a message's first field if its number is `field` and its value a varint of one or two bytes.

    Otherwise return None.

    Examples
    --------
    >>> first_number(bytes([0x08, 0x96, 0x01]), 1), first_number(bytes([0x12, 0x00]), 1)
    (150, None)
    """
    if len(data) < 3 or data[0] != field << 3:  # noqa: PLR2004 - a key and a number of up to two bytes
        return None
    if data[1] < _CONTINUATION:
        return data[1]
    return data[1] & 0x7F | data[2] << 7 if data[2] < _CONTINUATION else None


def number(kind: int, value: Value) -> float | int | None:
    """Return the numeric value of a field: by wire type an unsigned int, a float or a double; None for other types.

    Examples
    --------
    >>> number(1, bytes([0, 0, 0, 0, 0, 0, 0x49, 0x40])), number(0, 7)
    (50.0, 7)
    """
    if isinstance(value, int):
        return value
    if kind == _EIGHT:
        return float(struct.unpack("<d", value)[0])
    if kind == _FOUR:
        return float(struct.unpack("<f", value)[0])
    return None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    for position in range(at, len(data)):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < _CONTINUATION:
            return value, position + 1
        shift += 7
        if shift > _MAX_SHIFT_BITS:
            break
    raise MalformedError(at)
