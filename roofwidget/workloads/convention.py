"""Conventions: how FLOPs and bytes are counted where there is more than one way to count them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Final, Literal

from roofwidget.kernels.columns import by_field
from roofwidget.support.did_you_mean import choose_from, keywords

PEAK_FMA: Final = 2
"""FLOPs of a multiply-add in all published peak rates."""

_CAUSAL: Final = ("exact", "half", "full")
_FLAGS: Final = ("write_allocate", "count_padding", "vector", "transcendentals_apart")
_NUMBERS: Final = ("fma", "transcendental", "divide", "sqrt", "compare", "softmax", "accumulator_bytes")


@dataclass(frozen=True, init=False)
class Convention:
    """How operations are counted. Every table of counts names its convention.

    Parameters
    ----------
    name
        Display name.
    fma
        FLOPs of a multiply-add. Peak rates count 2, so counts that are compared with peaks also count 2, see
        `as_peaks_do`.
    transcendental
        FLOPs of one exp, log, tanh, erf, sin or cos, except the exponential of a softmax.
    divide, sqrt, compare
        FLOPs of a division, a square root, a comparison.
    causal
        ``"exact"``: attention counts the pairs of a query and a key that a causal mask leaves. The mask is aligned
        bottom-right: the last query sees all keys, each query before it sees one key less. FlashAttention reads the
        keys and values that a block of rows sees. ``"half"``: the same, but if there are as many queries as keys, half
        of all pairs count, as in benchmarks of FlashAttention. ``"full"``: a causal mask saves nothing.
    write_allocate
        True: the operators of numerical computing (`stream_triad`, `stencil`, …) read each cache line before they store
        it, unless they work in place.
    count_padding
        True: a convolution multiplies the zeros of its padding too.
    softmax
        All FLOPs per element of a softmax, also in attention and in the routing of experts. One of these FLOPs is the
        exponential, whatever `transcendental` is. A backward pass that recomputes the exponential counts this 1 FLOP.
    accumulator_bytes
        Bytes that each op of the kind ``matmul`` writes per element in addition to its output, for a wider accumulator
        that leaves the chip.
    vector
        False: only matrix products and convolutions count.
    transcendentals_apart
        True: transcendental functions are a separate class of FLOPs; False: they belong to ``vector``.

    Raises
    ------
    TypeError, ValueError
        If a number is not an int of at least 0, or a flag is not a bool; the message names the keyword.

    Examples
    --------
    >>> CONVENTIONS["mac"]
    Convention('mac', fma=1, causal='full', vector=False)
    >>> Convention("mine", softmax=4).environment["@softmax"]
    4
    """

    __module__ = "roofwidget"

    name: str
    fma: int
    transcendental: int
    divide: int
    sqrt: int
    compare: int
    causal: Literal["exact", "half", "full"]
    write_allocate: bool
    count_padding: bool
    softmax: int
    accumulator_bytes: int
    vector: bool
    transcendentals_apart: bool

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
        causal: Literal["exact", "half", "full"] = "exact",
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
        if causal not in _CAUSAL:
            raise ValueError(f"causal {where} must be 'exact', 'half' or 'full', got {causal!r:.40}")
        for word in (*_FLAGS, *_NUMBERS):
            value = given[word]
            if isinstance(value, bool) is not (word in _FLAGS) or not isinstance(value, int) or value < 0:
                must = "True or False" if word in _FLAGS else "an int of at least 0"
                msg = f"{word} {where} must be {must}, got {value!r:.40}"
                raise TypeError(msg) if type(value) is not int else ValueError(msg)
        if softmax < 1:
            raise ValueError(f"softmax {where} must be at least 1, its exponential, got {softmax}")

    @cached_property
    def environment(self) -> Mapping[str, int]:
        """The values of the symbols in formulas.

        ``@causal`` is 1 if `causal` is ``"half"``, else 2. ``@exact`` is 1 if `causal` is ``"exact"``, else 0.
        """
        return MappingProxyType(
            {
                "@fma": self.fma,
                "@transcendental": self.transcendental,
                "@divide": self.divide,
                "@sqrt": self.sqrt,
                "@compare": self.compare,
                "@causal": 1 if self.causal == "half" else 2,
                "@write_allocate": int(self.write_allocate),
                "@padding": int(self.count_padding),
                "@softmax": self.softmax,
                "@accumulator": self.accumulator_bytes,
                "@vector": int(self.vector),
                "@apart": int(self.transcendentals_apart),
                "@exact": int(self.causal == "exact"),
            }
        )

    @property
    def as_peaks_do(self) -> Convention:
        """The convention, but with a multiply-add counted as 2 FLOPs, as in peak rates.

        Examples
        --------
        >>> CONVENTIONS["mac"].as_peaks_do
        Convention('mac', causal='full', vector=False)
        """
        return self if self.fma == PEAK_FMA else replace(self, fma=PEAK_FMA)

    @property
    def described(self) -> str:
        """The convention's name. If kernels count a multiply-add differently, a remark follows the name."""
        if self.fma == PEAK_FMA:
            return self.name
        return f"{self.name}, but a multiply-add is {PEAK_FMA} FLOPs in kernels, as in peaks"

    def __reduce__(self) -> tuple[object, ...]:
        # The mapping that `environment` stores cannot be pickled.
        return partial(Convention, **by_field(self)), ()

    def __repr__(self) -> str:
        default = CONVENTIONS["textbook"]
        changed = [f for f in fields(self)[1:] if getattr(self, f.name) != getattr(default, f.name)]
        return f"Convention({', '.join([repr(self.name), *(f'{f.name}={getattr(self, f.name)!r}' for f in changed)])})"

    def __str__(self) -> str:
        words = [f"{f.name}={getattr(self, f.name)}" for f in fields(self)[1:]]
        return f"{self.name}: {', '.join(words)}"


CONVENTIONS: Final = MappingProxyType(
    {
        "textbook": Convention("textbook"),
        "xla": Convention("xla", causal="full", count_padding=False, transcendentals_apart=True),
        "torch": Convention("torch", causal="full", vector=False),
        "mac": Convention("mac", fma=1, causal="full", vector=False),
        "hpc": Convention("hpc", write_allocate=True),
    }
)
"""The presets by name.

``textbook`` is the default. ``xla`` counts like XLA's cost analysis: its ``flops`` are the classes tensor and vector,
its ``transcendentals`` the third class, and padding is not counted. ``torch`` counts like PyTorch's FLOP counter: only
matrix products and convolutions. ``mac`` counts their multiply-adds. These three count all pairs of a causal mask.
``hpc`` is the textbook with the reads of a write-allocate cache.
"""


def convention(which: str | Convention) -> Convention:
    """Return the convention of this name. A `Convention` is returned unchanged.

    Raises
    ------
    ValueError
        If there is no convention of that name.

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
