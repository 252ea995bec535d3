"""Walks a program of XLA and returns what runs: the rows of a profile, with loops and branches resolved."""

from __future__ import annotations

import re
from typing import Final

from roofwidget.measure.counts import NO_DEVICE, Counts, Grouping, OpCount
from roofwidget.measure.hlo.flops import Flops, Work, is_free
from roofwidget.measure.hlo.scopes import module_of
from roofwidget.measure.hlo.text import Array, Computation, Instruction, Module, parse
from roofwidget.measure.hlo.traffic import Traffic, ranks
from roofwidget.measure.profile import Profile, checked_grouping
from roofwidget.support.did_you_mean import keywords
from roofwidget.support.text_tables import first_few

_MAX_ROWS: Final = 1_000_000
_MAX_RUNS: Final = 10**30
_MAX_NAMED: Final = 5
_FUSION_KIND: Final = re.compile(r"\bkind=k(\w+)")
_PRODUCTS: Final = ("dot", "convolution", "scaled-dot", "custom-call")
_UNFUSED: Final = (
    "operations count as if none were fused, and so move more bytes than the program does; by='fusion' has what runs"
)
_NOTES: Final = {
    "loop": "loops whose number of iterations the text does not say, counted once",
    "branch": "conditionals, of which the branch with most FLOPs counts",
    "custom call": (
        "calls to libraries, whose FLOPs the text does not say, and whose bytes are operands and results, each once"
    ),
    "operation": "operations without a rule for their FLOPs",
    "group": "collectives among an unknown number of chips, whose bytes over the link are unknown",
    "dynamic": "arrays of a dynamic size, counted with the largest",
    "elsewhere": "arrays in the memory of the chip or of the host, which move no bytes of main memory",
}


@keywords("from_hlo_text")
def from_hlo_text(text: str, *, by: Grouping = "fusion", name: str | None = None) -> Profile:
    """Count what a program of XLA runs, from its text. No JAX is needed.

    The body of a loop counts as often as XLA knows that it runs. Of a conditional the branch with most FLOPs counts.
    The FLOPs of calls to libraries are unknown, except those of matrix products and convolutions, whose shapes say
    them. Warnings of the result name what was assumed.

    Parameters
    ----------
    text
        One HLO module: ``compiled.as_text()``, or a file that ``XLA_FLAGS=--xla_dump_to=folder`` writes. The program
        before optimisation, ``lowered.as_text(dialect="hlo")``, can be read too; nothing in it is fused yet.
    by
        What a row is: ``"fusion"``, what runs as one kernel; ``"op"``, an operation, as if none were fused;
        ``"module"``, the kernels of a named scope together.
    name
        The name of the profile; by default the program's.

    Returns
    -------
    Profile
        FLOPs and bytes without times. `Profile.unfused_bytes` are those of all operations on their own, and
        `Profile.compulsory_bytes` those of inputs and outputs alone.

    Raises
    ------
    TypeError
        If an argument is not text.
    ValueError
        If the text is not HLO: the message names the line and what was expected.

    Examples
    --------
    >>> p = from_hlo_text('''HloModule jit_f
    ... ENTRY %main (x: f32[64,128], w: f32[128,32]) -> f32[64,32] {
    ...   %x = f32[64,128]{1,0} parameter(0)
    ...   %w = f32[128,32]{1,0} parameter(1)
    ...   ROOT %dot.1 = f32[64,32]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ... }''')
    >>> p.flops, p.bytes, p.kernels[0].precision
    (524288, 57344, 'fp32')
    """
    grouping = checked_grouping(by)
    program = parse(text)
    return Profile(program.name if name is None else name, count_program(program, grouping), grouping)


def count_program(program: Module, by: Grouping, device: str = NO_DEVICE) -> Counts:
    """Return what a program runs, in the order in which it runs.

    Raises
    ------
    ValueError
        If the program is incomplete or contradicts itself: the message names the line.
    """
    try:
        return _Walk(program, by).counts(device)
    except RecursionError:
        raise ValueError("HLO text: computations are nested too deeply, or one uses itself") from None


