"""`rw.read_many`: many files in threads, processes or on a Dask cluster; a failure does not affect other files."""

from __future__ import annotations

import os
import random
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.readers import ProfileError, Source
from roofwidget.readers.many import Profiles
from roofwidget.readers.tables.together import read_together
from roofwidget.support.progress import advancing
from tests.places import write

COUNT = 5


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(COUNT):
        write(tmp_path / f"run{number}.csv", f"name,flops,bytes\nk{number},{number},2\n")
    return tmp_path


@pytest.fixture
def flawed(folder: Path) -> Path:
    write(folder / "run2.csv", "name,flops,bytes\na,x,2\n")
    (folder / "run3.csv").write_bytes(b"")
    return folder


def names(profiles: Profiles) -> dict[str, list[str]]:
    return {os.path.basename(path): kernels.names.tolist() for path, kernels in profiles.items()}  # noqa: PTH119 - text


def test_files_are_read_in_the_order_of_their_names_or_as_given(folder: Path) -> None:
    profiles = rw.read_many(folder / "run*.csv")
    assert names(profiles) == {f"run{number}.csv": [f"k{number}"] for number in range(COUNT)}
    assert list(profiles) == [str(folder / f"run{number}.csv") for number in range(COUNT)]
    backwards = [folder / f"run{number}.csv" for number in (4, 1, 3)]
    profiles = rw.read_many(backwards)
    assert list(profiles) == [str(path) for path in backwards]
    assert profiles[backwards[0]] == rw.read(backwards[0])
    assert len(profiles) == 3
    assert not profiles.failures


def test_a_file_that_fails_is_reported_and_does_not_lose_the_others(flawed: Path) -> None:
    with pytest.warns(
        UserWarning, match=r"2 of 5 files could not be read \(see \.failures\): .*run2\.csv: row 2, column"
    ):
        profiles = rw.read_many(flawed / "*.csv")
    assert list(names(profiles)) == ["run0.csv", "run1.csv", "run4.csv"]
    assert [os.path.basename(path) for path in profiles.failures] == ["run2.csv", "run3.csv"]  # noqa: PTH119 - text
    error = profiles.failures[str(flawed / "run2.csv")]
    assert isinstance(error, ProfileError)
    assert (error.row, error.column) == (2, "flops")
    assert repr(profiles).startswith("Profiles(3 read, 2 failed)\n")


def test_a_missing_file_among_others_is_a_failure_of_its_own(folder: Path) -> None:
    with pytest.warns(UserWarning, match="1 of 2 files could not be read"):
        profiles = rw.read_many([folder / "run0.csv", folder / "gone.csv"])
    assert isinstance(profiles.failures[str(folder / "gone.csv")], FileNotFoundError)


def test_options_and_format_go_to_every_file(folder: Path) -> None:
    profiles = rw.read_many(folder / "*.csv", format="table", columns={"flops": ("flops", "GFLOP")})
    assert [kernels.flops[0] for kernels in profiles.values()] == [0, 1e9, 2e9, 3e9, 4e9]


