"""The loops of ops: index texts, the loops of kinds, and axes of a group that are one loop."""

from __future__ import annotations

import itertools
from typing import Any, Final

import pytest

from roofwidget.workloads import Graph, Tensor
from roofwidget.workloads.index import ANY, Index, parsed, text_of, usual
from roofwidget.workloads.loops import Loops, LoopsOf
from roofwidget.workloads.op import KINDS
from roofwidget.workloads.structure import Structure

SHAPES: Final = [(), (1,), (8,), (16,), (8, 16), (16, 8), (1, 16), (3, 5), (2, 8, 16), (2, 16, 8), (4, 2, 8, 16)]


def tensors(*shapes: tuple[int, ...]) -> list[Tensor]:
    return [Tensor(f"t{at}", shape, "bf16") for at, shape in enumerate(shapes)]


# -- texts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["mk,kn->mn", "m(hd)->hmd", "t,*d->td", "b1n->bn", "**,m->m", "->ab", "ab->"])
def test_an_index_is_written_as_it_is_read(text: str) -> None:
    sides = [[part for part in side.split(",") if part] for side in text.split("->")]
    ranks = [[len(part.replace("(hd)", "h")) for part in side] for side in sides]
    inputs, outputs = (tensors(*((2,) * rank for rank in side)) for side in ranks)
    assert text_of(parsed(text, "op", inputs, outputs)) == text


def test_an_axis_of_one_element_has_no_loop_and_an_axis_of_two_loops_has_both() -> None:
    found = parsed(" m1(hd), * -> hmd", "op", tensors((8, 1, 12), (4,)), tensors((3, 8, 4)))
    assert found == Index(((("m",), (), ("h", "d")), (ANY,)), ((("h",), ("m",), ("d",)),))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mk,kn", "the index of op 'mm' needs one '->' between inputs and outputs, as in 'mk,kn->mn': 'mk,kn'"),
        ("a->b->c", "the index of op 'mm' needs one '->' between inputs and outputs, as in 'mk,kn->mn': 'a->b->c'"),
        ("mk->mn", "the index 'mk->mn' of op 'mm' has 1 inputs, the op has 2"),
        ("mk,kn->mn,m", "the index 'mk,kn->mn,m' of op 'mm' has 2 outputs, the op has 1"),
        ("mk,k2->mn", "the index of op 'mm' has '2' in 'k2': write letters, '1', '*' or '(ab)'"),
        ("mk,(k->mn", "the index of op 'mm' has '(' in '(k': write letters, '1', '*' or '(ab)'"),
        ("mkj,kn->mn", "the index of op 'mm' gives 'mkj' 3 axes, t0[8, 16] bf16 has 2"),
    ],
)
def test_a_wrong_index_is_refused_with_the_name_of_the_op(text: str, message: str) -> None:
    graph = Graph()
    x, w = graph.input("t0", (8, 16), "bf16"), graph.input("w", (16, 4), "bf16")
    with pytest.raises(ValueError, match="mm") as error:
        graph.op("matmul", "mm", [x, w], [Tensor("y", (8, 4), "bf16")], 10, index=text)
    assert str(error.value) == message


def test_an_index_is_text() -> None:
    graph = Graph()
    x = graph.input("x", (8,), "bf16")
    with pytest.raises(TypeError, match=r"^the index of op 'exp' must be text such as 'mk,kn->mn', got 7$"):
        graph.op("elementwise", "exp", [x], [Tensor("y", (8,), "bf16")], 10, index=7)  # type: ignore[arg-type]


# -- the loops of kinds ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "reads", "writes", "axes", "text"),
    [
        ("elementwise", [(8, 16), (8, 16)], [(8, 16)], (), "ab,ab->ab"),
        ("broadcast", [(8, 16), (16,)], [(8, 16)], (), "ab,b->ab"),
        ("broadcast", [(8, 1), (1, 16)], [(8, 16)], (), "a1,1b->ab"),
        ("scan", [(8, 16)], [(8, 16)], (), "ab->ab"),
        ("reduction", [(8, 16)], [(8,)], (1,), "ab->a"),
        ("reduction", [(8, 16)], [(16,)], (0,), "ab->b"),
        ("reduction", [(8, 8)], [(8,)], (1,), "ab->a"),
        ("reduction", [(8, 16)], [(8, 1)], (1,), "ab->a1"),
        ("reduction", [(8, 16), (16,), (16,)], [(8, 16)], (1,), "ab,b,b->ab"),
        ("reduction", [(2, 8, 16), (2, 8)], [(2, 8)], (2,), "abc,ab->ab"),
        ("reduction", [(8,)], [(8, 16)], (0,), "a->**"),
        ("matmul", [(8, 16), (16, 4)], [(8, 4)], (), "ac,cb->ab"),
        ("matmul", [(8, 16), (16,)], [(8,)], (), "ab,b->a"),
        ("matmul", [(16,), (16, 4)], [(4,)], (), "b,ba->a"),
        ("matmul", [(2, 8, 16), (2, 16, 4)], [(2, 8, 4)], (), "abd,adc->abc"),
        ("matmul", [(2, 8, 16), (1, 16, 4)], [(2, 8, 4)], (), "abd,1dc->abc"),
        # A weight without a batch: the batch of the rows is rows.
        ("matmul", [(2, 8, 16), (16, 4)], [(2, 8, 4)], (), "abd,dc->abc"),
        ("matmul", [(8, 16), (16, 4), (4,)], [(8, 4)], (), "ac,cb,b->ab"),
        # Shapes that are those of no product: where its elements come from is unknown.
        ("matmul", [(8, 16), (8, 16)], [(8, 8)], (), "**,**->ab"),
        ("matmul", [(4, 2, 8, 16), (16,)], [(8,)], (), "****,*->a"),
    ],
)
def test_an_op_without_an_index_has_the_loops_of_its_kind(
    kind: str, reads: list[tuple[int, ...]], writes: list[tuple[int, ...]], axes: tuple[int, ...], text: str
) -> None:
    found = usual(kind, tensors(*reads), tensors(*writes), axes)
    assert found is not None
    assert text_of(found) == text


