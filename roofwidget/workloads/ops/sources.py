"""The source of each built-in operator's formula: first for FLOPs, then for bytes if a source defines them.

Bytes without a source are compulsory traffic: one read of each input and one write of each output. Williams, Waterman
and Patterson (2009) use this traffic as the bound on operational intensity.

>>> SOURCES["bias_activation"]
'by the convention in force: an addition per element, and FLOPs of the function it is given'
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

_GOLUB: Final = "Golub and Van Loan, Matrix Computations (4th edition, 2013), section 1.1"
_LAPACK: Final = "LAPACK Working Note 41 (Blackford and Dongarra, 1999), operation counts for the BLAS"
_BLAS_1: Final = "Lawson, Hanson, Kincaid and Krogh, Basic Linear Algebra Subprograms for Fortran Usage (1979)"
_WILLIAMS: Final = "Williams, Waterman and Patterson, Roofline (Communications of the ACM, 2009)"
_STREAM: Final = (
    "McCalpin, Memory Bandwidth and Machine Balance in Current High Performance Computers (1995): FLOPs and bytes as"
    " STREAM counts them, which leaves out what a write-allocate cache reads"
)
_XLA: Final = "XLA's HloCostAnalysis"

_ONE: Final = f"by the convention in force: one FLOP per element; {_XLA} counts the same"
_COMPARISON: Final = f"by the convention in force: `compare` FLOPs per element; {_XLA} counts one"
_DIVISION: Final = f"by the convention in force: `divide` FLOPs per element; {_XLA} counts one"
_ROOT: Final = f"by the convention in force: `sqrt` FLOPs per element; {_XLA} counts it as a transcendental function"
_FUNCTION: Final = (
    f"by the convention in force: `transcendental` FLOPs per element; {_XLA} counts one, apart from FLOPs"
)
_MOVED: Final = f"by the convention in force: moving elements is no FLOP; {_XLA} counts none either"
_WRITTEN_OUT: Final = "FLOPs by writing it out under the convention in force"

_PRODUCTS: Final = {
    "matmul": f"{_GOLUB}: a multiplication and an addition for each of M·N·K; the same in {_LAPACK}",
    "batched_matmul": f"{_GOLUB}, for each matrix of the batch; PyTorch's FLOP counter has the same for its bmm",
    "linear": f"{_GOLUB}: as a matrix product of T rows, and an addition for each bias",
    "gemv": f"{_GOLUB}, and {_LAPACK}: 2·M·N",
    "gemm": f"{_LAPACK}: 2·M·N·K without scaling factors; bytes with C read, as beta = 1 needs it",
    "blocked_matmul": (
        f"{_GOLUB}, for FLOPs; bytes of square blocks from Demmel, lectures of CS267 (Berkeley), within a constant of"
        " the least by Hong and Kung, I/O Complexity: The Red-Blue Pebble Game (1981)"
    ),
    "grouped_linear": f"{_GOLUB}: as a matrix product for each group, 2·D·F FLOPs per row, whatever its group",
    "moe": (
        "Shazeer et al., Outrageously Large Neural Networks (2017), for routing; Jiang et al., Mixtral of Experts"
        f" (2024), for the softmax over the chosen scores and the SwiGLU experts; {_WRITTEN_OUT}"
    ),
}

_CONVOLUTIONS: Final = {
    "conv2d": (
        "Dumoulin and Visin, A Guide to Convolution Arithmetic for Deep Learning (2016), for sizes, and a multiply-add"
        " for each output, channel and tap; Chellapilla, Puri and Simard, High Performance Convolutional Neural"
        f" Networks for Document Processing (2006), for im2col; {_XLA}, for leaving out taps on padding"
    ),
    "max_pool2d": (
        "Dumoulin and Visin, A Guide to Convolution Arithmetic for Deep Learning (2016), for sizes; a window of n takes"
        f" n - 1 comparisons, as in {_XLA}"
    ),
    "global_average_pool": (
        f"Lin, Chen and Yan, Network in Network (2014), for the operation; {_WRITTEN_OUT}: additions and a division"
    ),
}

_ELEMENTWISE: Final = {
    "unary": "by the convention in force: FLOPs of the function it is given, listed beneath",
    "binary": "by the convention in force: FLOPs of the function it is given, listed beneath",
    "relu": _COMPARISON,
    "negative": _ONE,
    "absolute": _ONE,
    "square": _ONE,
    "scale": _ONE,
    "sqrt": _ROOT,
    "rsqrt": _ROOT,
    "reciprocal": _DIVISION,
    **dict.fromkeys(("exp", "log", "sin", "cos", "tanh", "erf"), _FUNCTION),
    "sigmoid": "by the convention in force: 1 / (1 + exp(-x)) written out as negate, exp, add, divide",
    "silu": (
        "Elfwing, Uchibe and Doya, Sigmoid-Weighted Linear Units (2018), for the function; the sigmoid written out"
        " under the convention in force, and a multiplication"
    ),
    "add": _ONE,
    "subtract": _ONE,
    "multiply": _ONE,
    "divide": _DIVISION,
    "maximum": _COMPARISON,
    "minimum": _COMPARISON,
    "gelu": (
        f"Hendrycks and Gimpel, Gaussian Error Linear Units (2016), for both forms; {_WRITTEN_OUT}; the TPU roofline"
        " guide counts 8 per element too"
    ),
    "bias_activation": "by the convention in force: an addition per element, and FLOPs of the function it is given",
    "swiglu": (
        "Shazeer, GLU Variants Improve Transformer (2020), for the operation: the FLOPs of silu and a multiplication;"
        " its matrix products are ops of their own"
    ),
    "dropout": (
        "Srivastava et al., Dropout (2014), for the operation; by the convention in force one multiplication an"
        " element, random numbers not counted"
    ),
    "rope": (
        "Su et al., RoFormer (2021), for the operation: a rotation of a pair in the plane, 4 multiplications and 2"
        " additions; the table of cosines and sines is read, not computed"
    ),
    "cast": f"by the convention in force: a conversion is no FLOP; {_XLA} counts one per element",
    "copy": _MOVED,
    "transpose": _MOVED,
    "embedding": (
        "by the convention in force: moving elements is no FLOP; bytes of a gather as in jax.experimental.roofline,"
        " the rows read and written and the indices read"
    ),
}

_ROWS: Final = {
    "layernorm": (
        f"Ba, Kiros and Hinton, Layer Normalization (2016), for the operation; {_WRITTEN_OUT}; with"
        " `flops_per_element`, the source of that number"
    ),
    "rmsnorm": f"Zhang and Sennrich, Root Mean Square Layer Normalization (2019), for the operation; {_WRITTEN_OUT}",
    "softmax": (
        "by the convention in force: `softmax` FLOPs per element, 5 as maximum, subtract, exp, sum, divide; with three"
        " passes, bytes as in Milakov and Gimelshein, Online Normalizer Calculation for Softmax (2018)"
    ),
    "batchnorm": f"Ioffe and Szegedy, Batch Normalization (2015), for the operation; {_WRITTEN_OUT}",
    "cross_entropy": (
        "by the convention in force: a softmax, `softmax` FLOPs per element; the logarithm and the choice of the"
        " target, one per row, are not counted"
    ),
    "reduce_sum": f"{_XLA}: as many additions as elements that vanish",
}

_ATTENTION: Final = {
    "attention": (
        "Vaswani et al., Attention Is All You Need (2017), for the operation: two matrix products and a softmax of"
        " `softmax` FLOPs per element; shared keys by Shazeer, Fast Transformer Decoding (2019), and Ainslie et al.,"
        " GQA (2023)"
    ),
    "unfused_attention": (
        "Dao et al., FlashAttention (2022), its standard attention: scores and probabilities go to memory and back;"
        " FLOPs as of attention"
    ),
    "flash_attention": (
        "bytes from the loops of Dao et al., FlashAttention (2022), algorithm 1, and of Dao, FlashAttention-2 (2023);"
        " FLOPs as of attention"
    ),
    "sliding_window_attention": (
        "Beltagy, Peters and Cohan, Longformer (2020), and Jiang et al., Mistral 7B (2023), for the window; FLOPs as of"
        " attention, for the keys in the window"
    ),
    "decode_attention": (
        "Shazeer, Fast Transformer Decoding (2019), and Ainslie et al., GQA (2023), for the keys and values that each"
        " new token reads; FLOPs as of attention with one query"
    ),
    "kv_append": (
        f"by the convention in force: moving elements is no FLOP; bytes of a dynamic-update-slice as in {_XLA}, what"
        " is new read and written"
    ),
}

_STEPS: Final = {
    "lstm_cell": (
        "Hochreiter and Schmidhuber, Long Short-Term Memory (1997), with the forget gate of Gers, Schmidhuber and"
        f" Cummins, Learning to Forget (2000), without peepholes; {_WRITTEN_OUT}"
    ),
    "selective_scan": (
        f"Gu and Dao, Mamba (2023): its recurrence and its account of what a fused scan keeps on chip; {_WRITTEN_OUT}"
    ),
    "adam_step": (
        "Kingma and Ba, Adam (2015), with the bias corrections in the step size, and Loshchilov and Hutter, Decoupled"
        f" Weight Decay Regularization (2019), for the decay; {_WRITTEN_OUT}; bytes with both moments read and written"
    ),
    "sgd_step": (
        f"Polyak, Some Methods of Speeding Up the Convergence of Iteration Methods (1964), for momentum; {_WRITTEN_OUT}"
    ),
}

_NUMERICAL: Final = {
    "dot": f"{_BLAS_1}, for the operation; {_GOLUB}: 2·n",
    "axpy": f"{_BLAS_1}, for the operation; {_GOLUB}: 2·n",
    "scal": f"{_BLAS_1}, for the operation: one multiplication per element",
    "ger": f"{_GOLUB}, and {_LAPACK}: 2·M·N",
    **dict.fromkeys(("stream_copy", "stream_scale", "stream_add", "stream_triad"), _STREAM),
    "spmv_csr": (
        f"{_WILLIAMS}: a multiplication and an addition for each nonzero; bytes are the arrays of the compressed rows,"
        " and x and the result once"
    ),
    "stencil": (
        f"{_WILLIAMS}, for 7 points, 8 FLOPs; for 5 and 27 points the sum written out, 3 additions and a scaling, and"
        " 26 additions with 4 coefficients by symmetry; bytes by the layer conditions of Stengel, Treibig, Hager and"
        " Wellein, Quantifying Performance Bottlenecks of Stencil Computations (2015)"
    ),
    "fft": (
        "Frigo and Johnson, benchFFT: 5·N·log2 N for complex and half of it for real data, the count of the radix-2"
        " algorithm of Cooley and Tukey (1965) whichever algorithm runs"
    ),
    "nbody": (
        "Nyland, Harris and Prins, Fast N-Body Simulation with CUDA (GPU Gems 3, 2007): 20 FLOPs for each pair, tiles"
        " of bodies on chip"
    ),
}

SOURCES: Final = MappingProxyType(
    {
        **_PRODUCTS,
        **_CONVOLUTIONS,
        **_ELEMENTWISE,
        **_ROWS,
        **_ATTENTION,
        **_STEPS,
        **_NUMERICAL,
    }
)
"""By operator: author, title and year, or "by the convention in force" where a count is its definition."""
