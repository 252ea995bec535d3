"""`rw.read`: the reader is found by the file's content, and an unknown file gives one clear error."""

from __future__ import annotations

import gzip
import io
import sys
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import roofwidget as rw
from roofwidget import readers
from roofwidget.readers import FORMATS, ProfileError, Source, ceilings, read, reader
from roofwidget.readers.tables.tools import TOOLS
from tests.places import FIXTURES, write
from tests.processes import run_python
from tests.tables import has_columns

XPROF = FIXTURES / "xprof_gpu.roofline_model.json"
CSV = b"kernel,flops,bytes,time (us)\nmatmul,4.3e9,1.2e7,31\ncopy,0,8e6,\n"


def test_a_file_is_read_by_what_it_holds_whatever_its_name_and_packing(tmp_path: Path) -> None:
    whole = read(XPROF, idle=False)
    data = XPROF.read_bytes()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a", data)
    for content in (data, gzip.compress(data), packed.getvalue()):
        path = tmp_path / "unnamed"
        path.write_bytes(content)
        for given in (path, str(path), content, io.BytesIO(content)):
            assert read(given, idle=False) == whole


def test_a_reader_tells_its_format_and_what_it_expects() -> None:
    formats = [reader(module).FORMAT for module in ("table", "xprof")]
    assert formats == ["table", "xprof"]
    with pytest.raises(ValueError, match="there is no format 'xprofs'; did you mean 'xprof'"):
        read(CSV, "xprofs")


def test_every_reader_is_complete_and_named_once() -> None:
    modules = [import_module(name) for name in FORMATS]
    names = [module.FORMAT for module in modules]
    assert len(set(names)) == len(names)
    assert names[-1] == "table", "tables of any origin are asked last"
    for module in modules:
        assert callable(module.recognises)
        assert callable(module.read)
        assert module.EXPECTED
        assert module.__doc__


def test_only_the_three_registries_import_modules_of_ours_by_name() -> None:
    folder = Path(readers.__file__).parent
    by_name = [path for path in sorted(folder.rglob("*.py")) if "import_module(" in path.read_text("utf-8")]
    names = [path.relative_to(folder).as_posix() for path in by_name]
    # The package xprof is optional.
    assert names == ["__init__.py", "ceilings/__init__.py", "tables/tools.py", "xprof/convert.py"]
    for name in ceilings._FORMATS:
        assert callable(import_module(f"roofwidget.readers.{name}").ceilings)
    assert all(import_module(name).TABLES for name in TOOLS)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"{}",
        b"[]",
        b"5",
        b"null",
        b'{"a": 1}',
        b"[1]",
        b"\x00" * 100,
        b"text",
        b"a,b\n1,2\n",
        b"PK\x05\x06",
    ],
    ids=repr,
)
def test_no_reader_takes_what_is_none_of_its_files_and_none_fails_on_it(name: str, data: bytes) -> None:
    assert not import_module(name).recognises(Source.of(data))


@pytest.mark.parametrize("name", FORMATS)
def test_no_reader_takes_an_empty_folder(name: str, tmp_path: Path) -> None:
    assert not import_module(name).recognises(Source.of(tmp_path))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (
            b'{"a": 1, "b": 2, "c": 3}',
            "JSON, an object with the keys 'a', 'b', 'c', which is not a profile of a known tool",
        ),
        (b"{}", "JSON, an empty object, which is not a profile of a known tool"),
        (b"[]", "JSON, an empty list, which is not a profile of a known tool"),
        (b'{"cells": [], "metadata": {}, "nbformat": 4}', "a notebook, which is not a profile of a known tool"),
        (b"\x89PNG\r\n\x1a\n\xff", "a PNG picture, which is not a profile of a known tool"),
        (b"<!DOCTYPE html><html>", "a web page, which is not a profile of a known tool"),
        (b'{"a": 1', "line 1, column 8: not JSON: Expecting ',' delimiter (the file ends too early)"),
        (b"hello, world\n", "begins with 'hello, world\\n', which is not a profile of a known tool"),
        (b"hello \xff world", "byte 7: not UTF-8, and not a profile of a known tool"),
        (
            b"op,gflop,mb,ms\nmatmul,1,2,3\n",
            (
                "no column of FLOPs, bytes or seconds among 'op', 'gflop', 'mb', 'ms'; name them: "
                "columns={'flops': ('gflop', 'GFLOP'), 'bytes': ('mb', 'MB'), 'time': ('ms', 'ms')}"
            ),
        ),
        (
            b'[{"what": "matmul", "n": 1}]',
            (
                "no column of names and no column of FLOPs, bytes or seconds among 'what', 'n'; name them: "
                "columns={'name': 'what', 'flops': ('…', 'GFLOP'), 'time': ('…', 'us')}"
            ),
        ),
    ],
    ids=repr,
)
def test_what_no_reader_knows_is_one_error_that_says_what_it_looks_like(data: bytes, message: str) -> None:
    with pytest.raises(ProfileError) as caught:
        read(data)
    assert str(caught.value) == f"buffer: {message}; docs/readers.md lists the formats"


