"""Residual networks for images (He et al. 2016) in the variant whose 3 by 3 convolution has the stride."""

from __future__ import annotations

from roofwidget.support.did_you_mean import keywords
from roofwidget.workloads.convention import Convention
from roofwidget.workloads.expressions import Count
from roofwidget.workloads.graph import Graph
from roofwidget.workloads.tensors import Tensor


@keywords("resnet18")
def resnet18(
    batch: Count = 1,
    *,
    image: int = 224,
    classes: int = 1000,
    training: bool = False,
    dtype: str = "fp32",
    convention: str | Convention = "textbook",
) -> Graph:
    """Return the forward pass of ResNet-18.

    Parameters
    ----------
    batch, image, classes
        Number of images; their height and width; number of outputs of the last layer.
    training
        Whether batch normalisation computes its statistics from the batch.
    dtype, convention
        The dtype of all tensors; how FLOPs and bytes are counted.

    Examples
    --------
    >>> resnet18(convention="torch").count("flops")
    3628146688
    """
    graph = Graph("ResNet-18", convention=convention)
    x = graph.input("image", (batch, 3, image, image), dtype)
    return _Net(graph, training=training).built(x, (2, 2, 2, 2), classes, deep=False)


@keywords("resnet50")
def resnet50(
    batch: Count = 1,
    *,
    image: int = 224,
    classes: int = 1000,
    training: bool = False,
    dtype: str = "fp32",
    convention: str | Convention = "textbook",
) -> Graph:
    """Return the forward pass of ResNet-50. The parameters are the same as for `resnet18`.

    Examples
    --------
    >>> resnet50(convention="mac").count("flops")
    4089184256
    """
    graph = Graph("ResNet-50", convention=convention)
    x = graph.input("image", (batch, 3, image, image), dtype)
    return _Net(graph, training=training).built(x, (3, 4, 6, 3), classes, deep=True)


class _Net:
    def __init__(self, graph: Graph, *, training: bool) -> None:
        self.graph = graph
        self.training = training

    def built(self, image: Tensor, stages: tuple[int, ...], classes: int, *, deep: bool) -> Graph:
        graph = self.graph
        x = graph.relu(self._normed(image, 64, "stem", window=(7, 2, 3)), name="stem.relu")
        x = graph.max_pool2d(x, 3, stride=2, padding=1, name="stem.pool")
        for stage, blocks in enumerate(stages):
            for block in range(blocks):
                stride = 2 if stage and not block else 1
                x = self._block(x, 64 << stage, stride, f"stage{stage + 1}.{block}", deep=deep)
        pooled = graph.global_average_pool(x, name="pool")
        graph.output(graph.linear(pooled, classes, bias=True, name="classes"))
        return graph

    def _block(self, x: Tensor, channels: int, stride: int, at: str, *, deep: bool) -> Tensor:
        graph = self.graph
        out = channels * 4 if deep else channels
        windows = ((1, 1, 0), (3, stride, 1), (1, 1, 0)) if deep else ((3, stride, 1), (3, 1, 1))
        y = x
        for place, window in enumerate(windows, start=1):
            last = place == len(windows)
            y = self._normed(y, out if last else channels, f"{at}.{place}", window=window)
            if not last:
                y = graph.relu(y, name=f"{at}.{place}.relu")
        if stride != 1 or x.shape[1] != out:
            x = self._normed(x, out, f"{at}.shortcut", window=(1, stride, 0))
        joined: Tensor = graph.relu(graph.add(y, x, name=f"{at}.add"), name=f"{at}.relu")
        return joined

    def _normed(self, x: Tensor, channels: int, at: str, *, window: tuple[int, int, int]) -> Tensor:
        """Add a convolution with a window (size, stride, padding) and a batch normalisation; return the result."""
        size, stride, padding = window
        y = self.graph.conv2d(x, channels, size, stride=stride, padding=padding, name=f"{at}.conv")
        normed: Tensor = self.graph.batchnorm(y, training=self.training, name=f"{at}.norm")
        return normed
