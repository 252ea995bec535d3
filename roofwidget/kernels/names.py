"""Displayed names of kernels: short, and different for each kernel.

A short name drops return types, parameters, namespaces, booleans and container types. It keeps tile shapes, element
types and functors. Some names of CUTLASS, cuBLAS, Triton and Tensile are one word that contains all shapes, such as
``ampere_sgemm_128x64_tn``. The short form of this kind of name is the word without suffixes.

`displayed` compares the short names of a table. It leaves out the namespace that most kernels share and adds to equal
names what distinguishes the kernels. The page has the same rules in ``js/src/text/kernel_names.ts``. Tests compare both
with the golden file ``tests/golden/kernel_names.json``.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from roofwidget.kernels.columns import DictColumn
from roofwidget.kernels.non_kernels import is_idle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from roofwidget.kernels.metadata import Extra

_SHAPE_COLUMN: Final = re.compile(r"(?i)\b(?:shapes?|dims?)\b")
_NUMBER_COLUMN: Final = re.compile(r"(?i)^(?:kernel |launch )?id$")
# If a table has more kernels than this, equal names stay equal, because comparing them takes too long.
_MAX_COMPARED: Final = 10_000
# A namespace is left out if at least this share of the kernels is in it.
_MIN_NAMESPACE_SHARE: Final = 0.8
_NAMESPACE: Final = re.compile(r"(?:[A-Za-z_]\w*::)+", re.ASCII)

_MAX_CHARACTERS: Final = 72
_MAX_ARGUMENTS: Final = 6
_MAX_PARSED_CHARACTERS: Final = 4000
_MAX_DEPTH: Final = 60
# Kernels that only call a functor. The functor is a template argument, and the short name is made from the functor.
_WRAPPERS: Final = frozenset(
    {
        *("Kernel", "Kernel2", "device_kernel", "kernel", "kernel_wrapper", "_kernel_agent", "static_kernel"),
        *("cuda_parallel_launch_local_memory", "cuda_parallel_launch_constant_memory", "cuda_parallel_launch"),
        *("hip_parallel_launch_local_memory", "hip_parallel_launch_constant_memory", "forall_cuda_kernel"),
        *("forall_hip_kernel", "gpu_kernel_impl", "gpu_kernel_impl_nocast", "launch_kernel"),
    }
)
_NOISE: Final = frozenset(
    {
        *("true", "false", "void", "char", "array", "tuple", "less", "allocator", "nullptr", "integral_constant"),
        *("Cuda", "HIP", "identity", "Layout", "Stride", "OpMultiplyAdd", "Identity"),
        *("int", "long", "unsigned", "short", "size_t", "int32_t", "int64_t", "uint32_t", "uint64_t"),
    }
)
_NOISY: Final = re.compile(r"(?i)policy|exec|iterator|params|^kernel")
# Template types that only bundle other types. A short name shows the arguments of such a type instead of the type.
_INLINED: Final = re.compile(r"(?i)(traits|params|config|collectivemma)$")
_PIPELINE: Final = re.compile(r"^Mainloop(Sm\d+)\w*$")
_TYPES: Final = {
    "__half": "half",
    "half_t": "half",
    "Half": "half",
    "bfloat16_t": "bf16",
    "BFloat16": "bf16",
    "__nv_bfloat16": "bf16",
    "hip_bfloat16": "bf16",
    "tfloat32_t": "tf32",
    "float_e4m3_t": "e4m3",
    "float_e5m2_t": "e5m2",
    "Float8_e4m3fn": "e4m3",
    "Float8_e5m2": "e5m2",
}
_SUFFIX: Final = re.compile(r"(\[clone [^\[\]]*\]|\(\.kd\)|\.kd)$")
_TRITON_SIGNATURE: Final = re.compile(r"_(?=[0-9dce]*d)(?:\d(?:d|de|c|e)?){3,}$")
_TENSILE: Final = re.compile(
    r"^(Cijk_[A-Za-z]{1,9}_[A-Za-z]{1,9}_[A-Z0-9]{1,12})(_\w{1,200}?)?"
    r"_(MT\d+x\d+x\d+(?:_MI\d+x\d+x\d+(?:x\d+)?)?)(?=_|$)"
)
_MANGLED: Final = re.compile(r"_Z(?:L|N)?(K?)")
_LAMBDA: Final = re.compile(r"\{?lambda[^}]*\}?(#\d+)?|'lambda\d*'|\$_\d+")
_ANONYMOUS: Final = re.compile(r"(\(anonymous namespace\)|<unnamed>|\{anonymous\}|unnamed>|_GLOBAL__N_\w+)(::)?")
_INTEGER: Final = re.compile(
    r"^\(?(?:\((?:unsigned |signed )?(?:int|long|bool|char|short|size_t)\))?(-?\d+)[uUlL]*\)?$"
)
_CUTE: Final = re.compile(r"^(?:C|_|Int)?<?_?(\d+)>?$")
# Matches C++ names. Such a name begins with a return type or a namespace, as in "void f(" and "a::f<", or ends with
# template arguments or with parameters that contain types, as in "f<4>" and "f(int)".
_CPP: Final = re.compile(
    r"void .*[<(]|[\w:<>, ]*::.*[<(]|(\(anonymous namespace\)|<?unnamed>)::|[A-Za-z_]\w*<.*>$"
    r"|[A-Za-z_]\w*(<.*>)?\((\s*\)|.*(\b(int|float|double|char|long|unsigned|void|bool|half|size_t|const)\b|[*&]|(Params|Args|Storage)\b))"
)
_TOKEN: Final = re.compile(r"::|[<>(),]|[^<>(),:]+|:")


@functools.lru_cache(maxsize=65_536)
def shortened(name: str) -> str:
    """Return a short form of a kernel's name that still distinguishes it, at most 72 characters.

    Examples
    --------
    >>> shortened("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>,"
    ...           " std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)")
    'vectorized_elementwise_kernel<4, CUDAFunctor_add<bf16>>'
    >>> shortened("ampere_sgemm_128x64_tn"), shortened("triton_poi_fused_add_0d1d2d3de")
    ('ampere_sgemm_128x64_tn', 'triton_poi_fused_add')
    """
    text = _SUFFIX.sub("", name.strip()[:_MAX_PARSED_CHARACTERS].rstrip()).rstrip()
    text = _TRITON_SIGNATURE.sub("", text)
    tensile = _TENSILE.match(text)
    if tensile:
        begin, between, shape = tensile.groups()
        text = f"{begin}{'_…' if between else ''}_{shape}"
    elif _MANGLED.match(text):
        text = _demangled(text)
    elif _CPP.match(text):
        text = _of_cpp(text) or text
    text = " ".join(text.split()) or name
    return text if len(text) <= _MAX_CHARACTERS else text[: _MAX_CHARACTERS - 1] + "…"


def displayed(names: DictColumn, category: DictColumn, extra: Extra, same: Sequence[int] | None = None) -> list[str]:
    """Return the displayed name of each kernel, n texts.

    Parameters
    ----------
    names, category
        The names of the kernels in their file, and their categories. Idle time does not count as a kernel.
    extra
        Further columns. Shapes and the file's own numbers distinguish kernels of one name.
    same
        The number of the kernel in each row. Rows with one number are the same kernel in several series.
    """
    short = [shortened(name or "") for name in names.values]
    namespace = _namespace(short, Counter(names.codes[~category.where(is_idle)].tolist()))
    short = [name.removeprefix(namespace) or name for name in short]
    found = [short[code] for code in names.codes.tolist()]
    return found if len(found) > _MAX_COMPARED else _distinct(found, extra, same)


def numbered(names: DictColumn, series: DictColumn) -> list[int]:
    """Return the number of the kernel in each row of a table of several series, for `displayed`.

    The n-th row of a name in each series is the same kernel.
    """
    seen: Counter[tuple[int, int]] = Counter()
    numbers: dict[tuple[int, int], int] = {}
    found = []
    for name, run in zip(names.codes.tolist(), series.codes.tolist(), strict=True):
        found.append(numbers.setdefault((name, seen[name, run]), len(numbers)))
        seen[name, run] += 1
    return found


def _namespace(short: Sequence[str], rows: Mapping[int, int]) -> str:
    """Return the namespace that most kernels share, such as ``aten::``. `rows` has the number of rows of each name."""
    counts: Counter[str] = Counter()
    for code, count in rows.items():
        found = _NAMESPACE.match(short[code])
        counts[found.group() if found else ""] += count
    least = _MIN_NAMESPACE_SHARE * sum(rows.values())
    return next((namespace for namespace, count in counts.items() if namespace and count >= least), "")


def _distinct(names: Sequence[str], extra: Extra, same: Sequence[int] | None) -> list[str]:
    """Return the names, with an addition to each name that several kernels have."""
    found = list(names)
    firsts: dict[int, int] = {}
    for row, number in enumerate(range(len(names)) if same is None else same):
        firsts.setdefault(number, row)
    taken = set(names)
    for twins in _grouped(firsts.values(), names.__getitem__):
        if len(twins) == 1 or not names[twins[0]]:
            continue
        shapes = _shapes(extra, twins)
        for alike in _grouped(twins, lambda row, shapes=shapes: names[row] + shapes.get(row, "")):  # type: ignore[misc]
            text = names[alike[0]] + shapes.get(alike[0], "")
            if len(alike) == 1 and text not in taken:
                found[alike[0]] = text
                continue
            numbers = _numbers(extra, alike)
            place = 0
            for row in alike:
                place += 1
                # A number that another kernel has in its name is skipped.
                while f"{text} ({place})" in taken:
                    place += 1
                found[row] = f"{text} #{numbers[row]}" if numbers else f"{text} ({place})"
    return found if same is None else [found[firsts[number]] for number in same]


def _grouped(rows: Iterable[int], text_of: Callable[[int], str]) -> list[list[int]]:
    groups: dict[str, list[int]] = {}
    for row in rows:
        groups.setdefault(text_of(row), []).append(row)
    return list(groups.values())


def _shapes(extra: Extra, rows: Sequence[int]) -> dict[int, str]:
    """Return the shape of the operand that differs most among kernels, such as `` 512×2048``.

    The first of several operands that differ equally. Empty if the shapes are equal or unknown.
    """
    for name, column in extra.items():
        if not isinstance(column, DictColumn) or not _SHAPE_COLUMN.search(name):
            continue
        operands = [_operands(column.at(row) or "") for row in rows]
        aligned = [[each[at] if at < len(each) else "" for each in operands] for at in range(max(map(len, operands)))]
        best = max(aligned, key=lambda shapes: len(set(shapes)), default=[])
        if len(set(best)) > 1:
            return {row: f" {shape}" if shape else "" for row, shape in zip(rows, best, strict=True)}
    return {}


def _operands(text: str) -> list[str]:
    """Return the shapes in a text such as ``[1, 141, 512], [512]``: ``141×512`` and ``512``.

    Leading dimensions of 1 are left out, and so are numbers in the names of types, such as ``f32``.
    """
    pieces = re.findall(r"\[[^\[\]]*\]", text) or re.split(r"[,;]", text)
    shapes = ["×".join(re.findall(r"(?<![A-WYZa-wyz0-9])[0-9]+", piece)) for piece in pieces]
    return [re.sub(r"^(?:1×)+", "", shape) for shape in shapes]


def _numbers(extra: Extra, rows: Sequence[int]) -> dict[int, str]:
    """Return the file's own numbers of kernels. Empty if the file has no numbers, or equal numbers for some kernels."""
    for name, column in extra.items():
        if not _NUMBER_COLUMN.match(name):
            continue
        texts = column.at if isinstance(column, DictColumn) else lambda row, column=column: f"{column[row]:.17g}"
        found = {row: texts(row) or "" for row in rows}
        if len(set(found.values())) == len(rows) and all(re.fullmatch(r"[0-9]+", text) for text in found.values()):
            return found
    return {}