def test_nothing_to_read_and_a_path_that_is_there_twice_are_refused(folder: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no file matches"):
        rw.read_many(folder / "*.json")
    with pytest.raises(ValueError, match="is given twice"):
        rw.read_many([folder / "run0.csv", folder / "run0.csv"])
    with pytest.raises(TypeError, match=r"client must be an Executor or a dask.distributed Client, got str"):
        rw.read_many(folder / "*.csv", client="127.0.0.1:8786")


def test_an_executor_may_run_the_readings(flawed: Path) -> None:
    with ThreadPoolExecutor(2) as threads, pytest.warns(UserWarning, match="2 of 5"):
        assert len(rw.read_many(flawed / "*.csv", client=threads)) == 3


class _Dying(Executor):
    """An executor on which all tasks fail except that of one file alone."""

    def __init__(self) -> None:
        self.tasks: list[list[str]] = []

    def submit(self, function: Any, /, *given: Any, **more: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.tasks.append(given[0])
        if [path[-8:] for path in given[0]] == ["run1.csv"]:
            future.set_result(function(*given, **more))
        else:
            future.set_exception(RuntimeError("the worker died"))
        return future


def test_a_worker_that_dies_loses_its_own_file_alone(folder: Path) -> None:
    with pytest.warns(UserWarning, match=r"4 of 5 files .*run0\.csv: the worker died; .*; and 1 more"):
        profiles = rw.read_many(folder / "*.csv", client=_Dying())
    assert list(names(profiles)) == ["run1.csv"]


def test_small_files_are_read_in_one_task_and_a_large_file_in_a_task_of_its_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = _Dying()
    with pytest.warns(UserWarning, match="4 of 5"):
        rw.read_many(folder / "*.csv", client=executor)
    assert [len(task) for task in executor.tasks] == [5, 1, 1, 1, 1, 1]
    monkeypatch.setattr("roofwidget.readers.many._BATCH_BYTES", 1)
    executor = _Dying()
    with pytest.warns(UserWarning, match="4 of 5"):
        rw.read_many(folder / "*.csv", client=executor)
    assert [len(task) for task in executor.tasks] == [1] * 5


class _AtOnce(Executor):
    """An executor that runs each read at submission."""

    def submit(self, function: Any, /, *given: Any, **more: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(*given, **more))
        return future


def test_an_error_comes_back_as_a_value_so_that_any_way_of_running_carries_it(flawed: Path) -> None:
    with pytest.warns(UserWarning, match="2 of 5"):
        assert len(rw.read_many(flawed / "*.csv", client=_AtOnce())) == 3


# -- small tables of one form ------------------------------------------------------------------------------------

HEADERS = (
    "name,flops,bytes,time (us),grid",
    "name;flops;bytes;time (us);grid",
    '"name","FLOPs","DRAM bytes","avg time (us)","calls"',
    "kernel,flops:fp16,bytes:L2,duration_ns,note",
    "name,flops,bytes,time,AI",
    "name,flops,bytes,precision,ran on",
    "op,GFLOPS,bytes,time (s),x",
    "name,flops,time,unit,bytes",
)
NAMES = ("gemm", "'=copy", '"a<1, 2>"', "caf\u00e9")
NUMBERS = ("1", "0", "2.5", "1e-05", "12345678901234567", "1.2345678901234567", "n/a")
ODD_NAMES = ("total", "", "1", "mean", "1,5", "1.234.567")
ODD_CELLS = ("", "1.234", "-3", '"1,5"', "3 us", "x", "inf", "1e999", '"12"', "7 KB", "1_0", " 4", "1.234.567", "'-")
ODD_LINES = ("", "# note", "loss = 3", "a,b", "Kernel Name,Metric Name,Metric Unit,Metric Value,ID", "k,\u2028,1,2,3")
Rows = list[list[str]]


def _with_total(rows: Rows, chance: random.Random) -> Rows:
    """Return rows with the sums or the means of the others in the last row."""
    rows = [[name, *(chance.choice(("1", "2", "4")) for _ in numbers)] for name, *numbers in rows]
    columns = zip(*([int(cell) for cell in numbers] for _, *numbers in rows), strict=True)
    return [*rows, [chance.choice(("Total:", "sum")), *(str(sum(column)) for column in columns)]]


def _with_column(rows: Rows, chance: random.Random, cells: tuple[str, ...]) -> Rows:
    """Return rows with other cells in one column."""
    at = chance.randrange(len(rows[0]))
    return [[*row[:at], chance.choice(cells), *row[at + 1 :]] for row in rows]


QUIRKS: Mapping[str, Callable[[Rows, random.Random], Rows]] = {
    "none": lambda rows, _: rows,
    "total": _with_total,
    "units": lambda rows, chance: [[chance.choice(("", "us")), *chance.choice((["us"] * 4, ["", "", "", "%"]))], *rows],
    "unit": lambda rows, chance: _with_column(rows, chance, ("3 us", "4 ms", "7 KB")),
    "comma": lambda rows, chance: _with_column(rows, chance, ('"1,5"', '"2,25"', '"1,234"')),
    "grouped": lambda rows, chance: _with_column(rows, chance, ('"1,234"',)),
    "text": lambda rows, chance: _with_column(rows, chance, ("x", "y", "")),
    "empty": lambda rows, chance: _with_column(rows, chance, ("",)),
    "cell": lambda rows, chance: [*rows[1:], *_with_column(rows[:1], chance, ODD_CELLS)],
    "name": lambda rows, chance: [*rows, [chance.choice(ODD_NAMES), *rows[0][1:]]],
    "line": lambda rows, chance: [*rows, [chance.choice(ODD_LINES)], rows[0]],
    "no row": lambda _rows, _chance: [],
}


def _table(header: str, quirk: str, chance: random.Random) -> bytes:
    """Return a small table; a quirk makes it differ from others of this header."""
    rows = [[chance.choice(NAMES), *(chance.choice(NUMBERS) for _ in range(4))] for _ in range(chance.randrange(1, 5))]
    if "unit" in header:
        rows = [[*row[:3], chance.choice(("us", "ms")), *row[4:]] for row in rows]
    if header.endswith("calls"):
        rows = [[*row[:4], chance.choice("123")] for row in rows]
    if quirk == "header":
        header = chance.choice((header.upper(), header.replace("us", "ms"), header.replace("bytes", "bytes (MB)")))
    mark = ";" if ";" in header else ","
    lines = [header, *map(mark.join, QUIRKS.get(quirk, QUIRKS["none"])(rows, chance))]
    text = chance.choice(("\n", "\n", "\r\n")).join([*lines, ""])
    if quirk == "damaged":
        ways = (text[:-5], text.rstrip(), "", "\n", text.replace("1", "\0"), text.replace("a", '"'), header)
        return chance.choice([*(way.encode() for way in ways), text.encode().replace(b"e", b"\xff")])
    return text.encode()


def _exact(result: object) -> str:
    """Return all that a user can see of the kernels or the error of a file, with types and orders."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return str(value.dtype), value.flags.writeable, value.tolist()
        if isinstance(value, Mapping):
            return [(name, plain(part)) for name, part in value.items()]
        return [plain(part) for part in value] if isinstance(value, tuple) else value

    if isinstance(result, rw.Kernels):
        arguments: Any = result.__reduce__()[1]
        return repr([plain(value) for value in arguments])
    return f"{type(result).__name__}: {result}"


def _alone(path: Path, **options: Any) -> object:
    try:
        return rw.read(path, **options)
    except (ValueError, OSError) as error:
        return error


def _assert_as_alone(paths: list[Path]) -> None:
    profiles = rw.read_many(paths)
    results = {**profiles, **profiles.failures}
    assert [_exact(results[str(path)]) for path in paths] == [_exact(_alone(path)) for path in paths]


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("quirk", [*QUIRKS, "header", "damaged"])
@pytest.mark.filterwarnings("ignore:.* could not be read:UserWarning")
def test_tables_of_one_header_are_read_exactly_as_each_file_alone(tmp_path: Path, header: str, quirk: str) -> None:
    chance = random.Random(f"{header} {quirk}")  # noqa: S311 - no secrets
    paths = [tmp_path / f"{at}.csv" for at in range(16)]
    for path in paths:
        # Two files of one quirk in a row may be read together.
        path.write_bytes(_table(header, chance.choice((quirk, quirk, "none")), chance))
    _assert_as_alone(paths)


# Files with one first line, whose rows another decision or another reader must read.
SEEMING_TABLES: Mapping[str, tuple[bytes, bytes]] = {
    "a warning": (b"name,bytes read,bytes written\nk,1,2\n", b"name,bytes read,bytes written\nk,1,\n"),
    "a tool": (b"name,flops,bytes_moved,time_s\nk,1,2,3\n",) * 2,
    "count or rate": (b"name,flops,GFLOPS,time (s)\nk,2e9,1,2\n", b"name,flops,GFLOPS,time (s)\nk,,5,2\n"),
    "a rate": (
        b"name,fp16 GFLOP/s,fp32 GFLOP/s,time (s)\nk,1,1,2\n",
        b"name,fp16 GFLOP/s,fp32 GFLOP/s,time (s)\nk,1,1,\n",
    ),
    "line ends": (b"name,flops,bytes\na\rb,1,2\n",) * 2,
    "header of two lines": (b'name,flops,"bytes\nk,1,2\n',) * 2,
    "column without a name": (b"name,flops,bytes,\na,1,2,3\n",) * 2,
    "a name twice": (b"name,flops,bytes,x,x\na,1,2,3,4\n",) * 2,
    "a guarded name": (b"name,flops,bytes,'=x\na,1,2,3\n",) * 2,
    "an origin": (b"name,flops,bytes,origin:flops\na,1,2,3\n",) * 2,
    "units beside": (b"name,flops,bytes,unit\na,1,2,KB\n",) * 2,
    "byte order mark": (b"\xef\xbb\xbfnote,name,flops,bytes\nx,a,1,2\n",) * 2,
    "another reader": (b"Index,KernelName,gpu-id,grd,wgr,lds,WRITE_SIZE,DurationNs\n0,k,0,1,1,0,2,4\n",) * 2,
    "no rows": (b"name,flops,bytes\n1,2\n3,4,5,6\n", b"name,flops,bytes\na,1,2\n"),
    "no last line end": (b"name,flops,bytes\na,1,2", b"name,flops,bytes\nb,3,4"),
    "two delimiters": (b"name,flops,bytes,x;y\na,1,2,3;4\n", b"name,flops,bytes,x;y\na,1,2,3\n"),
    "two names of a time": (
        b"name,flops,time (us),duration (ms)\nk,1,1000,1\n",
        b"name,flops,time (us),duration (ms)\nk,1,1000,2\n",
    ),
}


@pytest.mark.parametrize("files", SEEMING_TABLES.values(), ids=SEEMING_TABLES)
@pytest.mark.filterwarnings("ignore:.* could not be read:UserWarning")
def test_files_that_only_seem_to_be_tables_of_one_form_are_read_as_each_alone(
    tmp_path: Path, files: tuple[bytes, bytes]
) -> None:
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, content in zip(paths, files, strict=True):
        path.write_bytes(content)
    _assert_as_alone(paths)
    # `read_many` would read the files of a task that fails one by one.
    read_together([Source.of(str(path)) for path in paths], lambda _: True)


def test_plain_tables_of_one_header_are_split_once_and_odd_tables_among_them_are_read_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = "name,flops,bytes,time (us),grid"
    bodies = {"total": "a,1,2,3,4\ntotal,1,2,3,4\n", "comma": 'a,1,"2,5",3,4\n', "units": ",FLOP,B,us,\na,1,2,3,4\n"}
    bodies |= {f"plain{at}": f"k{at},{at},2,3,x{at}\nb,5,6,,\n" for at in range(40)}
    for name, body in bodies.items():
        write(tmp_path / f"{name}.csv", f"{header}\n{body}")
    alone: list[str] = []

    def reading(path: str, *given: Any) -> rw.Kernels:
        alone.append(Path(path).stem)
        return rw.read(path, *given)

    monkeypatch.setattr("roofwidget.readers.many.read", reading)
    profiles = rw.read_many(tmp_path / "*.csv")
    assert sorted(alone) == ["comma", "total", "units"]
    kernels = profiles[tmp_path / "plain7.csv"]
    assert kernels.names.tolist() == ["k7", "b"]
    assert (kernels.flops.tolist(), kernels.time[0], kernels.extra["grid"].tolist()) == ([7.0, 5.0], 3e-6, ["x7", None])
    assert (kernels.source, dict(kernels.read_as)) == (
        str(tmp_path / "plain7.csv"),
        {"format": "table", "name": '"name"'},
    )
    assert len(profiles[tmp_path / "total.csv"]) == 1


# -- Dask ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            worker_dashboard_address=None,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_a_dask_cluster_reads_files_in_its_own_processes(flawed: Path, client: Any) -> None:
    with pytest.warns(UserWarning, match="2 of 5 files could not be read"):
        profiles = rw.read_many(flawed / "*.csv", client=client)
    with pytest.warns(UserWarning, match="2 of 5 files could not be read"):
        assert dict(profiles) == dict(rw.read_many(flawed / "*.csv"))
    error = profiles.failures[str(flawed / "run2.csv")]
    assert isinstance(error, ProfileError)
    assert error.row == 2
    assert os.getpid() not in client.run(os.getpid).values()


def test_a_file_that_changed_is_read_again_by_a_dask_cluster(folder: Path, client: Any) -> None:
    path = folder / "run0.csv"
    first = rw.read_many([path], client=client)[path]
    write(path, "name,flops,bytes\nother,1,2\n")
    assert first.names.tolist() == ["k0"]
    assert rw.read_many([path], client=client)[path].names.tolist() == ["other"]


# -- progress --------------------------------------------------------------------------------------------------


def test_progress_is_told_as_done_of_total(folder: Path) -> None:
    told: list[tuple[int, int | None]] = []
    rw.read_many(folder / "*.csv", progress=lambda done, total: told.append((done, total)))
    assert told == [(done, COUNT) for done in range(1, COUNT + 1)]


def test_a_bar_is_shown_where_it_is_asked_for_or_after_a_moment_in_a_notebook(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rw.read_many(folder / "*.csv")
    rw.read_many(folder / "*.csv", progress=False)
    assert capsys.readouterr().err == ""
    rw.read_many(folder / "*.csv", progress=True)
    assert "reading" in capsys.readouterr().err
    monkeypatch.setattr("roofwidget.support.progress._in_notebook", lambda: True)
    monkeypatch.setattr("roofwidget.support.progress._DELAY_S", 3600)
    rw.read_many(folder / "*.csv")
    assert capsys.readouterr().err == ""
    now = [0.0]
    monkeypatch.setattr("tqdm.std.time", lambda: now[0])
    with advancing(None, 2, unit="file", description="reading") as advance:
        now[0] = 4000.0
        advance(1)
        assert "reading" in capsys.readouterr().err


def test_without_tqdm_a_notebook_reads_without_a_bar_and_one_that_is_asked_for_names_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr("roofwidget.support.progress._in_notebook", lambda: True)
    with advancing(None, 3, unit="file", description="reading") as advance:
        advance(1)
    with (
        pytest.raises(ImportError, match=r"pip install 'tqdm>=4.60'"),
        advancing(True, 3, unit="file", description="reading"),  # noqa: FBT003 - True, False or None
    ):
        pass
