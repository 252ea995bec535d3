"""Forward operations that record their backward operations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from roofwidget.workloads.expressions import Count
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.ops.elementwise import UNARY
from roofwidget.workloads.ops.formulas import FMA, SQRT, Term, Work, add, attended, like, multiply, rows, scaled, work
from roofwidget.workloads.tensors import Tensor


class Tape:
    """Builds the forward pass of a graph and, for training, the backward pass.

    Parameters
    ----------
    graph
        The graph to build.
    weight_dtype
        The dtype of weights; None means the dtype of the activations.

    Notes
    -----
    The backward pass of a matrix product is two matrix products. The backward pass of FlashAttention is five products,
    one of them a recomputation (Dao 2023): 2.5 times the forward pass. The other backward passes are written out term
    by term.
    """

    def __init__(self, graph: Graph, weight_dtype: str | None = None) -> None:
        self.graph = graph
        self.weight_dtype = weight_dtype
        self._steps: list[tuple[Tensor, Callable[[Tensor], None]]] = []
        self._gradients: dict[str, Tensor] = {}

    def linear(self, x: Tensor, features: Count, name: str, *, bias: bool = False) -> Tensor:
        """Multiply x by a weight. Backward: one product for the gradient of x, one for the gradient of the weight."""
        y = self.graph.linear(x, features, bias=bias, name=name, weight_dtype=self.weight_dtype)

        def back(gradient: Tensor) -> None:
            weight = self.graph.tensors[f"{name}.weight"]
            n = FMA * rows(x) * x.shape[-1] * features
            result = like(x, f"{name}.dx")
            multiply(self.graph, [gradient, weight], result, work(("multiply-adds", "tensor", n)))
            self._accumulate(x, result)
            results = [like(weight, f"{name}.dweight")]
            terms: list[Term] = [("multiply-adds", "tensor", n)]
            if bias:
                results.append(Tensor(f"{name}.dbias", (features,), weight.dtype))
                terms.append(("bias", "vector", y.size - features))
            multiply(self.graph, [gradient, x], results, work(*terms))

        return self._remember(y, back)

    def norm(self, x: Tensor, kind: str, name: str) -> Tensor:
        """Normalise rows. Backward: 9 FLOPs per element (rmsnorm) or 13 (layernorm), with the gradient of gamma."""
        y = getattr(self.graph, kind)(x, name=name)
        words = ("gamma",) if kind == "rmsnorm" else ("gamma", "beta")
        each = 9 if kind == "rmsnorm" else 13

        def back(gradient: Tensor) -> None:
            weights = [self.graph.tensors[f"{name}.{word}"] for word in words]
            done = work(("gradients", "vector", each * x.size), ("reciprocal root", "vector", SQRT * rows(x)))
            more = [Tensor(f"{name}.d{word}", (x.shape[-1],), x.dtype) for word in words]
            self._step(f"{name}.dx", "reduction", [gradient, x, weights[0]], x, done, more=more)

        return self._remember(y, back)

    def rope(self, x: Tensor, head_dim: Count, name: str) -> Tensor:
        """Rotate pairs. Backward: the inverse rotation."""
        y = self.graph.rope(x, head_dim=head_dim, name=name)

        def back(gradient: Tensor) -> None:
            table = self.graph.tensors[f"{name}.table"]
            self._step(f"{name}.dx", "injective", [gradient, table], x, work(("rotate", "vector", 3 * x.size)))

        return self._remember(y, back)

    def attention(self, q: Tensor, k: Tensor, v: Tensor, *, name: str, causal: bool, **how: Any) -> Tensor:
        """Attend, and store the log-sum-exp. Backward: five products, one of them recomputed, and 4 FLOPs per score."""
        y: Tensor = self.graph.attention(q, k, v, causal=causal, log_sum_exp=True, name=name, **how)

        def back(gradient: Tensor) -> None:
            kept = self.graph.tensors[f"{name}.log_sum_exp"]
            lengths, many = (q.shape[1], k.shape[1]), kept.shape[0] * kept.shape[1]
            width = FMA * q.shape[0] * q.shape[2]
            done = work(
                ("five products", "tensor", attended(5 * width, *lengths, causal=causal)),
                ("exp again", "transcendental", attended(many, *lengths, causal=causal)),
                ("scores", "vector", attended(3 * many, *lengths, causal=causal)),
            )
            results = [like(tensor, f"{name}.d{t}") for t, tensor in zip("qkv", (q, k, v), strict=True)]
            add(self.graph, "opaque", [gradient, y, q, k, v, kept], results, done)
            for tensor, result in zip((q, k, v), results, strict=True):
                self._accumulate(tensor, result)

        return self._remember(y, back)

    def add(self, a: Tensor, b: Tensor, name: str) -> Tensor:
        """Add two tensors. Backward: each of the two tensors gets the gradient unchanged."""
        y = self.graph.add(a, b, name=name)

        def back(gradient: Tensor) -> None:
            self._accumulate(a, gradient)
            self._accumulate(b, gradient)

        return self._remember(y, back)

    def swiglu(self, gate: Tensor, up: Tensor, name: str) -> Tensor:
        """Multiply silu(gate) by up. Backward: 12 FLOPs per element, with silu recomputed."""
        y = self.graph.swiglu(gate, up, name=name)

        def back(gradient: Tensor) -> None:
            n = gate.size
            done = work(
                *scaled(UNARY["silu"], n), ("gradient of up", "vector", n), ("gradient of gate", "vector", 6 * n)
            )
            result = like(up, f"{name}.dup")
            self._step(f"{name}.dgate", "elementwise", [gradient, gate, up], gate, done, more=[result])
            self._accumulate(up, result)

        return self._remember(y, back)

    def activation(self, x: Tensor, kind: str, name: str) -> Tensor:
        """Apply a function of one variable. Backward: twice the FLOPs, for the function and its derivative."""
        y = getattr(self.graph, kind)(x, name=name)

        def back(gradient: Tensor) -> None:
            n = x.size
            terms = scaled(UNARY.get(kind, UNARY["gelu_tanh"]), 2 * n)
            self._step(f"{name}.dx", "elementwise", [gradient, x], x, work(*terms, ("chain rule", "vector", n)))

        return self._remember(y, back)

    def backward(self, y: Tensor, gradient: Tensor) -> None:
        """Add the backward pass, starting from the gradient of y."""
        self._gradients[y.name] = gradient
        for tensor, back in reversed(self._steps):
            back(self._gradients[tensor.name])

    def gradient(self, tensor: Tensor) -> Tensor:
        """Return the gradient of a tensor, after `backward`."""
        return self._gradients[tensor.name]

    def _remember(self, y: Tensor, back: Callable[[Tensor], None]) -> Tensor:
        self._steps.append((y, back))
        return y

    def _step(
        self, name: str, kind: str, inputs: list[Tensor], x: Tensor, done: Work, *, more: Iterable[Tensor] = ()
    ) -> None:
        result = like(x, name)
        add(self.graph, kind, inputs, [result, *more], done)
        self._accumulate(x, result)

    def _accumulate(self, x: Tensor, gradient: Tensor) -> None:
        before = self._gradients.get(x.name)
        name = self.graph.new_name(f"{x.name}.gradients")
        self._gradients[x.name] = self.graph.add(before, gradient, name=name) if before else gradient
