"""The work of a call: from rules of people, amounts of a compiler, our formulas and rules, or an estimate."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Final

from roofwidget.readers.torch.calls import NotEnoughArguments, OpCall, OpWork
from roofwidget.readers.torch.compiled import compiled_work, estimated_work, is_compiled
from roofwidget.readers.torch.formulas import FORMULAS, VALUED
from roofwidget.readers.torch.rules import WorkRules, built_in, rule_for

_MAX_WORK: Final = 1e30


def work_of(call: OpCall, rules: Sequence[WorkRules] = ()) -> OpWork | None:
    """Return the work of a call, or None if nothing is known of it.

    Parameters
    ----------
    call
        The call.
    rules
        Rules of people; those of the first have precedence.

    Examples
    --------
    >>> call = OpCall("aten::addmm", [[512], [141, 512], [512, 512], [], []], ["bf16"] * 3 + ["Scalar"] * 2)
    >>> work_of(call).flops, work_of(call).bytes
    (73924608, 814080)
    """
    work = _work_of(call, rules)
    return None if work is None else work._replace(flops=_bounded(work.flops), bytes=_bounded(work.bytes))


def _bounded(amount: float | None) -> float | None:
    """Return an amount, or None if it is absurd: arguments of a trace may have any size."""
    return amount if amount is not None and 0 <= amount <= _MAX_WORK else None


def _work_of(call: OpCall, rules: Sequence[WorkRules]) -> OpWork | None:
    work: OpWork | None = None
    for given in rules:
        rule = rule_for(given, call.name)
        if rule is not None and "part_of" not in rule.keys:
            work = _filled(work, rule.work(call))
    return _filled(work, _without_rules(call)) if work is None or None in (work.flops, work.bytes) else work


def _without_rules(call: OpCall) -> OpWork | None:
    work = _filled(compiled_work(call), _by_formula(call))
    if work is None or not work.is_known:
        rule = rule_for(built_in(), call.name)
        found = None if rule is None else rule.work(call)
        work = work if found is None else found
    return _filled(work, estimated_work(call))


def _by_formula(call: OpCall) -> OpWork | None:
    formula = FORMULAS.get(call.name)
    try:
        return None if formula is None else formula(call)
    except NotEnoughArguments:
        return None


def _filled(work: OpWork | None, other: OpWork | None) -> OpWork | None:
    """Return the first work; what it does not know is that of the other."""
    if work is None or other is None:
        return work or other
    if work.flops is None and other.flops is not None:
        work = work._replace(
            flops=other.flops,
            rule=other.rule,
            vector=other.vector,
            flops_are=other.flops_are,
            assumed=other.assumed,
            detail=other.detail,
        )
    if work.bytes is None and other.bytes is not None:
        work = work._replace(bytes=other.bytes, bytes_rule=other.bytes_rule, bytes_are=other.bytes_are)
    return work._replace(
        family=work.family or other.family, rule=work.rule or other.rule, precision=work.precision or other.precision
    )


def is_ruled(name: str) -> bool:
    """Whether this package has a formula or a rule for an operation.

    Examples
    --------
    >>> is_ruled("aten::mm"), is_ruled("aten::_fused_adamw_"), is_ruled("my::mlp")
    (True, True, False)
    """
    return name in FORMULAS or rule_for(built_in(), name) is not None


class _KeepsValues(Container[str]):
    """The names of operations whose work may depend on arguments that are not tensors."""

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        namespace = name.partition("::")[0]
        return (
            name in VALUED
            or is_compiled(name)
            or ("::" in name and namespace not in _UNVALUED)
            or rule_for(built_in(), name) is not None
        )


# Operations whose other arguments differ from call to call, such as the numbers of collectives.
_UNVALUED: Final = ("aten", "c10d", "_c10d_functional", "prim", "profiler", "autograd", "quantized")
KEEPS_VALUES: Final = _KeepsValues()
"""Operations whose work depends on arguments that are not tensors."""
