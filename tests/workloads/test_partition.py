"""Partitions: what a group moves, which merges are refused, splitting, recomputing, capacity and presets."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable, Collection, Iterable
from typing import Any

import pytest

from roofwidget.chips import Chip, Memory, MissingFigureError
from roofwidget.workloads import Graph, Tensor, chain, dim, search
from roofwidget.workloads.capacity import Capacity
from roofwidget.workloads.legality import FusionError, Refusal, Rules
from roofwidget.workloads.masks import members
from roofwidget.workloads.partition import Partition
from roofwidget.workloads.structure import Structure
from tests.tables import has_columns

CHIP = Chip("chip", {"bf16": 1e15, "vector": 2e13}, {"HBM": 1e12})
SIZE = 1000 * 1000 * 2


def made(text: str, *, outputs: str = "", shape: tuple[Any, ...] = (1000, 1000)) -> Graph:
    """Return a graph written as ``name kind: inputs > outputs; …``; what is not an output of an op is an input."""
    graph = Graph("made")
    found: dict[str, Tensor] = {}
    for step in text.split(";"):
        left, _, right = step.partition(":")
        name, kind = left.split()
        reads, _, writes = right.partition(">")
        for word in reads.split():
            if word not in found:
                found[word] = graph.input(word, shape, "bf16")
        written = [Tensor(word, shape, "bf16") for word in writes.split()]
        found |= {one.name: one for one in written}
        graph.op(kind, name, [found[word] for word in reads.split()], written, 1_000_000)
    graph.output(*(outputs.split() or [list(found)[-1]]))
    return graph


TAIL = "ln reduction: x > y; gelu elementwise: y > z; drop elementwise: z > d; add elementwise: d r > out"
SAME = TAIL.replace("d r", "d x")


def refused(partition: Partition, a: str, b: str, **options: Any) -> Refusal:
    refusal = partition.why_not(a, b, **options)
    assert refusal is not None
    return refusal


# -- the guide's four ops ----------------------------------------------------------------------------------------------


def test_a_chain_moves_half_at_two_kernels_and_a_quarter_at_one() -> None:
    graph = chain([("LayerNorm", 10), ("GELU", 8), ("Dropout", 1), ("Add", 1)], elements=268_435_456)
    one = [Partition.unfused(graph), Partition.pairs(graph), Partition.fully(graph)]
    assert [part.total_bytes() for part in one] == [4_294_967_296, 2_147_483_648, 1_073_741_824]
    assert {part.total_flops() for part in one} == {5_368_709_120}
    assert Partition.pairs(graph).groups == (("LayerNorm", "GELU"), ("Dropout", "Add"))
    guide = Chip("guide", {"bf16": 2.307e15}, {"HBM": 7.2e12})
    times = [part.time(guide) for part in one]
    assert [times[0] / time for time in times] == pytest.approx([1, 2, 4])
    assert [5_368_709_120 / time / 1e12 for time in times] == pytest.approx([9, 18, 36])


def test_a_residual_of_its_own_makes_it_nine_passes_or_three() -> None:
    graph = made(TAIL, shape=(65536, 4096))
    passes = 65536 * 4096 * 2
    assert Partition.unfused(graph).total_bytes() == 9 * passes == 4_831_838_208
    assert Partition.fully(graph).total_bytes() == 3 * passes == 1_610_612_736


def test_a_residual_that_is_the_normalised_input_makes_it_nine_passes_or_two() -> None:
    graph = made(SAME, shape=(65536, 4096))
    assert Partition.unfused(graph).total_bytes() == 4_831_838_208
    assert Partition.fully(graph).total_bytes() == 1_073_741_824
    assert (Partition.unfused(graph).excess(), Partition.fully(graph).excess()) == (4.5, 1.0)


def test_the_same_with_the_operators_of_a_graph() -> None:
    graph = Graph()
    x = graph.input("x", (65536, 4096), "bf16")
    graph.output(graph.add(graph.dropout(graph.gelu(graph.layernorm(x))), x))
    assert Partition.unfused(graph).total_bytes() == graph.count("bytes")
    assert Partition.fully(graph).total_bytes() == graph.count("compulsory")


# -- what a group is ---------------------------------------------------------------------------------------------------


def test_a_kernel_has_the_names_flops_bytes_and_precision_of_its_group() -> None:
    table = Partition(made(TAIL), [["ln"], ["gelu", "drop", "add"]]).kernels()
    has_columns(
        table,
        names=["ln", "gelu + drop + add"],
        flops_by_precision={"vector": [1e6, 3e6]},
        bytes=[2 * SIZE, 3 * SIZE],
        precision=["bf16", "bf16"],
    )


def test_the_largest_floating_point_tensor_that_leaves_gives_the_precision() -> None:
    graph = Graph()
    x = graph.input("x", (64, 64), "bf16")
    graph.op("elementwise", "both", [x], [Tensor("small", (64,), "fp32"), Tensor("large", (64, 64), "bf16")], 64)
    graph.op("reduction", "place", [x], [Tensor("index", (64, 64), "int32")], 64)
    graph.op("matmul", "product", [x], [Tensor("p", (64, 64), "fp32")], 64, precision="tf32")
    graph.op("injective", "move", [x], [Tensor("m", (64, 64), "fp32")], 0)
    assert Partition.unfused(graph).kernels().precision.tolist() == ["bf16", "bf16", "tf32", None]


def test_time_is_the_sum_of_the_bounds() -> None:
    parts = Partition.unfused(made(TAIL))
    moved = SIZE * 9 / 1e12
    assert parts.time(CHIP) == pytest.approx(moved)
    assert parts.time(CHIP, launch_overhead="1 ms") == pytest.approx(4e-3)
    slow = Chip("slow", {"bf16": 1e15, "vector": 1e9}, {"HBM": 1e12})
    assert parts.time(slow) == pytest.approx(4e-3)


def test_a_precision_judges_every_kernel() -> None:
    twice = Chip("twice", {"bf16": 1e9, "fp8": 2e9}, {"HBM": 1e15})
    parts = Partition.unfused(made(TAIL))
    assert parts.time(twice) == pytest.approx(4e-3)
    assert parts.time(twice, "fp8") == pytest.approx(2e-3)
    with pytest.raises(MissingFigureError, match="fp64"):
        parts.time(Chip("other", {"fp64": 1e12}, {"HBM": 1e12}))


def test_counts_are_expressions_over_dimensions() -> None:
    batch = dim("batch", 1, 64, default=4)
    parts = Partition.unfused(made(TAIL, shape=(batch, 1000))).fuse("gelu", "drop")
    assert str(parts.total_bytes()) == "14000·batch"
    assert str(parts.compulsory_bytes) == "6000·batch"
    assert parts.kernels({"batch": 2}).bytes.sum() == 28000
    assert parts.excess() == pytest.approx(14 / 6)


def test_a_graph_output_inside_a_group_is_still_written() -> None:
    parts = Partition.fully(made(TAIL, outputs="out z"))
    assert (len(parts), parts.total_bytes(), parts.compulsory_bytes) == (1, 4 * SIZE, 4 * SIZE)


def test_extra_bytes_stay_with_their_op() -> None:
    graph = Graph()
    x = graph.input("x", (8,), "fp32")
    y, z = Tensor("y", (8,), "fp32"), Tensor("z", (8,), "fp32")
    graph.op("elementwise", "a", [x], [y], 8, extra_bytes=5)
    graph.op("elementwise", "b", [y], [z], 8, extra_bytes=7)
    assert Partition.fully(graph).bytes("a") == 64 + 12


def test_a_partition_is_a_value() -> None:
    graph = made(TAIL)
    one = Partition.unfused(graph).fuse("ln", "gelu").fuse("drop", "add")
    assert one == Partition(graph, [["add", "drop"], ["gelu", "ln"]])
    assert hash(one) == hash(Partition(graph, [[0, 1], [2, 3]]))
    assert one != Partition.unfused(graph)
    assert one != 1
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one  # noqa: S301 - our own bytes
    assert repr(one) == "Partition('made': 4 ops in 2 kernels, 10 MB, 1.7× the compulsory bytes; textbook)"
    assert (one.indices, len(one)) == (((0, 1), (2, 3)), 2)
    assert pickle.loads(pickle.dumps(one)).fuse("gelu", "drop") == one.fuse("gelu", "drop")  # noqa: S301 - our own bytes


def test_the_text_of_a_partition_counts_one_op_and_one_kernel_at_the_defaults_of_the_dimensions() -> None:
    batch = dim("batch", 1, 64, default=4)
    alone = Partition.unfused(made("a elementwise: x > y", shape=(batch, 1000)))
    assert repr(alone) == "Partition('made': 1 op in 1 kernel, 16 kB, 1× the compulsory bytes; textbook)"
    two = Partition.fully(made("a elementwise: x > y; b elementwise: y > z", shape=(batch, 1000)))
    assert repr(two) == "Partition('made': 2 ops in 1 kernel, 16 kB, 1× the compulsory bytes; textbook)"
    assert "<caption>&#x27;made&#x27;: 2 ops in 1 kernel, 16 kB, 1× the" in two._repr_html_()
    assert '<th scope="row">a, b</th><td>2</td>' in two._repr_html_()


def test_the_excess_depends_on_the_dimensions() -> None:
    batch = dim("batch", 1, 64, default=4)
    graph = Graph()
    y = graph.matmul(graph.input("x", (batch, 8), "bf16"), graph.input("w", (8, 8), "bf16"))
    graph.output(graph.gelu(y))
    # A pass of the batch has 16·batch bytes, and the weights have 128.
    parts = Partition.unfused(graph)
    assert [parts.excess(dims) for dims in (None, {"batch": 8})] == [(4 * 64 + 128) / 256, (4 * 128 + 128) / 384]
    assert Partition.unfused(Graph("nothing")).excess() == 1


def test_the_precision_of_a_time_is_text() -> None:
    with pytest.raises(TypeError, match=r"^precision must be text, got 8"):
        Partition.unfused(made(TAIL)).time(CHIP, 8)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([["ln", "gelu"], ["drop"]], "no group has add; every op must be in one"),
        ([["ln", "gelu"], ["gelu", "drop"], ["add"]], "op 'gelu' is in two groups"),
        ([["ln", "ln"], ["gelu", "drop", "add"]], "a group has op 'ln' twice"),
        ([["ln", "gleu"]], "graph 'made' has no op 'gleu'; did you mean 'gelu'"),
        ([["ln"], []], "^a group has no ops$"),
        ([["ln"], ["fft"]], "graph 'made' has no op 'fft'; it has 4 ops$"),
        ([[0, 1], [2, 4]], "graph 'made' has no op 4"),
    ],
)
def test_groups_that_are_no_partition_are_refused(groups: list[list[str]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Partition(made(TAIL), groups)


def test_groups_are_lists_of_lists() -> None:
    for groups, message in (
        (7, "groups must be a list such as [['gelu', 'add'], ['norm']], got 7"),
        ([7], "a group must be a list such as ['gelu', 'add'], got 7"),
    ):
        with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
            Partition(made(TAIL), groups)  # type: ignore[arg-type]


def test_given_groups_must_fit_on_a_chip_at_the_dimensions() -> None:
    rows = dim("rows", 1, 4096, default=1000)
    graph = made("ln reduction: x > y; gelu elementwise: y > z", shape=(4, rows))
    groups, chip = [["ln", "gelu"]], with_smem(2000)
    assert Partition(graph, groups) == Partition(graph, groups, chip=chip) == Partition.fully(graph)
    for how in ({"chip": with_smem(1999)}, {"chip": chip, "dims": {"rows": 1001}}):
        with pytest.raises(FusionError, match=r"^the tiles of ln \+ gelu need 2(\.002)? kB at a time"):
            Partition(graph, groups, **how)


def test_given_groups_with_reductions_over_different_axes_need_a_chip() -> None:
    graph = Graph("both")
    x = graph.input("x", (64, 64), "bf16")
    for axis in (0, 1):
        graph.op("reduction", f"over{axis}", [x], [Tensor(f"y{axis}", (64,), "bf16")], 64, axes=[axis])
    with pytest.raises(FusionError, match="name the chip that holds this much") as error:
        Partition(graph, [["over0", "over1"]])
    assert error.value.refusal.code == "axes"
    assert len(Partition(graph, [["over0", "over1"]], chip=with_smem(8192))) == 1
    assert len(Partition.on_some_chip(graph, [["over0", "over1"]])) == 1


def test_text_is_no_group() -> None:
    with pytest.raises(TypeError, match="a group is a list of ops"):
        Partition(made(TAIL), ["ln", "gelu"])


def test_a_group_is_found_by_an_op_by_its_place_and_by_all_its_ops() -> None:
    parts = Partition(made(TAIL), [["ln"], ["gelu", "drop", "add"]])
    op = parts.graph.ops[3]
    assert {parts.bytes("drop"), parts.bytes(op), parts.bytes(1), parts.bytes(["add", "gelu", "drop"])} == {3 * SIZE}
    with pytest.raises(ValueError, match=r"there is no group 2: the partition has 2"):
        parts.bytes(2)
    with pytest.raises(ValueError, match=r"no group of the partition is gelu \+ drop"):
        parts.bytes(["gelu", "drop"])


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_ops_that_share_no_tensor_are_not_merged() -> None:
    refusal = refused(Partition.unfused(made(TAIL)), "ln", "add")
    assert (refusal.code, str(refusal)) == ("not-connected", "ln and add share no tensor")


def test_a_group_in_three_parts_is_refused_with_the_names_of_two() -> None:
    graph = made("a elementwise: x > p; b elementwise: y > q; c elementwise: z > r", outputs="p q r")
    with pytest.raises(FusionError) as error:
        Partition(graph, [["a", "b", "c"]])
    assert error.value.refusal == Refusal("not-connected", "a and b share no tensor", ("a", "b"))


def test_siblings_that_share_an_input_save_reading_it() -> None:
    parts = Partition.unfused(made("a elementwise: x > p; b elementwise: x > q", outputs="p q"))
    assert parts.fuse("a", "b").total_bytes() == 3 * SIZE == parts.total_bytes() - SIZE


def test_an_op_is_not_merged_with_itself() -> None:
    parts = Partition.unfused(made(TAIL)).fuse("ln", "gelu")
    again = refused(parts, "gelu", "ln")
    assert (again.sentence, again.path) == ("ln + gelu is already one kernel", ("ln", "gelu"))
    assert refused(parts, "gelu", "gelu").code == "same"


def test_what_must_run_in_between_forbids_a_merge() -> None:
    refusal = refused(Partition.unfused(made(SAME)), "ln", "add")
    assert refusal.code == "not-convex"
    assert refusal.sentence == "gelu + drop must run after ln and before add"
    assert refusal.path == ("ln", "gelu", "drop", "add")


def test_kernels_that_would_wait_for_each_other_are_refused_though_each_is_convex() -> None:
    graph = made(
        "a1 elementwise: s > p; b1 elementwise: p t > u; b2 elementwise: t > q; a2 elementwise: q s > v", outputs="u v"
    )
    parts = Partition.unfused(graph).fuse("a1", "a2")
    refusal = refused(parts, "b1", "b2")
    assert refusal.code == "cycle"
    assert refusal.sentence == "b1 + b2 in one kernel would run both before and after a1 + a2"
    assert refusal.path == ("b2", "a2", "a1", "b1")
    assert Partition.unfused(graph).why_not("b1", "b2") is None
    with pytest.raises(FusionError, match="both before and after") as raised:
        Partition(graph, [["a1", "a2"], ["b1", "b2"]])
    assert raised.value.refusal.code == "cycle"


def test_a_way_round_starts_at_the_op_that_others_wait_for_not_at_the_first_of_its_kernel() -> None:
    text = "a elementwise: x > p; b elementwise: x > q; c elementwise: q > r; d elementwise: p q r > s"
    refusal = refused(Partition.unfused(made(text)).fuse("a", "b"), "a", "d")
    assert (refusal.sentence, refusal.path) == ("c must run after b and before d", ("b", "c", "d"))
    graph = made(
        "b2 elementwise: t > q; a2 elementwise: q s > v; a1 elementwise: s > p; b1 elementwise: p t > u", outputs="u v"
    )
    cycle = refused(Partition.unfused(graph).fuse("a1", "a2"), "b1", "b2")
    assert (cycle.code, cycle.path) == ("cycle", ("b2", "a2", "a1", "b1"))


@pytest.mark.parametrize(
    ("text", "pair", "sentence"),
    [
        (
            "a matmul: x w > y; b injective: y > z",
            "a b",
            (
                "a is a matrix product: only elementwise ops that follow it can join its kernel; "
                "b is an injective op: it moves elements from one tile to another"
            ),
        ),
        (
            "a reduction: x > y; b matmul: x w > z",
            "a b",
            "b is a matrix product: only elementwise ops that follow it can join its kernel; a is a reduction",
        ),
        (
            "a injective: x > y; b matmul: x w > z",
            "a b",
            (
                "b is a matrix product: only elementwise ops that follow it can join its kernel; "
                "a is an injective op: it moves elements from one tile to another"
            ),
        ),
        (
            "a opaque: x > y; b elementwise: y > z",
            "a b",
            "a is opaque: a whole algorithm that cannot share its kernel",
        ),
        (
            "a elementwise: x > y; b matmul: y w > z",
            "a b",
            "b reads the output of a: an op before a matrix product cannot join its kernel",
        ),
        (
            "a matmul: x w > y; b reduction: y > z",
            "a b",
            ("a is a matrix product: only elementwise ops that follow it can join its kernel; b is a reduction"),
        ),
        (
            "a elementwise: x > y; b matmul: x w > z",
            "a b",
            "a does not use the result of b: only ops on its result can join a matrix product",
        ),
        (
            "a reduction: x > y; b injective: y > z",
            "a b",
            "b moves elements to other places, so it cannot follow a row by row in one kernel",
        ),
    ],
)
def test_kinds_that_do_not_fuse_say_why(text: str, pair: str, sentence: str) -> None:
    # The same with other ops before them in the graph.
    for before in ("", "n elementwise: m > k; m0 matmul: k v > j; i0 injective: j > i; "):
        refusal = refused(Partition.unfused(made(before + text)), *pair.split())
        assert refusal.sentence == sentence
        if "opaque" in text:
            assert (refusal.code, refusal.path) == ("barrier", ("a",))
        else:
            assert (refusal.code, set(refusal.path)) == ("kinds", {"a", "b"})


def test_matrix_products_share_a_kernel_on_a_common_input_only() -> None:
    text = "q matmul: x wq > a; k matmul: x wk > b; o matmul: y wo > c; sum elementwise: a b c > s"
    parts = Partition.unfused(made(text)).fuse("q", "k").fuse("q", "sum")
    assert parts.groups[0] == ("o",)
    assert refused(parts, "q", "o").sentence == (
        "q and o share no input: two matrix products share a kernel only if they share an input"
    )
    later = Partition.unfused(made(f"first elementwise: m > n; {text}")).fuse("q", "k").fuse("q", "sum")
    assert refused(later, "q", "o").sentence.startswith("q and o share no input: two matrix products")


def test_ops_that_may_never_share_a_kernel_clash_in_either_order() -> None:
    graph = made(
        "mm1 matmul: x w > p; mm2 matmul: y v > q; red reduction: x > r; move injective: r > s; all opaque: s > t; "
        "add elementwise: t p > u; mm3 matmul: x u > o"
    )
    rules = Rules(Structure(graph))
    names = [op.name for op in graph.ops]
    assert {name: [names[op] for op in members(rules.clashes[at])] for at, name in enumerate(names)} == {
        # The products mm1 and mm3 read x.
        "mm1": ["mm2", "red", "move", "all"],
        "mm2": ["mm1", "red", "move", "all", "mm3"],
        "red": ["mm1", "mm2", "move", "all", "mm3"],
        "move": ["mm1", "mm2", "red", "all", "mm3"],
        "all": ["mm1", "mm2", "red", "move", "add", "mm3"],
        "add": ["all", "mm3"],
        "mm3": ["mm2", "red", "move", "all", "add"],
    }


def test_reductions_of_the_same_shape_do_not_clash() -> None:
    graph = Graph()
    x, w = graph.input("x", (64, 32), "bf16"), graph.input("w", (32,), "bf16")
    for name, reads in (("rows", x), ("one", w), ("two", w)):
        graph.op("reduction", name, [reads], [Tensor(f"{name} out", (1,), "bf16")], 64)
    assert Rules(Structure(graph)).clashes == [0b110, 0b001, 0b001]
    assert Partition.unfused(graph).why_not("one", "two") is None


def test_reductions_of_different_shapes_go_through_different_rows() -> None:
    graph = Graph()
    x, w = graph.input("x", (64, 32), "bf16"), graph.input("w", (32,), "bf16")
    graph.op("reduction", "rows", [x, w], [Tensor("y", (64,), "bf16")], 64)
    graph.op("reduction", "weights", [w], [Tensor("z", (1,), "bf16")], 64)
    refusal = refused(Partition.unfused(graph), "rows", "weights")
    assert refusal.sentence == "rows and weights reduce tensors of different shapes"


def test_a_refused_merge_raises_what_why_not_says() -> None:
    parts = Partition.unfused(made(SAME))
    with pytest.raises(FusionError, match="drop must run after ln") as raised:
        parts.fuse("ln", "add")
    assert raised.value.refusal == parts.why_not("add", "ln")
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)  # noqa: S301 - our own bytes


# -- moves -------------------------------------------------------------------------------------------------------------


def test_an_op_that_leaves_the_middle_parts_what_ran_before_from_what_ran_after() -> None:
    parts = Partition.fully(made(SAME))
    assert parts.split("drop").groups == (("ln", "gelu"), ("drop",), ("add",))
    assert parts.split("add").groups == (("ln", "gelu", "drop"), ("add",))
    assert Partition.unfused(parts.graph).split("ln") == Partition.unfused(parts.graph)


def test_what_is_recomputed_is_not_stored() -> None:
    graph = made("p elementwise: x > t; a matmul: t w > u; b elementwise: t > v; c elementwise: t > s", outputs="u v s")
    parts = Partition(graph, [["p"], ["a"], ["b", "c"]])
    with pytest.raises(FusionError, match="an op before a matrix product cannot join"):
        parts.recompute("t")
    plain = made("p elementwise: x > t; a elementwise: t > u; b elementwise: t > v", outputs="u v")
    again = Partition.unfused(plain).recompute("t")
    assert again.groups == (("p", "a"), ("p_2", "b"))
    assert again.total_bytes() == 4 * SIZE == Partition.unfused(plain).total_bytes() - 2 * SIZE
    assert again.total_flops() == 4_000_000
    assert again.fuse("a", "b").total_bytes() == 3 * SIZE
    assert [op.name for op in plain.ops] == ["p", "a", "b"]


def test_the_op_stays_where_its_result_is_an_output_or_used_at_home() -> None:
    kept = Partition.unfused(made("p elementwise: x > t; a elementwise: t > u", outputs="t u")).recompute("t")
    assert (kept.groups, kept.total_bytes()) == ((("p",), ("p_2", "a")), 4 * SIZE)
    home = made("p elementwise: x > t; a elementwise: t > u; b matmul: u w > v; c elementwise: t > s", outputs="v s")
    shared = Partition(home, [["p", "a"], ["b"], ["c"]]).recompute("t")
    assert shared.groups == (("p", "a"), ("p_2", "c"), ("b",))


def test_copies_are_numbered_in_a_row_and_a_sole_copy_keeps_its_name() -> None:
    text = "p elementwise: x > p; a elementwise: p > u; b elementwise: p > v; c elementwise: p > w"
    again = Partition.unfused(made(text, outputs="u v w")).recompute("p")
    assert again.groups == (("p", "a"), ("p_2", "b"), ("p_3", "c"))
    assert [name for name in again.graph.tensors if name.startswith("p")] == ["p", "p_2", "p_3"]
    graph = Graph()
    graph.output(graph.gelu(graph.layernorm(graph.input("x", (64, 64), "bf16"))))
    sole = Partition.unfused(graph).recompute("layernorm")
    assert (sole.groups, list(sole.graph.tensors)) == ((("layernorm", "gelu"),), list(graph.tensors))


def test_an_op_that_is_recomputed_leaves_the_rest_of_its_group() -> None:
    text = "a elementwise: x > y; p elementwise: y > t; b elementwise: t > u; c elementwise: t > v"
    parts = Partition.unfused(made(text, outputs="u v")).fuse("a", "p")
    again = parts.recompute(parts.graph.tensors["t"])
    assert again == parts.recompute("t")
    assert again.groups == (("a",), ("p", "b"), ("p_2", "c"))
    # The op stays where a group needs its result itself.
    home = parts.fuse("a", "b").recompute("t")
    assert home.groups == (("a", "p", "b"), ("p_2", "c"))


def test_a_graph_with_recomputed_ops_has_the_convention_the_dtype_the_conditions_and_the_notes_of_the_graph() -> None:
    n = dim("n", 2, 64, default=8)
    graph = Graph("noted", convention="mac", dtype="fp16")
    y = graph.gelu(graph.layernorm(graph.input("x", (n - 1, 64), "fp16")))
    graph.output(y, graph.relu(y))
    graph.require("n", n, 2)
    graph.require("all", n, 1)
    graph.note("n is even")
    again = Partition.unfused(graph).recompute("layernorm").graph
    assert (again.name, again.convention, again.dtype) == ("noted", graph.convention, "fp16")
    assert again.conditions.keys() == graph.conditions.keys() == {(n - 1, 0), (n, 2), (n, 1)}
    assert (again.conditions[n, 2], again.conditions[n, 1]) == ("n", "all")
    assert again.notes == graph.notes == ("n is even",)
    with pytest.raises(ValueError, match="n"):
        again.count("flops", {"n": 3})


def test_tensors_that_are_spilled_stay_spilled_when_another_tensor_is_recomputed() -> None:
    parts = Partition.unfused(made(TAIL)).fuse("ln", "gelu", chip=with_smem(1999), spill=True)
    again = parts.recompute("d")
    assert (again.groups, again.spilled) == ((("ln", "gelu"), ("drop", "add")), ("y",))


def test_an_input_is_not_recomputed_and_a_tensor_inside_a_group_stays() -> None:
    parts = Partition.fully(made(TAIL))
    with pytest.raises(ValueError, match="'x' is an input of graph 'made'"):
        parts.recompute("x")
    assert parts.recompute("y") == parts


# -- capacity ----------------------------------------------------------------------------------------------------------


def with_smem(capacity: float, units: str | None = None) -> Chip:
    return Chip("small", {"bf16": 1e15}, {"HBM": 1e12, "SMEM": Memory("SMEM", None, capacity)}, units=units)


def test_a_row_that_does_not_fit_on_chip_refuses_the_merge() -> None:
    parts = Partition.unfused(made(TAIL))
    assert parts.why_not("ln", "gelu", chip=with_smem(2000)) is None
    refusal = refused(parts, "ln", "gelu", chip=with_smem(1999))
    assert (refusal.code, refusal.path) == ("capacity", ("ln", "gelu"))
    assert refusal.sentence == "the tiles of ln + gelu need 2 kB at a time; the SMEM of small holds 1.999 kB"
    assert (
        refused(parts, "gelu", "drop", chip=with_smem(1320, units="132 SM")).sentence
        == "the tiles of gelu + drop need 256 B at a time; a unit's share of the SMEM of small holds 10 B"
    )
    assert parts.why_not("gelu", "drop", chip=with_smem(256)) is None
    assert refused(parts, "gelu", "drop", chip=with_smem(255)).code == "capacity"
    assert parts.why_not("ln", "gelu", chip=CHIP) is None


def test_two_units_have_a_share_each() -> None:
    assert refused(Partition.unfused(made(TAIL)), "gelu", "drop", chip=with_smem(500, units="2 SM")).sentence == (
        "the tiles of gelu + drop need 256 B at a time; a unit's share of the SMEM of small holds 250 B"
    )


def test_sizes_that_differ_in_the_twelfth_digit_have_fifteen() -> None:
    graph = Graph("large")
    rows = graph.input("x", (1, 1_234_567_890_123_456), "int8")
    first, second = (Tensor(name, (1, 1_234_567_890_123_456), "int8") for name in "yz")
    graph.op("reduction", "a", [rows], [first], 1)
    graph.op("elementwise", "b", [first], [second], 1)
    graph.output(second)
    assert refused(Partition.unfused(graph), "a", "b", chip=with_smem(1_234_567_890_120_000)).sentence == (
        "the tiles of a + b need 1.23456789012346 PB at a time; the SMEM of small holds 1.23456789012 PB"
    )


def test_a_dimension_decides_what_fits() -> None:
    rows = dim("rows", 1, 4096, default=1000)
    parts = Partition.unfused(made("ln reduction: x > y; gelu elementwise: y > z", shape=(4, rows)))
    chip = with_smem(2000)
    assert parts.why_not("ln", "gelu", chip=chip) is None
    structure = Structure(parts.graph)
    wide = Capacity(structure, structure.counts_at({"rows": 2000}), chip, {"rows": 2000})
    assert wide.need(0b11) == 4000
    assert not wide.fits(0b11)
    refusal = refused(parts, "ln", "gelu", chip=chip, dims={"rows": 2000})
    with pytest.raises(FusionError) as error:
        parts.fuse("ln", "gelu", chip=chip, dims={"rows": 2000})
    assert error.value.refusal == refusal
    vectors = Structure(made("a elementwise: x > y; b elementwise: y > z", shape=(4, rows)))
    assert Capacity(vectors, vectors.counts_at({"rows": 2000}), chip, {"rows": 2000}).need(0b11) == 256


def test_a_product_keeps_a_tile_of_its_result() -> None:
    parts = Partition.unfused(made("a matmul: x w > y; b elementwise: y > z"))
    assert parts.why_not("a", "b", chip=with_smem(128 * 128 * 2)) is None
    assert refused(parts, "a", "b", chip=with_smem(128 * 128 * 2 - 1)).code == "capacity"


def test_tiles_that_live_at_the_same_time_add_up() -> None:
    parts = Partition.fully(made("a elementwise: x > p; b elementwise: p > q; c elementwise: p q > r")).split("c")
    assert parts.why_not("a", "c", chip=with_smem(512)) is None
    assert refused(parts, "a", "c", chip=with_smem(511)).code == "capacity"


def test_a_tile_is_free_after_its_last_reader() -> None:
    graph = made("a elementwise: x > p; b elementwise: p > q; c elementwise: q > r; d elementwise: r > s")
    parts = Partition.fully(graph).split("d")
    assert parts.why_not("a", "d", chip=with_smem(512)) is None
    assert refused(parts, "a", "d", chip=with_smem(511)).code == "capacity"


def test_a_spilled_tensor_is_written_and_read() -> None:
    parts = Partition.unfused(made(TAIL))
    spilt = parts.fuse("ln", "gelu", chip=with_smem(1999), spill=True)
    assert (spilt.spilled, spilt.bytes("ln"), spilt.total_bytes()) == (("y",), 4 * SIZE, parts.total_bytes())
    assert "spilled: y" in repr(spilt)
    assert spilt != parts.fuse("ln", "gelu") == parts.fuse("ln", "gelu", chip=with_smem(2000), spill=True)
    assert spilt.fuse("gelu", "drop", chip=with_smem(1999)).bytes("ln") == 4 * SIZE
    assert spilt.split("ln").spilled == ()
    assert pickle.loads(pickle.dumps(spilt)) == spilt  # noqa: S301 - our own bytes
    with pytest.raises(TypeError, match=r"^spill=True needs the chip that the tiles must fit on$"):
        parts.fuse("ln", "gelu", spill=True)


def room(text: str, outputs: str = "", chip: Chip = CHIP) -> Capacity:
    structure = Structure(made(text, outputs=outputs))
    return Capacity(structure, structure.counts_at(None), chip)


class Counted(Capacity):
    """A capacity that counts its checks of whole groups."""

    checks = 0

    def fits(self, group: int, spilled: Collection[int] = ()) -> bool:
        self.checks += 100
        return super().fits(group, spilled)

    def _need(self, group: int, on_chip: Iterable[int], tile_of: Callable[[int], int]) -> int:
        self.checks += 1
        return super()._need(group, on_chip, tile_of)


@pytest.mark.parametrize(
    ("first", "tile", "checked"),
    [
        # Each op adds the tiles that it reads and writes. Only two tiles are needed at a time.
        ("elementwise: x", 256, {4, 6, 8, 10, 12}),
        ("matmul: x w", 128 * 128 * 2, {4, 6, 8, 10, 12}),
        # A row of x counts too.
        ("reduction: x", 2000, {3, 5, 7, 9, 11, 13}),
    ],
)
def test_a_group_that_grows_is_checked_only_where_the_sum_of_its_tiles_does_not_fit(
    first: str, tile: int, checked: set[int]
) -> None:
    text = f"o0 {first} > t0; " + "; ".join(f"o{i} elementwise: t{i - 1} > t{i}" for i in range(1, 13))
    structure = Structure(made(text))
    capacity = Counted(structure, structure.counts_at(None), with_smem(4 * tile))
    found = set[int]()
    for ops in range(2, 14):
        before = capacity.checks
        assert capacity.fits_grown((1 << ops) - 1, (1 << ops - 1) - 1)
        assert capacity.checks - before <= 1
        if capacity.checks > before:
            found.add(ops)
    assert found == checked


def test_the_result_of_a_group_does_not_count_when_the_group_grows() -> None:
    structure = Structure(
        made("a reduction: x > t; b elementwise: t > u; c elementwise: t u > v; d elementwise: v > w")
    )
    capacity = Counted(structure, structure.counts_at(None), with_smem(8000))
    assert [capacity.fits_grown((1 << ops) - 1, (1 << ops - 1) - 1) for ops in (2, 3, 4)] == [True] * 3
    # While c runs, t and u are on chip: 4,000 B. Then d adds v and w.
    assert capacity.checks == 1
    # The rows of x, t and u.
    exact = Counted(structure, structure.counts_at(None), with_smem(6000))
    assert exact.fits_grown(0b11, 0b1)
    assert exact.checks == 0


def test_the_tile_of_a_product_is_a_part_of_its_last_two_axes() -> None:
    structure = Structure(made("a matmul: x w > y; b elementwise: y > z", shape=(4, 1000, 1000)))
    assert Capacity(structure, structure.counts_at(None), CHIP).need(0b11) == 128 * 128 * 2


def test_a_part_of_a_byte_is_a_byte() -> None:
    graph = Graph("halves")
    first, second = (Tensor(name, (3, 3), "int4") for name in "yz")
    graph.op("reduction", "a", [graph.input("x", (3, 3), "int4")], [first], 9)
    graph.op("elementwise", "b", [first], [second], 9)
    structure = Structure(graph)
    # The tensor has 5 B, so three of its nine elements have 1.67 B.
    assert (structure.counts_at(None).sizes[1], Capacity(structure, structure.counts_at(None), CHIP).need(0b11)) == (
        5,
        2,
    )


def test_ops_that_share_only_an_input_need_no_room() -> None:
    assert room("a elementwise: x > y; b elementwise: x > z", "y z").need(0b11) == 0


def test_the_room_of_a_kernel_is_that_of_its_most_tensors_at_a_time() -> None:
    # While h runs: r, s, t and u. Both tensors that e read are gone by then. A tensor has a tile of 256 B.
    text = (
        "c elementwise: x > p; d elementwise: x > q; e elementwise: p q > r; f elementwise: r > s; "
        "g elementwise: r s > t; h elementwise: r s t > u; i elementwise: u > v"
    )
    capacity = room(text)
    assert capacity.need(0b0111_1111) == 4 * 256
    assert capacity.need(0b0001_1111) == 3 * 256


def test_an_input_that_is_read_before_and_after_a_reduction_needs_room_in_between_too() -> None:
    # While b runs: a row of x, and vectors of y and z.
    capacity = room("n reduction: x > y; b elementwise: y > z; c elementwise: z x > o")
    assert capacity.need(0b111) == 2000 + 2 * 256


def test_of_two_tensors_that_are_read_again_the_first_is_named() -> None:
    parts = Partition.fully(made("n reduction: x r > y; a elementwise: y x > z; b elementwise: z r > o")).split("b")
    sentence = refused(parts, "a", "b", chip=with_smem(2000)).sentence
    assert sentence.endswith(
        "need 4.51 kB at a time; the SMEM of small holds 2 kB. a reads x after n, which reduces axis 1"
    )


def test_what_is_spilled_needs_no_room() -> None:
    parts = Partition.unfused(made(TAIL)).fuse("ln", "gelu", chip=with_smem(1999), spill=True)
    assert refused(parts, "gelu", "drop", chip=with_smem(255)).sentence == (
        "the tiles of ln + gelu + drop need 256 B at a time; the SMEM of small holds 255 B"
    )


def test_a_product_that_does_not_fit_names_no_reader() -> None:
    parts = Partition.unfused(made("a matmul: x w > y; b elementwise: y > z"))
    assert refused(parts, "a", "b", chip=with_smem(32_767)).sentence == (
        "the tiles of a + b need 32.768 kB at a time; the SMEM of small holds 32.767 kB"
    )


def test_the_largest_tile_is_spilled_first_wherever_its_op_is() -> None:
    # A vector of p has 256 B, and a row of y 2,000 B.
    parts = Partition.fully(
        made("a elementwise: x > p; b elementwise: p > q; n reduction: x > y; c elementwise: y > z", outputs="q z")
    ).split("c")
    assert parts.fuse("a", "c", chip=with_smem(1999), spill=True).spilled == ("y",)
    both = parts.fuse("a", "c", chip=with_smem(255), spill=True)
    assert both.spilled == ("p", "y")
    assert repr(both).endswith("; spilled: p, y)")


def test_what_was_spilled_before_counts_when_more_is_spilled() -> None:
    parts = Partition.unfused(made("a elementwise: x > p; b elementwise: p > q; c elementwise: p q > r"))
    spilt = parts.fuse("b", "c", chip=with_smem(255), spill=True)
    assert spilt.spilled == ("q",)
    assert spilt.fuse("a", "b", chip=with_smem(300), spill=True).spilled == ("q",)


def test_presets_keep_to_the_capacity_of_a_chip() -> None:
    graph, small = made(TAIL), with_smem(1999)
    expected = (("ln",), ("gelu", "drop", "add"))
    assert Partition.fully(graph, chip=small).groups == expected
    assert Partition.best(graph, small).groups == expected
    assert Partition.like("xla", graph, small).groups == expected
    assert Partition.like("inductor", graph, small).groups == expected


def test_the_search_goes_through_groups_that_may_not_be_kernels_themselves() -> None:
    graph = made(
        "mm matmul: x w > y; side elementwise: x r > z; add elementwise: y z > o; scale elementwise: y x > p",
        outputs="o p",
    )
    assert Partition.best(graph, with_smem(2 * 128 * 128 * 2)).groups == (("mm", "side", "add", "scale"),)
    assert len(Partition.best(graph, with_smem(2 * 128 * 128 * 2 - 1))) == 2


# -- presets and the search --------------------------------------------------------------------------------------------


def test_inductor_leaves_matrix_products_alone() -> None:
    graph = made("up matmul: x w > a; gelu elementwise: a > b; drop elementwise: b > c; down matmul: c v > d")
    assert Partition.like("inductor", graph).groups == (("up",), ("gelu", "drop"), ("down",))
    assert Partition.like("xla", graph, CHIP).groups == (("up", "gelu", "drop"), ("down",))


def test_a_compiler_has_a_name_and_xla_needs_a_chip() -> None:
    with pytest.raises(ValueError, match="did you mean 'inductor'"):
        Partition.like("induktor", made(TAIL))
    with pytest.raises(TypeError, match="name a chip"):
        Partition.like("xla", made(TAIL))
    with pytest.raises(TypeError, match="did you mean 'precision'"):
        Partition.best(made(TAIL), CHIP, precison="bf16")  # type: ignore[call-arg]


def test_the_search_says_that_it_was_exact_and_how_far_it_is_from_the_least() -> None:
    best = Partition.best(made(SAME), CHIP)
    assert (best.how, best.evaluations, best.excess()) == ("optimal", 10, 1.0)
    assert Partition.unfused(made(SAME)).how is None


def test_of_equally_fast_partitions_the_one_with_fewest_kernels_is_best() -> None:
    bound_by_compute = Chip("slow", {"bf16": 1e6}, {"HBM": 1e15})
    best = Partition.best(made(TAIL), bound_by_compute)
    assert (len(best), best.time(bound_by_compute)) == (1, Partition.unfused(made(TAIL)).time(bound_by_compute))


def test_a_graph_too_wide_for_the_search_is_merged_greedily() -> None:
    wide = "; ".join(f"o{i} elementwise: x > y{i}" for i in range(18))
    found = Partition.best(made(wide, outputs=" ".join(f"y{i}" for i in range(18))), CHIP)
    assert (found.how, found.evaluations, len(found)) == ("greedy", 100_000, 1)
    assert "greedy" in repr(found)


@pytest.mark.parametrize("ops", [18, 11])
def test_what_is_sure_to_be_too_much_is_not_searched(ops: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # 11 siblings need 3^11 - 2^11 = 175,099 steps.
    monkeypatch.setattr(search, "optimal", None)
    wide = made("; ".join(f"o{i} elementwise: x > y{i}" for i in range(ops)), outputs="y0")
    found = Partition.best(wide, CHIP)
    assert (found.how, found.evaluations, len(found)) == ("greedy", 100_000, 1)


def test_a_long_chain_is_searched_up_to_446_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    # A chain of n ops has n (n + 1) / 2 runs: 99,681 of 446 ops, 100,128 of 447.
    monkeypatch.setattr(search, "optimal", None)
    chains = [chain([(f"o{i}", 1) for i in range(n)], elements=8) for n in (446, 447)]
    with pytest.raises(TypeError, match="'NoneType' object is not callable"):
        Partition.best(chains[0], CHIP)
    assert Partition.best(chains[1], CHIP).how == "greedy"


def test_parts_that_share_nothing_are_searched_one_by_one() -> None:
    many = "; ".join(f"a{i} elementwise: x{i} > y{i}; b{i} elementwise: y{i} > z{i}" for i in range(40))
    found = Partition.best(made(many, outputs=" ".join(f"z{i}" for i in range(40))), CHIP)
    assert (found.how, found.evaluations, len(found)) == ("optimal", 40 * 3, 40)


def test_a_greedy_merge_that_saves_no_time_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MAX_STEPS", 9)
    fast, slow = (Chip("c", {"bf16": peak}, {"HBM": 1e15}) for peak in (1e20, 1e6))
    assert [len(Partition.best(made(TAIL), chip)) for chip in (fast, slow)] == [1, 4]
    assert Partition.best(made(TAIL), slow).how == "greedy"


def test_pairs_that_do_not_fit_on_a_chip_are_not_merged() -> None:
    # A row of 4096 bf16 numbers, the output of a layer norm, has 8,192 B; a vector of 128 has 256 B.
    graph = Graph("tail")
    x = graph.input("x", (512, 4096), "bf16")
    graph.output(graph.add(graph.dropout(graph.gelu(graph.layernorm(x))), x))
    assert Partition.pairs(graph, chip=with_smem(8192)).groups == (("layernorm", "gelu"), ("dropout", "add"))
    assert Partition.pairs(graph, chip=with_smem(8000)).groups == (("layernorm",), ("gelu", "dropout"), ("add",))
    assert len(Partition.pairs(graph, chip=with_smem(128))) == 4


def test_a_partition_makes_other_partitions_of_its_graph() -> None:
    parts = Partition.unfused(made(TAIL))
    assert parts.best(CHIP) == Partition.best(parts.graph, CHIP)
    assert parts.best(CHIP, launch_overhead="1 us").how == "optimal"
    assert parts.fully() == Partition.fully(parts.graph) != parts
    assert parts.pairs(chip=CHIP) == Partition.pairs(parts.graph, chip=CHIP)
    assert parts.fully().unfused() == parts
    # A graph in the arguments replaces the graph of the partition.
    other: Any = made(SAME)
    given: Any = parts
    assert given.best(other, CHIP) == given.best(graph=other, chip=CHIP) == Partition.best(other, CHIP)
    assert given.best(other, CHIP, launch_overhead="1 ms").graph is other
    for overhead, message in (
        ("soon", "^launch_overhead: no number in 'soon'"),
        (-1, "^launch_overhead must be a fini"),
    ):
        with pytest.raises(ValueError, match=message):
            given.best(other, CHIP, launch_overhead=overhead)
    assert "shortest `time`" in (parts.best.__doc__ or "")
    with pytest.raises(TypeError, match="did you mean 'precision'"):
        parts.best(CHIP, precison="bf16")  # type: ignore[call-arg]


def test_what_is_no_graph_is_named() -> None:
    parts: Any = Partition.unfused(made(TAIL))
    with pytest.raises(TypeError, match=r"the graph of Partition\.best\(graph, chip\) must be a Graph, got 'h100-sxm'"):
        Partition.best("h100-sxm", made(TAIL))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"the graph of Partition\.unfused\(graph\) must be a Graph, got Partition\("):
        Partition.unfused(parts)
    with pytest.raises(TypeError, match=r"; its graph is the attribute `graph`$"):
        Partition.like("xla", parts, CHIP)
    with pytest.raises(TypeError, match=r"the graph of Partition\(graph, groups\) must be a Graph, got \[\]$"):
        Partition([], [])  # type: ignore[arg-type]
