"""Real files: those that are listed, what is fetched and refused, and the line on tests without them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import real_files
from tests.places import text_of, write
from tests.real_files import LISTED, address, fetch, left_out, real_file

TESTS = Path(__file__).parent


def test_every_listed_file_names_its_repository_commit_path_licence_and_sha_256() -> None:
    for name, about in LISTED.items():
        assert list(about) == ["repository", "commit", "path", "licence", "sha256"], name
        assert re.fullmatch(r"https://github\.com/[\w-]+/[\w-]+", about["repository"]), name
        assert re.fullmatch("[0-9a-f]{40}", about["commit"]), name
        assert re.fullmatch("[0-9a-f]{64}", about["sha256"]), name
        assert about["licence"] in {"MIT", "Apache-2.0", "BSD-3-Clause-LBNL"}, name
    assert len({address(about) for about in LISTED.values()}) == len(LISTED) == 27


def test_a_file_that_is_not_the_listed_one_is_refused_and_not_written(tmp_path: Path) -> None:
    failures = fetch(lambda _name: b"another file", tmp_path)
    assert failures == [f"{name}: its SHA-256 is not that of tests/real_files.toml" for name in LISTED]
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_had_is_named_and_the_others_are_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # SHA-256 of "abc", from FIPS 180-2.
    sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    monkeypatch.setattr(real_files, "LISTED", {name: {"sha256": sha256} for name in ("ncu/a.csv", "ncu/b.csv")})
    monkeypatch.setattr(real_files, "FETCHED", tmp_path)

    def take(name: str) -> bytes:
        if name == "ncu/a.csv":
            raise FileNotFoundError("there is no such file")
        return b"abc"

    assert fetch(take, tmp_path) == ["ncu/a.csv: there is no such file"]
    assert real_file("ncu/b.csv").read_bytes() == b"abc"


def test_a_fetched_file_is_used_before_the_one_beside_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("beside", "fetched"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "a.csv", folder)
    monkeypatch.setattr(real_files, "_BESIDE", tmp_path / "beside")
    monkeypatch.setattr(real_files, "FETCHED", tmp_path / "fetched")
    assert text_of(real_file("a.csv")) == "fetched"


def test_the_last_line_says_how_many_tests_of_real_files_were_left_out_and_how_to_get_them() -> None:
    reasons = [
        "('x.py', 1, 'Skipped: a real file is not here: ncu/rtx5070_ncu2026.2_saxpy.csv')",
        "('x.py', 2, 'Skipped: a real file is not here: ncu/private.csv')",
        "('x.py', 3, 'Skipped: a real file is not here: ncu/*.csv')",
        "('x.py', 4, 'Skipped: make hosts installs marimo')",
    ]
    assert left_out(reasons) == (
        "Left out: 3 tests of real files that are not in this repository; `make real-files` fetches the files of 2 of "
        "them, which tests/real_files.toml lists."
    )
    assert left_out(reasons[1:2]) == "Left out: 1 test of real files that are not in this repository."
    assert left_out(reasons[3:]) == ""


def test_no_test_looks_for_real_files_by_itself() -> None:
    folder = re.compile("data/" + "profiles")
    found = {path.name for path in TESTS.rglob("*.py") if folder.search(text_of(path))}
    assert found == {"real_files.py"}
