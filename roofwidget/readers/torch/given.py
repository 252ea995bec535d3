"""What a rule gives to a form: positions of arguments, amounts, words, each checked and read from a call."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from fractions import Fraction
from math import prod
from typing import Any, Final, TypeAlias

from roofwidget.readers.torch.calls import Dims, NotEnoughArguments, OpCall, whole
from roofwidget.readers.torch.dtypes import BY_NUMBER
from roofwidget.readers.torch.typed import typed
from roofwidget.support.did_you_mean import choose_from


class Key(Enum):
    """What the value of a key is. The value of the member says it in messages."""

    INPUT = "the position of an input, from 0"
    INPUTS = "a list of positions of inputs, such as [2, 3]"
    AMOUNT = "a number from 0 or an expression, such as 'dims[0][1] * 2'"
    PAIRS = "'step', 'lengths', 'full', a number from 0 or an expression"
    AMOUNTS = "a list of numbers from 0"
    FLAG = "true or false"
    FLAG_OR_INPUT = "true, false or the position of an argument"
    TEXT = "a text"


Number: TypeAlias = "int | float"

_LARGEST: Final = 10**30
# PyTorch writes 2.0 as "2.". A power of ten with more digits would take long to compute, and much memory.
_NUMBER: Final = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{0,18})?(?:[eE][+-]?[0-9]{1,2})?")


class RuleError(ValueError):
    """A rule does not fit the call that it matches."""


class Given:
    """The keys of a rule and the call that it matches.

    Parameters
    ----------
    call
        The call.
    keys
        Checked values by key.
    """

    def __init__(self, call: OpCall, keys: Mapping[str, Any]) -> None:
        self.call = call
        self.keys = keys

    def __contains__(self, key: str) -> bool:
        return key in self.keys

    # -- arguments of the call ------------------------------------------------------------------------------------

    def place(self, key: str) -> int:
        """Return the position that a key gives."""
        if key not in self.keys:
            raise RuleError(f"needs '{key}', {Key.INPUT.value}")
        position: int = self.keys[key]
        return position

    def tensor(self, key: str, *axes: int) -> Dims:
        """Return the sizes of an input that must be a tensor.

        `axes` are the numbers of axes that it may have. By default it has at least one.
        """
        position = self.place(key)
        if not self.call.is_tensor(position):
            raise RuleError(f"{key} = {position}: input {position} is not a tensor")
        sizes = self.call.tensor(position)
        if len(sizes) not in axes if axes else not sizes:
            raise RuleError(f"{key} = {position}: input {position} has the sizes {list(sizes)}")
        return sizes

    def has(self, key: str) -> bool:
        """Whether the key gives an input that the call has."""
        return key in self.keys and self.call.is_tensor(self.keys[key])

    def places(self, *keys: str) -> list[int]:
        """Return the positions of those inputs that the keys give and that are tensors of the call, each once."""
        found = [position for key in keys for position in self._positions(key)]
        return [position for position in dict.fromkeys(found) if self.call.is_tensor(position)]

    def read(self, *keys: str) -> int | None:
        """Return the bytes of the inputs of these keys, each once; None if a dtype is unknown."""
        found: int | None = total(self.call.bytes_of(position) for position in self.places(*keys))
        return found

    def has_list(self, key: str) -> bool:
        """Whether an input that the key gives is a list of tensors that is not empty."""
        return any(map(self.call.is_list, self._positions(key)))

    def elements(self, key: str) -> int:
        """Return the number of elements of an input, which is a tensor or a list of tensors."""
        position = self.place(key)
        if not self.call.is_list(position):
            self.tensor(key)
        return self.call.elements(position)

    def is_other_than_zero(self, key: str) -> bool:
        """Whether the argument at the position is a number other than 0, or on the device."""
        if key not in self.keys:
            return False
        text = self.call.value(self.keys[key])
        return self.call.is_tensor(self.keys[key]) or (bool(text) and Fraction(self._argument(self.keys[key])) != 0)

    def bytes_of_lists(self, *keys: str) -> int | None:
        """Return the bytes of the inputs of these keys that the call has: tensors, and all tensors of lists.

        An input of two keys counts twice. The result is None if a dtype is unknown.
        """
        places = [position for key in keys for position in self._positions(key)]
        is_given = [position for position in places if self.call.is_list(position) or self.call.is_tensor(position)]
        found: int | None = total(self.call.bytes_of(position) for position in is_given)
        return found

    def _positions(self, key: str) -> list[int]:
        value = self.keys.get(key)
        return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]

    def itemsize(self, key: str) -> int | None:
        """Return the bytes of an element of an input."""
        return self.call.itemsize(self.place(key))

    def whole(self, key: str) -> int | None:
        """Return the whole number in the argument at a position, or None if it was not recorded or is none."""
        return whole(self.call.value(self.keys[key])) if key in self.keys else None

    def is_on(self, key: str, *, otherwise: bool = False) -> bool | None:
        """Return a truth value: that of the rule, or of the argument at the position; None if not recorded."""
        value = self.keys.get(key, otherwise)
        if isinstance(value, bool):
            return value
        # As numbers, custom_mask_type of PyTorch: 1 and 2 are causal.
        on, off = ("True", "true", "1", "2"), ("False", "false", "0")
        text = self.call.value(value)
        return True if text in on else False if text in off else None

    # -- amounts --------------------------------------------------------------------------------------------------

    def amount(self, key: str, otherwise: Number | None = None) -> Number:
        """Return the number of a key, exact if it is whole."""
        if key not in self.keys:
            if otherwise is None:
                raise NotEnoughArguments(f"'{key}' is not in the trace")
            return otherwise
        return self.valued(key, self.keys[key])

    def count(self, key: str, otherwise: int | None = None) -> int:
        """Return the number of a key, which must be whole."""
        found = self.amount(key, otherwise)
        if not isinstance(found, int):
            raise RuleError(f"{key} must be a whole number, got {found:g}")
        return found

    def valued(self, key: str, value: str | Number) -> Number:
        """Return the value of a number or of an expression."""
        if not isinstance(value, str):
            return value
        try:
            found = typed(value).value(self._looked_up)
        except RuleError as error:
            raise RuleError(f"{key} = '{value}': {error}") from None
        except ValueError as error:
            raise RuleError(f"{key} = '{value}': {error}") from None
        if not 0 <= found <= _LARGEST:
            shown = f"{float(found):g}" if -_LARGEST <= found < 0 else "too large"
            raise RuleError(f"{key} = '{value}' is {shown}, which must be from 0 to {_LARGEST:g}")
        return exact(found)

    def word(self, key: str, options: Iterable[str], otherwise: str) -> str:
        """Return one of several words."""
        value: str = self.keys.get(key, otherwise)
        if value not in options:
            raise RuleError(f"{key} = '{value}'{choose_from(value, options)}")
        return value

    def _looked_up(self, name: str, indices: tuple[int, ...]) -> int | Fraction:
        if name.startswith("step."):
            found = None if self.call.step is None else getattr(self.call.step, name.removeprefix("step."))
            if found is None:
                raise NotEnoughArguments(f"no annotation of the step has {name}")
            return int(found)
        position, *axis = indices
        if name == "value":
            return self._argument(position)
        if not self.call.is_tensor(position):
            raise RuleError(f"input {position} is not a tensor")
        if name == "size":
            size = self.call.bytes_of(position)
            if size is None:
                raise NotEnoughArguments(f"the dtype of input {position} is unknown")
            return size
        sizes = self.call.tensor(position)
        if not -len(sizes) <= axis[0] < len(sizes):
            raise RuleError(f"input {position} has the sizes {list(sizes)}")
        return sizes[axis[0]]

    def _argument(self, position: int) -> int | Fraction:
        text = self.call.value(position)
        if not text:
            raise NotEnoughArguments(f"argument {position} was not recorded")
        if not _NUMBER.fullmatch(text):
            raise RuleError(f"argument {position} is '{text:.40}', which is no number of ordinary size")
        return Fraction(text)


def exact(number: Fraction) -> Number:
    """Return a fraction as an int if it is whole, else as a float."""
    if abs(number) > _LARGEST:
        raise NotEnoughArguments("the amount is too large")
    return number.numerator if number.denominator == 1 else float(number)


def total(parts: Iterable[Number | None]) -> Any:
    """Return a sum; None if a part is unknown."""
    listed = list(parts)
    known = [part for part in listed if part is not None]
    return None if len(known) < len(listed) else sum(known)


def times(*factors: Number | None) -> Any:
    """Return a product; None if a factor is unknown."""
    known = [factor for factor in factors if factor is not None]
    return None if len(known) < len(factors) else prod(known)


def bits(number: Number, width: Number) -> Number:
    """Return the bytes of elements of `width` bits."""
    return exact(Fraction(number) * Fraction(width) / 8)


def itemsize_of_scalar_type(number: int | None) -> int | None:
    """Return the bytes of PyTorch's ``ScalarType`` with a number; None if the number is None or of another type."""
    known = None if number is None else BY_NUMBER.get(number)
    return None if known is None else known.itemsize
