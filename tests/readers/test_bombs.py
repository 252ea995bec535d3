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
from typing import Any

import pytest

import roofwidget as rw
from roofwidget.readers import FORMATS, ProfileError
from roofwidget.readers.input.source import Source
from tests.places import ROOT
from tests.tables import has_columns

UNPACKED = 128 * 2**20
MAX_BYTES = 64 * 2**20

# xplane needs a package that may be missing.
WAYS = [
    "auto",
    "ceilings",
    *(name for name in (import_module(module).FORMAT for module in FORMATS) if name != "xplane"),
]
MEASURE = """
import contextlib, pathlib, re, resource, sys, roofwidget as rw
from importlib import import_module
with contextlib.suppress(ImportError):
    import pyarrow.parquet
from roofwidget.readers import FORMATS
def peak():
    status = pathlib.Path("/proc/self/status")
    if status.exists():
        # ru_maxrss begins at the peak of the process that started this one.
        return int(re.search(r"VmHWM:\\s*(\\d+)", status.read_text())[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
path, *ways = sys.argv[1:]
for module in FORMATS:
    import_module(module)
rw.read(b"name,flops,bytes,time\\na,1,2,3\\n")
before = peak()
for way in ways:
    try:
        if way == "ceilings":
            rw.read_ceilings(path)
        else:
            rw.read(path, None if way == "auto" else way)
        said = "read"
    except rw.ProfileError as error:
        said = "refused"
    print(way, said, peak() - before)
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
    return {way: (said, int(size)) for way, said, size in lines}


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


def written_parquet(
    path: Path, columns: dict[str, list[object]], times: int = 1, row_group_size: int | None = None, **options: Any
) -> Path:
    """Write a table several times into one Parquet file."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    part = arrow.table(columns)
    with parquet.ParquetWriter(path, part.schema, **options) as writer:
        for _ in range(times):
            writer.write_table(part, row_group_size)
    return path


