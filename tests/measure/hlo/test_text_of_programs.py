"""The parser of HLO text: what it refuses, and how it says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import roofwidget as rw
from roofwidget.measure.hlo.scopes import module_of
from roofwidget.measure.hlo.text import parse
from tests import places
from tests.places import text_of

FIXTURES = places.FIXTURES / "hlo"
GOOD = """HloModule m

ENTRY %e (x: f32[2]) -> f32[2] {
  %x = f32[2]{0} parameter(0)
  ROOT %y = f32[2]{0} negate(%x)
}
"""
CALLS_ITSELF = """HloModule m
%f (x: f32[2]) -> f32[2] {
  %x = f32[2]{0} parameter(0)
  ROOT %y = f32[2]{0} call(%x), to_apply=%f
}
ENTRY %e (x: f32[2]) -> f32[2] {
  %x = f32[2]{0} parameter(0)
  ROOT %y = f32[2]{0} call(%x), to_apply=%f
}
"""


def replaced(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected a computation that begins with 'ENTRY', found no more text"),
        ("hello", "line 1: expected 'HloModule name', found 'hello'"),
        ("\n\nname,flops\n", "line 3: expected 'HloModule name', found 'name,flops'"),
        ("HloModule m\n", "expected a computation that begins with 'ENTRY', found no more text"),
        ("HloModule m\nwhat", "line 2: expected the head of a computation, such as '%main (x: f32[8]) -> f32[8] {'"),
        (replaced("ENTRY ", ""), "expected a computation that begins with 'ENTRY'"),
        (replaced("}\n", ""), "line 5: expected '}' at the end of 'e', found no more text"),
        (replaced("ROOT ", ""), "line 6: expected an instruction that begins with 'ROOT' in 'e', found its end"),
        (replaced("%y = ", ""), "line 5: expected an instruction, such as '%y = f32[8]{0} add(%x, %x)', found"),
        (replaced("negate(%x)", "negate(%x"), "line 5: expected an instruction, such as"),
        (replaced("negate(%x)", "negate"), "line 5: expected an instruction, such as"),
        (replaced("f32[2]{0} negate", "negate"), "line 5: expected an instruction, such as"),
        (replaced("(%x)", "(%z)"), "line 5: expected an operand that is defined above line 5, found '%z'"),
        (replaced("%y =", "%x ="), "line 5: expected a new name, found a second 'x'"),
        (replaced("parameter(0)", "parameter(first)"), "line 4: expected the number of a parameter"),
        (replaced("f32[2]{0} negate", "(f32[2], what) negate"), "line 5: expected a shape, such as 'f32[8,4]{1,0}'"),
        (replaced("negate(%x)", "call(%x), to_apply=%f"), "line 5: 'y' uses computation 'f', which the text lacks"),
        (replaced("negate(%x)", "fusion(%x), kind=kLoop"), "line 5: expected 'calls=' and a computation in fusion 'y'"),
        (GOOD + "HloModule n\n", "line 7: expected one program, found a second 'HloModule'"),
        (GOOD + GOOD.partition("\n")[2], "expected a new name, found a second computation 'e'"),
        (GOOD + GOOD.partition("\n")[2].replace("%e", "%d"), "expected one ENTRY, found a second one, 'd'"),
        (replaced("negate(%x)", "dot(%x, %x), lhs_contracting_dims={1}"), "line 5: expected lhs_contracting_dims"),
        (replaced("negate(%x)", "convolution(%x, %x), dim_labels=b"), "line 5: expected dim_labels such as b01f"),
        (replaced("negate(%x)", "dot()"), "line 5: expected an array as operand 1 of 'y'"),
        (GOOD.replace("f32[2]", f"f32[{10**15},{10**15}]"), "line 4: expected an array of at most 2^63 elements"),
        (replaced("f32[2]{0} negate", "(" * 5000 + ")" * 5000 + " negate"), "line 5: expected a shape"),
        (CALLS_ITSELF, "computations are nested too deeply, or one uses itself"),
        ("module @jit_f attributes {mhlo.num_partitions = 1 : i32} {\n}", "this is MLIR"),
        ("module {\n  func.func public @main() {\n", "this is MLIR"),
    ],
)
def test_a_bad_text_gives_one_error_that_names_the_line_and_what_was_expected(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"^HLO text") as caught:
        rw.from_hlo_text(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", sorted(path.stem for path in FIXTURES.glob("*.txt")))
def test_a_text_that_is_cut_off_anywhere_gives_an_error_of_ours(name: str) -> None:
    text = text_of(FIXTURES / f"{name}.txt").rstrip()
    for end in range(0, len(text) - 1, max(len(text) // 60, 1)):
        with pytest.raises(ValueError, match=r"^HLO text"):
            rw.from_hlo_text(text[:end])


@pytest.mark.parametrize("text", [None, b"HloModule m", 3, Path("x.txt")])
def test_what_is_not_text_is_refused(text: Any) -> None:
    with pytest.raises(TypeError, match="HLO text must be text, got"):
        rw.from_hlo_text(text)


def test_an_unknown_grouping_or_keyword_is_refused() -> None:
    with pytest.raises(ValueError, match="by: unknown 'ops'; did you mean 'op'"):
        rw.from_hlo_text(GOOD, by="ops")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="from_hlo_text has no keyword 'nam'; did you mean 'name'"):
        rw.from_hlo_text(GOOD, nam="x")  # type: ignore[call-arg]


def test_the_good_text_is_good() -> None:
    assert rw.from_hlo_text(GOOD).other_flops == 2


def test_windows_line_ends_comments_and_tables_of_files_are_skipped() -> None:
    header = (
        'HloModule m, is_scheduled=true\n\nFileNames\n1 "a b.py"\n\nStackFrames\n1 {file_location_id=1}\n\n// note\n'
    )
    text = header + GOOD.partition("\n")[2]
    assert rw.from_hlo_text(text.replace("\n", "\r\n")).other_flops == 2


def test_a_line_that_ends_with_a_comma_or_a_bracket_goes_on() -> None:
    broken = replaced("negate(%x)", 'negate(\n    f32[2]{0} %x),\n\n  metadata={op_name="jit(f)/a/neg"}')
    root = parse(broken).entry.root
    assert (root.operands, root.op_name, root.line) == (("x",), "jit(f)/a/neg", 5)


def test_brackets_and_quotes_in_texts_of_attributes_do_not_confuse() -> None:
    attributes = (
        r'negate(%x), metadata={op_name="jit(f)/a(b/c" source_file="x \")(.py"}, backend_config="{\"a\":[\"(\"]}"'
    )
    instruction = parse(replaced("negate(%x)", attributes)).entry.root
    assert (instruction.opcode, instruction.operands) == ("negate", ("x",))


def test_layouts_with_tiles_and_memory_spaces_are_read() -> None:
    module = parse(text_of(FIXTURES / "tpu.txt"))
    copied = module.entry.instructions["copy-start.1"].results
    assert [(array.dtype, array.dims, array.space) for array in copied] == [
        ("bf16", (1024, 256), 1),
        ("bf16", (1024, 256), 0),
        ("u32", (), 2),
    ]
    assert module.has_tiles


def test_names_with_and_without_percent_and_typed_operands_are_the_same() -> None:
    plain = GOOD.replace("%", "")
    typed = replaced("negate(%x)", "negate(f32[2]{0} %x)")
    typed_plain = typed.replace("%", "")
    for text in (plain, typed, typed_plain):
        assert parse(text).entry.root.operands == ("x",)


@pytest.mark.parametrize(
    ("op_name", "module"),
    [
        ("jit(f)/layer/dot_general", "layer"),
        ("jit(f)/jit(main)/transpose(jvp(MLP))/Dense_0/dot_general", "MLP/Dense_0"),
        ("jit(f)/vmap(transpose(jvp(vmap(jvp()))))/checkpoint/rematted_computation/layer1/gt", "layer1"),
        ("jit(g)/while/body/closed_call/block/cond/branch_1_fun/mul", "block"),
        ("jit(f)/while", ""),
        ("jit(f)/body/add", "body"),
        ("jit(f)/a/jit(relu)/max", "a"),
        ("jit(f)/bij,bjk->bik/dot_general", ""),
        ("jit(f)/a/add;jit(f)/b/mul", "a"),
        ("x", ""),
        ("", ""),
        ("(((", ""),
    ],
)
def test_the_module_of_an_operation_is_its_named_scopes(op_name: str, module: str) -> None:
    assert module_of(op_name) == module