@dataclass(frozen=True)
class _Name:
    """A parsed C++ name: the name without namespaces, the template arguments, and the innermost namespace."""

    base: str
    arguments: tuple[_Name, ...]
    scope: str = ""


def _of_cpp(text: str) -> str:
    plain = _ANONYMOUS.sub("", _LAMBDA.sub("", text))
    name = _unwrapped(_Parser(_TOKEN.findall(plain)).name(0))
    if name.base in _WRAPPERS and name.scope:
        name = _Name(f"{name.scope}::{name.base}", name.arguments)
    return _written(name) if _names_a_kernel(name) else ""


class _Parser:
    """Reads a C++ name from tokens and stops at the first token that cannot be a part of the name."""

    def __init__(self, pieces: list[str]) -> None:
        self._pieces = pieces
        self._at = 0

    def _peek(self) -> str:
        return self._pieces[self._at] if self._at < len(self._pieces) else ""

    def name(self, depth: int) -> _Name:
        """Read one name, up to a ``,`` or ``>`` outside its own brackets. ``a::b<c>::d`` becomes ``d``."""
        base, scope = "", ""
        arguments: tuple[_Name, ...] = ()
        while (piece := self._peek()) and piece not in {",", ">", ")"}:
            self._at += 1
            if piece == "<":
                if depth > _MAX_DEPTH:
                    return _Name(base, arguments, scope)
                arguments = self._arguments(depth)
            elif piece == "(":
                cast = self._parenthesis()
                base = base or cast
            elif piece == "::":
                following = self._peek().strip()
                if following and following[0] not in "<>(),:" and not following.startswith(("operator", "const")):
                    base, scope, arguments = "", base, ()
            elif piece.strip():
                base, arguments = self._word(piece, base, arguments)
        return _Name(base.strip(), arguments, scope)

    def _word(self, piece: str, base: str, arguments: tuple[_Name, ...]) -> tuple[str, tuple[_Name, ...]]:
        word = piece.strip().rstrip("*& ").removesuffix(" const").removeprefix("const ")
        if word in {"const", "", "operator"} or (base and self._peek() != "<" and word.startswith("operator")):
            return base, arguments
        # A space before this piece means that the earlier piece was a return type, not a part of the name.
        if base and not piece.startswith(" ") and not base.startswith("("):
            return base + word, arguments
        return (base + word, arguments) if base.startswith("(") else (word.split(" ")[-1], ())

    def _arguments(self, depth: int) -> tuple[_Name, ...]:
        found = [self.name(depth + 1)]
        while self._peek() == ",":
            self._at += 1
            found.append(self.name(depth + 1))
        self._at += self._peek() == ">"
        return tuple(found)

    def _parenthesis(self) -> str:
        """Read up to the closing parenthesis and return the text in parentheses, often a cast such as ``(int)``."""
        depth, inside = 1, []
        while depth and (piece := self._peek()):
            self._at += 1
            depth += (piece == "(") - (piece == ")")
            inside.append(piece)
        return f"({''.join(inside)}"


