"""Rules of work that people write: what they give, what wins, and what is wrong with a bad one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.readers import ProfileError, read
from roofwidget.readers.torch.calls import Certainty, OpCall
from roofwidget.readers.torch.forms import FORMS
from roofwidget.readers.torch.meanings import MEANINGS
from roofwidget.readers.torch.rules import WorkRules, checked_work

MOE = (
    '"mine::moe" = { op = "moe", x = 0, experts = "dims[1][1]", active = 4, ffn = 2880, d = 2880, weight_bits = 4.25 }'
)
EXPERTS = {"Input Dims": [[8192, 3072], [8192, 32]], "Input type": ["c10::BFloat16"] * 2}


def op(name: str, at: int, kernels: list[tuple[str, float]], **args: Any) -> list[dict[str, Any]]:
    """Return the events of an operation and of its kernels, with microseconds."""
    place = {"ph": "X", "pid": 1, "tid": 1}
    events: list[dict[str, Any]] = [
        {"cat": "cpu_op", "name": name, "ts": at, "dur": 9, "args": {"External id": at, **args}} | place
    ]
    for name_, time in kernels:
        at += 10
        events.append({"cat": "kernel", "name": name_, "ts": at, "dur": time} | place | {"tid": 7})
        events[-1]["args"] = {"External id": events[0]["args"]["External id"]}
    return events


def trace(*events: list[dict[str, Any]]) -> bytes:
    return json.dumps({"schemaVersion": 1, "traceEvents": [event for each in events for event in each]}).encode()


def rules(text: str) -> rw.WorkRules:
    return rw.WorkRules.from_text(text)


def work(text: str, data: bytes, **options: Any) -> rw.Kernels:
    return read(data, work=rules(text), idle=False, **options)


ONE = trace(op("mine::moe", 1, [("k", 5)], **EXPERTS))


def test_a_rule_gives_an_operation_its_work_and_its_numbers_say_where_they_are_from() -> None:
    kernels = work(MOE, ONE)
    # 6 x 8192 x 4 x 2880 x 2880; x and result of 2880 columns, 32 experts of 3 matrices of 4.25 bits.
    assert kernels.flops.tolist() == [1_630_745_395_200]
    assert kernels.bytes.tolist() == [8192 * 2 * 2880 * 2 + 32 * 3 * 2880 * 2880 * 4.25 / 8]
    assert kernels.precision.tolist() == ["bf16"]
    assert kernels.category.tolist() == ["mixture of experts"]
    (origin,) = kernels.origin["flops"]
    assert origin.startswith('work.toml:1 "mine::moe": 6 T k D F = 6 x 8192 x 4 x 2880 x 2880; ')
    assert origin.endswith("; experts, active, ffn, d, weight_bits by the user")


@pytest.mark.parametrize(
    ("rule", "flops", "moved"),
    [
        ('{ flops = "4 * dims[0][0] * dims[1][1]", bytes = "tensors" }', 4 * 8192 * 32, 2 * 8192 * (3072 + 32)),
        ('{ flops = "4 GFLOP", bytes = "10 MB" }', 4e9, 1e7),
        ('{ flops = 12, bytes = "size[0] // 2" }', 12, 8192 * 3072),
        ('{ flops = "value[2] * 2", bytes = 0 }', 14, 0),
        ('{ op = "linear", x = 0, weight = 3 }', 2 * 8192 * 3072 * 5, 2 * (8192 * 3072 + 3072 * 5 + 8192 * 5)),
        ('{ op = "gemm", m = 46, n = 100, k = 28, precision = "bf16" }', 2 * 46 * 100 * 28, 2 * (4600 + 2800 + 1288)),
    ],
)
def test_a_rule_types_amounts_or_names_the_inputs_of_a_form(rule: str, flops: float, moved: float) -> None:
    dims = [[8192, 3072], [8192, 32], [], [5, 3072]]
    args = {"Input Dims": dims, "Input type": ["c10::BFloat16", "c10::BFloat16", "Scalar", "c10::BFloat16"]}
    data = trace(op("mine::op", 1, [("k", 5)], **args, **{"Concrete Inputs": ["", "", "7", ""]}))
    kernels = work(f'"mine::*" = {{ bytes = 1, flops = 1 }}\n"mine::op" = {rule}', data)
    if "tensors" in rule:
        moved += 2 * 5 * 3072
    assert (kernels.flops.tolist(), kernels.bytes.tolist()) == ([flops], [moved])


def test_bytes_over_a_link_are_network_bytes() -> None:
    line = '"*dispatch*" = { link_bytes = "8192 * 8 * 7168 * 1 * (1 - 1/8)" }'
    kernels = work(line, trace(op("aten::mm", 1, [("k", 5)]), [op("x", 30, [("deep_ep::dispatch<8>", 3)])[1]]))
    row = kernels.names.tolist().index("deep_ep::dispatch<8>")
    assert kernels.bytes_by_level["network"][row] == 8192 * 8 * 7168 * 7 / 8


def test_the_most_exact_pattern_wins_and_then_the_first_line() -> None:
    lines = [
        '"*" = { flops = 1 }',
        '"mine::*" = { flops = 2 }',
        '"mine::moe" = { flops = 3 }',
        '"mine::mo[e]" = { flops = 4 }',
    ]
    assert work("\n".join(lines), ONE).flops.tolist() == [3]
    assert work("\n".join(lines[:2]), ONE).flops.tolist() == [2]
    assert work('"mine::m*" = { flops = 5 }\n"mine::*e" = { flops = 6 }', ONE).flops.tolist() == [5]
    assert np.isnan(work('"MINE::*" = { flops = 1 }', ONE).flops[0])


def test_a_line_that_matches_nothing_is_no_error() -> None:
    kernels = work('"nobody*" = { op = "linear", x = 9, weight = 8 }', ONE)
    assert np.isnan(kernels.flops[0])
    assert not any("nobody" in warning for warning in kernels.warnings)


def mm(**more: Any) -> bytes:
    args = {"Input Dims": [[5, 11], [11, 7]], "Input type": ["float"] * 2}
    events = op("aten::mm", 1, [("gemm", 5)], **args)
    events[1]["args"] |= more
    return trace(events)


def test_rules_of_people_come_before_those_of_this_package_and_python_before_rules(tmp_path: Path) -> None:
    profile, beside, given = (tmp_path / name for name in ("trace.json", "work.toml", "given.toml"))
    profile.write_bytes(mm())
    assert read(profile).flops.tolist() == [770]
    beside.write_text('"aten::mm" = { flops = 1, bytes = 2 }', encoding="utf-8")
    kernels = read(profile)
    assert (kernels.flops.tolist(), kernels.bytes.tolist()) == ([1], [2])
    assert any("work.toml beside the profile" in warning for warning in kernels.warnings)
    given.write_text('"aten::mm" = { flops = 3 }', encoding="utf-8")
    # What the file by its path does not give, the file beside the profile gives.
    kernels = read(profile, work=given)
    assert (kernels.flops.tolist(), kernels.bytes.tolist()) == ([3], [2])
    assert kernels.origin["flops"].tolist() == ['given.toml:1 "aten::mm": 3']
    assert read(profile, work={"aten::mm": {"flops": 4}}).flops.tolist() == [4]


def test_a_rule_of_a_person_comes_before_what_the_compiler_wrote_and_an_estimate_after() -> None:
    args = {"Input Dims": [[8], [8], []], "Input type": ["float", "float", "Scalar"], "Concrete Inputs": ["", "", "8"]}
    name = "triton_poi_fused_add_0"
    plain = trace(op(name, 1, [(name, 5)], **args))
    assert read(plain, idle=False).flops.tolist() == [8]
    written = trace(op(name, 1, [(name, 5)], **args, kernel_flop=100, kernel_num_gb=1e-6))
    assert read(written, idle=False).flops.tolist() == [100]
    for data in (plain, written):
        kernels = work('"triton_poi_*" = { flops = 0, bytes = "tensors", at_least = true }', data)
        assert (kernels.flops.tolist(), kernels.bytes.tolist()) == ([0], [64])
    on_kernel = mm(kernel_flop=5000)
    assert read(on_kernel, idle=False).flops.tolist() == [5000]
    assert work('"aten::mm" = { flops = 3 }', on_kernel).flops.tolist() == [3]


def test_a_number_of_the_profile_is_never_replaced_by_the_name_of_a_kernel() -> None:
    table = b"name,flops,time (us)\nflash,4e9,31\nother,,5"
    kernels = read(table, work=rules('"*" = { flops = 7 }'))
    assert kernels.flops.tolist() == [4e9, 7]


def test_kernels_without_an_operation_have_the_work_of_their_name() -> None:
    data = trace(op("mine::moe", 1, [("k", 5)]), [op("x", 30, [("nvjet_hsh_128", 3)])[1]])
    kernels = work('"nvjet_*" = { m = 46, n = 100, k = 28, op = "gemm", precision = "bf16" }', data)
    row = kernels.names.tolist().index("nvjet_hsh_128")
    assert (kernels.flops[row], kernels.bytes[row]) == (2 * 46 * 100 * 28, 2 * (46 * 28 + 28 * 100 + 46 * 100))
    assert kernels.precision[row] == "bf16"


def test_a_lower_bound_counts_and_an_upper_bound_is_only_said() -> None:
    least = work('"mine::moe" = { flops = 5, bytes = 6, at_least = true }', ONE)
    assert (least.flops.tolist(), least.bytes.tolist()) == ([5], [6])
    assert least.origin["flops"].tolist() == ['work.toml:1 "mine::moe": 5 (lower bound: by the rule)']
    most = work('"mine::moe" = { flops = 5e20, bytes = 6, at_most = true }', ONE)
    np.testing.assert_equal((most.flops, most.bytes), ([np.nan], [np.nan]))
    assert most.origin["flops"].tolist() == ['unknown: work.toml:1 "mine::moe": at most 5e+20: 5e+20']


def test_only_an_amount_that_a_rule_types_is_its_lower_bound() -> None:
    product = OpCall("mine::mlp", [[4, 8], [16, 8]], ["bf16"] * 2)
    form = {"op": "linear", "x": 0, "weight": 1, "at_least": True}

    def bounds(**more: Any) -> tuple[Certainty, Certainty]:
        found = checked_work(WorkRules({"mine::mlp": {**form, **more}}), "mine::mlp", product.to_text())
        assert found is not None
        return found.flops_are, found.bytes_are

    exact, least = Certainty.EXACT, Certainty.AT_LEAST
    assert bounds() == (least, least)
    assert bounds(bytes=6) == (exact, least)
    assert bounds(flops=6) == (least, exact)
    assert bounds(flops=6, bytes=6) == (least, least)


def test_the_kernels_of_a_part_share_the_work_of_the_operation_by_time() -> None:
    data = trace(op("mine::moe", 1, [("_matmul_a", 6), ("_matmul_b", 2), ("route", 50)], **EXPERTS))
    text = f'{MOE}\n"_matmul_*" = {{ part_of = "mine::m*" }}'
    kernels = work(text, data, by="kernel")
    by_name = dict(zip(kernels.names.tolist(), kernels.flops.tolist(), strict=True))
    assert by_name["_matmul_a"] == pytest.approx(1_630_745_395_200 * 6 / 8, rel=1e-15)
    assert by_name["_matmul_b"] == pytest.approx(1_630_745_395_200 * 2 / 8, rel=1e-15)
    assert np.isnan(by_name["route"])
    origins = dict(zip(kernels.names.tolist(), kernels.origin["flops"].tolist(), strict=True))
    assert origins["_matmul_a"].endswith("; a share of it by the time of the kernel")
    assert work(text, data).flops.tolist() == [1_630_745_395_200]
    # Of another operation the kernels are no part: the longest has the work.
    other = work(text.replace("mine::m*", "other"), data, by="kernel")
    assert dict(zip(other.names.tolist(), other.flops.tolist(), strict=True))["route"] == 1_630_745_395_200


STEP = "execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37(sq37sk34489sqsq37sqsk34489)"


@pytest.mark.parametrize("first", [None, "execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk9sqsq2sqsk9)"])
@pytest.mark.parametrize("kind", ["decode", "prefill of more tokens"])
def test_windows_do_not_need_a_first_step_of_the_same_kind(first: str | None, kind: str) -> None:
    if first and kind != "decode":
        first = "execute_9000_context_1(sq9000sk9000sqsq81000000sqsk81000000)_generation_0(sq0sk0sqsq0sqsk0)"
    dims = [[8192, 64, 64], [8192, 8, 64], [8192, 8, 64], [8192, 64, 64]]
    args = {"Input Dims": dims, "Input type": ["c10::BFloat16"] * 4}
    calls = [op("mine::attention", at, [("k", 5)], **args) for at in (100, 200)]
    calls += [op("mine::other", 10, [("other", 5)])] * bool(first)
    note = {"ph": "X", "cat": "user_annotation", "name": STEP, "pid": 1, "tid": 1, "ts": 50, "dur": 1000}
    notes = [note, *([note | {"name": first, "ts": 0, "dur": 40}] if first else [])]
    line = '"mine::attention" = { op = "attention", q = 0, k = 1, v = 2, pairs = "step", windows = [128, 0] }'
    kernels = work(line, trace(notes, *calls), by="kernel")
    assert kernels.launches is not None
    flops = kernels.launches.flops[kernels.launches.names == "k"].tolist()
    assert flops == [4 * 64 * 64 * (1_043_840 - 73_152 + 164), 65_076_985_856]


def test_windows_belong_to_the_calls_of_a_step_in_turn() -> None:
    dims = [[8192, 64, 64], [8192, 8, 64], [8192, 8, 64], [8192, 64, 64]]
    args = {"Input Dims": dims, "Input type": ["c10::BFloat16"] * 4}
    calls = [op("mine::attention", at, [("k", 5)], **args) for at in (100, 200, 300)]
    note = {"ph": "X", "cat": "user_annotation", "name": STEP, "pid": 1, "tid": 1, "ts": 0, "dur": 1000}
    line = '"mine::attention" = { op = "attention", q = 0, k = 1, v = 2, pairs = "step", windows = [128, 0] }'
    kernels = work(line, trace([note], *calls), by="kernel")
    assert kernels.launches is not None
    flops = sorted({float(one) for one in kernels.launches.flops})
    # Without a window 4 x 64 x 64 x 3971984. With a window at least 8155 x 128 - 9 x 128 x 127 / 2 pairs of prefill,
    # and 128 + 36 of decode; at most 8192 x 128.
    assert flops == [4 * 64 * 64 * (1_043_840 - 73_152 + 164), 65_076_985_856]
    assert "at most 1048576" in str(kernels.origin["flops"].tolist())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('"a" = { flop = 3 }', "line 2: 'a': a rule without op has no key 'flop'; did you mean 'flops'"),
        (
            '"a" = { op = "linear", x = 0, wieght = 1 }',
            "'a': the form 'linear' has no key 'wieght'; did you mean 'weight'",
        ),
        ('"a" = { op = "linaer" }', "'a': op = 'linaer'; did you mean 'linear'"),
        ('"a" = { op = "linear", x = "0" }', "'a': x must be the position of an input, from 0, got '0'"),
        ('"a" = { op = "linear", x = -1 }', "'a': x must be the position of an input"),
        ('"a" = { op = "linear", x = true }', "'a': x must be the position of an input"),
        (
            '"a" = { op = "moe", x = 0, active = "!" }',
            "'a': active: expected a number, a name or an operator at character 1",
        ),
        ('"a" = { flops = "__import__" }', "'a': flops: expected one of dims"),
        ('"a" = { flops = -1 }', "'a': flops must be a number from 0"),
        ('"a" = { flops = nan }', "'a': flops must be a number from 0"),
        ('"a" = { flops = "4 GB" }', "'a': flops: expected an operator"),
        ('"a" = 3', "'a' must be a table such as"),
        ('"a" = { precision = "bf16" }', "'a' gives neither op, flops, bytes, link_bytes nor part_of"),
        ('"a" = { flops = 1, at_least = true, at_most = true }', "'a': at_least and at_most contradict each other"),
        ('"a" = {', "not TOML: "),
        ('"a" = { flops = 1 }\n"a" = { flops = 2 }', "not TOML: "),
    ],
)
def test_a_bad_line_names_file_line_and_pattern(line: str, message: str) -> None:
    with pytest.raises(ProfileError) as caught:
        rules(f"# rules\n{line}")
    assert str(caught.value).startswith("work.toml: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{ op = "linear", x = 0, weight = 7 }', "weight = 7: input 7 is not a tensor"),
        ('{ op = "linear", x = 0, weight = 1 }', "have (3072,) and (32,) as last size; K must be equal"),
        ('{ op = "linear", x = 0 }', "needs 'weight', the position of an input"),
        ('{ op = "gemm", a = 0, b = 1 }', "have the inner sizes 3072 and 8192, which must be equal"),
        ('{ flops = "dims[0][2]" }', "flops = 'dims[0][2]': input 0 has the sizes [8192, 3072]"),
        ('{ flops = "dims[4][0]" }', "input 4 is not a tensor"),
        ('{ flops = "dims[0][0] / 0" }', "a division by zero"),
        ('{ flops = "1 - dims[0][0]" }', "is -8191, which must be from 0"),
        ('{ op = "moe", x = 0, active = 1.5, ffn = 8 }', "active must be a whole number, got 1.5"),
        ('{ op = "norm", x = 0, kind = "rsm" }', "kind = 'rsm'; did you mean 'rms'"),
    ],
)
def test_a_rule_that_does_not_fit_its_operation_names_file_line_and_operation(line: str, message: str) -> None:
    with pytest.raises(ProfileError) as caught:
        work(f'\n"mine::*" = {line}', ONE)
    assert str(caught.value).startswith("work.toml: line 2: 'mine::*' for mine::moe: ")
    assert message in str(caught.value)


def test_names_that_no_rule_knows_cost_little() -> None:
    lines = "\n".join(f'"mine{at}::*a*b*" = {{ flops = 1 }}' for at in range(300))
    data = trace(*(op(f"other::{'a' * 500}{at}", 1000 * at, [("k", 5)]) for at in range(300)))
    kernels = work(lines, data)
    assert np.isnan(kernels.flops).all()


def test_rules_are_written_one_a_line_and_read_again(tmp_path: Path) -> None:
    given = rules(f'{MOE}\n"a[*] \\"b\\" \\\\ ü" = {{ op = "attention", q = 0, windows = [128, 0], causal = true }}')
    given.write(tmp_path / "work.toml")
    again = rw.WorkRules.read(tmp_path / "work.toml")
    assert again == given
    assert len((tmp_path / "work.toml").read_text(encoding="utf-8").splitlines()) == len(again) == 2
    assert rw.WorkRules(dict(given)) == given


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "work.toml"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ProfileError, match="not UTF-8 text"):
        rw.WorkRules.read(file)
    with pytest.raises(FileNotFoundError):
        read(ONE, work=tmp_path / "none.toml")


def test_rules_from_python_are_checked() -> None:
    with pytest.raises(TypeError, match="has no key 'flop'"):
        rw.WorkRules({"a": {"flop": 3}})
    with pytest.raises(TypeError, match="rules must map patterns to rules"):
        rw.WorkRules([("a", {})])  # type: ignore[arg-type]  # what is tested
    kernels = read(ONE, work=rw.WorkRules({"mine::moe": {"flops": 3}}), idle=False)
    assert kernels.origin["flops"].tolist() == ['WorkRules:1 "mine::moe": 3']


# -- unknown work --------------------------------------------------------------------------------------------------


def test_unknown_work_is_listed_by_time_with_what_is_missing_and_a_proposed_rule() -> None:
    args = {"Input Dims": [[64, 32], [16, 32], [64, 16]], "Input type": ["float"] * 3}
    data = trace(
        op("mine::mlp", 100, [("k", 30)], **args),
        op("vllm::moe_forward", 200, [("m", 60)], **EXPERTS),
        op("aten::mm", 300, [("g", 10)], **{"Input Dims": [[5, 11], [11, 7]], "Input type": ["float"] * 2}),
    )
    found = read(data, idle=False).unknown_work()
    assert [(one.name, one.share, one.launches) for one in found] == [
        ("vllm::moe_forward", 0.6, 1),
        ("mine::mlp", 0.3, 1),
    ]
    assert found.share == pytest.approx(0.9)
    assert found[0].missing == (
        "active (experts of a token), ffn (columns of an expert) and weight_bits: they are no arguments"
    )
    assert found[0].rule is not None
    assert '"vllm::moe_forward" = { op = "moe", x = 0, experts = "dims[1][1]", active = "?"' in found[0].rule
    assert (found[1].missing, found[1].shape) == ("a rule for this operation", "[64, 32], [16, 32], [64, 16]")
    assert found[1].rule == '"mine::mlp" = { op = "linear", x = 0, weight = 1, out = 2 }'
    # The proposed rule is right as it is.
    assert work(str(found[1].rule), data).unknown_work()[0].name == "vllm::moe_forward"
    assert found.rules().splitlines() == [found[0].rule, found[1].rule]


def test_the_page_of_unknown_work_shows_names_as_text() -> None:
    html = rw.Kernels(["<b>x</b>"], [np.nan], [np.nan], time=[1]).unknown_work()._repr_html_()
    assert "&lt;b&gt;x" in html
    assert "100 %" in html


@pytest.mark.parametrize(
    ("dims", "rule"),
    [
        ([[64, 32], [32, 16], [64, 16]], '{ op = "gemm", a = 0, b = 1, out = 2 }'),
        ([[4, 64, 32], [16, 32]], '{ op = "linear", x = 0, weight = 1 }'),
        ([[64, 8, 32], [64, 2, 32], [64, 2, 32]], '{ op = "attention", q = 0, k = 1, v = 2, pairs = "step" }'),
        ([[64, 32], [64, 32]], '{ bytes = "tensors", at_least = true }'),
    ],
)
def test_sizes_that_fit_propose_a_rule(dims: list[list[int]], rule: str) -> None:
    args = {"Input Dims": dims, "Input type": ["float"] * len(dims)}
    (one,) = read(trace(op("mine::o[p]", 1, [("k", 5)], **args)), idle=False).unknown_work()
    # Brackets of a name are none of the pattern.
    assert one.rule == f'"mine::o[[]p]" = {rule}'


@pytest.mark.parametrize("kind", ["poi", "red", "per"])
def test_no_product_is_proposed_for_a_triton_kernel_that_computes_none(kind: str) -> None:
    args = {"Input Dims": [[64, 32], [16, 32], [64, 16]], "Input type": ["float"] * 3}
    (one,) = read(trace(op(f"triton_{kind}_fused_0", 1, [("k", 5)], **args)), idle=False).unknown_work()
    assert (one.flops, one.rule) == (True, None)


@pytest.mark.parametrize(("micro", "op_proposed"), [(4.0, True), (3.0, False)])
def test_a_product_is_proposed_only_if_the_time_is_long_enough_for_it(micro: float, op_proposed: bool) -> None:  # noqa: FBT001 - a parameter of a test
    # 2 x 4096 x 1024 x 4096 = 34.36 GFLOP: 8.6 PFLOP/s in 4 us, 11.5 PFLOP/s in 3 us.
    args = {"Input Dims": [[4096, 1024], [4096, 1024, 1], [4096, 1024], [1024, 4096]], "Input type": ["float"] * 4}
    (one,) = read(trace(op("mine::o", 1, [("k", micro)], **args)), idle=False).unknown_work()
    assert (one.rule is not None and "gemm" in one.rule) is op_proposed


def test_a_question_mark_of_a_proposed_rule_that_is_left_says_what_it_stands_for() -> None:
    with pytest.raises(ProfileError, match=r"line 1: 'mine': active is still \"\?\": give how many experts each token"):
        rules('"mine" = { op = "moe", x = 0, active = "?", ffn = 8 }')


def test_each_key_of_a_rule_has_a_meaning() -> None:
    keys = {key for form in FORMS.values() for key in form.keys}
    assert keys <= MEANINGS.keys()
    assert {"flops", "bytes", "link_bytes", "precision", "part_of", "missing"} <= MEANINGS.keys()


def test_a_rule_that_does_not_fit_a_folder_of_a_step_and_its_capture_gives_no_hint_of_another_way_to_read(
    tmp_path: Path,
) -> None:
    (tmp_path / "step.json").write_bytes(ONE)
    begin = {"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamBeginCapture", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
    (tmp_path / "capture.json").write_bytes(trace([begin]))
    with pytest.raises(ProfileError, match="x = 2: input 2 is not a tensor") as raised:
        read(tmp_path, work=rules('"mine::moe" = { op = "linear", x = 2, weight = 1 }'))
    assert "read_many" not in str(raised.value)


def test_idle_time_and_copies_over_a_link_are_no_unknown_work() -> None:
    copy = {
        "ph": "X",
        "cat": "gpu_memcpy",
        "name": "Memcpy HtoD (Host -> Device)",
        "pid": 0,
        "tid": 7,
        "ts": 90,
        "dur": 5,
    }
    copy["args"] = {"bytes": 4096, "External id": 77}
    kernels = read(trace([*op("mine::op", 1, [("k", 5)], **EXPERTS), copy]))
    assert "idle" in kernels.category.tolist()
    assert [one.name for one in kernels.unknown_work()] == ["mine::op"]
