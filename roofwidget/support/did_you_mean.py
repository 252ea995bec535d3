"""Finds the known names that are nearest to a misspelled name, for error messages."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Container, Iterable, Mapping
from types import MappingProxyType
from typing import ParamSpec, TypeVar

_MAX_COMPARED_LETTERS = 200
P = ParamSpec("P")
R = TypeVar("R")


def nearest(word: str, options: Iterable[str], most: int = 3) -> list[str]:
    """Return up to `most` options that are similar to `word` or contain `word`. Upper and lower case are the same.

    The most similar option is first. Options that only contain `word` are last.

    Examples
    --------
    >>> nearest("h10", ["h100-sxm", "v5p", "H100-PCIe"], most=1)
    ['h100-sxm']
    """
    import difflib  # noqa: PLC0415 - needed for errors, not at import

    by_key = {option.casefold(): option for option in options}
    # A file may have names of any length, and the search takes time for each letter.
    key = word[:_MAX_COMPARED_LETTERS].casefold()
    close = difflib.get_close_matches(key, by_key, n=most, cutoff=0.5)
    contained = [option for option in by_key if key and key in option and option not in close]
    return [by_key[option] for option in [*close, *contained][:most]]


def did_you_mean(word: str, options: Iterable[str], otherwise: str = "") -> str:
    """Return text for the end of an error message.

    The text suggests the option that is nearest to `word`. If no option is similar, the text is `otherwise`. An option
    with other digits, in any order, is something else, such as fp64 for fp6, and is never suggested.

    Examples
    --------
    >>> did_you_mean("fp46", ["fp64", "fp8"]), did_you_mean("fp6", ["fp64", "fp8"], "; there are 'fp64', 'fp8'")
    ("; did you mean 'fp64'?", "; there are 'fp64', 'fp8'")
    """
    digits = _digits(word)
    close = [one for one in nearest(word, options) if not digits or digits == _digits(one)]
    return f"; did you mean '{close[0]}'?" if close else otherwise


def _digits(word: str) -> list[str]:
    return sorted(re.findall(r"\d", word))


def choose_from(word: object, options: Iterable[str]) -> str:
    """Return text for the end of an error message.

    The text suggests the option that is nearest to `word`. If no option is similar, the text lists all options.

    Examples
    --------
    >>> choose_from("trainn", ["decode", "train"]), choose_from("x", ["decode", "train"])
    ("; did you mean 'train'?", "; there are 'decode', 'train'")
    """
    options = list(options)
    return did_you_mean(str(word), options, f"; there are {listed(options)}")


def first_in(words: Iterable[str], known: Container[str]) -> str | None:
    """Return the first of these words that is known, or None.

    Examples
    --------
    >>> first_in(["time", "duration"], {"duration": 1.0}), first_in(["time"], [])
    ('duration', None)
    """
    return next((word for word in words if word in known), None)


def listed(words: Iterable[str]) -> str:
    """Return the words in quotes, separated by commas: ``'a', 'b'``."""
    return ", ".join(f"'{word}'" for word in words)


def unknown_keyword(where: str, word: str, known: Iterable[str]) -> TypeError:
    """Return the error for a keyword `word` that the function or class `where` does not have.

    The message names the nearest keyword in `known`. If no keyword is similar, the message lists all known keywords.
    """
    options = list(known)
    return TypeError(f"{where} has no keyword '{word}'{did_you_mean(word, options, f'; it has {listed(options)}')}")


def keywords(
    where: str, instead: Mapping[str, str] = MappingProxyType({})
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator. If the decorated function is called with an unknown keyword, it raises a `TypeError`.

    The message calls the function `where` and names the nearest known keyword. For keywords of other programs,
    `instead` says what to write: a text by keyword.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        known = [
            name
            for name, parameter in inspect.signature(function).parameters.items()
            if name != "self" and parameter.kind is not parameter.POSITIONAL_ONLY
        ]

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for word in kwargs:
                if word in instead:
                    raise TypeError(f"{where} has no keyword '{word}': {instead[word]}")
                if word not in known:
                    raise unknown_keyword(where, word, known)
            return function(*args, **kwargs)

        return checked

    return decorate
