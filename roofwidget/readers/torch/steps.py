"""Steps of inference servers: what the names of annotations say about the requests of a step.

vLLM, SGLang and ATOM name each step by its requests. The sums over the requests give the exact work of attention
without the length of any request.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

_NUMBER: Final = r"\d{1,18}"


@dataclass(frozen=True)
class Requests:
    """The requests of one phase of a step: a request has s queries (tokens of this step) and k keys (with its context).

    Parameters
    ----------
    count
        The number of requests.
    sq, sk
        Sums of s and of k over the requests; None if the name does not say.
    sqsq, sqsk
        Sums of s² and of s k; None if the name does not say.
    """

    count: int = 0
    sq: int | None = 0
    sk: int | None = 0
    sqsq: int | None = 0
    sqsk: int | None = 0

    @property
    def pairs(self) -> int | None:
        """Pairs of a query and a key that a causal mask leaves; None if unknown, or if the sums contradict each other.

        The last query of a request sees all k keys, and each query before it one key less. So a request has s k - (s² -
        s) / 2 pairs.
        """
        if self.sq is None or self.sqsq is None or self.sqsk is None:
            return None
        found = self.sqsk - (self.sqsq - self.sq) // 2
        return found if found >= 0 else None

    def windowed(self, window: int) -> tuple[int, int] | None:
        """Return the fewest and the most pairs if each query sees its last `window` keys at most; None if unknown.

        A request of s queries has at least the pairs of a request without context, and these are at least s W - W (W -
        1) / 2. If each request has one query, the fewest pairs are those of one request that has nearly all keys.
        """
        if self.pairs is None or self.sq is None or self.sk is None:
            return None
        if window >= self.sk - self.count + 1:
            return self.pairs, self.pairs
        most = min(self.pairs, self.sq * window)
        fewest = max(self.sq, self.sq * window - self.count * window * (window - 1) // 2)
        if self.sq == self.count:
            fewest = max(fewest, min(window, self.sk - self.count + 1) + self.count - 1)
        return min(fewest, most), most


@dataclass(frozen=True)
class Step:
    """The requests of a step.

    Parameters
    ----------
    prefill, decode
        The requests of both phases.
    batch
        The number of tokens with padding, by which captured graphs are chosen; None if the name does not say.

    Examples
    --------
    >>> step = step_of("execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk3000sqsq2sqsk3000)")
    >>> step.batch, step.decode.count, step.sk, step.pairs
    (2, 2, 3000, 3000)
    """

    prefill: Requests
    decode: Requests
    batch: int | None = None

    @property
    def count(self) -> int:
        """The number of requests."""
        return self.prefill.count + self.decode.count

    @property
    def sq(self) -> int | None:
        """The number of queries, which is the number of tokens without padding."""
        return _sum(self.prefill.sq, self.decode.sq)

    @property
    def sk(self) -> int | None:
        """The number of keys of all requests."""
        return _sum(self.prefill.sk, self.decode.sk)

    @property
    def sqsq(self) -> int | None:
        """The sum of the squares of the numbers of queries."""
        return _sum(self.prefill.sqsq, self.decode.sqsq)

    @property
    def sqsk(self) -> int | None:
        """The sum of queries times keys."""
        return _sum(self.prefill.sqsk, self.decode.sqsk)

    @property
    def pairs(self) -> int | None:
        """Pairs of a query and a key that a causal mask leaves, of all requests."""
        return _sum(self.prefill.pairs, self.decode.pairs)


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


def step_of(text: str) -> Step | None:
    """Return the step that the name of an annotation describes, or None if it is another annotation.

    Examples
    --------
    >>> step_of("step[EXTEND bs=15 toks=15360]").prefill
    Requests(count=15, sq=15360, sk=None, sqsq=None, sqsk=None)
    >>> step_of("step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sqsk=262144 g_sk=131072]").pairs
    262080
    >>> step_of("ProfilerStep#3") is None
    True
    """
    for pattern, read in ((_VLLM, _vllm), (_SGLANG, _sglang), (_ATOM, _atom)):
        found = pattern.fullmatch(text)
        if found is not None:
            return read(found)
    return None


def captured_batch(text: str) -> int | None:
    """Return the batch of the graph that an annotation of a capture trace names, or None.

    Examples
    --------
    >>> captured_batch("capture_8192_PIECEWISE"), captured_batch("capture")
    (8192, None)
    """
    found = _CAPTURE.fullmatch(text)
    return int(found[1]) if found else None


_CAPTURE: Final = re.compile(rf"capture_({_NUMBER})(?:_[A-Za-z_]{{1,64}})?")
_SUMS: Final = rf"sq{_NUMBER}sk{_NUMBER}sqsq{_NUMBER}sqsk{_NUMBER}|{_NUMBER}(?:_{_NUMBER})?"
_VLLM: Final = re.compile(
    rf"execute_(?:({_NUMBER})_)?context_({_NUMBER})\(({_SUMS})\)_generation_({_NUMBER})\(({_SUMS})\)"
)
_SGLANG: Final = re.compile(r"step\[([A-Z_]{1,32})((?: [a-z_]{1,16}=[^\s\]]{1,64}){0,32})\]")
_ATOM: Final = re.compile(r"(prefill|decode)\[((?: ?[a-z_]{1,16}=(?:\[[\d, ]{0,4096}\]|[\d/]{1,40})){1,32})\]")
_WORDS: Final = re.compile(r"([a-z_]{1,16})=(\[[\d, ]*\]|[\d/]+)")


def _vllm(found: re.Match[str]) -> Step:
    batch, *phases = found.groups()
    prefill, decode = (_vllm_requests(int(phases[at]), phases[at + 1]) for at in (0, 2))
    return Step(prefill, decode, int(batch) if batch else None)


def _vllm_requests(count: int, text: str) -> Requests:
    numbers = [int(number) for number in re.findall(_NUMBER, text)]
    # Some builds of vLLM write the tokens and the sum of their squares, as TraceLens @171dd747 reads them.
    if len(numbers) == 2:  # noqa: PLR2004 - both
        return replace(_of_tokens(count, numbers[0]), sqsq=numbers[1])
    return _of_tokens(count, numbers[0]) if len(numbers) == 1 else Requests(count, *numbers)


def _of_tokens(count: int, tokens: int | None) -> Requests:
    """Return requests of which only the number and the tokens are known."""
    return Requests(count, tokens, None, None, None) if count else Requests()


def _sglang(found: re.Match[str]) -> Step | None:
    words = _words(found[2])
    batch, tokens = words.get("bs"), words.get("toks")
    given = {phase: _sums(words, f"{phase}_") for phase in "cg"}
    if batch is None:
        return None
    kind = found[1]
    if any(sums is not None for sums in given.values()):
        decode = batch if kind == "DECODE" else words.get("g_bs", (given["g"] or {}).get("sq", 0))
        counts = {"c": words.get("c_bs", batch - decode), "g": decode}
        prefill, generation = (
            Requests(counts[phase], **sums) if (sums := given[phase]) is not None else Requests() for phase in "cg"
        )
        return Step(prefill, generation)
    if kind == "DECODE":
        return Step(Requests(), Requests(batch, batch if tokens is None else tokens, None, None, None))
    # Without sums the requests of a mixed step cannot be told apart: those that decode are prefill of one token.
    return Step(_of_tokens(batch, tokens), Requests())


def _sums(words: dict[str, int], prefix: str) -> dict[str, int] | None:
    sums = {name: words.get(prefix + name) for name in ("sq", "sk", "sqsq", "sqsk")}
    known = {name: number for name, number in sums.items() if number is not None}
    return known if len(known) == len(sums) else None


def _words(text: str) -> dict[str, int]:
    """Return the numbers of a text such as ``bs=117/128 tok=117``; the first number of a pair is the one in use."""
    pairs = _WORDS.findall(text)
    return {word: int(number) for word, value in pairs if (number := value.split("/")[0]).isdecimal()}


def _atom(found: re.Match[str]) -> Step | None:
    words = _words(found[2])
    count = words.get("bs")
    if count is None:
        return None
    tokens = words.get("tok")
    sums = _sums(words | ({"sq": tokens} if tokens is not None else {}), "")
    if sums is not None:
        requests = Requests(count, **sums)
    else:
        lengths = [int(number) for number in re.findall(_NUMBER, dict(_WORDS.findall(found[2])).get("ctx", ""))]
        # No request has more queries than keys. So with as many tokens as keys in all, each has as many as keys.
        if lengths and len(lengths) == count and sum(lengths) == tokens:
            squares = sum(length * length for length in lengths)
            requests = Requests(count, tokens, tokens, squares, squares)
        else:
            requests = _of_tokens(count, tokens)
    padded = re.search(rf"(?:^| )bs={_NUMBER}/({_NUMBER})", found[2])
    batch = int(padded[1]) if padded else None
    return Step(requests, Requests(), batch) if found[1] == "prefill" else Step(Requests(), requests, batch)
