"""The form of attention: pairs of a query and a key, from annotations of steps, offsets of sequences, or axes."""

from __future__ import annotations

from math import prod
from typing import Final, NamedTuple, TypeAlias

from roofwidget.readers.torch.calls import Assumption, Certainty, Dims, NotEnoughArguments, OpWork, whole
from roofwidget.readers.torch.given import Given, Number, times, total
from roofwidget.readers.torch.steps import Requests, Step

UNKNOWN: Final = "unknown: "
"""How a rule begins that says what is missing."""
PAIRS: Final = ("step", "lengths", "full")
"""How the pairs of attention are counted: by the annotation of the step, by offsets of sequences, by the axes."""

_Window: TypeAlias = "tuple[int | None, int | None]"
"""Keys to the left and to the right of a query's own; None without limit."""


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
    """Rows of queries, and columns of all heads: H d of queries, H dv of the output, of a row of keys and values.

    Columns of a second tensor of queries are among those of queries.
    """

    rows: int
    q: int
    out: int
    kv: int


def attention(given: Given) -> OpWork:
    """Count 2 H (d + dv) P, where P is the number of pairs of a query and a key."""
    columns = _columns(given)
    pairs = _pairs(given, columns)
    backward = given.is_on("backward")
    q, out = _latent_columns(given, columns) or (columns.q, columns.out)
    each = 6 * q + 4 * out if backward else 2 * (q + out)
    flops = None if pairs.pairs is None else each * pairs.pairs
    letters = "(6 H d + 4 H dv) P" if backward else "2 H (d + dv) P"
    rule = f"{letters}, H d = {q}, H dv = {out}, P = {pairs.pairs}: {pairs.why}"
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
    more = columns(given.tensor("q_v", 2, 3, 4)) if given.has("q_v") else 0
    return _Columns(prod(q) // max(of_q, 1), of_q + more, out, kv)


def _latent_columns(given: Given, columns: _Columns) -> tuple[int, int] | None:
    """Return H d and H dv on latent keys, which all heads share; None if the call has keys of each head.

    A step that only decodes multiplies queries with the latent keys themselves, of all columns of a row of the cache,
    and the weights with the latent part of these rows. A step of prefill expands the keys of each head first.
    """
    step = given.call.step
    if "latent" not in given or step is None or step.prefill.count or not step.decode.count:
        return None
    q = given.tensor("q", 3)
    return q[-2] * columns.kv, q[-2] * given.count("latent")


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
    for place in given.keys.get("other_mask", ()):
        if (whole(given.call.value(place)) or 0) > 0:
            return _Pairs(None, None, f"the pairs that the mask of argument {place} leaves")
    # Without a cache a call has the keys of its arguments, whatever the annotation of its step says.
    if kind == "step" and (_reads_cache(given) or "lengths" not in given):
        found = _of_step(given, columns)
        if found is not None:
            return found
        if not given.has("lengths"):
            return _without_step(given, columns)
    return _of_lengths(given, columns) if given.has("lengths") else _of_rows(given)


def _reads_cache(given: Given) -> bool:
    return bool(given.is_on("pool") or given.places("cached"))


def _of_step(given: Given, columns: _Columns) -> _Pairs | None:
    """Return the pairs of the step; None if there is no step, or the call has fewer rows than the step."""
    window, why = _window_of_call(given)
    step = given.call.step
    requests = None if step is None else _phase(step, given)
    if requests is None or requests.pairs is None or requests.sq is None or not 0 < requests.sq <= columns.rows:
        return None
    if "causal" in given and given.is_on("causal") is False:
        missing = "the keys of each request: the call is not causal, so its pairs are not those of its step"
        return _Pairs(None, None, missing) if given.places("cached") else None
    why = f"the step's annotation, {why}"
    if window is None:
        if given.keys.get("windows"):
            return _Pairs(None, None, "which call of the step this is, and so which of the windows it has")
        why = f"{why} (at most: a window would be less)"
        are = Certainty.ESTIMATE
        return _Pairs(requests.pairs, requests.sk, why, are, are, requests.sq, Assumption.NO_WINDOW)
    if not window:
        return _Pairs(requests.pairs, requests.sk, why, rows=requests.sq)
    parts = [part for part in _parts(step, given) if part.count]
    bounds = [part.windowed(window) for part in parts]
    least, most = (sum(bound[at] for bound in bounds if bound is not None) for at in (0, 1))
    are = Certainty.EXACT if least == most else Certainty.AT_LEAST
    why += "" if least == most else f" (lower bound: lengths unknown; at most {most})"
    # The keys of the queries themselves are in their windows.
    keys = requests.sk if window >= (requests.sk or 0) else requests.sq
    keys_are = Certainty.EXACT if keys == requests.sk else Certainty.AT_LEAST
    return _Pairs(least, keys, why, are, keys_are, rows=requests.sq)


def _window_of_call(given: Given) -> tuple[int | None, str]:
    """Return how many keys a causal query sees at most, itself included, and who says so; 0: all, None: unknown."""
    windows = given.keys.get("windows")
    if windows:
        nth = given.call.nth
        if len(windows) > 1 and nth is None:
            return None, ""
        window = int(windows[(nth or 0) % len(windows)])
        return window, f"window {window} by the rule" if window else "no window by the rule"
    left = [whole(given.call.value(place)) for place in given.keys.get("window", ())[:1]]
    if not left or left[0] is None:
        return None, "without a sliding window"
    return (left[0] + 1, f"window {left[0] + 1} by the call") if left[0] >= 0 else (0, "no window by the call")


def _parts(step: Step | None, given: Given) -> tuple[Requests, Requests]:
    """Return the requests of prefill and of decode to which the call attends."""
    phase = given.word("phase", ("all", "prefill", "decode"), "all")
    none = Requests()
    if step is None:
        return none, none
    return step.prefill if phase != "decode" else none, step.decode if phase != "prefill" else none


def _phase(step: Step, given: Given) -> Requests:
    """Return the requests that the call attends to, as one."""
    parts = _parts(step, given)
    sums = {word: total(getattr(part, word) for part in parts) for word in ("sq", "sk", "sqsq", "sqsk")}
    return Requests(sum(part.count for part in parts), **sums)


def _without_step(given: Given, columns: _Columns) -> _Pairs:
    """Return what is known without sums of a step: the queries of prefill see at least themselves."""
    prefill, decode = _parts(given.call.step, given)
    missing = given.keys.get("missing", "an annotation of the step with sums over its requests (sq, sk, sqsq, sqsk)")
    keys = columns.rows if given.has("k") and not _reads_cache(given) else None
    if not prefill.count or prefill.sq is None or prefill.sq > columns.rows:
        return _Pairs(None, keys, f"the keys are in a cache; needs {missing}", keys_are=Certainty.AT_LEAST)
    if prefill.sqsq is None:
        own, lengths = _balanced(prefill.sq, prefill.count, causal=True), "equal lengths"
    else:
        own, lengths = (prefill.sqsq + prefill.sq) // 2, "the squares of the lengths"
    least = own + (decode.sq or 0)
    why = f"{lengths} without context (lower bound: lengths unknown); exact with {missing}"
    rows = total([prefill.sq, decode.sq])
    return _Pairs(least, rows, why, Certainty.AT_LEAST, Certainty.AT_LEAST, rows=rows)


def _of_lengths(given: Given, columns: _Columns) -> _Pairs:
    """Return the pairs of n sequences of T rows, of which the longest has M, from their offsets and M."""
    n, longest = given.tensor("lengths", 1)[0] - 1, given.whole("longest")
    keys_longest = given.whole("longest_keys")
    causal = given.is_on("causal")
    cached = given.places("cached")
    rows = columns.rows
    if n < 1 or longest is None:
        raise NotEnoughArguments("the number of sequences or the longest was not recorded")
    if not given.is_on("pool") and not cached and given.has("k"):
        k = given.tensor("k")
        keys = prod(k[:-2])
    else:
        keys = rows
    if longest < 1 or not n <= rows <= n * longest:
        raise NotEnoughArguments("the lengths of the sequences contradict the number of rows")
    if not cached and not causal and (rows, keys) == (n * longest, n * (keys_longest or longest)):
        return _of_batch(given, n, longest, keys_longest or longest)
    if keys_longest not in (None, longest) or cached or keys != rows:
        return _Pairs(
            None, None, "each sequence has another number of keys than queries, and lengths are on the device"
        )
    bounds = [_balanced_with(rows, n, longest, causal=bool(causal)), _packed(rows, n, longest, causal=bool(causal))]
    least, most = bounds
    window = _window(given, causal=causal)
    if window is not None:
        exactly = n * _window_pairs(longest, longest, *window) if rows == n * longest else None
        missing = "the lengths of the sequences, because the attention has a sliding window"
        return _Pairs(exactly, rows, missing if exactly is None else f"{n} x {longest}, {_window_text(window)}")
    own = _of_own_tokens(given, rows, n, causal=bool(causal))
    if own is not None and least <= own <= most:
        return _Pairs(own, rows, "the step's annotation, the tokens of each request among themselves")
    assumed = Assumption.ALL_PAIRS if causal is None else None
    if least == most:
        return _Pairs(least, rows, f"{n} sequences of {rows} rows in all, the longest {longest}", assumed=assumed)
    why = f"{n} sequences of {rows} rows in all, the longest {longest} (lower bound: lengths unknown; at most {most}"
    why += f", {most / least:.2f} times as many)" if most > _SAID_FROM * least else ")"
    return _Pairs(least, rows, why, Certainty.AT_LEAST, assumed=assumed)


_SAID_FROM: Final = 1.1


def _of_own_tokens(given: Given, rows: int, n: int, *, causal: bool) -> int | None:
    """Return the pairs of the tokens of a step's requests among themselves; None if the step has other requests."""
    step = given.call.step
    for part in () if step is None else (_phase(step, given), step.prefill):
        if (part.sq, part.count) == (rows, n) and part.sqsq is not None:
            return (part.sqsq + rows) // 2 if causal else part.sqsq
    return None


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
    if given.places("cached"):
        return _Pairs(None, None, "the keys are in a cache, and their number is on the device")
    return _of_batch(given, q[0] if len(q) == 4 else 1, q[axis], k[axis])  # noqa: PLR2004 - the axis of the batch


def _of_batch(given: Given, batch: int, queries: int, keys: int) -> _Pairs:
    causal = given.is_on("causal")
    window = _window(given, causal=causal)
    if window is not None:
        pairs = batch * _window_pairs(queries, keys, *window)
        return _Pairs(pairs, batch * keys, f"{batch} x {queries} x {keys}, {_window_text(window)}")
    assumed = Assumption.ALL_PAIRS if causal is None else None
    if not causal:
        return _Pairs(batch * queries * keys, batch * keys, f"{batch} x {queries} x {keys}", assumed=assumed)
    seen = queries * keys - queries * (queries - 1) // 2 if queries <= keys else keys * (keys + 1) // 2
    return _Pairs(batch * seen, batch * keys, f"{batch} x {queries} x {keys}, causal: the last query sees all keys")


def _window(given: Given, *, causal: bool | None) -> _Window | None:
    """Return how many keys to the left and to the right of its own a query sees; None if it sees all."""
    sides = [whole(given.call.value(place)) for place in given.keys.get("window", ())]
    left, right = [None if side is None or side < 0 else side for side in sides] or (None, None)
    if left is None and (right is None or causal):
        return None
    return left, 0 if causal else right


def _window_text(window: _Window) -> str:
    left, right = ("all" if side is None else side for side in window)
    return f"window {left} to the left" if right == 0 else f"window {left} to the left, {right} to the right"


def _window_pairs(queries: int, keys: int, left: int | None, right: int | None) -> int:
    """Return the pairs of queries, of which the last sees the last key, and of the keys in their windows."""

    def up_to(offset: int | None) -> int:
        """Return the pairs of all queries and the keys up to the own one plus `offset`."""
        if offset is None:
            return queries * keys
        last = keys + offset
        return _sum_to(last, keys) - _sum_to(last - queries, keys)

    return up_to(right) - (0 if left is None else up_to(-left - 1))


def _sum_to(last: int, most: int) -> int:
    """Return the sum of the whole numbers up to `last`, each at least 0 and at most `most`."""
    rising = max(min(last, most), 0)
    return rising * (rising + 1) // 2 + max(last - most, 0) * most
