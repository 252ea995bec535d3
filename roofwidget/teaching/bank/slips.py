"""Wrong answers that learners often give to exercises with a number: prefixes, factors of two, inverses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from roofwidget.teaching.question import Question, is_near

_PREFIX: Final = 1e3
_GIB: Final = 2**30 / 1e9
_HAVE_PREFIXES: Final = frozenset({"B", "B/s", "FLOP", "FLOP/s", "s", "MAC"})
_QUOTIENTS: Final = {
    "FLOP/B": "This is bytes for each FLOP. The question asks for FLOPs for each byte.",
    "FLOP/word": "This is words for each FLOP. The question asks for FLOPs for each word.",
    "B/FLOP": "This is FLOPs for each byte. The question asks for bytes for each FLOP.",
}
_FLOPS_AND_BYTES: Final = (
    "A multiply-add is 2 FLOPs. Bytes are read and written. One of them may be counted once too often or too seldom."
)


def _usual(question: Question) -> Iterator[tuple[float, str]]:
    """Yield the wrong answers that the unit of a question suggests."""
    answer, unit = question.answer, question.unit
    if unit in _QUOTIENTS:
        yield 1 / answer, _QUOTIENTS[unit]
    if unit in _QUOTIENTS or unit in _HAVE_PREFIXES:
        yield 2 * answer, _FLOPS_AND_BYTES
        yield answer / 2, _FLOPS_AND_BYTES
    if unit in _HAVE_PREFIXES:
        wrong_prefix = "A prefix is wrong: from k to M, from M to G and from G to T it is a factor of 10³ each."
        yield _PREFIX * answer, wrong_prefix
        yield answer / _PREFIX, wrong_prefix
    if unit == "B":
        binary = "GB and GiB are different: 1 GiB is 2³⁰ bytes."
        yield _GIB * answer, binary
        yield answer / _GIB, binary
    if unit == "%":
        yield answer / 100, "This is the share. The question asks for it in %."
    if unit == "tokens":
        yield 2 * answer, "Check the bytes of a weight: a multiply-add of 2 FLOPs belongs to each."
        yield answer / 2, "Check the FLOPs of a weight: a multiply-add is 2 FLOPs."


def with_usual_slips(question: Question) -> Question:
    """Return a question with a number and the wrong answers that its unit suggests, after those of its own."""
    if question.kind not in ("number", "drag"):
        return question
    found = dict(question.wrong_answers)
    for number, said in _usual(question):
        near = (question.answer, *found)
        if not any(is_near(number, other, float(question.tolerance or 0)) for other in near):
            found[number] = said
    return replace(question, wrong_answers=found)