def with_stated_rows(path: Path, true: int, stated: int) -> None:
    """Change the number of rows in the footer of a Parquet file to a number below 64."""

    def varint(number: int) -> bytes:
        groups = [number >> 7 * at & 0x7F for at in range((number.bit_length() + 6) // 7)]
        return bytes(group | 0x80 for group in groups[:-1]) + bytes(groups[-1:])

    data = path.read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    # A field of 64 bits that follows its neighbour, and a number whose sign is the last bit.
    old = b"\x16" + varint(2 * true)
    new = bytes([0x16, 0x80 | 2 * stated, *[0x80] * (len(old) - 3), 0])
    at = data.index(old, footer)
    path.write_bytes(data[:at] + new + data[at + len(old) :])


@pytest.mark.parametrize("stated", [20_000_000, 1])
def test_a_parquet_file_of_too_many_cells_is_refused_whatever_its_footer_states(stated: int, tmp_path: Path) -> None:
    part: dict[str, list[object]] = {"name": ["k"] * 400_000, "flops": [1.0] * 400_000, "time": [1.0] * 400_000}
    path = written_parquet(tmp_path / "bomb.parquet", part, 50)
    if stated == 1:
        with_stated_rows(path, 20_000_000, stated)
        parquet = pytest.importorskip("pyarrow.parquet")
        assert parquet.read_metadata(path).num_rows == 1
    assert path.stat().st_size < 2**22
    start = time.process_time()
    with pytest.raises(ProfileError, match=r"a Parquet file of more than 50,000,000 cells; keep the columns and rows"):
        rw.read(path)
    assert time.process_time() - start < 3
    said, size = grown(path, ["table"])["table"]
    assert (said, size <= MAX_BYTES) == ("refused", True)


@pytest.mark.parametrize("options", [{}, {"use_dictionary": False, "compression": "zstd"}], ids=["once", "each time"])
def test_a_long_text_that_a_parquet_file_repeats_is_stored_once(options: dict[str, Any], tmp_path: Path) -> None:
    part: dict[str, list[object]] = {"name": ["k"] * 1000, "note": ["x" * 20_000] * 1000, "time": [1.0] * 1000}
    path = written_parquet(tmp_path / "texts.parquet", part, 130, None, **options)
    assert path.stat().st_size < 2**20
    said, size = grown(path, ["table"])["table"]
    # pyarrow decodes the notes of a row group, 20 MB, at once, in several buffers. All notes together are 2.6 GB.
    assert (said, size <= 130 * 1000 * 20_000 // 10) == ("read", True)


def test_different_texts_of_a_parquet_file_that_take_too_much_memory_are_refused(tmp_path: Path) -> None:
    part: dict[str, list[object]] = {"name": [f"{row:07}" + "x" * 2**20 for row in range(16)], "time": [1.0] * 16}
    path = written_parquet(tmp_path / "texts.parquet", part, 65, 8, compression="zstd")
    assert path.stat().st_size < 2**20
    with pytest.raises(ProfileError, match="a Parquet file of more than 1 GiB of cells; keep the columns and rows"):
        rw.read(path)


def test_a_parquet_file_of_many_launches_of_few_kernels_is_read(tmp_path: Path) -> None:
    chance = random.Random(1)  # noqa: S311 - not for security
    rows = 100_000
    kernels = [row % 60 for row in range(rows)]
    columns: dict[str, list[object]] = {
        "name": [f"kernel_{kernel}" for kernel in kernels],
        "flops": [1e9 * kernel for kernel in kernels],
        "bytes": [1e6 * kernel for kernel in kernels],
        "duration_ns": [10_000 + kernel * 100 + chance.randrange(2000) for kernel in kernels],
        "precision": ["fp16" if kernel % 2 else "fp32" for kernel in kernels],
        **{word: [kernel % 7 for kernel in kernels] for word in ("grid_x", "grid_y", "grid_z", "registers")},
        **{word: [1] * rows for word in ("block_x", "block_y", "block_z", "stream", "device")},
        "context": [None] * rows,
    }
    path = written_parquet(tmp_path / "kernels.parquet", columns)
    assert len(columns) * rows > 3 * path.stat().st_size
    read = rw.read(path)
    assert len(read) == rows
    has_columns(read, names=columns["name"], extra={"grid_x": columns["grid_x"]})


def archive_of_one_file() -> tuple[bytes, bytes, bytes]:
    """Return the parts of a zip archive: its file, its table of contents and its end."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.csv", b"")
    data = buffer.getvalue()
    directory, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    return data[:directory], data[directory:end], data[end:]


NO_DISKS = b"\0\0\0\0"


@pytest.mark.parametrize(
    ("files", "count", "disks", "comment", "is_large"),
    [
        (1_000_000, 65_535, NO_DISKS, 0, False),
        (1_000_000, 1, NO_DISKS, 0, True),
        (1_000_000, 1, b"PK\5\6", 0, False),
        (1_000_000, 1, NO_DISKS, 65_535, True),
        (150_000, 1, NO_DISKS, 0, False),
    ],
    ids=["plain", "zip64", "disks like an end", "zip64 with the longest comment", "below the limit on bytes"],
)
def test_an_archive_of_very_many_empty_files_is_refused_within_little_memory(
    files: int, count: int, disks: bytes, comment: int, tmp_path: Path, *, is_large: bool
) -> None:
    path = tmp_path / "many.zip"
    file, entry, end = archive_of_one_file()
    entries = entry * files
    size, ending = len(entries), end[:4] + disks
    if is_large:
        record = b"PK\x06\x06" + struct.pack("<QHHLLQQQQ", 44, 45, 45, 0, 0, count, count, size, len(file))
        locator = b"PK\x06\x07" + struct.pack("<LQL", 0, len(file) + size, 1)
        ending = record + locator + ending
        size = len(entry)
    ending += count.to_bytes(2, "little") * 2 + struct.pack("<LLH", size, len(file), comment) + b"c" * comment
    path.write_bytes(file + entries + ending)
    found = grown(path, ["auto", "table", "ceilings"])
    assert len(found) == 3
    assert {way: part for way, part in found.items() if part[0] != "refused" or part[1] > MAX_BYTES} == {}


def test_a_table_of_contents_that_is_too_large_says_how_large_it_is() -> None:
    file, entry, end = archive_of_one_file()
    entries = entry * (9 * 2**20 // len(entry))
    data = file + entries + end[:12] + struct.pack("<LLH", len(entries), len(file), 0)
    with pytest.raises(ProfileError) as caught:
        rw.read(data)
    said = "a zip archive whose table of contents takes 9 MiB (at most 8); extract it and give the path of the profile"
    assert caught.value.reason == said


def test_an_archive_of_many_files_with_long_paths_is_listed() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("kernels.csv", "name,flops,bytes,time\na,1,2,3\n")
        for number in range(7500):
            archive.writestr(f"{'folder/' * 42}{number:06}", b"")
    members = Source.of(buffer.getvalue()).members()
    assert len(members) == 7501
    assert len(rw.read(members["kernels.csv"])) == 1
