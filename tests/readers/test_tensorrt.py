"""Reading what trtexec exports and prints: times of layers, and their work from the file of layers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from roofwidget.readers import ProfileError, read
from tests.tables import has_columns, warns

PROFILE: list[dict[str, Any]] = [
    {"count": 625},
    {"name": "Reformatting CopyNode for Input Tensor 0 to Conv_0", "timeMs": 36.6844, "averageMs": 0.058695},
    {"name": "Conv_0 + Relu_1", "timeMs": 41.4232, "averageMs": 0.0662771, "medianMs": 0.066, "percentage": 53.0},
]
NEW = """\
[11/05/2025-10:00:00] [I] === Profile (625 iterations ) ===
[11/05/2025-10:00:00] [I]    Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer
[11/05/2025-10:00:00] [I]       36.68       0.0587       0.0581      47.0   Reformatting CopyNode for Input Tensor 0 to Conv_0
[11/05/2025-10:00:00] [I]       41.42       0.0663       0.0660      53.0   [Fused] Conv_0 + Relu_1
[11/05/2025-10:00:00] [I]       78.11       0.1250       0.1241     100.0   Total
[11/05/2025-10:00:00] [I]
"""  # noqa: E501 - lines of trtexec
OLD = """\
=== Profile (625 iterations ) ===
                                             Layer   Time (ms)   Avg. Time (ms)   Time %
Reformatting CopyNode for Input Tensor 0 to Conv_0       36.68           0.0587     47.0
                           [Fused] Conv_0 + Relu_1       41.42           0.0663     53.0
                                             Total       78.11           0.1250    100.0
"""
LAYERS: dict[str, Any] = {
    "Layers": [
        {
            "Name": "Conv_0 + Relu_1",
            "LayerType": "CaskConvolution",
            "Inputs": [{"Name": "x", "Dimensions": [1, 4, 32, 32], "Format/Datatype": "Channel major FP16 format"}],
            "Outputs": [{"Name": "y", "Dimensions": [1, 8, 16, 16], "Format/Datatype": "Channel major FP16 format"}],
            "ParameterType": "Convolution",
            "Weights": {"Type": "Half", "Count": 288},
        }
    ],
    "Bindings": ["x", "y"],
}


def exported(document: Any) -> bytes:
    return json.dumps(document).encode()


def test_an_exported_profile_has_the_time_of_all_iterations_and_their_number() -> None:
    kernels = read(exported(PROFILE))
    has_columns(
        kernels, names=[PROFILE[1]["name"], "Conv_0 + Relu_1"], count=[625, 625], time=[36.6844 / 1e3, 41.4232 / 1e3]
    )
    np.testing.assert_allclose(kernels.time / kernels.count, [58.695e-6, 66.277e-6], rtol=1e-5)
    assert np.isnan(kernels.flops).all()
    assert warns(kernels, "neither FLOPs nor bytes")


def test_without_totals_the_mean_time_counts_for_each_iteration() -> None:
    kernels = read(exported([{"count": 4}, {"name": "Conv_0", "averageMs": 0.5}]))
    assert kernels.time.tolist() == [2e-3]


@pytest.mark.parametrize(
    "text", [NEW, OLD, f"&&&& RUNNING\n{NEW}&&&& PASSED", OLD.replace("\n", "\r\n"), "\ufeff" + NEW]
)
def test_a_printed_profile_is_read_from_the_output_of_trtexec(text: str) -> None:
    kernels = read(text.encode())
    has_columns(
        kernels,
        names=[PROFILE[1]["name"], "[Fused] Conv_0 + Relu_1"],
        time=[36.68 / 1e3, 41.42 / 1e3],
        count=[625, 625],
    )


def test_the_file_of_layers_gives_work_to_the_profile() -> None:
    kernels = read(exported(PROFILE), layers=exported(LAYERS))
    # 16 x 16 positions, 288 weights of 2 bytes, 4096 inputs and 2048 outputs of 2 bytes.
    np.testing.assert_equal(kernels.flops, [np.nan, 625 * 2 * 16 * 16 * 288])
    np.testing.assert_equal(kernels.bytes, [np.nan, 625 * 2 * (4096 + 2048 + 288)])
    assert "layers of the profile that the file of layers does not have: 1" in kernels.warnings


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (LAYERS, "this file has the layers and not their times: read the file of 'trtexec --exportProfile"),
        ([{"startEnqMs": 0.1, "computeMs": 2.0}], "the times of whole iterations and not of layers: read the file of"),
        ([{"count": 0}, {"name": "a", "timeMs": 1}], "entry 1, 'count': expected the number of iterations from 1"),
        ([{"count": 3}], "the profile has no layers"),
        ([{"count": 3}, {"name": "a", "timeMs": -1}], "entry 2, 'timeMs': expected a number from 0, got -1"),
        ([{"count": 3}, {"timeMs": 1}], "entry 2, 'name': expected a text, got None"),
        ([{"count": 3}, 7], "expected a list of objects, the first with 'count'"),
    ],
)
def test_files_of_trtexec_without_times_of_layers_are_refused(document: Any, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        read(exported(document))


def test_profiles_that_are_cut_off_are_refused() -> None:
    with pytest.raises(ProfileError, match="not JSON: Unterminated string"):
        read(exported(PROFILE)[:-30])
    with pytest.raises(ProfileError, match="no row of totals at its end"):
        read(NEW[: NEW.index("[11/05/2025-10:00:00] [I]       78.11")].encode())
    with pytest.raises(ProfileError, match="line 4: expected a layer with its times"):
        read(NEW.replace("       41.42       0.0663", "       41.42      ").encode())


def test_layers_of_another_engine_are_refused() -> None:
    with pytest.raises(ProfileError, match="the file has no layer of the profile, such as"):
        read(exported(PROFILE), layers=exported({"Layers": [{"Name": "other"}]}))
    with pytest.raises(ProfileError, match="--profilingVerbosity=detailed"):
        read(exported(PROFILE), layers=exported({"Layers": ["Conv_0 + Relu_1"]}))