def test_the_columns_that_the_error_proposes_are_those_that_read_the_table() -> None:
    columns = {"flops": ("gflop", "GFLOP"), "bytes": ("mb", "MB"), "time": ("ms", "ms")}
    kernels = read(b"op,gflop,mb,ms\nmatmul,1,2,3\n", columns=columns)
    has_columns(kernels, flops=[1e9], bytes=[2e6], time=[3e-3])


def test_a_folder_without_a_profile_says_what_it_holds_and_how_to_read_its_files(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="an empty folder, not a profile of a known tool; docs"):
        read(tmp_path)
    (tmp_path / "a.csv").write_bytes(CSV)
    said = rf"a folder with 'a.csv', which is not one profile; rw.read_many\('{tmp_path}/\*'\) reads each file"
    with pytest.raises(ProfileError, match=said):
        read(tmp_path)
    assert len(rw.read_many(f"{tmp_path}/*")) == 1


def test_where_a_trace_needs_a_package_the_profile_beside_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xprof.convert.raw_to_tool_data", None)
    (tmp_path / "run.xplane.pb").write_bytes(b"\n\x10\x12\x0e/host:metadata")
    with pytest.raises(ImportError, match=r"pip install 'xprof>=2.20'; rw.read_many\('.*/\*'\) reads each file"):
        read(tmp_path)
    (tmp_path / "run.roofline_model.json").write_bytes(XPROF.read_bytes())
    kernels = read(tmp_path)
    assert kernels.names.tolist() == read(XPROF).names.tolist()
    assert kernels.warnings[0].startswith(
        f"another reader failed, so '{tmp_path / 'run.roofline_model.json'}' of format 'xprof' was read: "
        f"{tmp_path}: reading .xplane.pb needs"
    )
    (tmp_path / "other.roofline_model.json").write_bytes(XPROF.read_bytes())
    with pytest.raises(ImportError, match="needs the package xprof"):
        read(tmp_path)


def test_a_folder_that_one_reader_cannot_read_is_read_by_another(tmp_path: Path) -> None:
    for path in (FIXTURES / "rocprof" / "gfx90a").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "hosts.xplane.pb").write_bytes(b"\n\x10\x12\x0e/host:metadata")
    kernels = read(tmp_path)
    assert kernels.names.tolist() == read(FIXTURES / "rocprof" / "gfx90a").names.tolist()
    assert f"another reader failed, so '{tmp_path}' of format 'rocprof' was read: " in kernels.warnings[0]


def test_one_bad_file_of_a_folder_names_how_to_read_the_others(tmp_path: Path) -> None:
    write(tmp_path / "bad.csv", "==ERROR== The application returned an error code (1).\n")
    (tmp_path / "good.csv").write_bytes((FIXTURES / "ncu" / "volta_long.csv").read_bytes())
    with pytest.raises(
        ProfileError, match=r"bad.csv: no kernel was profiled.*; rw.read_many\('.*/\*'\) reads each file"
    ):
        read(tmp_path)


