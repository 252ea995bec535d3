"""Bounds on serving a decoder: tokens per second, time to first token, memory, and the batches at which they turn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal

from roofwidget.analysis.network import collective_time
from roofwidget.chips import Chip, ChipLike, MissingFigureError
from roofwidget.chips import chip as look_up
from roofwidget.support.arguments import shown_value
from roofwidget.support.did_you_mean import choose_from, keywords
from roofwidget.support.text_tables import aligned, html_table, html_with_notes, one_line
from roofwidget.units import format_capacity, format_percent, format_quantity, format_significant
from roofwidget.workloads.models.config import DecoderConfig, Weight, bytes_of, count_of
from roofwidget.workloads.models.transformer import AnyDecoder, decoder_config
from roofwidget.workloads.tensors import DTYPES, checked_dtype

_NETWORK: Final = ("overlapped", "exposed", "none")
# A layer has two all-reduces: after attention and after the feed-forward layer.
_ALL_REDUCES_PER_LAYER: Final = 2
# More sequences than any server runs at a time; a search for a batch ends here.
_MAX_BATCH: Final = 1 << 20
_MAX_TABLE_BATCHES: Final = 64


@dataclass(frozen=True)
class Step:
    """The bound of one step: the prefill of all prompts, or the decoding of one token per sequence.

    The matrices and attention run one after the other. Each takes the longer of its compute and its memory time.

    Parameters
    ----------
    phase
        ``prefill`` or ``decode``.
    tokens
        The tokens that the step processes.
    matrix_compute, attention_compute
        Seconds of the FLOPs of weight matrices, and of attention.
    weights_time, cache_time
        Seconds to read the weights, and to move the cache.
    network_time
        Seconds of the all-reduces.
    overlapped
        Whether the all-reduces can run at the same time as the matrices and attention.
    """

    phase: str
    tokens: int
    matrix_compute: float
    attention_compute: float
    weights_time: float
    cache_time: float
    network_time: float
    overlapped: bool

    @property
    def tokens_per_second(self) -> float:
        """The largest rate that the chips allow, of all sequences together."""
        return self.tokens / self.time

    @property
    def body_time(self) -> float:
        """Seconds of the matrices and of attention."""
        return max(self.matrix_compute, self.weights_time) + max(self.attention_compute, self.cache_time)

    @property
    def time(self) -> float:
        """Seconds that the step takes at least."""
        return max(self.body_time, self.network_time) if self.overlapped else self.body_time + self.network_time

    @property
    def parts(self) -> Mapping[str, float]:
        """The parts of `time` by resource, seconds."""
        if self.overlapped and self.network_time > self.body_time:
            return {"network": self.network_time}
        seconds = {"compute": 0.0, "weights": 0.0, "cache": 0.0}
        matrices = "compute" if self.matrix_compute >= self.weights_time else "weights"
        seconds[matrices] += max(self.matrix_compute, self.weights_time)
        attention = "compute" if self.attention_compute >= self.cache_time else "cache"
        seconds[attention] += max(self.attention_compute, self.cache_time)
        return seconds if self.overlapped else {**seconds, "network": self.network_time}

    @property
    def bound_by(self) -> str:
        """The resource with the largest part of the time: ``compute``, ``weights``, ``cache`` or ``network``."""
        return max(self.parts, key=self.parts.__getitem__)


@dataclass(frozen=True, repr=False)
class Serving:
    """Bounds on serving a decoder on chips of one kind. Rates are upper bounds, times are lower bounds.

    Parameters
    ----------
    config, chip
        The decoder and the chip.
    tp
        The number of chips that share each layer (tensor parallelism).
    batch, context, prompt
        Sequences that are decoded together; tokens that each has in the cache, with the new one; tokens of a prompt.
    dtype, weight_dtype, cache_dtype
        The precision of the arithmetic, the dtype of the weights, the dtype of the cache.
    network
        ``overlapped``, ``exposed`` or ``none``.
    """

    __module__ = "roofwidget"

    config: DecoderConfig
    chip: Chip
    tp: int
    batch: int
    context: int
    prompt: int
    dtype: str
    weight_dtype: str
    cache_dtype: str
    network: str

    # -- memory ----------------------------------------------------------------------------------------------------

    @cached_property
    def weight_bytes(self) -> int:
        """Bytes of all weights."""
        return self.config.weight_bytes(self.weight_dtype)

    @cached_property
    def weight_bytes_per_chip(self) -> int:
        """Bytes of weights on the chip that has the most, with the weights that every chip holds."""
        elements = sum(math.ceil(_share(one, one.elements, self.tp)) for one in self.config.weights)
        elements += -(-self.config.embedding // self.tp) * (1 if self.config.tied else 2)
        return bytes_of(elements, self.weight_dtype)

    @property
    def cache_bytes(self) -> int:
        """Bytes of the cache of all sequences, counted once."""
        return self.config.cache_bytes(self.context, self.batch, self.cache_dtype)

    @property
    def cache_bytes_per_chip(self) -> int:
        """Bytes of the cache on a chip. A latent is on every chip, and so is a head that several chips need."""
        return bytes_of(self.batch * self._cache_elements(self.context), self.cache_dtype)

    @property
    def memory_per_chip(self) -> int:
        """Bytes of weights and cache on a chip. Activations and buffers are not counted."""
        return self.weight_bytes_per_chip + self.cache_bytes_per_chip

    @property
    def capacity(self) -> float | None:
        """Bytes of the chip's main memory that programs can allocate (`Memory.allocatable`); None if unknown."""
        return self.chip.memories[self.chip.main_memory].allocatable

    @property
    def fits(self) -> bool | None:
        """Whether weights and cache fit; None if the capacity is unknown."""
        return None if self.capacity is None else self.memory_per_chip <= self.capacity

    @property
    def max_batch(self) -> int | None:
        """The largest batch that fits at this context; 0 if no sequence fits, None if the capacity is unknown."""
        if self.capacity is None:
            return None
        free = self.capacity - self.weight_bytes_per_chip
        if free <= 0:
            return 0
        each = self._cache_elements(self.context) * DTYPES[self.cache_dtype]
        return int(free * 8 // each)

    # -- time ------------------------------------------------------------------------------------------------------

    @cached_property
    def decode(self) -> Step:
        """The step in which each sequence gets one token."""
        return self._decode(self.batch)

    @cached_property
    def prefill(self) -> Step:
        """The prefill of one prompt for each sequence of the batch, together."""
        return self._prefill(self.batch)

    @cached_property
    def time_to_first_token(self) -> float:
        """Seconds of the prefill of a single prompt, which yields the first token."""
        return self._prefill(1).time

    @property
    def time_per_token(self) -> float:
        """Seconds between two tokens of a sequence."""
        return self.decode.time

    @property
    def tokens_per_second(self) -> float:
        """Decoded tokens per second of all sequences together."""
        return self.decode.tokens_per_second

    @cached_property
    def compute_bound_from(self) -> int | None:
        """The smallest batch at which the matrices of a decode step are compute-bound; None if there is none."""
        return _first(lambda batch: self._matrix_compute(batch, batch) >= self._weights_time(batch))

    @cached_property
    def cache_bound_from(self) -> int | None:
        """The smallest batch at which a decode step takes longer for attention than for the matrices."""

        def turned(batch: int) -> bool:
            step = self._decode(batch)
            matrices = max(step.matrix_compute, step.weights_time)
            return max(step.attention_compute, step.cache_time) >= matrices

        return _first(turned)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what the bounds leave out, and on what was assumed."""
        return tuple(self._notes())

    def at(self, batch: int) -> Serving:
        """Return the bounds at another batch."""
        return replace(self, batch=count_of(batch, "serve: batch"))

    def to_dataframe(self, batches: Iterable[int] | None = None) -> Any:
        """Return a pandas DataFrame with one row per batch; by default the powers of two that fit.

        If the capacity is unknown or nothing fits, the powers of two up to `batch`.
        """
        import pandas as pd  # noqa: PLC0415 - optional and slow to import

        return pd.DataFrame(list(self._table(self._batches() if batches is None else list(batches))))

    def __repr__(self) -> str:
        return "\n".join([self._title(), *aligned([[name, text] for name, text in self._rows()]), *self.notes])

    def _repr_html_(self) -> str:
        return html_with_notes(html_table(self._title(), ("bound", "value"), self._rows()), self.notes)

    # -- formulas --------------------------------------------------------------------------------------------------

    def _cache_elements(self, context: int) -> int:
        """Return the elements of the cache of a sequence on one chip."""
        total = 0
        for layer, many in self.config.kinds.items():
            one = layer.attention
            each = one.cache_elements
            if one.latent is None:
                each = -(-one.groups // self.tp) * (one.key_dim + one.value_dim)
            total += many * one.cached_tokens(context) * each
        return total

    def _matrix_compute(self, tokens: int, logits: int) -> float:
        """Return the seconds of the FLOPs of weight matrices. `logits` tokens are multiplied by the embedding."""
        elements = sum(_share(one, one.active_elements(), self.tp) for one in self.config.weights if one.matrix)
        flops = 2 * (tokens * elements + logits * self.config.embedding / self.tp)
        return float(flops / self.chip.peak(self.dtype))

    def _weights_time(self, tokens: int) -> float:
        """Return the seconds to read the weights that `tokens` tokens need."""
        elements = sum(_share(one, one.read_elements(tokens), self.tp) for one in self.config.weights)
        # The matrix of the logits is read; of the input embedding only the rows of the tokens.
        elements += self.config.embedding / self.tp
        if not self.config.tied:
            elements += min(tokens, self.config.vocabulary) * self.config.hidden / self.tp
        return self._seconds(elements, self.weight_dtype)

    def _seconds(self, elements: float, dtype: str) -> float:
        return elements * DTYPES[dtype] / 8 / self.chip.bandwidth()

    def _decode(self, batch: int) -> Step:
        flops = sum(
            many * layer.attention.pair_flops(cached=True) * layer.attention.cached_tokens(self.context)
            for layer, many in self.config.kinds.items()
        )
        return self._step("decode", batch, tokens=batch, flops=flops, cached=self._cache_elements(self.context))

    def _prefill(self, batch: int) -> Step:
        flops = sum(
            many * layer.attention.pair_flops(cached=False) * layer.attention.pairs(self.prompt)
            for layer, many in self.config.kinds.items()
        )
        written = self._cache_elements(self.prompt)
        return self._step("prefill", batch, tokens=batch * self.prompt, flops=flops, cached=written)

    def _step(self, phase: str, batch: int, *, tokens: int, flops: int, cached: int) -> Step:
        """Return a step. `flops` of attention and `cached` elements are those of one sequence."""
        return Step(
            phase,
            tokens,
            matrix_compute=self._matrix_compute(tokens, batch),
            attention_compute=batch * flops / self.tp / self.chip.peak(self.dtype),
            weights_time=self._weights_time(tokens),
            cache_time=self._seconds(batch * cached, self.cache_dtype),
            network_time=self._network_time(tokens),
            overlapped=self.network != "exposed",
        )

    def _network_time(self, tokens: int) -> float:
        if self.tp == 1 or self.network == "none":
            return 0.0
        size = tokens * self.config.hidden * DTYPES[_activation(self.dtype)] // 8
        each = collective_time("all-reduce", size, self.tp, self.chip)
        return _ALL_REDUCES_PER_LAYER * len(self.config.layers) * each

    # -- text ------------------------------------------------------------------------------------------------------

    def _title(self) -> str:
        chips = f"{self.tp} × {one_line(self.chip.name)}" if self.tp > 1 else one_line(self.chip.name)
        dtypes = self.dtype
        if {self.weight_dtype, self.cache_dtype} != {self.dtype}:
            dtypes = f"{self.dtype}, weights {self.weight_dtype}, cache {self.cache_dtype}"
        sizes = f"batch {self.batch:,}, context {self.context:,}"
        return f"Serving: {one_line(self.config.name)} on {chips}, {dtypes}, {sizes}"

    def _rows(self) -> Iterator[tuple[str, str]]:
        decode, prefill = self.decode, self.prefill
        user = f"{format_quantity(decode.time, 's')} per token"
        yield "decode", f"at most {_rate(decode)}, {user}, bound by {_binding(decode)}"
        yield "prefill", f"at most {_rate(prefill)}, bound by {_binding(prefill)}"
        first = format_quantity(self.time_to_first_token, "s")
        yield "first token", f"at least {first} for a prompt of {self.prompt:,}"
        yield "weights", self._per_chip(self.weight_bytes, self.weight_bytes_per_chip)
        yield "cache", self._per_chip(self.cache_bytes, self.cache_bytes_per_chip)
        yield "memory", self._fit()
        yield "turns", self._turns()

    def _per_chip(self, whole: int, each: int) -> str:
        if self.tp == 1:
            return format_quantity(whole, "B")
        return f"{format_quantity(whole, 'B')}, {format_quantity(each, 'B')} per chip"

    def _fit(self) -> str:
        needed = format_quantity(self.memory_per_chip, "B")
        if self.capacity is None:
            return f"{needed} per chip; the capacity of {self.chip.main_memory} is unknown"
        share = format_percent(self.memory_per_chip / self.capacity)
        fits = "fits" if self.fits else "does not fit"
        most = f"at most {self.max_batch:,} sequences of this context"
        return f"{fits}: {needed} of {format_quantity(self.capacity, 'B')} usable ({share}); {most}"

    def _turns(self) -> str:
        turns = self.compute_bound_from, self.cache_bound_from
        first, second = ("no batch" if batch is None else f"batch {batch:,}" for batch in turns)
        return f"matrices compute-bound from {first}; attention longer than matrices from {second}"

    def _notes(self) -> Iterator[str]:
        yield "Bounds: only matrix products, weights and cache count; no activations, buffers, sampling and launches."
        memory = self.chip.memories[self.chip.main_memory]
        if memory.usable is None and memory.capacity is not None:
            yield f"Assumed: programs can allocate 93 % of the {format_capacity(memory.capacity)} of {memory.name}."
        if self.config.is_mixture:
            yield "Weights of experts are read for the mean number of experts that the tokens reach."
        if any(layer.attention.window is not None for layer in self.config.layers):
            yield "A layer with a window caches its window only; some servers reserve the whole context."
        if self.tp > 1 and any(layer.attention.latent is not None for layer in self.config.layers):
            yield "Every chip holds the whole latent cache, as tensor parallelism divides heads and a latent has none."
        yield from self.config.left_out

    def _batches(self) -> list[int]:
        most = self.max_batch or self.batch
        return [1 << power for power in range(_MAX_TABLE_BATCHES) if 1 << power <= min(most, _MAX_BATCH)]

    def _table(self, batches: Iterable[int]) -> Iterator[dict[str, Any]]:
        for batch in batches:
            one = self.at(batch)
            yield {
                "batch": one.batch,
                "tokens_per_second": one.tokens_per_second,
                "time_per_token": one.time_per_token,
                "bound_by": one.decode.bound_by,
                "compute_time": one.decode.matrix_compute + one.decode.attention_compute,
                "weights_time": one.decode.weights_time,
                "cache_time": one.decode.cache_time,
                "network_time": one.decode.network_time,
                "prefill_tokens_per_second": one.prefill.tokens_per_second,
                "prefill_bound_by": one.prefill.bound_by,
                "time_to_first_token": one.time_to_first_token,
                "memory_per_chip": one.memory_per_chip,
                "fits": one.fits,
            }


@keywords("serve", {"model": "give the configuration first: rw.serve(config, chip)", "n_chips": "write tp=…"})
def serve(
    config: AnyDecoder,
    chip: ChipLike,
    *,
    tp: int = 1,
    batch: int = 1,
    context: int = 4096,
    prompt: int | None = None,
    dtype: str = "auto",
    weight_dtype: str | None = None,
    cache_dtype: str | None = None,
    network: Literal["overlapped", "exposed", "none"] = "overlapped",
) -> Serving:
    """Return bounds on serving a decoder: tokens per second, time to first token, memory, and what binds.

    Parameters
    ----------
    config
        A `config.json` of Hugging Face's format (its path, its folder, or a dict), a name in
        `roofwidget.workloads.DECODERS`, or a `DecoderConfig`. Nothing is downloaded.
    chip
        A chip, or its name in the catalogue.
    tp
        The number of chips that share each layer.
    batch
        Sequences that are decoded together.
    context
        Tokens of each sequence in the cache, with the new one.
    prompt
        Tokens of a prompt, for prefill and the time to the first token; by default `context`.
    dtype
        The precision of the arithmetic; ``"auto"`` for the chip's default.
    weight_dtype, cache_dtype
        The dtypes of weights and cache in memory; by default `dtype`. ``weight_dtype="int4"`` with
        ``dtype="bf16"`` is a model whose weights alone are quantised. Scales are not counted.
    network
        What the all-reduces of `tp` chips cost. ``"overlapped"``: the step takes at least as long as they do.
        ``"exposed"``: they add to the step. ``"none"``: nothing.

    Raises
    ------
    MissingFigureError
        If the chip lacks the precision, or a link for the all-reduces.
    TypeError, ValueError
        If the configuration is not known, or a number is not a whole number from 1, or `tp` does not divide the heads.

    Examples
    --------
    >>> serve("llama-3-8b", "h100-sxm", batch=64, context=8192)
    Serving: llama-3-8b on NVIDIA H100 SXM5 80GB, bf16, batch 64, context 8,192
    decode       at most 2,560 tokens/s, 25 ms per token, bound by cache (82 % of the time)
    prefill      at most 61,400 tokens/s, bound by compute (100 % of the time)
    first token  at least 133 ms for a prompt of 8,192
    weights      16.1 GB
    cache        68.7 GB
    memory       fits: 84.8 GB of 85.5 GB usable (99 %); at most 64 sequences of this context
    turns        matrices compute-bound from batch 296; attention longer than matrices from batch 14
    Bounds: only matrix products, weights and cache count; no activations, buffers, sampling and launches.
    """
    found, decoder = look_up(chip), decoder_config(config)
    precision = found.precision(dtype)
    weights = checked_dtype(weight_dtype or precision, "weight_dtype of serve")
    cache = checked_dtype(cache_dtype or precision, "cache_dtype of serve")
    if network not in _NETWORK:
        raise ValueError(f"serve: unknown network {shown_value(network)}{choose_from(network, _NETWORK)}")
    sizes = {"tp": tp, "batch": batch, "context": context, "prompt": context if prompt is None else prompt}
    whole = {name: count_of(value, f"serve: {name}") for name, value in sizes.items()}
    for layer in decoder.kinds:
        heads = layer.attention.heads
        if heads % whole["tp"]:
            raise ValueError(f"serve: tp={whole['tp']} does not divide the {heads} heads of {one_line(decoder.name)}")
    made = Serving(decoder, found, **whole, dtype=precision, weight_dtype=weights, cache_dtype=cache, network=network)
    try:
        _ = made.decode
    except MissingFigureError as error:
        if whole["tp"] > 1 and network != "none" and not _has_link(found):
            raise MissingFigureError(f"{error}; serve(…, network='none') leaves the all-reduces out") from None
        raise
    return made


def _share(one: Weight, elements: float, tp: int) -> float:
    """Return the elements of a weight that one of `tp` chips has, of `elements` elements of all chips."""
    if one.sharing == "whole":
        return elements
    if one.sharing == "split":
        return elements / tp
    return elements / one.groups * -(-one.groups // tp)


def _has_link(chip: Chip) -> bool:
    try:
        return chip.link_bandwidth() > 0
    except MissingFigureError:
        return False


def _activation(dtype: str) -> str:
    """Return the dtype of activations between chips: at least 16 bits, as sums of narrower numbers are not sent."""
    return dtype if dtype in DTYPES and DTYPES[dtype] > 8 else "bf16"  # noqa: PLR2004 - bits


def _first(turned: Callable[[int], bool]) -> int | None:
    """Return the smallest batch for which `turned` is true, if it stays true for larger batches."""
    low, high = 0, 1
    while not turned(high):
        low, high = high, 2 * high
        if high > _MAX_BATCH:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if turned(middle) else (middle, high)
    return high


def _rate(step: Step) -> str:
    rate = step.tokens_per_second
    rounded = format_significant(rate) if rate < 1000 else f"{float(f'{rate:.3g}'):,.0f}"  # noqa: PLR2004 - commas from here
    return f"{rounded} tokens/s"


def _binding(step: Step) -> str:
    return f"{step.bound_by} ({format_percent(step.parts[step.bound_by] / step.time)} of the time)"
