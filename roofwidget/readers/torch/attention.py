"""The form of attention: pairs of a query and a key, from annotations of steps, offsets of sequences, or axes."""

from __future__ import annotations

from math import prod
from typing import Final, NamedTuple

import numpy as np

from roofwidget.readers.torch.calls import Assumption, Certainty, Dims, OpWork, UnknownWork, whole
from roofwidget.readers.torch.given import Given, Number, times, total
from roofwidget.readers.torch.steps import Requests, Step

UNKNOWN: Final = "unknown: "
"""How a rule begins that says what is missing."""
PAIRS: Final = ("step", "lengths", "full")
"""How the pairs of attention are counted: by the annotation of the step, by offsets of sequences, by the axes."""

_MAX_ROWS: Final = 2**24


class _Pairs(NamedTuple):
    """The pairs of a query and a key of one head, and the rows of keys that are read."""

    pairs: int | None
    keys: int | None
    why: str
    are: Certainty = Certainty.EXACT
    keys_are: Certainty = Certainty.EXACT
    rows: int | None = None
    assumed: Assumption | None = None


class _Columns(NamedTuple):
    """Rows of queries, and columns of all heads: H d of queries, H dv of the output, of a row of keys and values."""

    rows: int
    q: int
    out: int
    kv: int


def attention(given: Given) -> OpWork:
    """Count 2 H (d + dv) P, where P is the number of pairs of a query and a key."""
    columns = _columns(given)
    pairs = _pairs(given, columns)
    backward = given.is_on("backward")
    each = 6 * columns.q + 4 * columns.out if backward else 2 * (columns.q + columns.out)
    flops = None if pairs.pairs is None else each * pairs.pairs
    letters = "(6 H d + 4 H dv) P" if backward else "2 H (d + dv) P"
    rule = f"{letters}, H d = {columns.q}, H dv = {columns.out}, P = {pairs.pairs}: {pairs.why}"
    moved, bytes_rule = _attended(given, columns, pairs)
    return OpWork(
        "attention",
        flops,
        moved,
        rule if flops is not None else f"{UNKNOWN}{pairs.why}",
        missing="" if flops is not None else pairs.why,
        assumed=pairs.assumed,
        bytes_rule=bytes_rule,
        flops_are=pairs.are,
        bytes_are=pairs.keys_are,
    )


