"""Small files that unpack to very much: refused within 64 MiB of memory, by every reader."""

from __future__ import annotations

import gzip
import io
import json
import random
import struct
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

import roofwidget as rw
from roofwidget.readers import FORMATS, ProfileError

UNPACKED = 128 * 2**20
MAX_BYTES = 64 * 2**20
ROOT = Path(__file__).parents[2]
# xplane needs a package that may be missing.
WAYS = [
    "auto",
    "ceilings",
    *(name for name in (import_module(module).FORMAT for module in FORMATS) if name != "xplane"),
]
MEASURE = """
import resource, sys, roofwidget as rw
from importlib import import_module
from roofwidget.readers import FORMATS
path, *ways = sys.argv[1:]
for module in FORMATS:
    import_module(module)
rw.read(b"name,flops,bytes,time\\na,1,2,3\\n")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for way in ways:
    try:
        if way == "ceilings":
            rw.read_ceilings(path)
        else:
            rw.read(path, None if way == "auto" else way)
        said = "read"
    except rw.ProfileError as error:
        said = "refused"
    print(way, said, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def repeated(unit: bytes, begin: bytes = b"", *, noise: bool = False) -> Iterator[bytes]:
    """Yield 128 MiB of repeated bytes; noise now and then keeps the ratio of a gzip file below 200."""
    chance = random.Random(1)  # noqa: S311 - not for security
    piece = unit * ((2**13 if noise else 2**17) // len(unit))
    yield begin
    for _ in range(UNPACKED // len(piece)):
        yield piece
        if noise:
            yield b"".join(b"%d," % chance.randrange(10**9) for _ in range(10))


def packed(pieces: Iterator[bytes], path: Path) -> Path:
    with gzip.open(path, "wb", 6) as stream:
        for piece in pieces:
            stream.write(piece)
    return path


def grown(path: Path, ways: list[str]) -> dict[str, tuple[str, int]]:
    """Return what came of reading a file in each way, and the bytes by which the process has grown until then."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(path), *ways], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    )
    lines = (line.split() for line in done.stdout.splitlines())
    unit = 1 if sys.platform == "darwin" else 1024
    return {way: (said, int(size) * unit) for way, said, size in lines}


@pytest.mark.parametrize(
    ("unit", "begin"),
    [
        (b"\0", b""),
        (b"\n", b""),
        (b"[", b""),
        (b" ", b'{"a":'),
        (b"1,", b"["),
        (b"a,1,2,3\n", b"name,flops,bytes,time\n"),
        (b"x", b"name,flops,bytes,time\n"),
        (b'{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1},', b'{"traceEvents":['),
    ],
    ids=["zeros", "newlines", "brackets", "spaces in JSON", "numbers", "rows", "one line", "events"],
)
def test_what_unpacks_to_far_more_than_any_profile_is_refused_within_little_memory(
    unit: bytes, begin: bytes, tmp_path: Path
) -> None:
    found = grown(packed(repeated(unit, begin), tmp_path / "bomb.gz"), WAYS)
    assert len(found) == len(WAYS)
    assert {way: part for way, part in found.items() if part[0] != "refused" or part[1] > MAX_BYTES} == {}


