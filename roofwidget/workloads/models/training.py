"""The FLOPs of a model by the conventions of published MFUs: 6ND, with attention, causal or not, with recomputation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from roofwidget.analysis.utilization import ModelFlops
from roofwidget.kernels.columns import is_number, is_whole
from roofwidget.support.arguments import shown_value
from roofwidget.support.did_you_mean import choose_from, keywords, listed
from roofwidget.workloads.models.config import Attention, DecoderConfig, count_of
from roofwidget.workloads.models.transformer import AnyDecoder, decoder_config

Model: TypeAlias = "float | AnyDecoder"
"""A number of parameters, a decoder's name, a `config.json` (its path, or a dict), or a `DecoderConfig`."""

_ATTENTION: Final = ("none", "full", "half", "exact")
_PHASES: Final = ("train", "forward")
_PARAMETERS: Final = ("all", "matrices")
_RECOMPUTE: Final = {"none": (0, 0), "full": (1, 1), "attention": (0, 1)}
_SHARES: Final = ("parameters", "attention")
# A multiply-add is 2 FLOPs. The backward pass does twice the FLOPs of the forward pass.
_FORWARD: Final = 2
_BACKWARD: Final = 2
_WORDS: Final = {
    "none": "without attention",
    "full": "with full attention",
    "half": "with causal attention, half of the pairs",
    "exact": "with causal attention, the pairs that the mask leaves",
}


@keywords("model_flops")
def model_flops(
    model: Model,
    tokens: float,
    *,
    seq: int | None = None,
    attention: Literal["none", "full", "half", "exact"] = "none",
    phase: Literal["train", "forward"] = "train",
    parameters: Literal["all", "matrices"] = "all",
    recompute: Literal["none", "full", "attention"] | Mapping[str, float] = "none",
    layers: int | None = None,
    heads: int | None = None,
    head_dim: int | None = None,
) -> ModelFlops:
    """Return the FLOPs of a model for a number of tokens, for `mfu`.

    N parameters and D tokens take 2·N·D FLOPs forward and 4·N·D backward: 6·N·D. Attention adds 4·L·H·d FLOPs forward
    per pair of a query and a key. Experts count only if they are active.

    Parameters
    ----------
    model
        A number of parameters (of a mixture: those active), a decoder's name, a `config.json` or a `DecoderConfig`.
    tokens
        The number of tokens.
    seq
        Tokens per sequence; needed with attention.
    attention
        ``"none"``: only parameters count (6ND). ``"full"``: all pairs of a sequence count, 12·L·H·d·seq per token in
        training, also if the mask is causal (PaLM, Megatron-LM, nanoGPT). ``"half"``: half of these pairs (MaxText,
        FlashAttention). ``"exact"``: the pairs that the causal mask leaves, seq·(seq + 1)/2. Windows count too.
    phase
        ``"train"``: forward and backward; ``"forward"``: forward only.
    parameters
        ``"all"``: N is all parameters. ``"matrices"``: N is only the parameters by which tokens are multiplied, so no
        input embedding, norms and biases.
    recompute
        The part of the forward pass that the backward pass computes again: ``"none"``, ``"full"``, ``"attention"``, or
        shares such as ``{"parameters": 0.75, "attention": 1}``. It counts for the HFU, never for the MFU.
    layers, heads, head_dim
        L, H and d, if `model` is a number of parameters.

    Raises
    ------
    TypeError, ValueError
        If a word or a model is unknown, or a size is missing; the message names it.

    Examples
    --------
    >>> model_flops("llama-3-8b", tokens=8192, seq=8192, attention="full", recompute="full")
    ModelFlops: 6ND with full attention; forward and backward, 8,192 tokens
    term                                    FLOPs
    parameters forward   131,567,800,287,232 FLOP
    attention forward     35,184,372,088,832 FLOP
    parameters backward  263,135,600,574,464 FLOP
    attention backward    70,368,744,177,664 FLOP
    parameters again     131,567,800,287,232 FLOP
    attention again       35,184,372,088,832 FLOP
    model FLOPs          500,256,517,128,192 FLOP
    hardware FLOPs       667,008,689,504,256 FLOP
    """
    for what, word, known in (
        ("attention", attention, _ATTENTION),
        ("phase", phase, _PHASES),
        ("parameters", parameters, _PARAMETERS),
    ):
        if word not in known:
            raise ValueError(f"model_flops: unknown {what} {shown_value(word)}{choose_from(word, known)}")
    many = _above_zero(tokens, "tokens")
    sizes = {"layers": layers, "heads": heads, "head_dim": head_dim}
    if isinstance(model, (int, float, np.integer, np.floating)):
        if parameters == "matrices":
            raise TypeError("model_flops: parameters='matrices' needs a configuration, not a number of parameters")
        count = _above_zero(model, "the number of parameters")
        pairs = Fraction(0) if attention == "none" else _pairs_of_sizes(sizes, seq, attention)
    else:
        given = [name for name, value in sizes.items() if value is not None]
        if given:
            raise TypeError(f"model_flops: a configuration has its own {listed(given)}; leave {listed(given)} out")
        config = decoder_config(model)
        count = Fraction(config.active_parameters if parameters == "all" else config.matrix_parameters)
        pairs = Fraction(0) if attention == "none" else _pairs_of_config(config, seq, attention)
    again = _shares(recompute) if phase == "train" else (Fraction(0), Fraction(0))
    return _added(many, _FORWARD * count, pairs, attention, phase, parameters, again)