def _columns(given: Given) -> _Columns:
    q = given.tensor("q", 2, 3, 4)
    heads_first = given.word("layout", ("bshd", "bhsd"), "bshd") == "bhsd"

    def columns(sizes: Dims) -> int:
        # With two axes the columns of all heads are one axis.
        return sizes[-1] if len(sizes) == 2 else sizes[-1] * sizes[-3 if heads_first else -2]  # noqa: PLR2004

    of_q = columns(q)
    out = of_q
    if "out_columns" in given:
        out = given.count("out_columns")
    elif given.has("out"):
        out = columns(given.tensor("out", 2, 3, 4))
    elif given.has("v") and len(q) > 2 and "kv_columns" not in given:  # noqa: PLR2004 - as above
        out = of_q // max(q[-1], 1) * given.tensor("v")[-1]
    if "kv_columns" in given:
        kv = given.count("kv_columns")
    else:
        kv = sum(columns(given.tensor(key, 2, 3, 4)) for key in ("k", "v") if given.has(key))
    return _Columns(prod(q) // max(of_q, 1), of_q, out, kv)


def _attended(given: Given, columns: _Columns, pairs: _Pairs) -> tuple[Number | None, str]:
    """Return the bytes of queries, keys, values and results, and their rule."""
    item = given.itemsize("q")
    if given.is_on("backward"):
        read = given.read("q", "k", "v", "out", "gradient", "lse")
        written = times(sum(prod(given.tensor(key)) for key in ("q", "k", "v")), item)
        return total([read, written]), "q, k, v, the output, its gradient and log-sum-exp read, three gradients written"
    if pairs.keys is None or not columns.kv:
        return None, ""
    out_item = given.itemsize("out") if given.has("out") else 2 if item == 1 else item
    rows = columns.rows if pairs.rows is None else pairs.rows
    kv_item = given.itemsize("k") if given.has("k") else item
    parts = [
        times(rows * columns.q, item),
        times(rows * columns.out, out_item),
        times(pairs.keys * columns.kv, kv_item),
    ]
    note = "at least " if pairs.keys_are is Certainty.AT_LEAST else ""
    return total(parts), f"{rows} rows of q and output, {note}{pairs.keys} rows of keys and values"


def _pairs(given: Given, columns: _Columns) -> _Pairs:
    kind = given.keys.get("pairs", "full")
    if kind not in PAIRS:
        keys = given.count("keys") if "keys" in given else None
        return _Pairs(int(given.amount("pairs")), keys, "pairs by the rule")
    if kind == "step":
        found = _of_step(given, columns)
        if found is not None:
            return found
        if not given.has("lengths"):
            return _without_step(given, columns)
    return _of_lengths(given, columns) if given.has("lengths") else _of_rows(given)


def _of_step(given: Given, columns: _Columns) -> _Pairs | None:
    """Return the pairs of the step; None if there is no step, or the call has fewer rows than the step."""
    step = given.call.step
    requests = None if step is None else _phase(step, given)
    if requests is None or requests.pairs is None or requests.sq is None or not 0 < requests.sq <= columns.rows:
        return None
    windows = given.keys.get("windows")
    if not windows:
        why = "the step's annotation, without a sliding window (at most: a window would be less)"
        return _Pairs(requests.pairs, requests.sk, why, rows=requests.sq, assumed=Assumption.NO_WINDOW)
    if len(windows) > 1 and given.call.nth is None:
        return _Pairs(None, None, "which call of the step this is, and so which of the windows it has")
    window = int(windows[(given.call.nth or 0) % len(windows)])
    if not window:
        return _Pairs(requests.pairs, requests.sk, "the step's annotation; no window by the rule", rows=requests.sq)
    parts = [part for part in _parts(step, given) if part.count]
    bounds = [part.windowed(window) for part in parts]
    least, most = (sum(bound[at] for bound in bounds if bound is not None) for at in (0, 1))
    are = Certainty.EXACT if least == most else Certainty.AT_LEAST
    why = f"the step's annotation, window {window}"
    why += "" if least == most else f" (lower bound: lengths unknown; at most {most})"
    # The keys of the queries themselves are in their windows.
    keys = requests.sk if window >= (requests.sk or 0) else requests.sq
    keys_are = Certainty.EXACT if keys == requests.sk else Certainty.AT_LEAST
    return _Pairs(least, keys, why, are, keys_are, rows=requests.sq)


def _parts(step: Step | None, given: Given) -> list[Requests]:
    if step is None:
        return []
    phase = given.word("phase", ("all", "prefill", "decode"), "all")
    return [step.prefill, step.decode] if phase == "all" else [getattr(step, phase)]


def _phase(step: Step, given: Given) -> Requests | None:
    """Return the requests that the call attends to, as one."""
    parts = _parts(step, given)
    sums = {word: total(getattr(part, word) for part in parts) for word in ("sq", "sk", "sqsq", "sqsk")}
    return Requests(sum(part.count for part in parts), **sums)


def _without_step(given: Given, columns: _Columns) -> _Pairs:
    """Return what is known without sums of a step: the queries of prefill see at least themselves."""
    step = given.call.step
    missing = given.keys.get("exact", "an annotation of the step with sums over its requests (sq, sk, sqsq, sqsk)")
    keys = columns.rows if given.has("k") and not given.is_on("pool") else None
    if step is None or not step.prefill.count or step.prefill.sq is None or step.prefill.sq > columns.rows:
        return _Pairs(None, keys, f"the keys are in a cache; needs {missing}", keys_are=Certainty.AT_LEAST)
    least = _balanced(step.prefill.sq, step.prefill.count, causal=True) + (step.decode.sq or 0)
    why = f"equal lengths without context (lower bound: lengths unknown); exact with {missing}"
    rows = step.sq
    return _Pairs(least, rows, why, Certainty.AT_LEAST, Certainty.AT_LEAST, rows=rows)


def _of_lengths(given: Given, columns: _Columns) -> _Pairs:
    """Return the pairs of n sequences of T rows, of which the longest has M, from their offsets and M."""
    n, longest = given.tensor("lengths", 1)[0] - 1, given.whole("longest")
    keys_longest = given.whole("longest_keys")
    causal = given.is_on("causal")
    cached = given.places("cached")
    rows = columns.rows
    if n < 1 or longest is None:
        raise UnknownWork("the number of sequences or the longest was not recorded")
    if not given.is_on("pool") and not cached and given.has("k"):
        k = given.tensor("k")
        keys = prod(k[:-2])
    else:
        keys = rows
    if longest < 1 or not n <= rows <= n * longest:
        raise UnknownWork("the lengths of the sequences contradict the number of rows")
    if keys_longest not in (None, longest) or cached or keys != rows:
        return _Pairs(
            None, None, "each sequence has another number of keys than queries, and lengths are on the device"
        )
    bounds = [_balanced_with(rows, n, longest, causal=bool(causal)), _packed(rows, n, longest, causal=bool(causal))]
    least, most = bounds
    window = _window(given, causal=causal)
    if window is not None and rows == n * longest:
        exactly = n * _window_pairs(longest, longest, *window)
        return _Pairs(exactly, rows, f"{n} sequences of {longest}, window {window[0]} to the left")
    if window is not None:
        return _Pairs(None, rows, "the attention has a sliding window, and the lengths of the sequences are unknown")
    assumed = Assumption.ALL_PAIRS if causal is None else None
    if least == most:
        return _Pairs(least, rows, f"{n} sequences of {rows} rows in all, the longest {longest}", assumed=assumed)
    why = f"{n} sequences of {rows} rows in all, the longest {longest} (lower bound: lengths unknown; at most {most}"
    why += f", {most / least:.2f} times as many)" if most > _SAID_FROM * least else ")"
    return _Pairs(least, rows, why, Certainty.AT_LEAST, assumed=assumed)


_SAID_FROM: Final = 1.1


def _of_one(length: int, *, causal: bool) -> int:
    return length * (length + 1) // 2 if causal else length * length


def _balanced(rows: int, n: int, *, causal: bool) -> int:
    """Return the pairs of n sequences that are as equal as possible: the fewest."""
    each, more = divmod(rows, n)
    return (n - more) * _of_one(each, causal=causal) + more * _of_one(each + 1, causal=causal)


def _balanced_with(rows: int, n: int, longest: int, *, causal: bool) -> int:
    rest = _balanced(rows - longest, n - 1, causal=causal) if n > 1 else 0
    return _of_one(longest, causal=causal) + rest


def _packed(rows: int, n: int, longest: int, *, causal: bool) -> int:
    """Return the pairs if as many sequences as possible are the longest, and the others have one row: the most."""
    if longest == 1:
        return n
    full = min((rows - n) // (longest - 1), n)
    left = rows - full * longest - max(n - full - 1, 0) if full < n else 0
    ones = max(n - full - 1, 0)
    last = _of_one(left, causal=causal) if full < n else 0
    return full * _of_one(longest, causal=causal) + last + ones


def _of_rows(given: Given) -> _Pairs:
    """Return the pairs of a batch in which all sequences have the same length."""
    q, k = given.tensor("q", 3, 4), given.tensor("k", 3, 4)
    axis = -2 if given.keys.get("layout") == "bhsd" else -3
    batch, queries, keys = (q[0] if len(q) == 4 else 1), q[axis], k[axis]  # noqa: PLR2004 - the axis of the batch
    if given.places("cached"):
        return _Pairs(None, None, "the keys are in a cache, and their number is on the device")
    causal = given.is_on("causal")
    window = _window(given, causal=causal)
    if window is not None:
        pairs = batch * _window_pairs(queries, keys, *window)
        return _Pairs(pairs, batch * keys, f"{batch} x {queries} x {keys}, window {window[0]} to the left")
    assumed = Assumption.ALL_PAIRS if causal is None else None
    if not causal:
        return _Pairs(batch * queries * keys, batch * keys, f"{batch} x {queries} x {keys}", assumed=assumed)
    seen = queries * keys - queries * (queries - 1) // 2 if queries <= keys else keys * (keys + 1) // 2
    return _Pairs(batch * seen, batch * keys, f"{batch} x {queries} x {keys}, causal: the last query sees all keys")


def _window(given: Given, *, causal: bool | None) -> tuple[int, int | None] | None:
    """Return how many keys to the left and to the right of its own a query sees; None if it sees all."""
    places = given.keys.get("window", ())
    sides = [whole(given.call.value(place)) for place in places]
    left, right = [-1 if side is None else side for side in sides] or (-1, -1)
    if left < 0 and (right < 0 or causal):
        return None
    return (left if left >= 0 else _MAX_ROWS), 0 if causal else (right if right >= 0 else None)


def _window_pairs(queries: int, keys: int, left: int, right: int | None) -> int:
    if max(queries, keys) > _MAX_ROWS:
        raise UnknownWork("more rows than any window is counted for")
    own = np.arange(queries) + keys - queries
    first = np.maximum(own - left, 0)
    last = np.minimum(own + (keys if right is None else right), keys - 1)
    return int(np.maximum(last - first + 1, 0).sum())
