"""Real reports, imported by the real ncu: roofs, rates and intensities as its own roofline section gives them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ncudiag.api import diagnose, read
from ncudiag.derived.inputs import Inputs
from ncudiag.diagnose.grouping import DEVICE_NAME
from ncudiag.roofline.measured import measured_roofline

if TYPE_CHECKING:
    from typing import Any

    from ncudiag.model import Launch, Profile
    from ncudiag.roofline.measured import MeasuredRoofline

pytestmark = [pytest.mark.real_ncu, pytest.mark.shared, pytest.mark.slow]

LAUNCHES, REPORTS = 28, 15


@pytest.fixture(scope="module")
def golden(shared: Path) -> list[dict[str, Any]]:
    return json.loads((shared / "corpus" / "golden_roofline.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def profiles(
    shared: Path, golden: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Profile]:
    """The raw page of each report."""
    got = subprocess.run(("bash", shared / "tools" / "get-ncu", "trixie"), capture_output=True, text=True, check=False)
    if got.returncode:
        message = f"the real ncu cannot be had, rooflines are NOT compared: {got.stderr[-200:]}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    folder = tmp_path_factory.mktemp("raw")
    ncu = Path(got.stdout.strip().splitlines()[-1]) / "ncu"
    found = {}
    for name in sorted({row["file"] for row in golden}):
        page = folder / f"{name}.csv"
        report = shared / "corpus" / "ncu-rep" / name
        argv = (str(ncu), "--import", str(report), "--csv", "--page", "raw", "--print-units", "base")
        with page.open("wb") as file:
            subprocess.run(argv, stdout=file, env=os.environ | {"LC_ALL": "C"}, check=True)
        found[name] = read(page)
    return found


def placed(launch: Launch) -> MeasuredRoofline:
    values = dict(launch.values.items())
    major, minor = (values[f"device__attribute_compute_capability_{part}"] for part in ("major", "minor"))
    inputs = Inputs(values=values, compute_capability=(int(major), int(minor)), gpu=launch.texts.get(DEVICE_NAME))
    found = measured_roofline(inputs, duration_ns=values["gpu__time_duration.sum"])
    assert found is not None
    return found


def test_roofs_rates_and_intensities_of_ncus_own_roofline(
    golden: list[dict[str, Any]], profiles: dict[str, Profile]
) -> None:
    compared = 0
    for row in golden:
        point = placed(profiles[row["file"]].launches[row["index"]])
        dram = point.levels[0]
        operations = {each.precision: each for each in point.operations}
        roofs = {each.precision: each for each in point.roofs}
        ours = [dram.bandwidth_bytes_per_s, dram.bytes_per_s]
        theirs = [row["peak_bandwidth_bytes_per_s"], row["dram_bytes_per_s"]]
        for precision in ("fp32", "fp64"):
            done, roof = operations[precision], roofs[precision]
            assert (point.bytes, dram.bandwidth_bytes_per_s, done.flops) != (None, None, None)
            ours += [roof.flops_per_s, done.flops_per_s, done.flops / point.bytes]  # type: ignore[operator]
            ours += [roof.flops_per_s / dram.bandwidth_bytes_per_s]  # type: ignore[operator]
            theirs += [
                row[precision][name]
                for name in ("peak_flops_per_s", "achieved_flops_per_s", "arithmetic_intensity", "ridge_point")
            ]
        assert ours == pytest.approx(theirs, rel=0.01), (row["file"], row["index"])
        assert {roof.origin for roof in point.roofs} | {dram.origin} == {"report"}
        compared += len(ours)
    assert (len(golden), len(profiles), compared) == (LAUNCHES, REPORTS, 10 * LAUNCHES)


def test_the_document_says_the_same(golden: list[dict[str, Any]], profiles: dict[str, Profile]) -> None:
    """Kernels that were launched once, in one precision."""
    compared = 0
    for row in golden:
        for entry in diagnose(profiles[row["file"]]).kernels:
            if entry.launches != (profiles[row["file"]].launches[row["index"]].id,) or entry.roofline is None:
                continue
            precision = entry.roofline.precision
            if precision not in {"fp32", "fp64"}:
                continue
            expected = row[precision]
            assert entry.roofline.roofs == "report"
            assert entry.roofline.peak_flops_per_s == pytest.approx(expected["peak_flops_per_s"], rel=0.01)
            assert entry.roofline.ridge_point == pytest.approx(expected["ridge_point"], rel=0.01)
            assert entry.roofline.arithmetic_intensity == pytest.approx(expected["arithmetic_intensity"], rel=0.01)
            assert entry.roofline.achieved_flops_per_s == pytest.approx(expected["achieved_flops_per_s"], rel=0.01)
            compared += 1
    assert compared == 9