@pytest.mark.parametrize(
    ("unit", "begin"), [(b"1,", b"["), (b"[],", b"["), (b'{"a":1},', b"["), (b"abcd,", b"")], ids=str
)
def test_what_begins_like_no_profile_is_not_read_on(unit: bytes, begin: bytes, tmp_path: Path) -> None:
    path = packed(repeated(unit, begin, noise=True), tmp_path / "much.gz")
    assert path.stat().st_size * 200 > UNPACKED
    found = grown(path, WAYS)
    assert len(found) == len(WAYS)
    assert {way: part for way, part in found.items() if part[0] != "refused" or part[1] > MAX_BYTES} == {}


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_archive_that_unpacks_a_piece_to_any_size_is_not_unpacked(method: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("a.csv", b"name,flops,bytes,time\na,1,2,3\n")
    with pytest.raises(ProfileError, match="packed by another method than deflate; extract it"):
        rw.read(buffer.getvalue())


def trace(events: int) -> bytes:
    one = '{{"ph":"X","cat":"kernel","name":"k{}","ts":{},"dur":7,"pid":0,"tid":7,"args":{{"stream":7}}}}'
    listed = ",".join(one.format(at % 3, at * 9) for at in range(events))
    return f'{{"schemaVersion":1,"traceEvents":[{listed}]}}'.encode()


def records(rows: int) -> bytes:
    return json.dumps([{"kernel": f"k{row}", "flops": 1e9, "bytes": 1e6, "time": 1e-3} for row in range(rows)]).encode()


def xprof(rows: int) -> bytes:
    path = ROOT / "tests/fixtures/xprof_gpu.roofline_model.json"
    document = json.loads(path.read_bytes())
    table = document[0]
    table["rows"] = table["rows"][:1] + table["rows"][1:] * rows
    return json.dumps(document).encode()


@pytest.mark.parametrize(("make", "size"), [(trace, 60_000), (records, 60_000), (xprof, 500)])
def test_a_profile_of_repeated_rows_that_is_packed_well_is_read(make: Callable[[int], bytes], size: int) -> None:
    data = make(size)
    packed_data = gzip.compress(data)
    assert len(data) > 2**22
    assert len(data) / len(packed_data) > 12
    assert rw.read(packed_data) == rw.read(data)


@pytest.mark.parametrize("rows", [400_000, 20_000_000])
def test_a_parquet_file_with_far_more_rows_than_its_size_explains_is_refused(rows: int, tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "bomb.parquet"
    part = arrow.table({"name": ["k"] * 400_000, "flops": [1.0] * 400_000, "time": [1.0] * 400_000})
    with parquet.ParquetWriter(path, part.schema) as writer:
        for _ in range(rows // len(part)):
            writer.write_table(part)
    assert path.stat().st_size < 2**22
    start = time.process_time()
    with pytest.raises(ProfileError, match=f"{rows:,} rows of 3 columns, far more than its size explains"):
        rw.read(path)
    assert time.process_time() - start < 2


def test_a_parquet_file_of_many_different_kernels_is_read(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    chance = random.Random(1)  # noqa: S311 - not for security
    rows = 200_000
    columns = {"flops": [1e9] * rows, "bytes": [1e6] * rows, "time": [chance.random() for _ in range(rows)]}
    table = arrow.table({"name": [f"k{row % 100}" for row in range(rows)], **columns})
    parquet.write_table(table, tmp_path / "kernels.parquet")
    assert len(rw.read(tmp_path / "kernels.parquet")) == rows


@pytest.mark.parametrize("count", [65_535, 1])
@pytest.mark.parametrize("is_large", [False, True])
def test_an_archive_of_a_million_empty_files_is_refused_within_little_memory(
    count: int, tmp_path: Path, *, is_large: bool
) -> None:
    path = tmp_path / "many.zip"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.csv", b"")
    data = buffer.getvalue()
    directory, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    entries = data[directory:end] * 1_000_000
    counts = count.to_bytes(2, "little") * 2 + len(entries).to_bytes(4, "little")
    ending = data[end : end + 8] + counts + data[end + 16 :]
    if is_large:
        record = b"PK\x06\x06" + struct.pack("<QHHLLQQQQ", 44, 45, 45, 0, 0, count, count, len(entries), directory)
        locator = b"PK\x06\x07" + struct.pack("<LQL", 0, directory + len(entries), 1)
        ending = record + locator + data[end : end + 8] + b"\1\0\1\0" + b"\x2e\0\0\0" + data[end + 16 :]
    path.write_bytes(data[:directory] + entries + ending)
    found = grown(path, ["auto", "table", "ceilings"])
    assert len(found) == 3
    assert {way: part for way, part in found.items() if part[0] != "refused" or part[1] > MAX_BYTES} == {}