def _unwrapped(name: _Name) -> _Name:
    for _ in range(_MAX_DEPTH):
        if name.base not in _WRAPPERS or not name.arguments:
            break
        inner = next((argument for argument in name.arguments if _names_a_kernel(argument)), None)
        if inner is None:
            break
        name = inner
    return name


def _integer(name: _Name) -> str | None:
    found = None if name.arguments else _INTEGER.match(name.base)
    return found.group(1) if found and not name.base.startswith("(bool)") else None


def _is_noise(name: _Name) -> bool:
    return name.base.startswith("(bool)") or name.base in _NOISE or not name.base or bool(_NOISY.search(name.base))


def _names_a_kernel(name: _Name) -> bool:
    """Return whether a name can name a kernel. Numbers, element types and boilerplate cannot."""
    return not (_is_noise(name) or _integer(name) is not None or name.base in {"float", "double", *_TYPES})


def _written(name: _Name, depth: int = 0) -> str:
    shape = _shape(name)
    if shape:
        return shape
    base = _TYPES.get(name.base, name.base)
    if depth > 2:  # noqa: PLR2004 - types nested deeper than a functor's own do not distinguish kernels
        return base
    pipeline = _PIPELINE.match(base)
    base = pipeline.group(1) if pipeline else base
    kept: list[str] = []
    for argument in _inlined(name.arguments):
        number = _integer(argument)
        text = number if number is not None else _argument(argument, depth)
        if number is not None or (text and text not in kept):
            kept.append(text)
    more = ["…"] if len(kept) > _MAX_ARGUMENTS else []
    return f"{base}<{', '.join(kept[:_MAX_ARGUMENTS] + more)}>" if kept else base


