"""The forms of kernels: bytes, FLOPs, times and groups that a person derives, and why a group is no kernel."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest

from roofwidget.chips import Chip, MissingFigureError
from roofwidget.workloads import Graph, Tensor, search
from roofwidget.workloads.expressions import evaluate
from roofwidget.workloads.forms import Forms
from roofwidget.workloads.legality import FusionError, Refusal, Rules
from roofwidget.workloads.partition import Partition
from tests.workloads.fusion_help import HAND, TEXT, G, T, forms_of, graph_of, partitions, priced, written

CHIP: Final = {"G": G, "T": T}
each_case = pytest.mark.parametrize("case", HAND, ids=[case.name for case in HAND])


def graph_of_case(case: Any) -> Graph:
    return graph_of(TEXT(case.name, case.sizes, case.text))


def mask(forms: Forms, ops: str) -> int:
    return sum(1 << forms.structure.index[name] for name in ops.split())


def moved(partition: Partition, chip: Chip) -> int:
    return int(partition.kernels(chip=chip).bytes.sum())


@each_case
def test_the_fastest_partition_is_what_people_write(case: Any) -> None:
    graph, chip = graph_of_case(case), CHIP[case.chip]
    best = Partition.best(graph, chip)
    assert best.how == "optimal"
    names = sorted(("+".join(group) for group in best.groups), key=case.best.index)
    assert " ".join(names) == case.best
    fastest = case.fewest if case.fastest is None else case.fastest
    assert moved(best, chip) == fastest
    done = sum(best.form(at, chip).flops for at in range(len(best)))
    assert done == (case.flops if case.done is None else case.done)
    assert max(best.form(at, chip).need for at in range(len(best))) == case.need


@each_case
def test_bytes_flops_and_times_are_those_derived_by_hand(case: Any) -> None:
    graph, chip = graph_of_case(case), CHIP[case.chip]
    unfused, best = Partition.unfused(graph), Partition.best(graph, chip)
    compiler = Partition.like("compiler", graph, chip)
    assert graph.count("flops") == best.total_flops() == case.flops
    assert moved(unfused, chip) == case.unfused
    fastest = case.fewest if case.fastest is None else case.fastest
    assert moved(compiler, chip) == (fastest if case.compiler is None else case.compiler)
    extra = sum(evaluate(op.extra_bytes, {}) for op in graph.ops)
    assert evaluate(best.compulsory_bytes, {}) + extra == (case.fewest if case.compulsory is None else case.compulsory)
    times = [part.time(chip) * 1e6 for part in (unfused, compiler, best)]
    assert times == pytest.approx(case.microseconds, rel=6e-4)
    assert times == sorted(times, reverse=True)


@each_case
def test_no_partition_moves_fewer_bytes_and_none_is_faster_than_the_fastest(case: Any) -> None:
    graph, chip = graph_of_case(case), CHIP[case.chip]
    forms = forms_of(graph, chip)
    prices = [priced(forms, groups) for groups in partitions(forms)]
    assert min(bytes_ for _, bytes_ in prices) == case.fewest
    assert min(seconds for seconds, _ in prices) == pytest.approx(Partition.best(graph, chip).time(chip), rel=1e-12)


@each_case
def test_groups_that_are_no_kernel_say_why_and_others_have_their_price(case: Any) -> None:
    forms = forms_of(graph_of_case(case), CHIP[case.chip])
    for ops, code, part in case.refused:
        group = mask(forms, ops)
        found = Rules(forms.structure).refusal(group) or forms.form(group)
        assert isinstance(found, Refusal)
        assert found.code == code
        assert part in found.sentence
        with pytest.raises(FusionError, match=re.escape(part)):
            Partition(forms.structure.graph, [ops.split(), *_rest(forms.structure.names, ops)], chip=CHIP[case.chip])
    for ops, expected in case.priced:
        cost = forms.price(mask(forms, ops))
        assert cost is not None
        assert cost[1] == expected


def _rest(names: tuple[str, ...], ops: str) -> list[list[str]]:
    return [[name] for name in names if name not in ops.split()]


# -- refusals ----------------------------------------------------------------------------------------------------------

HELD: Final = "; a unit's share of the L1 of G holds 232 kB"
SMALL: Final = "m64 n64 k64 j64"
CHAIN: Final = "one matmul 2: x[mk] w[kn] -> y[mn]\ntwo matmul 2: y v[nj] -> z[mj]"
APART: Final = "a matmul 2: x[mk] w[kn] -> y[mn]\nb matmul 2: u[mk] v[kn] -> z[mn]\n"
BOTH: Final = "rows reduces axis 1 and columns reduces axis 0: one kernel of rows + columns would keep"
REFUSALS: Final = {
    "barrier": (
        SMALL,
        "sort opaque 0: x[mn] -> y[mn]\nexp elementwise 1: y -> z[mn]",
        "barrier",
        "sort is opaque: a whole algorithm that cannot share its kernel",
        ("sort",),
    ),
    "beside a product": (
        SMALL,
        "exp elementwise 1: x[mk] -> e[mk]\nmm matmul 2: x w[kn] -> y[mn]",
        "kinds",
        "exp neither feeds mm nor uses its result",
        ("exp", "mm"),
    ),
    "a sum before a product": (
        SMALL,
        "exp elementwise 1: x[mk] -> e[mk]\nmm matmul 2: e w[kn] -> y[mn]\nsum reduction 1 over=k: e -> s[m]",
        "kinds",
        "sum neither feeds mm nor uses its result",
        ("sum", "mm"),
    ),
    "unrelated products": (
        SMALL,
        f"{APART}add elementwise 1: y e[mn] -> r[mn]\nmul elementwise 1: z e -> s[mn]",
        "kinds",
        "a and b are matrix products that share no input and no result",
        ("a", "b"),
    ),
    "products that meet outside": (
        SMALL,
        f"{APART}e elementwise 1: y e[mn] -> r[mn]\ntan elementwise 1: z e -> s[mn]\n| add elementwise 1: r s -> t[mn]",
        "kinds",
        "a and b are matrix products that share no input and no result",
        ("a", "b"),
    ),
    "three levels": (
        SMALL,
        CHAIN + "\nthree matmul 2: z u[jk] -> o[mk]",
        "kinds",
        "one, two and three are three matrix products one after the other: a kernel has at most two",
        ("one", "two", "three"),
    ),
    "both operands": (
        SMALL,
        "a matmul 2: x[mk] w[kn] -> y[mn]\nb matmul 2: x2[nk] w2[kj] -> z[nj]\nc matmul 2: y z -> o[mj]",
        "kinds",
        "both operands of c are products of the same kernel: a block has rows of only one",
        ("c",),
    ),
    "window": (
        "b1 c8 o8 y56 x56 r3 s3 p8 q3 l3",
        "a matmul 2: i[bcyx] w[ocrs] -> t[boyx]\nb matmul 2: t v[poql] -> z[bpyx]",
        "kinds",
        "b reads a window of the result of a: neighbouring blocks would compute the same elements",
        ("b",),
    ),
    "a norm of a window": (
        "b1 c8 o8 y56 x56 r3 s3",
        "conv matmul 2: i[bcyx] w[ocrs] -> t[boyx]\nnorm reduction 5 over=o: t -> u[boyx]",
        "kinds",
        "conv reads neighbours of each element, so norm cannot have its rows whole",
        ("conv", "norm"),
    ),
    "before a product, along its rows": (
        SMALL,
        "norm reduction 8 over=m: x[mk] -> h[mk]\nmm matmul 2: h w[kn] -> y[mn]",
        "axes",
        "norm reduces axis 0, which mm does not add up: every block would need all of its rows",
        ("norm", "mm"),
    ),
    "after a product, along another axis": (
        SMALL,
        "mm matmul 2: x[mk] w[kn] -> y[mn]\nadd broadcast 1: y b[jmn] -> z[jmn]\nnorm reduction 8 over=j: z -> u[jmn]",
        "axes",
        "norm reduces other axes than those of mm",
        ("norm",),
    ),
    "between products, along the rows": (
        SMALL,
        "one matmul 2: x[mk] w[kn] -> y[mn]\nnorm reduction 8 over=m: y -> h[mn]\ntwo matmul 2: h v[nj] -> z[mj]",
        "axes",
        "norm reduces along the rows that are spread over blocks",
        ("norm",),
    ),
    "a sum of the rows of a chain": (
        SMALL,
        CHAIN + "\nsum reduction 1 over=m: z -> s[j]",
        "axes",
        "sum adds up rows that are spread over blocks",
        ("sum",),
    ),
    "axes that the second level lacks": (
        SMALL,
        "one matmul 2: x[mk] w[knq] -> y[mnq]\nsum reduction 1 over=q: y -> h[mn]\ntwo matmul 2: h v[nj] -> z[mj]",
        "axes",
        "one has axes that two does not use",
        ("one", "two"),
    ),
    "rows that the first level lacks": (
        SMALL,
        "one matmul 2: x[mk] w[kn] -> y[mn]\nmul broadcast 1: y e[qmn] -> h[qmn]\ntwo matmul 2: h v[nj] -> z[qmj]",
        "axes",
        "one does not have the rows of two",
        ("one", "two"),
    ),
    "different axes": (
        "m65536 n8192",
        "rows reduction 5 over=n: x[mn] -> y[mn]\ncolumns reduction 5 over=m: y -> z[mn]",
        "axes",
        f"{BOTH} 2.15 GB on chip at a time{HELD}",
        ("rows", "columns"),
    ),
    "elements that other blocks make": (
        "s256 d64 n256",
        "q matmul 2: x[sd] wq[de] -> q[se]\nk matmul 2: x wk[de] -> k[se]\nscores matmul 2: q k -> p[ss]",
        "axes",
        "each block of p needs elements that other blocks make",
        ("q", "k", "scores"),
    ),
    "rows of a result": (
        "m4096 k1024 n32000",
        "mm matmul 2: x[mk] w[kn] -> y[mn]\nsoftmax reduction 5 over=n: y -> p[mn]",
        "capacity",
        "64 rows of y need 4.1 MB at a time" + HELD,
        ("softmax",),
    ),
    "a row of a result": (
        "m1 k64 n128256",
        "mm matmul 2: x[mk] w[kn] -> y[mn]\nsoftmax reduction 5 over=n: y -> p[mn]",
        "capacity",
        "1 row of y needs 257 kB at a time" + HELD,
        ("softmax",),
    ),
    "rows of a chain": (
        "m4096 k4096 n14336 j4096",
        CHAIN,
        "capacity",
        "64 rows of z and x need 1.06 MB, 64 rows of y 2.37 MB" + HELD,
        ("one", "two"),
    ),
}


def _split_off(text: str) -> tuple[str, str]:
    """Return the ops of the group, and all ops. Ops after a bar are not in the group."""
    group = [line.split()[0] for line in text.splitlines() if not line.startswith("|")]
    return " ".join(group), text.replace("| ", "")


@pytest.mark.parametrize("name", REFUSALS)
def test_a_group_that_is_no_kernel_says_what_a_block_lacks(name: str) -> None:
    sizes, text, code, sentence, path = REFUSALS[name]
    group, text = _split_off(text)
    forms = forms_of(written(f"{sizes} {_missing(sizes)}", text), G)
    ops = mask(forms, group)
    assert (Rules(forms.structure).refusal(ops) or forms.form(ops)) == Refusal(code, sentence, path)


def _missing(sizes: str) -> str:
    """Return sizes of 64 of loops that have none."""
    given = {part[0] for part in sizes.split()}
    return " ".join(f"{letter}64" for letter in "jehqs" if letter not in given)


def test_without_a_chip_rows_of_products_and_chains_of_products_need_one() -> None:
    norm = forms_of(
        written("m64 k64 n64", "mm matmul 2: x[mk] w[kn] -> y[mn]\nnorm reduction 5 over=n: y -> z[mn]"), None
    )
    assert norm.form(0b11) == Refusal("axes", "norm needs rows of mm whole: name the chip that holds them", ("norm",))
    chain = forms_of(written("m64 k64 n64 j64", CHAIN), None)
    sentence = "one and two are a chain of two products: name the chip that holds their rows"
    assert chain.form(0b11) == Refusal("axes", sentence, ("one", "two"))


@pytest.mark.parametrize(
    ("text", "code", "sentence"),
    [
        (
            "mm matmul 2: x[mk] w[kn] -> y[mn]\nmm2 matmul 2: x w2[kj] -> z[mj]",
            "kinds",
            "compilers give mm + mm2 a kernel each",
        ),
        (
            "norm reduction 5 over=k: x[mk] -> h[mk]\nmm matmul 2: h w[kn] -> y[mn]",
            "kinds",
            "compilers do not put norm beside the matrix product mm",
        ),
        (
            "mm matmul 2: x[mk] w[kn] -> y[mn]\nsum scan 1: y -> z[mn]",
            "kinds",
            "compilers do not put sum beside the matrix product mm",
        ),
        (
            "rows reduction 1 over=n: x[mn] -> r[m]\ncolumns reduction 1 over=m: x -> c[n]",
            "axes",
            "compilers do not add up columns across blocks",
        ),
    ],
)
def test_a_kernel_that_no_compiler_makes_is_legal_and_says_what_compilers_do(
    text: str, code: str, sentence: str
) -> None:
    forms = forms_of(written("m4096 n4096 k64 j64", text), G)
    assert not isinstance(forms.form(0b11), Refusal)
    refusal = forms.of_compilers().form(0b11)
    assert isinstance(refusal, Refusal)
    assert (refusal.code, refusal.sentence) == (code, sentence)


# -- what a form says --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        (
            "flash_prefill",
            ["chain, result kept", "blocks of 64 rows (128 of them, 132 units)", "49.2 kB of 232 kB on chip"],
        ),
        (
            "flash_long_context",
            [
                *("chain, result kept", "blocks of 256 rows (512 of them, 132 units)", "197 kB of 232 kB on chip"),
                *("k read 4 times", "v read 4 times"),
            ],
        ),
        ("transposed_weight", ["tiles", "tiles of 128 × 128", "16.4 kB of 232 kB on chip"]),
        (
            "linear_cross_entropy",
            ["tiles", "tiles of 128 × 128", "32.8 kB of 232 kB on chip", "131 MB of partial results"],
        ),
        (
            "layernorm_of_8_mb_rows",
            ["two passes", "512 B of 232 kB on chip", "x read 2 times", "relu_a computed 2 times"],
        ),
        (
            "fp8_dynamic_quantise_decode",
            [
                *("tiles, rows kept", "tiles of 128 × 128", "133 kB of 232 kB on chip"),
                *("amax computed 32 times", "quantise computed 32 times"),
            ],
        ),
    ],
)
def test_a_form_is_described_in_a_line(name: str, parts: list[str]) -> None:
    case = next(case for case in HAND if case.name == name)
    assert str(Partition.best(graph_of_case(case), G).form(0, G)) == "; ".join(parts)


def test_kernels_on_a_chip_have_the_bytes_and_flops_that_counters_see() -> None:
    case = next(case for case in HAND if case.name == "layernorm_of_8_mb_rows")
    best = Partition.best(graph_of_case(case), G)
    once, done = best.kernels(), best.kernels(chip=G)
    size = 2 * 16 * 2**22
    assert (once.bytes.tolist(), done.bytes.tolist()) == ([2 * size], [3 * size])
    assert once.flops_by_precision["vector"].tolist() == [case.flops]
    assert done.flops_by_precision["vector"].tolist() == [case.done]
    assert best.total_flops() == case.flops
    assert done.names.tolist() == once.names.tolist() == ["relu_a + norm + relu_b"]


def test_a_chip_without_the_peak_of_a_kernel_still_has_its_form_and_its_bytes() -> None:
    case = next(case for case in HAND if case.name == "flash_prefill")
    parts = Partition.on_some_chip(graph_of_case(case), [["qk", "softmax", "pv"]])
    narrow = Chip("narrow", {"fp8": 1e15}, dict(G.memories), units="132 SM")
    assert parts.form(0, narrow).name == "chain"
    assert parts.kernels(chip=narrow).bytes.tolist() == [case.fewest]
    with pytest.raises(MissingFigureError, match="bf16"):
        parts.time(narrow)


def test_a_group_that_is_no_kernel_on_a_chip_has_no_form_there_and_counts_once() -> None:
    graph = written("m4096 k1024 n32000", "mm matmul 2: x[mk] w[kn] -> y[mn]\nsoftmax reduction 5 over=n: y -> p[mn]")
    parts = Partition.on_some_chip(graph, [["mm", "softmax"]])
    with pytest.raises(FusionError, match=r"64 rows of y need 4\.1 MB at a time"):
        parts.form(0, G)
    assert parts.kernels(chip=G).bytes.tolist() == parts.kernels().bytes.tolist()


# -- partitions of compilers and of a greedy search --------------------------------------------------------------------


def groups(name: str, partition: Any) -> list[str]:
    case = next(case for case in HAND if case.name == name)
    return ["+".join(group) for group in partition(graph_of_case(case)).groups]


def test_like_compiler_is_the_fastest_partition_of_kernels_with_one_product() -> None:
    def like(graph: Graph) -> Partition:
        return Partition.like("compiler", graph, G)

    assert groups("gated_mlp_prefill", like) == ["up", "gate+swiglu", "down"]
    assert groups("flash_prefill", like) == ["qk", "softmax", "pv"]
    assert groups("rmsnorm_qkv_decode", like) == ["norm", "mmq", "mmr", "mms"]
    assert groups("int8_weight_channel_scale", like) == ["cast+mm+scale"]
    with pytest.raises(TypeError, match=r"the rules of 'compiler' weigh times: name a chip, such as Partition.like\("):
        Partition.like("compiler", written("m8", "exp elementwise 1: x[m] -> y[m]"))


def test_like_inductor_writes_products_itself_only_with_max_autotune() -> None:
    name = "linear_gelu_with_the_pre_activation_kept"
    assert groups(name, lambda graph: Partition.like("inductor", graph, G)) == ["mm", "bias+gelu"]
    assert groups(name, lambda graph: Partition.like("inductor", graph, G, max_autotune=True)) == ["mm+bias+gelu"]
    # Two products stay two kernels.
    mlp = groups("gated_mlp_small", lambda graph: Partition.like("inductor", graph, G, max_autotune=True))
    assert sum("gate" in group or "up" in group for group in mlp) == 2
    assert len(mlp) == 3


@pytest.mark.parametrize("name", ["flash_prefill", "decode_gqa", "decode_int8_cache", "rmsnorm_qkv_decode"])
def test_a_greedy_search_finds_kernels_of_three_groups_of_which_no_two_are_faster(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MAX_STEPS", 0)
    case = next(case for case in HAND if case.name == name)
    found = Partition.best(graph_of_case(case), G)
    assert (found.how, len(found)) == ("greedy", 1)


# -- products with unknown loops ---------------------------------------------------------------------------------------


def test_a_product_of_a_tensor_with_itself_and_one_of_one_operand_have_tiles() -> None:
    graph = Graph("gram")
    x = graph.relu(graph.input("x", (4096, 64), "bf16"))
    graph.output(graph.relu(graph.batched_matmul(x, x, transpose_b=True)))
    gram = Partition.best(graph, G)
    assert len(gram) == 1
    # Rows and columns of the result are not told apart: a square of 128 x 128 elements.
    assert gram.form(0, G).need == 2 * 128 * 128
    alone = Graph("alone")
    y, z = (Tensor(name, (256, 64), "bf16") for name in "yz")
    alone.op("matmul", "product", [alone.input("x", (256, 64), "bf16")], [y], 10**6)
    alone.op("elementwise", "exp", [y], [z], 256 * 64)
    alone.output(z)
    assert Partition.best(alone, G).form(0, G).need == 2 * 128 * 128


def test_a_form_names_no_sizes_of_blocks_where_the_capacity_of_the_chip_is_unknown() -> None:
    chip = Chip("large", {"bf16": 1e15}, {"HBM": 1e12})
    case = next(case for case in HAND if case.name == "transposed_weight")
    assert str(Partition.best(graph_of_case(case), chip).form(0, chip)) == "tiles"


@pytest.mark.parametrize("rows", [1, 2])
def test_two_products_of_few_rows_are_one_kernel_that_reads_all_weights_once(rows: int) -> None:
    text = "up matmul 2: x[mk] w[kn] -> h[mn]\nact elementwise 1: h -> a[mn]\ndown matmul 2: a[mn] v[ne] -> y[me]"
    best = Partition.best(written(f"m{rows} k1024 n4096 e1024", text), G)
    assert best.groups == (("up", "act", "down"),)
    assert moved(best, G) == 2 * (rows * 1024 + 1024 * 4096 + 4096 * 1024 + rows * 1024)
