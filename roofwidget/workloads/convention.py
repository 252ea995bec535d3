"""What an operation costs when two people could count it differently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Final, Literal

from roofwidget.support.did_you_mean import choose_from, keywords

__all__ = ["CONVENTIONS", "PEAK_FMA", "Convention", "convention"]

PEAK_FMA: Final = 2
"""FLOPs of a multiply-add in peak rates, whoever states them."""

_FLAGS: Final = ("write_allocate", "count_padding", "vector", "transcendentals_apart")
_NUMBERS: Final = ("fma", "transcendental", "divide", "sqrt", "compare", "softmax", "accumulator_bytes")


@dataclass(frozen=True, init=False)
class Convention:
    """How operations are counted. Every table of counts names the one in force.

    Parameters
    ----------
    name
        What people read.
    fma
        FLOPs of a multiply-add. Peak rates count 2, so what is held against them does too: see `as_peaks_do`.
    transcendental
        FLOPs of one exp, log, tanh, erf, sin or cos wherever it stands, but for the exponential of a softmax.
    divide, sqrt, compare
        FLOPs of a division, a square root, a comparison.
    causal
        ``"full"``: a causal mask saves nothing. ``"half"``: it halves the FLOPs of attention, and what
        FlashAttention reads again of K and V.
    write_allocate
        True: the operators of numerical computing (`stream_triad`, `stencil`, …) read each line that they store first,
        unless it is stored in place.
    count_padding
        True: a convolution multiplies the zeros of its padding too.
    softmax
        FLOPs an element of a softmax, all told, in attention and the choice of experts too. One of them is its
        exponential, whatever `transcendental` says; a backward pass that takes it again counts this one.
    accumulator_bytes
        Bytes written an element of a matrix product or convolution besides its output, for a wider accumulator that
        leaves the chip: of every op of the kind ``matmul``.
    vector
        False: only matrix products and convolutions count.
    transcendentals_apart
        True: transcendental functions are a class of FLOPs of their own; False: they belong to ``vector``.

    Raises
    ------
    TypeError, ValueError
        If a number is no int from 0 or a flag no bool; the message names the keyword.

    Examples
    --------
    >>> CONVENTIONS["mac"]
    Convention('mac', fma=1, vector=False)
    >>> Convention("mine", softmax=4).environment["@softmax"]
    4
    """

    __module__ = "roofwidget"

    name: str
    fma: int = 2
    transcendental: int = 1
    divide: int = 1
    sqrt: int = 1
    compare: int = 1
    causal: Literal["full", "half"] = "full"
    write_allocate: bool = False
    count_padding: bool = True
    softmax: int = 5
    accumulator_bytes: int = 0
    vector: bool = True
    transcendentals_apart: bool = False

    @keywords("Convention")
    def __init__(
        self,
        name: str,
        *,
        fma: int = 2,
        transcendental: int = 1,
        divide: int = 1,
        sqrt: int = 1,
        compare: int = 1,
        causal: Literal["full", "half"] = "full",
        write_allocate: bool = False,
        count_padding: bool = True,
        softmax: int = 5,
        accumulator_bytes: int = 0,
        vector: bool = True,
        transcendentals_apart: bool = False,
    ) -> None:
        given = locals()
        for field in fields(self):
            object.__setattr__(self, field.name, given[field.name])
        where = f"of convention '{name}'"
        if causal not in ("full", "half"):
            raise ValueError(f"causal {where} must be 'full' or 'half', got {causal!r:.40}")
        for word in (*_FLAGS, *_NUMBERS):
            value = given[word]
            if isinstance(value, bool) is not (word in _FLAGS) or not isinstance(value, int) or value < 0:
                must = "True or False" if word in _FLAGS else "an int from 0"
                msg = f"{word} {where} must be {must}, got {value!r:.40}"
                raise TypeError(msg) if type(value) is not int else ValueError(msg)
        if softmax < 1:
            raise ValueError(f"softmax {where} must be at least 1, its exponential, got {softmax}")

    @cached_property
    def environment(self) -> Mapping[str, int]:
        """Its words as the symbols of formulas; ``@causal`` is in halves, so formulas divide by 2."""
        return MappingProxyType(
            {
                "@fma": self.fma,
                "@transcendental": self.transcendental,
                "@divide": self.divide,
                "@sqrt": self.sqrt,
                "@compare": self.compare,
                "@causal": 2 if self.causal == "full" else 1,
                "@write_allocate": int(self.write_allocate),
                "@padding": int(self.count_padding),
                "@softmax": self.softmax,
                "@accumulator": self.accumulator_bytes,
                "@vector": int(self.vector),
                "@apart": int(self.transcendentals_apart),
            }
        )

    @property
    def as_peaks_do(self) -> Convention:
        """The same, but a multiply-add counts as it does in peak rates: for all that is held against them.

        Examples
        --------
        >>> CONVENTIONS["mac"].as_peaks_do
        Convention('mac', vector=False)
        """
        return self if self.fma == PEAK_FMA else replace(self, fma=PEAK_FMA)

    @property
    def described(self) -> str:
        """The name, and a remark where kernels count a multiply-add otherwise."""
        if self.fma == PEAK_FMA:
            return self.name
        return f"{self.name}, but a multiply-add is {PEAK_FMA} FLOPs in kernels, as in peaks"

    def __reduce__(self) -> tuple[object, ...]:
        # The mapping that `environment` stores cannot be pickled.
        return partial(Convention, **{field.name: getattr(self, field.name) for field in fields(self)}), ()

    def __repr__(self) -> str:
        default = CONVENTIONS["textbook"]
        changed = [f for f in fields(self)[1:] if getattr(self, f.name) != getattr(default, f.name)]
        return f"Convention({', '.join([repr(self.name), *(f'{f.name}={getattr(self, f.name)!r}' for f in changed)])})"

    def __str__(self) -> str:
        words = [f"{f.name}={getattr(self, f.name)}" for f in fields(self)[1:]]
        return f"{self.name}: {', '.join(words)}"


CONVENTIONS: Final[Mapping[str, Convention]] = MappingProxyType(
    {
        "textbook": Convention("textbook"),
        "xla": Convention("xla", count_padding=False, transcendentals_apart=True),
        "torch": Convention("torch", vector=False),
        "mac": Convention("mac", fma=1, vector=False),
        "hpc": Convention("hpc", write_allocate=True),
    }
)
"""The presets by name: ``textbook`` (the default); ``xla`` as XLA's cost analysis (its ``flops`` are the classes
tensor and vector, its ``transcendentals`` the third; padding is not counted); ``torch`` as PyTorch's FLOP counter (only
matrix products and convolutions); ``mac`` counts their multiply-adds; ``hpc`` adds the reads of a write-allocate cache.
"""


def convention(which: str | Convention) -> Convention:
    """Return a convention by name, or the one that is handed in.

    Raises
    ------
    ValueError
        If there is none of that name.

    Examples
    --------
    >>> convention("hpc").write_allocate
    True
    """
    if isinstance(which, Convention):
        return which
    if isinstance(which, str) and which in CONVENTIONS:
        return CONVENTIONS[which]
    raise ValueError(f"unknown convention {which!r:.40}{choose_from(which, CONVENTIONS)}")