def _inlined(names: tuple[_Name, ...]) -> list[_Name]:
    """Return the names. A type that only bundles other types (see `_INLINED`) is replaced by its arguments.

    For example, ``FooConfig<A, B>`` becomes ``A`` and ``B``. An argument that is also a bundle is dropped.
    """
    found: list[_Name] = []
    for name in names:
        if not (name.arguments and _INLINED.search(name.base)):
            found.append(name)
        else:
            found += [inner for inner in name.arguments if not (inner.arguments and _INLINED.search(inner.base))]
    return found


def _argument(name: _Name, depth: int) -> str:
    if _shape(name):
        return _shape(name)
    unwrapped = _unwrapped(name)
    return "" if _is_noise(unwrapped) else _written(unwrapped, depth + 1)


def _shape(name: _Name) -> str:
    """Return the shape in a CuTe or CUTLASS name, such as ``128x128x64``. For any other name return an empty text."""
    if name.base not in {"tuple", "Shape", "GemmShape", "shape"} or not name.arguments:
        return ""
    sizes = [_integer(part) or _cute_size(part) for part in name.arguments]
    return "x".join(size for size in sizes if size) if all(sizes) else ""


def _cute_size(name: _Name) -> str:
    if name.base in {"C", "Int", "constant"} and name.arguments:
        return next((size for part in name.arguments if (size := _integer(part))), "")
    found = _CUTE.match(name.base)
    return found.group(1) if found else ""


def _demangled(text: str) -> str:
    """Return the last word of a mangled C++ name. In such names each word follows its length, as in ``3foo``."""
    at = re.match(r"_ZN?K?L?", text)
    position, word = at.end() if at else 0, ""
    while found := re.match(r"(?:12_GLOBAL__N_1|S[a-z0-9_]?_?)?L?(\d{1,4})", text[position:]):
        length = int(found.group(1))
        begin = position + found.end()
        word = text[begin : begin + length] or word
        position = begin + length
    return word or text
