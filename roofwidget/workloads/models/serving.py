"""Serving a decoder: tokens per second at most and without overlap, time to first token, and what fits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, Literal

from roofwidget.analysis.network import collective_time
from roofwidget.chips import Chip, ChipLike, MissingFigureError
from roofwidget.chips import chip as look_up
from roofwidget.chips.figures import is_off_chip
from roofwidget.kernels.columns import quantity
from roofwidget.support.arguments import shown_value
from roofwidget.support.did_you_mean import choose_from, keywords
from roofwidget.support.text_tables import aligned, html_table, html_with_notes, one_line
from roofwidget.units import format_capacity, format_percent, format_quantity, format_significant
from roofwidget.workloads.models.config import (
    DecoderConfig,
    Weight,
    bytes_of,
    count_of,
    format_of_weights,
    weight_bits,
)
from roofwidget.workloads.models.quantisation import UNQUANTISED_BITS, WeightFormat
from roofwidget.workloads.models.transformer import AnyDecoder, decoder_config
from roofwidget.workloads.ops.mixture import expected_experts
from roofwidget.workloads.tensors import DTYPES, checked_dtype

_NETWORK: Final = ("overlapped", "exposed", "none")
_ALL_REDUCE: Final = ("auto", "switch", "ring")
# A layer has two all-reduces: after attention and after the feed-forward layer.
_ALL_REDUCES_PER_LAYER: Final = 2
# Precisions of arithmetic that quantised weights below this number of bits allow.
_NARROW: Final = {"fp4": 8, "int4": 8, "fp8": 16, "int8": 16}
# An all-reduce in a switch reads the reduced part of a chip, then writes it to all chips.
_PHASES: Final = 2
# The results of experts are sent as bf16, which has two bytes.
_COMBINE_BYTES: Final = 2
# More sequences than any server runs at a time; a search for a batch ends here.
_MAX_BATCH: Final = 1 << 20
_MAX_TABLE_BATCHES: Final = 64
# Chips whose switches add: NVSwitch of the third generation and later (NVLink SHARP, "NVLS" in NCCL).
_SWITCH_ADDS: Final = ("h100-sxm", "h200-sxm", "b200", "b300", "gb200", "gb300", "rubin")
# Bridges between two to four cards, without a switch.
_BRIDGED: Final = ("h100-pcie", "h100-nvl", "h200-nvl")
# NVIDIA's generations before NVSwitch could add, and links that form a torus or a mesh.
_NO_ADDING_SWITCH: Final = ("Pascal", "Volta", "Turing", "Ampere")
_SWITCHLESS_LINKS: Final = ("ICI", "xGMI")


@dataclass(frozen=True)
class Step:
    """One step: the prefill of all prompts, or the decoding of one token per sequence.

    `time` is a lower bound: compute, memory and network all overlap, so that the slowest of them decides. `serial_time`
    is a model: matrices, attention and network run one after the other, and each part takes the longer of its compute
    and its memory time.

    Parameters
    ----------
    phase
        ``prefill`` or ``decode``.
    tokens
        The tokens that the step processes, on all chips.
    matrix_compute, attention_compute
        Seconds of the FLOPs of weight matrices, and of attention.
    weights_time, cache_time
        Seconds to read the weights, and to move the cache. Of experts, the mean number that the tokens reach.
    network_time
        Seconds of the all-reduces at least.
    overlapped
        Whether the network can work at the same time as the matrices and attention.
    least_weights_time
        As `weights_time`, with the least number of experts: all tokens may choose the same ones.
    kept_time
        Seconds to read the bytes that the memories on the chip can keep from one step to the next.
    serial_network_time
        Seconds of the network in the serial model.
    """

    phase: str
    tokens: int
    matrix_compute: float
    attention_compute: float
    weights_time: float
    cache_time: float
    network_time: float
    overlapped: bool
    least_weights_time: float
    kept_time: float
    serial_network_time: float

    @property
    def tokens_per_second(self) -> float:
        """The largest rate that the chips allow, of all sequences together."""
        return self.tokens / self.time

    @property
    def compute_time(self) -> float:
        """Seconds of all FLOPs."""
        return self.matrix_compute + self.attention_compute

    @property
    def memory_time(self) -> float:
        """Seconds to move the bytes of main memory that the step needs at least."""
        return max(0.0, self.least_weights_time + self.cache_time - self.kept_time)

    @property
    def body_time(self) -> float:
        """Seconds of the matrices and of attention at least: of compute or of memory, whichever is longer."""
        return max(self.compute_time, self.memory_time)

    @property
    def time(self) -> float:
        """Seconds that the step takes at least."""
        return max(self.body_time, self.network_time) if self.overlapped else self.body_time + self.network_time

    @property
    def serial_time(self) -> float:
        """Seconds that the step takes if its parts do not overlap. This is an estimate, not a bound."""
        matrices = max(self.matrix_compute, self.weights_time)
        return matrices + max(self.attention_compute, self.cache_time) + self.serial_network_time

    @property
    def serial_tokens_per_second(self) -> float:
        """The rate of all sequences together, if the parts of a step do not overlap. This is an estimate."""
        return self.tokens / self.serial_time

    @property
    def parts(self) -> Mapping[str, float]:
        """The parts of `time`, seconds: those of the slowest resource, and the network if it does not overlap."""
        if self.overlapped and self.network_time > self.body_time:
            return {"network": self.network_time}
        seconds = {"compute": self.compute_time, "weights": 0.0, "cache": 0.0}
        if self.memory_time > self.compute_time:
            moved = self.least_weights_time + self.cache_time
            share = self.memory_time / moved
            seconds = {"compute": 0.0, "weights": share * self.least_weights_time, "cache": share * self.cache_time}
        return seconds if self.overlapped else {**seconds, "network": self.network_time}

    @property
    def bound_by(self) -> str:
        """The resource with the largest part of the time: ``compute``, ``weights``, ``cache`` or ``network``."""
        return max(self.parts, key=self.parts.__getitem__)


@dataclass(frozen=True, repr=False)
class Serving:
    """Bounds on serving a decoder on chips of one kind. Rates are upper bounds, times are lower bounds.

    What has *serial* in its name is an estimate: it assumes that the parts of a step do not overlap.

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
    ep
        The number of chips over which the experts are spread, each with its own sequences (expert parallelism).
    attention_dtype
        The precision of the arithmetic of attention; None for `dtype`.
    reserve
        Bytes per chip that are kept free.
    all_reduce
        ``auto``, ``switch`` or ``ring``.
    pp
        The number of stages, each with its layers on `tp` chips (pipeline parallelism).
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
    ep: int = 1
    attention_dtype: str | None = None
    reserve: float = 0.0
    all_reduce: str = "auto"
    pp: int = 1

    # -- memory ----------------------------------------------------------------------------------------------------

    @cached_property
    def weight_bytes(self) -> int:
        """Bytes of all weights."""
        return self.config.weight_bytes(self.weight_dtype)

    @cached_property
    def weight_bytes_per_chip(self) -> int:
        """Bytes of weights on the chip that has the most, with the weights that every chip holds."""
        return max(self._stage_weight_bytes(index) for index in range(self.pp))

    @property
    def cache_bytes(self) -> int:
        """Bytes of the cache of all sequences, counted once."""
        return self.config.cache_bytes(self.context, self.batch, self.cache_dtype)

    @property
    def cache_bytes_per_chip(self) -> int:
        """Bytes of the cache on a chip. A latent is on every chip, and so is a head that several chips need."""
        return bytes_of(int(self._of_chip(self.batch)) * self._cached_per_chip, self.cache_dtype)

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
        """Whether weights and cache fit beside the reserve; None if the capacity is unknown."""
        return None if self.capacity is None else self.memory_per_chip <= self.capacity - self.reserve

    @property
    def max_batch(self) -> int | None:
        """The largest batch that fits at this context; 0 if no sequence fits, None if the capacity is unknown."""
        if self.capacity is None:
            return None
        free = self.capacity - self.reserve - self.weight_bytes_per_chip
        if free <= 0:
            return 0
        return self.ep * int(free * 8 // (self._cached_per_chip * DTYPES[self.cache_dtype]))

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

    @property
    def serial_tokens_per_second(self) -> float:
        """Decoded tokens per second, if the parts of a step do not overlap. This is an estimate."""
        return self.decode.serial_tokens_per_second

    @property
    def experts_read(self) -> tuple[int, float, int] | None:
        """The experts of a layer that a decode step reads: at least, on average, at most; None without experts.

        All sequences may choose the same experts, or each its own. The mean is that of choices at random.
        """
        mixture = next((one for one in self.config.weights if one.experts), None)
        if mixture is None:
            return None
        tokens = -(-self.batch // self.pp)
        mean = expected_experts(tokens, mixture.experts, mixture.active)
        return mixture.active, mean, min(mixture.experts, mixture.active * tokens)

    @cached_property
    def compute_bound_from(self) -> int | None:
        """The smallest batch at which the matrices of a decode step are compute-bound; None if there is none."""
        return _first(lambda batch: (step := self._decode(batch)).matrix_compute >= step.weights_time)

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

    @cached_property
    def _stages(self) -> tuple[DecoderConfig, ...]:
        """The decoder with the layers of each stage only; the numbers of layers differ by one at most."""
        layers, cuts = self.config.layers, [len(self.config.layers) * index // self.pp for index in range(self.pp + 1)]
        return tuple(replace(self.config, layers=layers[start:end]) for start, end in pairwise(cuts))

    def _stage_weight_bytes(self, index: int) -> int:
        """Return the bytes of weights on a chip of a stage. The first has the embedding, the last has the logits."""
        last = self.pp - 1
        places = {"positions": 0, "final norm": last}
        weights = [one for one in self._stages[index].weights if places.get(one.name, index) == index]
        bits = sum(math.ceil(self._held(one)) * self._bits(one) for one in weights)
        tables = 1 if last == 0 and self.config.tied else (index == 0) + (index == last)
        bits += -(-self.config.embedding // self.tp) * tables * self._bits()
        return math.ceil(bits / 8)

    @cached_property
    def _cached_per_chip(self) -> int:
        """The elements of the cache of a sequence on the chip that has the most."""
        return max(self._cache_elements(stage, self.context) for stage in self._stages)

    def _cache_elements(self, config: DecoderConfig, context: int) -> int:
        """Return the elements of the cache of a sequence on one of the chips that share the layers."""
        total = 0
        for layer, many in config.kinds.items():
            one = layer.attention
            each = one.cache_elements
            if one.latent is None:
                each = -(-one.groups // self.tp) * (one.key_dim + one.value_dim)
            total += many * one.cached_tokens(context) * each
        return total

    def _bits(self, one: Weight | None = None) -> Fraction:
        """Return the bits of an element of a weight, or of the embedding."""
        return weight_bits(self.config, self._format, one)

    def _faster_precisions(self) -> str:
        """Return the precisions in which a server could multiply the weights faster, as text; empty without any."""
        narrow = [word for word, bits in _NARROW.items() if self._format.bits < bits]
        peaks = self.chip.peak_flops
        return " or ".join(f"'{word}'" for word in narrow if peaks.get(word, 0) > self.chip.peak(self.dtype))

    @cached_property
    def _format(self) -> WeightFormat:
        return format_of_weights(self.config, self.weight_dtype)

    def _of_chip(self, count: float) -> float:
        """Return how many of `count` sequences the chip has that has the most."""
        return count if self.ep == 1 else -(-count // self.ep)

    def _held(self, one: Weight) -> float:
        """Return the elements of a weight that the chip with the most experts holds."""
        if one.experts and self.ep > 1:
            return one.elements // one.experts * -(-one.experts // self.ep)
        return _share(one, one.elements, self.tp)

    def _matrix_compute(self, batch: float, tokens: int) -> float:
        """Return the seconds of the FLOPs of weight matrices for `tokens` of each sequence, experts evenly used."""
        sequences, routed = self._of_chip(batch), batch * tokens / self.ep
        products = sum(
            (routed if one.experts else sequences * tokens) * _share(one, one.active_elements(), self.tp)
            for one in self.config.weights
            if one.matrix
        )
        # Only the last token of a sequence has logits.
        return float(2 * (products + sequences * self.config.embedding / self.tp) / self.chip.peak(self.dtype))

    def _weights_time(self, tokens: float, own: float, *, least: bool = False) -> float:
        """Return the seconds to read the weights that `tokens` tokens need, of which a chip has its `own`.

        With `least`, all tokens choose the same experts and are the same word of the vocabulary.
        """
        config = self.config
        bits = sum(self._read(one, tokens, least=least) * self._bits(one) for one in config.weights)
        # The matrix of the logits is read; of the input embedding only the rows of the tokens.
        rows = 0 if config.tied else min(1 if least else own, config.vocabulary)
        bits += (config.embedding + rows * config.hidden) / self.tp * self._bits()
        return float(bits / 8 / self.chip.bandwidth())

    def _read(self, one: Weight, tokens: float, *, least: bool) -> Fraction | float:
        mean = one.read_elements(math.ceil(tokens))
        if not (one.experts and self.ep > 1):
            return _share(one, one.active_elements() if least else mean, self.tp)
        # A token chooses an expert at most once, so the busiest chip has at least the active experts over all chips.
        lowest = one.elements // one.experts * -(-one.active // self.ep)
        return lowest if least else max(lowest, mean / self.ep)

    def _decode(self, batch: int) -> Step:
        flops = sum(
            many * layer.attention.pair_flops(cached=True) * layer.attention.cached_tokens(self.context)
            for layer, many in self.config.kinds.items()
        )
        return self._step(
            "decode", batch, tokens=1, flops=flops, cached=self._cache_elements(self.config, self.context)
        )

    def _prefill(self, batch: int) -> Step:
        flops = sum(
            many * layer.attention.pair_flops(cached=False) * layer.attention.pairs(self.prompt)
            for layer, many in self.config.kinds.items()
        )
        written = self._cache_elements(self.config, self.prompt)
        return self._step("prefill", batch, tokens=self.prompt, flops=flops, cached=written)

    def _step(self, phase: str, batch: int, *, tokens: int, flops: int, cached: int) -> Step:
        """Return a step. `tokens`, `flops` of attention and `cached` elements are those of one sequence.

        With `pp` stages a token passes all of them, while the other stages have other sequences: so a step has the time
        of all layers for a `pp`-th of the batch, but at least for one sequence. A prompt can be cut into pieces that
        pass the stages one after the other, so that each stage reads its weights once.
        """
        is_cut = phase == "prefill"
        together = batch / self.pp if is_cut else max(1, batch / self.pp)
        sequences, reads = self._of_chip(together), 1 / self.pp if is_cut else 1
        own = sequences * tokens
        on_chip = sum(
            memory.capacity or 0
            for name, memory in self.chip.memories.items()
            if name != self.chip.main_memory and not is_off_chip(name)
        )
        passed_on = self._passing_time(batch * tokens)
        return Step(
            phase,
            batch * tokens,
            matrix_compute=self._matrix_compute(together, tokens),
            attention_compute=sequences * flops / self.tp / self.chip.peak(self.attention_dtype or self.dtype),
            weights_time=self._weights_time(together * tokens, own) * reads,
            cache_time=sequences * cached * DTYPES[self.cache_dtype] / 8 / self.chip.bandwidth(),
            network_time=self._all_reduce_time(own, least=True) + passed_on,
            overlapped=self.network != "exposed",
            least_weights_time=self._weights_time(together * tokens, own, least=True) * reads,
            kept_time=on_chip * self.pp * reads / self.chip.bandwidth(),
            serial_network_time=self._all_reduce_time(own, least=False) + passed_on + self._expert_network_time(own),
        )

    @property
    def _switch_adds(self) -> bool | None:
        """Whether the switches between the chips can add; None if unknown."""
        return switch_adds(self.chip) if self.all_reduce == "auto" else self.all_reduce == "switch"

    def _all_reduce_time(self, tokens: float, *, least: bool) -> float:
        """Return the seconds of the all-reduces; at `least` without latencies.

        Without an adding switch a chip sends 2 (n - 1) / n of the array. With one it sends 1 + 1 / n in two phases (a
        part is read reduced, and written to all), and at least the array itself: each element has to leave the chip.
        """
        if self.tp == 1 or self.network == "none":
            return 0.0
        size = tokens * self.config.hidden * DTYPES[_activation(self.dtype)] // 8
        once = size / self.chip.link_bandwidth()
        each = collective_time("all-reduce", size, self.tp, self.chip, latency=0 if least else None)
        if least and self._switch_adds is not False:
            each = min(each, once)
        elif self._switch_adds:
            each = min(each, once * (1 + 1 / self.tp) + _PHASES * (self.chip.link().latency or 0))
        return _ALL_REDUCES_PER_LAYER * len(self.config.layers) * each

    def _passing_time(self, tokens: int) -> float:
        """Return the seconds in which a chip passes all tokens on to the next stage."""
        if self.pp == 1 or self.network == "none":
            return 0.0
        size = tokens * self.config.hidden * DTYPES[_activation(self.dtype)] / 8
        return size / self.tp / self.chip.link_bandwidth()

    def _expert_network_time(self, tokens: float) -> float:
        """Return the seconds to send tokens to their experts and back, one copy for each expert on another chip."""
        if self.ep == 1 or self.network == "none":
            return 0.0
        copies = sum(many * (layer.feed_forward.active or 0) for layer, many in self.config.kinds.items())
        each = self.config.hidden * (DTYPES.get(self.dtype, UNQUANTISED_BITS) / 8 + _COMBINE_BYTES)
        return tokens * copies * (self.ep - 1) / self.ep * each / self.chip.link_bandwidth()

    # -- text ------------------------------------------------------------------------------------------------------

    def _title(self) -> str:
        many = self.tp * self.ep * self.pp
        chips = f"{many} × {one_line(self.chip.name)}" if many > 1 else one_line(self.chip.name)
        dtypes = self.dtype
        if self.attention_dtype not in {None, self.dtype}:
            dtypes += f", attention {self.attention_dtype}"
        if {self.weight_dtype, self.cache_dtype} != {self.dtype}:
            dtypes += f", weights {self.weight_dtype}, cache {self.cache_dtype}"
        sizes = f"batch {self.batch:,}, context {self.context:,}"
        return f"Serving: {one_line(self.config.name)} on {chips}, {dtypes}, {sizes}"

    def _rows(self) -> Iterator[tuple[str, str]]:
        decode, prefill = self.decode, self.prefill
        user = f"{format_quantity(decode.time, 's')} per token"
        yield "decode", f"at most {_rounded(decode.tokens_per_second)}, {user}, bound by {_binding(decode)}"
        yield "prefill", f"at most {_rounded(prefill.tokens_per_second)}, bound by {_binding(prefill)}"
        first = format_quantity(self.time_to_first_token, "s")
        yield "first token", f"at least {first} for a prompt of {self.prompt:,}"
        apart = f"{_rounded(decode.serial_tokens_per_second)}, {format_quantity(decode.serial_time, 's')} per token"
        yield "serial", f"{apart}, if matrices, attention and network do not overlap: an estimate"
        yield "weights", self._per_chip(self.weight_bytes, self.weight_bytes_per_chip)
        yield "cache", self._per_chip(self.cache_bytes, self.cache_bytes_per_chip)
        yield "memory", self._fit()
        yield "turns", self._turns()

    def _per_chip(self, whole: int, each: int) -> str:
        if self.tp * self.ep * self.pp == 1:
            return format_quantity(whole, "B")
        return f"{format_quantity(whole, 'B')}, {format_quantity(each, 'B')} per chip"

    def _fit(self) -> str:
        needed = format_quantity(self.memory_per_chip, "B")
        if self.capacity is None:
            return f"{needed} per chip; the capacity of {self.chip.main_memory} is unknown"
        share = format_percent(self.memory_per_chip / self.capacity)
        fits = "fits" if self.fits else "does not fit"
        most = f"at most {self.max_batch:,} sequences of this context"
        usable = f"{format_quantity(self.capacity, 'B')} usable"
        kept = f", {format_quantity(self.reserve, 'B')} of them reserved" if self.reserve else ""
        return f"{fits}: {needed} of {usable} ({share}){kept}; {most}"

    def _turns(self) -> str:
        turns = self.compute_bound_from, self.cache_bound_from
        first, second = ("no batch" if batch is None else f"batch {batch:,}" for batch in turns)
        return f"matrices compute-bound from {first}; attention longer than matrices from {second}"

    def _notes(self) -> Iterator[str]:
        yield "Bounds: only matrix products, weights and cache count; no activations, buffers, sampling and launches."
        faster = self._faster_precisions()
        if faster:
            yield f"Assumed: arithmetic of {self.dtype}. Quantised weights allow a faster one: dtype={faster}."
        if self.network == "exposed":
            yield "Assumed: the network does not overlap. A server in which it does can be faster."
        elif self.tp > 1 and self.network == "overlapped" and self._switch_adds is None:
            link = self.chip.link().name
            yield f"Not known whether switches of {link} add. The bound assumes that they do; 'serial' does not."
        if self.ep > 1:
            yield "'At most' sends no token to another chip; 'serial' sends a copy to each expert on another chip."
        memory = self.chip.memories[self.chip.main_memory]
        if memory.usable is None and memory.capacity is not None:
            yield f"Assumed: programs can allocate 93 % of the {format_capacity(memory.capacity)} of {memory.name}."
        if self.experts_read is not None and self.batch > self.pp:
            least, mean, most = self.experts_read
            yield (
                f"A decode step reads {least:,} to {most:,} experts a layer: 'at most' counts {least:,}, "
                f"'serial' counts {format_significant(mean, 4)}, the mean of choices at random."
            )
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
                "serial_tokens_per_second": one.serial_tokens_per_second,
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
    ep: int = 1,
    attention_dtype: str | None = None,
    reserve: float | str = 0,
    all_reduce: Literal["auto", "switch", "ring"] = "auto",
    pp: int = 1,
) -> Serving:
    """Return bounds on serving a decoder: tokens per second, time to first token, memory, and what binds.

    "At most" holds for every server that computes each token with these dtypes, shares no prefix between sequences and
    predicts no tokens ahead: compute, memory and network overlap fully, and all tokens choose the same experts.
    *Serial* is an estimate without overlap, with the mean number of experts.

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
        The dtypes of weights and cache in memory; by default `dtype`, or for weights the format in which the
        configuration says that they are published. A format of `WEIGHT_FORMATS`, such as ``"mxfp4"``, has scales, and
        is that of the matrices of the layers. A dtype such as ``"int4"`` is that of all parameters, without scales.
    network
        What the all-reduces of `tp` chips cost. ``"overlapped"``: the step takes at least as long as they do.
        ``"exposed"``: they add to the step. ``"none"``: nothing.
    ep
        The number of chips over which the experts are spread. Each has all other weights, and its share of the
        sequences. Not together with `tp` or `pp`.
    attention_dtype
        The precision of the arithmetic of attention; by default `dtype`.
    reserve
        Bytes of each chip for activations and buffers, a number or text such as ``"8 GB"``.
    all_reduce
        Whether switches add: ``"switch"``, ``"ring"`` (they do not), or ``"auto"`` for what is known of the chip. Where
        it is not known, the bound assumes that they do.
    pp
        The number of stages of a pipeline, each with its layers on `tp` chips.

    Raises
    ------
    MissingFigureError
        If the chip lacks the precision, or a link for the all-reduces.
    TypeError, ValueError
        If the configuration is not known, or a number is not a whole number from 1, or `tp` does not divide the heads,
        or `ep` is given for a model without experts.

    Examples
    --------
    >>> serve("llama-3-8b", "h100-sxm", batch=64, context=8192)
    Serving: llama-3-8b on NVIDIA H100 SXM5 80GB, bf16, batch 64, context 8,192
    decode       at most 2,560 tokens/s, 25 ms per token, bound by cache (82 % of the time)
    prefill      at most 61,400 tokens/s, bound by compute (100 % of the time)
    first token  at least 133 ms for a prompt of 8,192
    serial       2,560 tokens/s, 25 ms per token, if matrices, attention and network do not overlap: an estimate
    weights      16.1 GB
    cache        68.7 GB
    memory       fits: 84.8 GB of 85.5 GB usable (99 %); at most 64 sequences of this context
    turns        matrices compute-bound from batch 296; attention longer than matrices from batch 14
    Bounds: only matrix products, weights and cache count; no activations, buffers, sampling and launches.
    """
    found, decoder = look_up(chip), decoder_config(config)
    precision = found.precision(dtype)
    published = None if decoder.quantised is None else decoder.quantised.name
    cache = checked_dtype(cache_dtype or precision, "cache_dtype of serve")
    for word, value, words in (("network", network, _NETWORK), ("all_reduce", all_reduce, _ALL_REDUCE)):
        if value not in words:
            raise ValueError(f"serve: unknown {word} {shown_value(value)}{choose_from(value, words)}")
    sizes = {
        "tp": tp,
        "batch": batch,
        "context": context,
        "prompt": context if prompt is None else prompt,
        "ep": ep,
        "pp": pp,
    }
    whole = {name: count_of(value, f"serve: {name}") for name, value in sizes.items()}
    _check_layout(decoder, **{name: whole[name] for name in ("tp", "ep", "pp")})
    made = Serving(
        decoder,
        found,
        **whole,
        dtype=precision,
        weight_dtype=format_of_weights(decoder, weight_dtype or published or precision, "weight_dtype of serve").name,
        cache_dtype=cache,
        network=network,
        attention_dtype=precision if attention_dtype is None else found.precision(attention_dtype),
        reserve=float(quantity(reserve, "B", "reserve")),
        all_reduce=all_reduce,
    )
    try:
        _ = made.decode
    except MissingFigureError as error:
        if whole["tp"] * whole["ep"] * whole["pp"] > 1 and network != "none" and not _has_link(found):
            raise MissingFigureError(f"{error}; serve(…, network='none') leaves the network out") from None
        raise
    return made


def _check_layout(config: DecoderConfig, *, tp: int, ep: int, pp: int) -> None:
    """Raise `ValueError` if a decoder cannot be divided among chips in this way."""
    name = one_line(config.name)
    for layer in config.kinds:
        if layer.attention.heads % tp:
            raise ValueError(f"serve: tp={tp} does not divide the {layer.attention.heads} heads of {name}")
    for word, other in (("tp", tp), ("pp", pp)):
        if ep > 1 and other > 1:
            raise ValueError(f"serve: {word}={other} and ep={ep} together are not counted; give one of them")
    if ep > 1 and not config.is_mixture:
        raise ValueError(f"serve: ep={ep} spreads experts, and {name} has none; give tp")
    if pp > len(config.layers):
        raise ValueError(f"serve: pp={pp} is more than the {len(config.layers)} layers of {name}")


def switch_adds(chip: Chip) -> bool | None:
    """Return whether the switches between chips can add, so that they reduce arrays on their way; None if unknown.

    Examples
    --------
    >>> [switch_adds(look_up(name)) for name in ("h100-sxm", "a100-sxm-80gb", "gh200-96gb")]
    [True, False, None]
    """
    if chip.id in _SWITCH_ADDS:
        return True
    if chip.id in _BRIDGED or chip.family in _NO_ADDING_SWITCH or chip.link().name in _SWITCHLESS_LINKS:
        return False
    return None


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


def _rounded(rate: float) -> str:
    rounded = format_significant(rate) if rate < 1000 else f"{float(f'{rate:.3g}'):,.0f}"  # noqa: PLR2004 - commas from here
    return f"{rounded} tokens/s"


def _binding(step: Step) -> str:
    return f"{step.bound_by} ({format_percent(step.parts[step.bound_by] / step.time)} of the time)"
