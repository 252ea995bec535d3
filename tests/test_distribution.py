"""The sdist and the wheel: what they hold, what they say of themselves, and that two builds are equal."""

from __future__ import annotations

import email
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from packaging.licenses import canonicalize_license_expression
from packaging.requirements import Requirement
from trove_classifiers import classifiers

from tests.places import ROOT, json_of, text_of, write

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


PROJECT: dict[str, Any] = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
STATIC = ROOT / "roofwidget" / "static"
TOP = {
    *(".gitignore", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "PKG-INFO", "README.md"),
    "SECURITY.md",
    *("benchmarks", "docs", "hatch_build.py", "js", "notebooks", "pyproject.toml", "roofwidget", "tests"),
}
YEAR_SECONDS = 365 * 86400


@dataclass(frozen=True)
class Distribution:
    """An sdist of this checkout, where it was unpacked, and the wheel that was built from it there."""

    names: set[str]
    folder: Path
    wheel: Path

    @property
    def metadata(self) -> Message:
        return email.message_from_string(self.read("METADATA"))

    def read(self, name: str) -> str:
        with zipfile.ZipFile(self.wheel) as wheel:
            return wheel.read(f"roofwidget-{PROJECT['version']}.dist-info/{name}").decode()


def build(kind: str, source: Path, target: Path, **variables: str) -> Path:
    """Build with what is in this environment, without Node, npm and pip's network."""
    path = {"PATH": str(target / "no programs"), "PIP_NO_INDEX": "1"}
    kept = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    command = [sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--outdir", str(target), str(source)]
    done = subprocess.run(
        command,
        check=False,
        env=kept | path | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout
    (built,) = target.iterdir()
    return built


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def unpack(sdist: Path, target: Path) -> Path:
    with tarfile.open(sdist) as archive:
        # Python before 3.10.12 and 3.11.4 has no filters.
        if hasattr(tarfile, "data_filter"):
            archive.extraction_filter = tarfile.data_filter
        archive.extractall(target)  # noqa: S202 - our own archive
    (folder,) = target.iterdir()
    return folder


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (STATIC / "LICENSES.txt").is_file():
        pytest.fail('the front end is not built: run "make bundle"', pytrace=False)
    return build("sdist", ROOT, tmp_path_factory.mktemp("sdist"), HATCH_JUPYTER_BUILDER_SKIP_NPM="1")


@pytest.fixture(scope="module")
def distribution(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Distribution:
    folder = unpack(sdist, tmp_path_factory.mktemp("unpacked"))
    names = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    return Distribution(names, folder, build("wheel", folder, tmp_path_factory.mktemp("wheel")))


# -- what is in them -------------------------------------------------------------------------------------------


def test_the_sdist_holds_what_builds_and_tests_the_package_and_nothing_else(distribution: Distribution) -> None:
    assert {name.split("/")[0] for name in distribution.names} == TOP
    strays = ("__pycache__", "node_modules", ".ipynb_checkpoints", ".pyc", ".hypothesis", "test-results")
    assert [name for name in distribution.names if any(stray in name for stray in strays)] == []
    hidden = {name for name in distribution.names if any(part.startswith(".") for part in name.split("/"))}
    assert hidden == {".gitignore", "js/.npmrc"}


def test_a_file_of_someone_in_the_checkout_is_not_in_the_sdist(tmp_path: Path, distribution: Distribution) -> None:
    shutil.copytree(distribution.folder, tmp_path / "checkout")
    for name in ("profile.csv", ".env", "build/x.py", "course/y.html", "js/node_modules/z/package.json"):
        (tmp_path / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
        write(tmp_path / "checkout" / name, "secret")
    (tmp_path / "sdist").mkdir()
    again = build("sdist", tmp_path / "checkout", tmp_path / "sdist")
    folder = unpack(again, tmp_path / "unpacked")
    names = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    assert names == distribution.names


def test_the_wheel_built_without_node_holds_the_package_with_its_front_end(distribution: Distribution) -> None:
    info = f"roofwidget-{PROJECT['version']}.dist-info"
    with zipfile.ZipFile(distribution.wheel) as wheel:
        names = set(wheel.namelist())
    package = {name for name in distribution.names if name.startswith("roofwidget/")}
    own = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "sboms/roofwidget.cdx.json")
    licences = ("licenses/LICENSE", "licenses/roofwidget/static/LICENSES.txt")
    assert names == package | {f"{info}/{name}" for name in (*own, *licences)}
    assert {f"roofwidget/static/{file.name}" for file in STATIC.iterdir()} <= names
    # Type checkers read these.
    assert {"roofwidget/__init__.pyi", "roofwidget/py.typed"} <= names


# -- what they say of themselves -------------------------------------------------------------------------------


def test_every_dependency_has_a_lowest_version() -> None:
    extras = [one for named in PROJECT["optional-dependencies"].values() for one in named]
    build_system = tomllib.loads(text_of(ROOT / "pyproject.toml"))["build-system"]["requires"]
    for text in (*PROJECT["dependencies"], *extras, *build_system):
        requirement = Requirement(text)
        lowest = {part.operator for part in requirement.specifier} & {">=", "==", "~="}
        assert lowest or requirement.name == "roofwidget", f"{text}: no lowest version"


def test_the_metadata_name_the_licences_of_the_bundle_too(distribution: Distribution) -> None:
    metadata = distribution.metadata
    bundled = {licence["license"]["id"] for one in bill(distribution)["components"] for licence in one["licenses"]}
    named = metadata["License-Expression"].split(" AND ")
    assert named == ["BSD-3-Clause", *sorted(bundled)]
    assert canonicalize_license_expression(PROJECT["license"]) == metadata["License-Expression"]
    assert metadata.get_all("License-File") == ["LICENSE", "roofwidget/static/LICENSES.txt"]
    for package in bill(distribution)["components"]:
        assert f"\n{package['name']}\n\n" in "\n" + distribution.read("licenses/roofwidget/static/LICENSES.txt")


def test_the_classifiers_are_known_and_none_repeats_the_licence() -> None:
    assert set(PROJECT["classifiers"]) <= classifiers
    assert PROJECT["classifiers"] == list(dict.fromkeys(PROJECT["classifiers"]))
    assert not any(one.startswith("License ::") for one in PROJECT["classifiers"])


def test_there_is_one_version(distribution: Distribution) -> None:
    cited = re.findall(r"^version: (.*)$", text_of(ROOT / "CITATION.cff"), re.MULTILINE)
    assert cited == [PROJECT["version"]] == [distribution.metadata["Version"]]


def test_every_python_of_the_classifiers_is_in_the_matrix_of_the_workflow() -> None:
    workflow = ROOT / ".github" / "workflows" / "test.yml"
    if not workflow.is_file():
        pytest.skip("an sdist has no workflow")
    (row,) = re.findall(r"^ +python: \[(.*)\]$", text_of(workflow), re.MULTILINE)
    named = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if ":: 3." in one]
    assert re.findall(r'"(.*?)"', row) == named
    assert PROJECT["requires-python"] == f">={named[0]}"


def bill(distribution: Distribution) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(distribution.read("sboms/roofwidget.cdx.json"))
    return loaded


def test_the_bill_of_materials_lists_what_the_bundle_is_made_of(distribution: Distribution) -> None:
    lock = json_of(ROOT / "js/package-lock.json")["packages"]
    shipped = {path.removeprefix("node_modules/"): one for path, one in lock.items() if path and "dev" not in one}
    listed = {one["name"]: one for one in bill(distribution)["components"]}
    assert listed.keys() == {name for name, one in shipped.items() if "peer" not in one}
    for name, one in listed.items():
        assert one["version"] == shipped[name]["version"]
        assert one["purl"] == f"pkg:npm/{name.replace('@', '%40')}@{one['version']}"
        assert [len(digest["content"]) for digest in one["hashes"] if digest["alg"] == "SHA-512"] == [128]
    main = bill(distribution)["metadata"]["component"]
    assert (main["name"], main["version"], main["purl"]) == (
        PROJECT["name"],
        PROJECT["version"],
        f"pkg:pypi/{PROJECT['name']}@{PROJECT['version']}",
    )


def test_the_bill_of_materials_has_the_form_of_cyclonedx(distribution: Distribution) -> None:
    made = bill(distribution)
    assert (made["bomFormat"], made["specVersion"], made["version"]) == ("CycloneDX", "1.6", 1)
    components = [made["metadata"]["component"], *made["components"]]
    references = [one["bom-ref"] for one in components]
    assert len(set(references)) == len(references)
    assert {one["ref"] for one in made["dependencies"]} == set(references)
    assert {other for one in made["dependencies"] for other in one.get("dependsOn", [])} == set(references[1:])
    assert {one["type"] for one in components} == {"library"}


# -- two builds ------------------------------------------------------------------------------------------------


def test_two_wheels_of_two_folders_and_two_times_are_equal(distribution: Distribution, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere" / "source"
    shutil.copytree(distribution.folder, folder)
    for file in folder.rglob("*"):
        os.utime(file, (file.stat().st_atime, file.stat().st_mtime - YEAR_SECONDS))
    (tmp_path / "wheel").mkdir()
    assert digest(build("wheel", folder, tmp_path / "wheel")) == digest(distribution.wheel)


def test_the_date_of_the_source_is_the_date_in_the_wheel(distribution: Distribution, tmp_path: Path) -> None:
    wheel = build("wheel", distribution.folder, tmp_path, SOURCE_DATE_EPOCH=str(2**31))
    with zipfile.ZipFile(wheel) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(2038, 1, 19, 3, 14, 8)}


def test_the_front_end_is_built_the_same_in_two_folders(tmp_path: Path) -> None:
    modules = ROOT / "js" / "node_modules"
    built = []
    for place in ("one", "a longer name"):
        js = tmp_path / place / "js"
        shutil.copytree(ROOT / "js", js, ignore=shutil.ignore_patterns("node_modules", "test"))
        for package in ("preact", "@preact"):
            shutil.copytree(modules / package, js / "node_modules" / package)
        for tool in ("esbuild", "@esbuild", "rolldown"):
            (js / "node_modules" / tool).symlink_to(modules / tool)
        subprocess.run(["node", "build.mjs"], cwd=js, check=True, stdout=subprocess.DEVNULL)  # noqa: S607 - on the path
        made = tmp_path / place / "roofwidget" / "static"
        built.append({file.name: digest(file) for file in made.iterdir()})
        for file in made.glob("*.gz"):
            # No time, and no operating system.
            assert file.read_bytes()[4:10] == b"\0\0\0\0\x02\xff"
    assert built[0] == built[1]
    assert built[0].keys() == {file.name for file in STATIC.iterdir()}
