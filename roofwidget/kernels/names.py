"""Short kernel names for charts: the parts that distinguish kernels, without the boilerplate of C++.

A short name drops return types, parameters, namespaces, booleans and container types. It keeps tile shapes, element
types and functors. Some names of CUTLASS, cuBLAS, Triton and Tensile are one word that contains all shapes, such as
``ampere_sgemm_128x64_tn``. The short form of this kind of name is the word without suffixes.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Final

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
