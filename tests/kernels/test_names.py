"""Short names for charts: the parts that distinguish kernels stay, the boilerplate of C++ is dropped."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofwidget import Kernels
from roofwidget.kernels.names import displayed, shortened
from tests.places import golden

GOLDEN: list[dict[str, Any]] = golden("kernel_names.json")

FLASH = (
    "void flash_attention::fwd_kernel<flash_attention::Fwd_kernel_traits<64, 128, 128, 4, false, true, "
    "cutlass::bfloat16_t, flash_attention::Kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t> >, false, true>"
    "(flash_attention::Fwd_params)"
)
ELEMENTWISE = (
    "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::copy_kernel_cuda("
    "at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&, "
    "int const&)::{lambda(int)#1}>(int, at::native::gpu_kernel_impl<at::native::copy_kernel_cuda>)"
)
UNIVERSAL = (
    "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int>, "
    "cutlass::gemm::collective::CollectiveMma<cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<7, cute::tuple<"
    "cute::C<2>, cute::C<1>, cute::C<1>>, cutlass::gemm::KernelTmaWarpSpecialized>, cute::tuple<cute::C<64>, "
    "cute::C<128>, cute::C<64>>, cutlass::bfloat16_t, cute::tuple<long, cute::C<1>, long>>>>(Params)"
)


@pytest.mark.parametrize(
    ("name", "short"),
    [
        (FLASH, "fwd_kernel<64, 128, 128, 4, bf16>"),
        (ELEMENTWISE, "elementwise_kernel<128, 2, copy_kernel_cuda>"),
        (UNIVERSAL, "GemmUniversal<Sm90<7, 2x1x1>, 64x128x64, bf16>"),
        (
            "void cutlass::Kernel2<cutlass_80_s16816gemm_bf16_64x64_align8>(Params)",
            "cutlass_80_s16816gemm_bf16_64x64_align8",
        ),
        ("void gemm_v0<128, 128>(float*, float*)", "gemm_v0<128, 128>"),
        ("void gemm_v0<(int)64, (bool)1>(float*)", "gemm_v0<64>"),
        ("axpy(double*, double*, int) [clone .kd]", "axpy"),
        ("axpy(double*, int) (.kd)", "axpy"),
        ("void (anonymous namespace)::sweep<float>(float const*)", "sweep<float>"),
        ("unnamed>::triad_kernel(unsigned long, float *)", "triad_kernel"),
        ("void internal::gemvx::kernel<int, float, 7, false>(int)", "gemvx::kernel<float, 7>"),
        (
            "void Kokkos::Impl::cuda_parallel_launch<Kokkos::Impl::ParallelFor<Flow, Kokkos::Cuda>>(X)",
            "ParallelFor<Flow>",
        ),
        ("void RAJA::forall_cuda_kernel<RAJA::cuda_exec<256>, 1ul, RAJA::numeric_iterator<long>, Daxpy>(X)", "Daxpy"),
        ("triton_poi_fused_add_mul_0d1d2d3de", "triton_poi_fused_add_mul"),
        ("triton_red_fused__to_copy_add_mul_0", "triton_red_fused__to_copy_add_mul_0"),
        (
            "Cijk_Ailk_Bljk_BBS_BH_Bias_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB0",
            "Cijk_Ailk_Bljk_BBS_…_MT256x256x64_MI16x16x1",
        ),
        ("_ZN2at6native10fill_arrayILi4EEEviT0_", "fill_array"),
        ("_Z4axpyPdS_i", "axpy"),
    ],
)
def test_a_name_of_cpp_loses_what_does_not_tell_it_from_others(name: str, short: str) -> None:
    assert shortened(name) == short


@pytest.mark.parametrize(
    "name",
    [
        *("ampere_sgemm_128x64_tn", "volta_h884gemm_64x128_ldg8_nn", "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNT"),
        *("fusion.123", "%fusion", "loop_add_fusion", "__cublas$gemm", "aten::addmm", "jit(step)/while/body"),
        *(
            "Memcpy HtoD (Pageable -> Device)",
            "model.layers[0]: q",
            "a name, with (brackets)",
            "fusion(1)",
            "",
            "<",
            "::",
        ),
    ],
)
def test_a_name_that_is_not_of_cpp_is_left_as_it_is(name: str) -> None:
    assert shortened(name) == name


def test_a_long_name_is_cut_with_a_sign() -> None:
    assert shortened("x" * 100) == "x" * 71 + "…"


@given(st.text(alphabet="ab<>(),: *&1{}_ZNd#'lmvoid", max_size=200))
def test_any_text_has_a_short_name_and_it_is_never_empty(name: str) -> None:
    short = shortened(name)
    assert len(short) <= 72
    assert bool(short.strip()) == bool(name.strip())


@pytest.mark.parametrize(
    "name", ["void k<" + "a<" * 5000, "Cijk_" + "A_" * 9000, "_Z" + "9" * 5000, "a::" * 20000 + "<"]
)
def test_endless_names_are_shortened_too(name: str) -> None:
    assert len(shortened(name)) <= 72


@pytest.mark.parametrize("name", ["k_" + "1" * 40 + "dx", "k" + "_1d" * 1300 + "x", "k.kd" + " " * 3900 + "x"])
def test_a_name_that_is_nearly_the_signature_of_triton_is_shortened_at_once(name: str) -> None:
    start = time.process_time()
    assert shortened(name)
    assert time.process_time() - start < 0.05


def test_a_table_gives_short_names_beside_the_whole_ones_and_numbers_kernels_of_one_name() -> None:
    table = Kernels([FLASH, "copy", FLASH], [1] * 3, [1] * 3)
    assert table.short_names.tolist() == [
        "fwd_kernel<64, 128, 128, 4, bf16> (1)",
        "copy",
        "fwd_kernel<64, 128, 128, 4, bf16> (2)",
    ]
    assert table.names[0] == FLASH


@pytest.mark.parametrize("case", GOLDEN, ids=[case["why"] for case in GOLDEN])
def test_displayed_names_are_those_of_the_golden_file(case: dict[str, Any]) -> None:
    n = len(case["names"])
    table = Kernels(
        case["names"], [1] * n, [1] * n, category=case.get("category", [None] * n), extra=case.get("extra", {})
    )
    names = displayed(table.codes("name"), table.codes("category"), table.extra_columns, case.get("same"))
    assert names == case["displayed"]
    if "same" not in case:
        assert table.short_names.tolist() == case["displayed"]


def test_a_kernel_has_one_name_in_all_series() -> None:
    table = Kernels(["mm", "mm", "mm"], [1] * 3, [1] * 3, category=["a", "a", "b"], series=True)
    assert table.short_names.tolist() == ["mm (1)", "mm (2)", "mm (1)"]
