"""Inputs of readers: limited decompression, encodings, folders and archives; errors of damage name the place."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from roofwidget.readers import ProfileError, Source
from roofwidget.readers.input import archives
from tests.places import write

TEXT = "kernel,µs\nmatmul,31\n"


def zipped(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        gzip.compress(TEXT.encode()),
        gzip.compress(gzip.compress(TEXT.encode())),
        zipped({"a.csv": TEXT.encode()}),
        zipped({"a.csv.gz": gzip.compress(TEXT.encode())}),
        zipped({"deep/": b"", "deep/a.csv": TEXT.encode(), "__MACOSX/a.csv": b"double"}),
    ],
    ids=["plain", "gzip", "gzip twice", "zip", "gzip in zip", "zip with folders"],
)
def test_compression_is_undone_whatever_the_name_says(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "profile.dat"
    path.write_bytes(data)
    for source in (Source.of(data), Source.of(path), Source.of(str(path)), Source.of(io.BytesIO(data))):
        assert not source.is_folder
        assert source.text() == TEXT
        assert source.head == TEXT.encode()
        assert source.text() == TEXT, "a source is read as often as needed"
        assert source.size == len(data)


@pytest.mark.parametrize(
    "data",
    [TEXT.encode(), b"\xef\xbb\xbf" + TEXT.encode(), TEXT.encode("utf-16"), b"\xfe\xff" + TEXT.encode("utf-16-be")],
)
def test_text_is_utf_8_with_or_without_a_mark_or_utf_16_with_one(data: bytes) -> None:
    assert Source.of(data).text() == TEXT


def test_text_of_an_open_text_file_is_taken_as_it_is() -> None:
    assert Source.of(io.StringIO(TEXT)).text() == TEXT


def test_bytes_that_are_no_text_are_named_by_their_offset() -> None:
    with pytest.raises(ProfileError, match=r"^buffer: byte 15: not UTF-8") as caught:
        Source.of(b'[{"cols": "caf\xe9"}]').text()
    assert caught.value.place == "byte 15"


def test_text_beyond_the_limit_is_refused() -> None:
    assert Source.of(b"12345").text(limit=5) == "12345"
    with pytest.raises(ProfileError, match="split it"):
        Source.of(b"123456").text(limit=5)


@pytest.mark.parametrize("cut", [5, 20, -1])
@pytest.mark.parametrize("pack", [gzip.compress, lambda data: zipped({"a": data})], ids=["gzip", "zip"])
def test_a_compressed_file_that_is_cut_off_is_one_clear_error(pack: Any, cut: int) -> None:
    data = pack(bytes(range(256)) * 50)[:cut]
    with pytest.raises(ProfileError, match=r"damaged|cut off"):
        Source.of(data).text()


def test_damage_within_a_compressed_file_is_one_clear_error() -> None:
    data = bytearray(gzip.compress(bytes(range(256)) * 500))
    data[60:80] = bytes(20)
    with pytest.raises(ProfileError, match="damaged or incomplete"):
        Source.of(bytes(data)).text()


def test_a_file_that_unpacks_to_far_more_than_it_is_gets_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_MAX_UNPACKED_BYTES", 2**20)
    bomb = gzip.compress(bytes(2**22))
    with pytest.raises(ProfileError, match=r"unpacks to more than .* 200 times its size"):
        Source.of(bomb).text()
    with pytest.raises(ProfileError, match="unpacks to more than"):
        Source.of(zipped({"a": bytes(2**22), "b": b""})).members()["a"].text()


def test_a_file_that_unpacks_to_much_but_not_to_200_times_its_size_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_MAX_UNPACKED_BYTES", 2**10)
    text = "".join(f"{number}," for number in range(10_000))
    assert Source.of(gzip.compress(text.encode())).text() == text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x28\xb5\x2f\xfd" + bytes(50), "Zstandard; decompress it first"),
        (gzip.compress(gzip.compress(gzip.compress(gzip.compress(b"x")))), "more than 3 times"),
        (zipped({"a.zip": zipped({"b": b"x"})}), "decompress the outer one"),
    ],
    # Without names the compressed bytes are the test's id, and they contain the time of compression.
    ids=["Zstandard", "gzip in gzip", "zip in zip"],
)
def test_what_is_compressed_in_another_way_is_named(data: bytes, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        Source.of(data).text()


def test_an_archive_of_several_files_is_a_folder_of_them() -> None:
    source = Source.of(zipped({"run/pmc.csv": b"1", "run/sysinfo.csv.gz": gzip.compress(b"2"), "run/": b""}))
    assert source.is_folder
    assert source.head == b""
    members = source.members()
    assert {name: member.text() for name, member in members.items()} == {"run/pmc.csv": "1", "run/sysinfo.csv.gz": "2"}
    assert members["run/pmc.csv"].name == "buffer/run/pmc.csv"
    with pytest.raises(ProfileError, match="several files; expected one file"):
        source.open()


def test_a_folder_gives_its_files_by_relative_names(tmp_path: Path) -> None:
    (tmp_path / "perfmon").mkdir()
    write(tmp_path / "perfmon" / "b.csv", "b")
    write(tmp_path / "a.csv", "a")
    source = Source.of(tmp_path)
    assert source.is_folder
    assert {name: member.text() for name, member in source.members().items()} == {"a.csv": "a", "perfmon/b.csv": "b"}
    assert source.members()["a.csv"].path == tmp_path / "a.csv"


def test_a_plain_file_has_no_members() -> None:
    assert Source.of(b"a").members() == {}


def test_too_many_files_are_refused_before_they_are_listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("roofwidget.readers.input.source._MAX_FILES", 3)
    for number in range(4):
        write(tmp_path / f"{number}", "x")
    with pytest.raises(ProfileError, match="has more than 3 files; give the path of the profile"):
        Source.of(tmp_path).members()
    with pytest.raises(ProfileError, match="a zip archive of more than 3 files"):
        Source.of(zipped({f"{number}": b"" for number in range(4)})).members()


def test_reading_tells_how_much_of_the_stored_file_was_read(tmp_path: Path) -> None:
    data = gzip.compress(b"".join(b"%d," % number for number in range(200_000)))
    path = tmp_path / "a.gz"
    path.write_bytes(data)
    told: list[int] = []
    source = Source.of(path)
    with source.open(told.append) as stream:
        stream.read()
    assert len(told) > 1
    assert sum(told) == source.size == len(data)


def test_what_is_no_input_is_refused_by_its_type() -> None:
    with pytest.raises(TypeError, match="expected a path, bytes or an open file, got int"):
        Source.of(5)
    with pytest.raises(FileNotFoundError):
        Source.of("no such file")
    with pytest.raises(ProfileError, match="neither a file nor a folder"):
        Source.of("/dev/null")


# -- JSON ------------------------------------------------------------------------------------------------------


def test_json_is_parsed_once_and_kept() -> None:
    source = Source.of(b'{"a": [1, 2]}')
    assert source.json() == {"a": [1, 2]}
    assert source.json() is source.json()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ('{"a": 1', r"line 1, column 8: not JSON: .* \(the file ends too early\)"),
        ('{\n"a": }', "line 2, column 6: not JSON: Expecting value"),
        ('[1, {"a": 1,\n "a": 2}]', "line 2, column 8: the key 'a' is twice"),
        ("[" * 100_000, "nested too deeply"),
        ("[" + "9" * 5000 + "]", "a number that cannot be read"),
        ('["NaN",\n -Infinity]', "line 2, column 2: -Infinity is not JSON"),
        ("[NaN]", "line 1, column 2: NaN is not JSON"),
    ],
)
def test_what_is_no_json_is_refused_by_line_and_column(text: str, message: str) -> None:
    source = Source.of(text.encode())
    for _ in range(2):
        with pytest.raises(ProfileError, match=message):
            source.json()


def test_nan_and_infinity_are_taken_where_the_format_has_them() -> None:
    source = Source.of(b'[Infinity, "NaN"]')
    assert source.json(nan=True) == [float("inf"), "NaN"]
    with pytest.raises(ProfileError, match="Infinity is not JSON"):
        source.json()


@pytest.mark.parametrize("text", ["", "a,b", "5", "{", "[1,", "==PROF== [1]"])
def test_what_is_no_json_document_is_none_for_those_who_ask(text: str) -> None:
    assert Source.of(text.encode()).document() is None


def test_a_json_document_may_begin_with_a_mark_and_spaces(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"\xef\xbb\xbf \n" + json.dumps({"a": 1}).encode()
    assert Source.of(data).document() == {"a": 1}
    monkeypatch.setattr("roofwidget.readers.input.source._MAX_DOCUMENT_BYTES", 5)
    assert Source.of(data).document() is None, "large files are left to those who stream"


def test_a_folder_that_may_not_be_opened_is_not_walked(tmp_path: Path) -> None:
    for name in ("refused", "run"):
        (tmp_path / name / "inner").mkdir(parents=True)
        (tmp_path / name / "inner" / "a.csv").touch()
    asked: list[str] = []

    def may_open(path: Path) -> bool:
        asked.append(path.relative_to(tmp_path).as_posix())
        return path.name != "refused"

    assert list(Source.of(tmp_path, may_open).members()) == ["run/inner/a.csv"]
    assert sorted(asked) == ["refused", "run", "run/inner", "run/inner/a.csv"]