def _added(  # noqa: PLR0917 - the parts of the convention
    tokens: Fraction,
    parameters: Fraction,
    pairs: Fraction,
    attention: str,
    phase: str,
    counted: str,
    again: tuple[Fraction, Fraction],
) -> ModelFlops:
    forward = {"parameters": tokens * parameters, "attention": tokens * pairs}
    terms = [(f"{name} forward", flops) for name, flops in forward.items()]
    if phase == "train":
        terms += [(f"{name} backward", _BACKWARD * flops) for name, flops in forward.items()]
    model = sum((flops for _, flops in terms), Fraction(0))
    redone = [
        (f"{name} again", share * flops) for (name, flops), share in zip(forward.items(), again, strict=True) if share
    ]
    hardware = model + sum((flops for _, flops in redone), Fraction(0))
    factor = "6ND" if phase == "train" else "2ND"
    only = "" if counted == "all" else ", N without embedding, norms and biases"
    done = "forward and backward" if phase == "train" else "forward"
    words = [f"{share_text(share)} {name}" for name, share in zip(forward, again, strict=True) if share]
    return ModelFlops(
        _number(model),
        _number(hardware),
        _number(tokens),
        f"{factor} {_WORDS[attention]}{only}; {done}",
        " and ".join(words) if redone and hardware > model else "",
        tuple((name, _number(flops)) for name, flops in [*terms, *redone] if flops),
    )


def share_text(share: Fraction) -> str:
    """Return a share in words.

    Examples
    --------
    >>> share_text(Fraction(1)), share_text(Fraction(3, 4))
    ('all forward FLOPs of', '75 % of the forward FLOPs of')
    """
    return "all forward FLOPs of" if share == 1 else f"{float(100 * share):.3g} % of the forward FLOPs of"


def _shares(recompute: Any) -> tuple[Fraction, Fraction]:
    if isinstance(recompute, Mapping):
        for word, share in recompute.items():
            if word not in _SHARES:
                raise ValueError(
                    f"model_flops: unknown part {shown_value(word)} of recompute{choose_from(word, _SHARES)}"
                )
            if not isinstance(share, (int, float)) or isinstance(share, bool) or not 0 <= share <= 1:
                raise ValueError(
                    f"model_flops: recompute['{word}'] must be a share from 0 to 1, got {shown_value(share)}"
                )
        return Fraction(recompute.get("parameters", 0)), Fraction(recompute.get("attention", 0))
    if recompute not in _RECOMPUTE:
        raise ValueError(f"model_flops: unknown recompute {shown_value(recompute)}{choose_from(recompute, _RECOMPUTE)}")
    first, second = map(Fraction, _RECOMPUTE[recompute])
    return first, second


def _pairs_of_sizes(sizes: Mapping[str, int | None], seq: int | None, attention: str) -> Fraction:
    missing = [name for name, value in {**sizes, "seq": seq}.items() if value is None]
    if missing:
        raise TypeError(f"model_flops: attention='{attention}' of a number of parameters needs {listed(missing)}")
    layers, heads, head_dim = (count_of(value, f"model_flops: {name}") for name, value in sizes.items())
    one = Attention(heads, heads, head_dim, head_dim)
    return layers * _per_token(one, count_of(seq, "model_flops: seq"), attention)


def _pairs_of_config(config: DecoderConfig, seq: int | None, attention: str) -> Fraction:
    if seq is None:
        raise TypeError(f"model_flops: attention='{attention}' needs 'seq', the tokens per sequence")
    length = count_of(seq, "model_flops: seq")
    return sum(
        (many * _per_token(layer.attention, length, attention) for layer, many in config.kinds.items()), Fraction(0)
    )


def _per_token(one: Attention, seq: int, attention: str) -> Fraction:
    """Return the FLOPs of attention per token, forward."""
    if attention == "exact":
        pairs = Fraction(one.pairs(seq), seq)
    else:
        pairs = Fraction(one.cached_tokens(seq), 2 if attention == "half" else 1)
    return one.pair_flops(cached=False) * pairs


def _above_zero(value: Any, what: str) -> Fraction:
    if not is_number(value) or not 0 < value < math.inf:
        raise ValueError(f"model_flops: {what} must be a number above zero, got {shown_value(value)}")
    return Fraction(int(value)) if is_whole(value) else Fraction(float(value))


def _number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