class _Walk:
    """Goes through a program once and collects rows, bytes of unfused operations, and notes by kind."""

    def __init__(self, program: Module, by: Grouping) -> None:
        self._program = program
        self._by_op = by == "op"
        self._flops = Flops(program)
        self._traffic = Traffic(program)
        self._rows: list[OpCount] = []
        self._unfused = 0
        self._notes: dict[str, dict[str, None]] = {kind: {} for kind in _NOTES}

    def counts(self, device: str) -> Counts:
        self._run(self._program.entry, 1)
        return Counts(
            tuple(self._rows),
            self._traffic.compulsory(),
            self._unfused,
            device=device,
            warnings=tuple(self._warnings()),
        )

    def _run(self, computation: Computation, runs: int) -> None:
        """Add rows for what a computation runs, as often as it runs."""
        if runs > _MAX_RUNS:
            raise ValueError(f"HLO text: '{computation.name}' runs more than 10^30 times")
        for at in computation.instructions.values():
            if is_free(at):
                continue
            if at.opcode == "while":
                self._loop(at, runs)
            elif at.opcode == "conditional":
                self._branch(at, runs)
            elif at.opcode in {"call", "async-start"}:
                self._called(at, runs, "to_apply", "calls", "called_computations")
            elif at.opcode == "fusion" and self._by_op:
                self._run(self._traffic.fused(at), runs)
            else:
                row = self._row(at, runs)
                is_fused = at.opcode == "fusion"
                self._unfused += runs * self._traffic.unfused(at) if is_fused else row.bytes or 0
                self._rows.append(row)
                if len(self._rows) > _MAX_ROWS:
                    raise ValueError(f"HLO text: more than {_MAX_ROWS:,} instructions run")

    def _loop(self, at: Instruction, runs: int) -> None:
        trips = self._flops.loops.trip_count(at)
        if trips is None:
            self._note("loop", at.name)
        self._called(at, runs * (1 if trips is None else trips), "body")
        # The condition is also true when the loop ends.
        self._called(at, runs * (1 if trips is None else trips + 1), "condition")

    def _branch(self, at: Instruction, runs: int) -> None:
        branch = self._flops.dearest(at)
        if branch is not None:
            self._note("branch", f"{branch.name} of {at.name}")
            self._run(branch, runs)

    def _called(self, at: Instruction, runs: int, *attributes: str) -> None:
        if runs:
            for computation in self._program.called(at, *attributes):
                self._run(computation, runs)

    def _row(self, at: Instruction, runs: int) -> OpCount:
        work = self._flops.of(at)
        for kind, name in work.unknown:
            self._note(kind, name or at.name)
        self._note_arrays(at)
        network = self._traffic.network(at)
        if network is None:
            self._note("group", at.name)
        return OpCount(
            at.name,
            None if work.flops is None else _by_class(work, runs),
            runs * self._traffic.read(at),
            runs * self._traffic.written(at),
            precision=_precision(work, at.results),
            module=module_of(at.op_name),
            shapes=", ".join(
                "×".join(map(str, array.dims)) for each in at.inputs for array in each.results if array.dims
            ),
            category=self._category(at),
            count=runs,
            network_bytes=None if network is None else runs * network,
        )

    def _category(self, at: Instruction) -> str:
        if at.target:
            return at.target
        if at.opcode != "fusion":
            return at.kind
        inside = {each.opcode for each in self._traffic.fused(at).instructions.values()}
        product = next((opcode for opcode in _PRODUCTS if opcode in inside), None)
        kind = at.attribute(_FUSION_KIND) or "loop"
        return f"{product or kind.lower()} fusion"

    def _note(self, kind: str, name: str) -> None:
        self._notes[kind][name] = None

    def _note_arrays(self, at: Instruction) -> None:
        for array in at.results:
            if array.is_dynamic:
                self._note("dynamic", at.name)
            if not self._program.in_main_memory(array) and array.dims:
                self._note("elsewhere", at.name)

    def _warnings(self) -> list[str]:
        found = []
        chips = ranks(self._program)
        if chips > 1:
            found.append(f"the program runs on {chips:,} chips at once; FLOPs and bytes are those of one")
        if self._by_op and any(each.opcode == "fusion" for each in self._program.entry.instructions.values()):
            found.append(_UNFUSED)
        for kind, text in _NOTES.items():
            if self._notes[kind]:
                found.append(f"{text}: {first_few(list(self._notes[kind]), _MAX_NAMED)}")
        return found


def _by_class(work: Work, runs: int) -> dict[str, int]:
    """Return FLOPs by class, of all precisions together."""
    total: dict[str, int] = {}
    for (name, _), flops in (work.flops or {}).items():
        total[name] = total.get(name, 0) + runs * flops
    return {name: flops for name, flops in total.items() if flops}


def _precision(work: Work, results: tuple[Array, ...]) -> str | None:
    """Return the precision of most FLOPs of matrix products; without these, of most FLOPs; without any, of the data."""
    ranked = [
        (name == "tensor", flops, precision)
        for (name, precision), flops in (work.flops or {}).items()
        if precision is not None
    ]
    if ranked:
        return max(ranked)[2]
    return next((array.precision for array in results if array.precision), None)