def test_only_injective_and_opaque_ops_have_no_loops_by_default() -> None:
    x, y = tensors((8, 16)), tensors((16, 8))
    assert {kind for kind in KINDS if usual(kind, [*x, *x], y, (1,)) is None} == {"injective", "opaque"}


def test_loops_have_the_ranks_of_the_tensors_whatever_their_shapes() -> None:
    for kind, a, b, out in itertools.product(KINDS, SHAPES, SHAPES, SHAPES):
        for reads, writes in (([a], [out]), ([a, b], [out]), ([a, b, out], [out, a])):
            axes = (len(a) - 1,) if kind == "reduction" and a else ()
            found = usual(kind, tensors(*reads), tensors(*writes), axes)
            if found is not None:
                ranks = [[len(loops) for loops in side] for side in found]
                assert ranks == [[len(shape) for shape in side] for side in (reads, writes)], (kind, reads, writes)


# -- the loops of groups -----------------------------------------------------------------------------------------------


def loops_of(graph: Graph, ops: str = "") -> tuple[Loops, dict[str, int]]:
    """Return the loops of a group, and the places of the tensors."""
    structure = Structure(graph)
    find = LoopsOf(structure, [tuple(map(int, tensor.shape)) for tensor in structure.tensors])  # type: ignore[arg-type]
    group = sum(1 << structure.index[name] for name in ops.split()) or structure.everything
    return find(group), {tensor.name: t for t, tensor in enumerate(structure.tensors)}


def test_ops_that_share_a_tensor_share_its_loops() -> None:
    graph = Graph()
    x, w = graph.input("x", (8, 16), "bf16"), graph.input("w", (16, 4), "bf16")
    graph.output(graph.softmax(graph.matmul(x, w, name="y")))
    loops, at = loops_of(graph)
    (m, k), (k_of_w, n) = loops.axes[at["x"]], loops.axes[at["w"]]
    assert k == k_of_w
    assert loops.axes[at["y"]] == loops.axes[at["softmax"]] == (m, n)
    assert [loops.count(one) for one in (m, k, n, m | n)] == [8, 16, 4, 32]
    assert loops.joined is None


def test_an_axis_that_another_op_walks_in_parts_is_split_for_the_whole_group() -> None:
    graph = Graph()
    x = graph.input("x", (8, 12), "bf16")
    e, z = Tensor("e", (8, 12), "bf16"), Tensor("z", (3, 8, 4), "bf16")
    graph.op("elementwise", "exp", [x], [e], 96)
    graph.op("injective", "heads", [e], [z], 0, index="m(hd)->hmd")
    graph.output(z)
    loops, at = loops_of(graph)
    h, m, d = loops.axes[at["z"]]
    assert loops.axes[at["x"]] == loops.axes[at["e"]] == (m, h | d)
    assert [loops.count(one) for one in (m, h, d)] == [8, 3, 4]


def scores_of_one_tensor() -> Graph:
    graph = Graph("self")
    h = graph.relu(graph.input("x", (256, 64), "bf16"), name="h")
    turned = graph.transpose(h, name="turned")
    graph.output(graph.softmax(graph.matmul(h, turned, name="scores")))
    return graph


def test_the_axes_of_scores_are_one_loop_in_a_group_that_makes_what_both_operands_are() -> None:
    both, at = loops_of(scores_of_one_tensor(), "h turned scores")
    assert both.joined == at["scores"]
    # Where the tensor enters the group it is read in two ways.
    apart, at = loops_of(scores_of_one_tensor(), "turned scores softmax")
    rows, columns = apart.axes[at["scores"]]
    assert apart.joined is None
    assert rows != columns
    assert (apart.count(rows), apart.count(columns)) == (256, 256)


def test_an_input_that_two_ops_of_a_group_read_in_different_ways_does_not_join_their_axes() -> None:
    graph = Graph("two ways")
    x = graph.input("x", (256, 64), "bf16")
    q, k = (graph.linear(x, 64, name=name) for name in "qk")
    graph.output(graph.batched_matmul(q, k, transpose_b=True, name="scores"))
    loops, at = loops_of(graph)
    assert loops.joined is None
    assert len(set(loops.axes[at["scores"]])) == 2
    assert loops.axes[at["q"]][0] == loops.axes[at["scores"]][0] != loops.axes[at["k"]][0]


@pytest.mark.parametrize(
    ("kind", "index", "rank", "found"),
    [
        ("gather", "t,*d->td", 2, True),
        ("transpose", "mn->nm", 2, False),
    ],
)
def test_an_op_that_reads_rows_in_any_order_gathers(kind: str, index: str, rank: int, found: bool) -> None:  # noqa: FBT001
    graph = Graph()
    shape: tuple[Any, ...] = (8,) * rank
    reads = [graph.input("tokens", (8,), "int32")] if "," in index else []
    graph.op("injective", kind, [*reads, graph.input("x", shape, "bf16")], [Tensor("y", shape, "bf16")], 0, index=index)
    structure = Structure(graph)
    assert bool(structure.gathering) == found
    assert not structure.shuffling
