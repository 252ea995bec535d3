"""Traces with absurd numbers and names, and files of rules that are none: unknown work or a clear error, in no time."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.readers import ProfileError, read
from roofwidget.readers.torch.calls import OpCall
from roofwidget.readers.torch.given import Given, RuleError
from roofwidget.readers.torch.messages import World, message_of, sent_by_call
from roofwidget.readers.torch.work import work_of
from tests.tables import warns

SHORT = 1.0
"""Seconds, of which each of these takes less than a hundredth."""


def trace(name: str, *, dims: list[Any], values: list[str], around: str = "", **kernel_args: Any) -> bytes:
    """Return a trace of one operation with one kernel, inside an annotation."""
    place = {"ph": "X", "pid": 1, "tid": 1}
    args = {
        "External id": 1,
        "Input Dims": dims,
        "Input type": ["c10::BFloat16" if sizes else "Scalar" for sizes in dims],
        "Concrete Inputs": values,
    }
    events = [
        {"cat": "cpu_op", "name": name, "ts": 2, "dur": 5, "args": args} | place,
        {"cat": "kernel", "name": "k", "ts": 9, "dur": 3, "args": {"External id": 1, **kernel_args}} | place,
    ]
    if around:
        events.append({"cat": "user_annotation", "name": around, "ts": 0, "dur": 20} | place)
    return json.dumps({"schemaVersion": 1, "traceEvents": events}).encode()


ATTENTION: dict[str, Any] = {
    "name": "vllm::unified_attention_with_output",
    "dims": [[8, 64, 64], [8, 8, 64], [8, 8, 64], [8, 64, 64]],
    "values": [""] * 4,
}


@pytest.mark.parametrize("text", ["1e3000000", "1e999999999", "1" * 41, "--5", "٣", "0x10", "1_0", "inf", "1e-999"])
def test_an_argument_that_is_no_ordinary_number_is_none(text: str) -> None:
    begin = time.perf_counter()
    given = Given(OpCall("a", [[]], ["Scalar"], [text]), {"n": "value[0]", "w": 0})
    with pytest.raises(RuleError, match="argument 0 is"):
        given.amount("n")
    assert given.whole("w") is None
    assert time.perf_counter() - begin < SHORT


@pytest.mark.parametrize(("text", "number"), [("-3", -3), ("12", 12), ("9" * 18, 10**18 - 1), ("2.0", None)])
def test_whole_numbers_of_arguments_have_up_to_18_digits(text: str, number: int | None) -> None:
    assert Given(OpCall("a", [[]], ["Scalar"], [text]), {"w": 0}).whole("w") == number


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("flash_attn::_flash_attn_varlen_forward", ["", "", "", "", "", "--5", "--5", "", "", "True"]),
        ("flash_attn::_flash_attn_forward", ["", "", "", "", "", "True", "--5", "--5"]),
        ("triton_poi_fused_add_0", ["", "", "", "9" * 30]),
        ("triton_poi_fused_add_0", ["", "", "", "9" * 400]),
        ("triton_poi_fused_add_0", ["", "", "", "9" * 5000]),
        ("_C::marlin_gemm", ["", "", "", "8", "9" * 5000, "64"]),
    ],
)
def test_absurd_arguments_leave_work_unknown_or_finite(name: str, values: list[str]) -> None:
    dims: list[Any] = [[8, 64, 64]] * 3 + [[5] if "varlen" in name else []] + [[]] * (len(values) - 4)
    kernels = read(trace(name, dims=dims, values=values), idle=False)
    for numbers in (kernels.flops, kernels.bytes):
        assert np.isnan(numbers).all() or 0 <= numbers[0] < 1e30


@pytest.mark.parametrize(
    "sums",
    ["sq8sk9sqsq8sqsk999999999999999999", "sq8sk9sqsq999999sqsk0", f"sq8sk{'9' * 18}sqsq{'9' * 18}sqsk{'9' * 18}"],
)
def test_absurd_sums_of_a_step_leave_work_unknown_or_finite(sums: str) -> None:
    around = f"execute_8_context_1({sums})_generation_0(sq0sk0sqsq0sqsk0)"
    kernels = read(trace(**ATTENTION, around=around), idle=False)
    assert np.isnan(kernels.flops[0]) or 0 <= kernels.flops[0] < 1e30
    assert np.isnan(kernels.bytes[0]) or 0 <= kernels.bytes[0] < 1e30


@pytest.mark.parametrize("digits", [10, 26, 5000])
def test_an_iteration_with_an_absurd_number_is_none(digits: int) -> None:
    kernels = read(trace(**ATTENTION, around=f"ProfilerStep#{'9' * digits}"))
    assert "iteration" not in kernels.extra_columns


@pytest.mark.parametrize(
    ("key", "value"),
    [("Seq", 10**400), ("Seq", -1), ("Seq", 2.5), ("Group size", 2.5), ("Group size", "2.5"), ("Group size", True)],
)
def test_a_number_of_a_collective_that_is_no_whole_number_is_named(key: str, value: Any) -> None:
    about = {"Collective name": "allreduce", "In msg nelems": 8, "Out msg nelems": 8, "dtype": "Float", key: value}
    with pytest.raises(ProfileError, match=f"expected a number from 0 as its '{key}'"):
        read(trace("x", dims=[[8]], values=[""], **about))


def test_numbers_of_collectives_may_be_texts_of_digits() -> None:
    message = message_of({"Collective name": "allreduce", "Group size": "8", "In msg nelems": 4.0})
    assert message is not None
    assert (message.ranks, message.elements_in) == (8, 4)


@pytest.mark.parametrize(
    "name",
    [f"triton_poi_fused_{'1' * 80_000}x", f"triton_poi_fused_{'_1' * 40_000}x", f"triton_{'_' * 80_000}"],
)
def test_long_names_of_compiled_kernels_cost_little(name: str) -> None:
    begin = time.perf_counter()
    work_of(OpCall(name, [[8], []], ["float", "Scalar"], ["", "8"]))
    assert time.perf_counter() - begin < SHORT


@pytest.mark.parametrize("tail", ["_" * 50_000, "A_" * 25_000, "_a" * 25_000, "A" * 50_000])
def test_long_names_of_kernels_of_collectives_cost_little(tail: str) -> None:
    begin = time.perf_counter()
    for start in ("AllReduce_Sum", "AllReduce_RING_LL_Sum"):
        sent_by_call(OpCall("c10d::allreduce_", [[[8]]], ["TensorList"]), f"{start}{tail}!", World({}))
    assert time.perf_counter() - begin < SHORT


# -- rules ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "trace.json"
    path.write_bytes(trace("mine::mlp", dims=[[8, 4]], values=[""]))
    return path


def test_unknown_is_no_form_for_people(profile: Path) -> None:
    with pytest.raises(ProfileError, match=r"'mine::\*': op = 'unknown'"):
        rw.WorkRules.from_text('"mine::*" = { op = "unknown" }')
    (profile.parent / "work.toml").write_text('"mine::*" = { op = "unknown" }', encoding="utf-8")
    with pytest.raises(ProfileError, match="op = 'unknown'"):
        read(profile)


def test_a_file_of_rules_is_small_beside_a_profile_and_by_its_path(profile: Path) -> None:
    file = profile.parent / "work.toml"
    file.write_text("#" * (2**18 + 1), encoding="utf-8")
    with pytest.raises(ProfileError, match="at most 262,144 bytes"):
        rw.WorkRules.read(file)
    assert warns(read(profile), "work.toml beside the profile is no file of rules")


def test_a_file_of_rules_has_at_most_ten_thousand() -> None:
    lines = "\n".join(f'"{at:x}"={{flops=1}}' for at in range(10_001))
    with pytest.raises(ProfileError, match=r"at most 10,000 rules, this one has 10,001"):
        rw.WorkRules.from_text(lines)


@pytest.mark.parametrize(
    "text", ['title = "my thesis"', "[tool]\nname = 3", "x = 1\n[[thing]]\na = 2", "\x00", "not toml at all"]
)
def test_a_work_toml_of_another_program_beside_a_profile_is_left_alone(profile: Path, text: str) -> None:
    (profile.parent / "work.toml").write_text(text, encoding="utf-8")
    kernels = read(profile, idle=False)
    assert kernels.names.tolist() == ["mine::mlp"]
    assert warns(kernels, "work.toml beside the profile is no file of rules")
    table = profile.parent / "table.csv"
    table.write_text("name,flops,bytes,time (us)\nmatmul,4,5,6\n", encoding="utf-8")
    assert warns(read(table), "work.toml beside the profile is no file of rules")
    with pytest.raises(ProfileError):
        read(profile, work=profile.parent / "work.toml")


def test_a_mistake_in_a_file_of_rules_beside_a_profile_is_an_error(profile: Path) -> None:
    (profile.parent / "work.toml").write_text('"mine::*" = { op = "linaer", x = 0 }', encoding="utf-8")
    with pytest.raises(ProfileError, match="did you mean 'linear'"):
        read(profile)