def test_a_format_that_is_named_is_not_asked_whether_it_is_the_right_one() -> None:
    with pytest.raises(ProfileError, match="buffer: "):
        read(CSV, "xprof")
    assert len(read(CSV, format="table")) == 2


@pytest.mark.parametrize(
    ("data", "format_", "message"),
    [
        (XPROF.read_bytes(), "ncu", "the content is of format 'xprof', not 'ncu': leave out `format`"),
        (XPROF.read_bytes(), "xplane", "the content is of format 'xprof', not 'xplane': leave"),
        (b'{"a": 1}', "ncu", "JSON, an object with the keys 'a', not a report"),
        (b'{"a": 1}', "xprof", r"expected a list \[table, diagnostics\]"),
        (b"\x89PNG\r\n\x1a\n\xff", "torch", "a PNG picture, not a Chrome trace of PyTorch's profiler"),
        (b"op,ms\na,1\n", "ncu", "a table with the columns 'op', 'ms', not a report"),
        (b"op,x\na,1\n", "table", "no column of FLOPs, bytes or seconds among 'op', 'x'"),
    ],
    ids=range(7),
)
def test_a_file_that_is_none_of_the_format_that_was_named_says_what_it_is(
    data: bytes, format_: str, message: str
) -> None:
    with pytest.raises(ProfileError, match=f"^buffer: {message}"):
        read(data, format_)


def test_an_unknown_option_names_the_nearest_one() -> None:
    with pytest.raises(TypeError, match="read has no keyword 'colums'; did you mean 'columns'"):
        read(CSV, colums={})
    with pytest.raises(TypeError, match="read has no keyword 'infed'; did you mean 'infeed'"):
        read(XPROF, infed=True)


def test_what_is_no_file_and_no_table_is_a_type_error() -> None:
    nothing: Any = 5
    with pytest.raises(TypeError, match="expected a path, bytes or an open file, got int"):
        read(nothing)
    with pytest.raises(FileNotFoundError):
        read("no such file.json")


def test_importing_the_package_imports_no_reader() -> None:
    run_python("import sys, roofwidget; sys.exit('roofwidget.readers' in sys.modules)")
    run_python(
        "import sys, roofwidget.readers; sys.exit(any(name in sys.modules for name in roofwidget.readers.FORMATS))"
    )


def test_reading_needs_none_of_the_optional_packages() -> None:
    run_python(
        "import sys, roofwidget as rw; rw.read(b'name,flops,bytes\\na,1,2\\n').groupby('name');"
        "sys.exit(any(name in sys.modules for name in ('pandas', 'pyarrow', 'polars', 'distributed', 'tqdm')))"
    )


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(FIXTURES.rglob("*")) if path.suffix in {".json", ".csv", ".txt", ".ncu-rep"}],
    ids=lambda path: path.name,
)
def test_whatever_a_reader_tells_goes_through_a_data_frame(path: Path) -> None:
    try:
        kernels = read(path)
    except ProfileError:
        pytest.skip("a twin of a file that tells nothing")
    again = rw.Kernels.from_dataframe(kernels.to_dataframe())
    assert again.extra.keys() == kernels.extra.keys()
    # A data frame does not keep the launches of a row.
    kernels._launches = None
    assert again == kernels


def test_what_was_read_makes_a_widget() -> None:
    assert repr(rw.read(CSV).roofline(chips=["v5p"])) == "RooflineWidget(TPU v5p; 2 kernels)"


def test_a_measured_profile_that_names_no_chip_is_not_drawn_under_others() -> None:
    said = r"^buffer names no chip, so its kernels have no roof; pass chips=\['h100-sxm'\] or"
    with pytest.warns(UserWarning, match=said):
        widget = read(CSV).roofline()
    assert (widget.chips, repr(widget)) == ((), "RooflineWidget(no chips; 2 kernels)")
    widget.chips = ["v5p"]
    assert (widget.focus_chip, widget.shown) == ("tpu-v5p", ("tpu-v5p",))
    unmeasured = rw.RooflineModel(kernels=read(b"kernel,flops,bytes\na,1,2\n"))
    assert (len(unmeasured.kernels), len(unmeasured.chips)) == (1, 4)
