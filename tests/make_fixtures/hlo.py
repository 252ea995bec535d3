"""Write what XLA compiles on this machine's CPU for small functions of our own, so that tests need no JAX.

Run this file with JAX installed to write the texts anew; the expected numbers of the tests are those of JAX 0.10.2. The
texts of GPUs and TPUs are not made here: `gpu.txt`, `tpu.txt` and `old.txt` are written by hand in XLA's format.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import jax
import jax.numpy as jnp
from jax import lax

FIXTURES: Final = Path(__file__).parents[1] / "fixtures" / "hlo"


def array(*shape: int, dtype: Any = jnp.float32) -> Any:
    """Return a shape in the place of an array."""
    return jax.ShapeDtypeStruct(shape, dtype)


def normalised(x: Any) -> Any:
    """Layer normalisation, GELU, and the input added."""
    centred = x - x.mean(-1, keepdims=True)
    scale = lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return jax.nn.gelu(centred * scale) + x


def scan(x: Any, w: Any) -> Any:
    """Ten products in a row, a loop whose length XLA knows."""
    return lax.scan(lambda carry, _: (carry @ w, None), x, None, length=10)[0]


def dynamic(x: Any, n: Any) -> Any:
    """Products in a loop whose length is an argument."""
    return lax.while_loop(lambda state: state[0] < n, lambda state: (state[0] + 1, state[1] @ x), (0, x))[1]


def network(x: Any, weights: Any) -> Any:
    """Two layers in named scopes, the second in a scope within a scope."""
    with jax.named_scope("encoder"):
        x = jax.nn.relu(x @ weights[0])
    with jax.named_scope("decoder"), jax.named_scope("output"):
        return jnp.sum((x @ weights[1]) ** 2)


def choice(wanted: Any, x: Any) -> Any:
    """Either a product or a sum."""
    return lax.cond(wanted, lambda a: a @ a, lambda a: a + 1, x)


def convolution(x: Any, w: Any) -> Any:
    """3 x 3 filters on 64 channels, with padding."""
    return lax.conv_general_dilated(x, w, (1, 1), "SAME")


def updated(cache: Any, row: Any, at: Any) -> Any:
    """One row of a cache changes."""
    return lax.dynamic_update_slice(cache, row, (at, 0))


def text_of(function: Callable[..., Any], *args: Any, **options: Any) -> str:
    """Return a compiled program, without the tables of source files."""
    text = jax.jit(function, **options).lower(*args).compile().as_text()
    text = re.sub(r"(?ms)^FileNames.*?(?=^%|^ENTRY)", "", text)
    return re.sub(r" stack_frame_id=\d+", "", text)


def main() -> None:
    """Write all texts."""
    square = array(256, 256)
    half = array(2048, 2048, dtype=jnp.bfloat16)
    texts = {
        "attention": text_of(
            lambda q, k, v: jnp.einsum("bhts,bhsd->bhtd", jax.nn.softmax(jnp.einsum("bhtd,bhsd->bhts", q, k) / 8), v),
            *[array(2, 8, 512, 64)] * 3,
        ),
        "bf16": text_of(jnp.matmul, half, half),
        "cholesky": text_of(jnp.linalg.cholesky, square),
        "choice": text_of(choice, array(dtype=jnp.bool_), square),
        "convolution": text_of(convolution, array(1, 64, 56, 56), array(64, 64, 3, 3)),
        "dynamic": text_of(dynamic, square, array(dtype=jnp.int32)),
        "gather": text_of(lambda table, rows: table[rows], array(50000, 64), array(32, dtype=jnp.int32)),
        "gradient": text_of(jax.value_and_grad(network, argnums=1), array(64, 128), [array(128, 128)] * 2),
        "int8": text_of(
            lambda a, b: lax.dot(a, b, preferred_element_type=jnp.int32),
            *[array(512, 512, dtype=jnp.int8)] * 2,
        ),
        "normalised": text_of(normalised, array(4096, 1024)),
        "scan": text_of(scan, square, square),
        "scan.lowered": jax.jit(scan).lower(square, square).as_text(dialect="hlo"),
        "softmax": text_of(jax.nn.softmax, array(1024, 1024)),
        "updated": text_of(updated, array(1000, 64), array(1, 64), array(dtype=jnp.int32), donate_argnums=0),
    }
    FIXTURES.mkdir(exist_ok=True)
    for name, text in texts.items():
        (FIXTURES / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
