"""What a roofline shows: roofs, points, units, rows; from a report and from the paper model."""

from __future__ import annotations

import pytest
import report_examples as examples
import roofline_examples as rooflines

from ncudiag.errors import UsageError
from ncudiag.report.paper_picture import paper_picture
from ncudiag.report.roofline_picture import Picture, pictures
from ncudiag.roofline.paper import Roofline


def picture(*kernels: object) -> Picture:
    (shown,) = pictures(examples.report(*kernels))  # type: ignore[arg-type]
    return shown


def test_a_kernel_has_a_point_at_each_level() -> None:
    shown = picture(rooflines.kernel())
    assert [(point.level, point.intensity, point.is_main) for point in shown.points] == [
        ("DRAM", 2.0, True),
        ("L2", 1.0, False),
        ("L1/TEX", 0.25, False),
    ]
    assert {point.flops_per_s for point in shown.points} == {2e12}
    assert [(roof.label, roof.value, roof.source) for roof in shown.roofs] == [
        ("DRAM", 1.5e12, "report"),
        ("L2", 5e12, "report"),
        ("FP32", 15e12, "report"),
    ]
    assert shown.rows[0].cells == ("62.1 %", "2.00 TFLOP/s", "2.00 FLOP/byte", "66.7 % of roof")


def test_no_dram_traffic_is_unbounded() -> None:
    shown = picture(rooflines.kernel(point=rooflines.under(moved=0.0)))
    assert shown.points[0].intensity is None
    assert shown.rows[0].cells[2] == "unbounded"


def test_a_lower_bound_says_so() -> None:
    shown = picture(rooflines.kernel(point=rooflines.under(lower_bound=True)))
    assert all(point.lower_bound for point in shown.points)
    assert shown.rows[0].cells[1] == ">= 2.00 TFLOP/s"
    assert "lower bound" in shown.points[0].facts


@pytest.mark.parametrize(
    ("lower_bound", "said"),
    [(False, "no FLOP"), (True, "not counted")],
)
def test_a_kernel_without_flops_shows_its_units(*, lower_bound: bool, said: str) -> None:
    point = rooflines.under(flops=0.0, lower_bound=lower_bound)
    shown = picture(rooflines.kernel(), rooflines.kernel("sha256(int)", point))
    assert {point.rank for point in shown.points} == {1}
    assert [(unit.rank, unit.unit, unit.pct) for unit in shown.units] == [
        (2, "DRAM", pytest.approx(66.7, rel=0.01)),
        (2, "L2", pytest.approx(40.0)),
        (2, "INT", 93.7),
    ]
    assert shown.rows[1].cells[1] == said


def test_without_points_there_are_no_roofs_to_draw() -> None:
    shown = picture(rooflines.kernel(point=rooflines.under(flops=None, precision=None, peak=None)))
    assert (shown.points, shown.roofs) == ((), ())
    assert shown.units
    assert shown.rows[0].cells[1] == "-"
    assert "No FLOPs were counted" in shown.key


def test_stray_operations_draw_no_roof() -> None:
    point = rooflines.under()
    stray = point.operations[0].model_copy(update={"precision": "fp64", "achieved_flops_per_s": 1.0})
    peaks = (*point.peaks, point.peaks[0].model_copy(update={"precision": "fp64"}))
    shown = picture(
        rooflines.kernel(point=point.model_copy(update={"operations": (*point.operations, stray), "peaks": peaks}))
    )
    assert "FP64" not in [roof.label for roof in shown.roofs]


def test_roofs_are_the_median_over_kernels_and_name_the_datasheet() -> None:
    other = rooflines.under(peak=13e12)
    peak = other.peaks[0].model_copy(update={"origin": "datasheet"})
    shown = picture(rooflines.kernel(), rooflines.kernel(point=other.model_copy(update={"peaks": (peak,)})))
    assert (shown.roofs[-1].value, shown.roofs[-1].source) == (14e12, "datasheet")


def test_each_gpu_has_its_own_picture() -> None:
    other = rooflines.kernel(kernel=examples.identity(gpu="NVIDIA A100-SXM4-40GB", compute_capability="8.0"))
    shown = pictures(examples.report(rooflines.kernel(), other))
    assert [each.subtitle.split(" (")[0] for each in shown] == ["NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-40GB"]


def test_an_unknown_roof_is_told() -> None:
    assert "compute roof is not known" in picture(rooflines.kernel(point=rooflines.under(peak=None))).notes[0]


def test_kernels_that_cannot_be_drawn_are_counted() -> None:
    nothing = rooflines.under(flops=None, moved=None, precision=None, caches=False)
    nothing = nothing.model_copy(update={"levels": (), "integer_pipe_pct": None})
    shown = picture(rooflines.kernel(), rooflines.kernel(point=nothing))
    assert shown.notes == ("1 kernel without counted work or traffic left out.",)


def test_nothing_to_draw() -> None:
    with pytest.raises(UsageError, match="nothing to draw") as caught:
        pictures(examples.report(examples.unknown()))
    assert "--section SpeedOfLight_RooflineChart" in caught.value.hint


def test_hostile_names_are_spelled_out() -> None:
    for name in examples.HOSTILE_NAMES:
        shown = picture(rooflines.kernel(name, kernel=examples.identity(name, short_name=name)))
        assert all(point.full_name.isprintable() and point.name.isprintable() for point in shown.points)
        assert shown.points[0].full_name


def test_a_kernel_on_paper_and_what_would_move_it() -> None:
    line = Roofline("H100")
    shown = paper_picture(line, line.kernel("stencil", points=3, reuse="none"))
    first = shown.points[0]
    assert (first.rank, first.name, first.intensity, first.precision) == (1, "as it is", 0.3125, "fp32")
    assert first.flops_per_s == pytest.approx(0.3125 * 3.35e12, rel=0.01)
    assert [point.rank for point in shown.points] == list(range(1, len(shown.points) + 1))
    assert len(shown.points) > 1
    assert {roof.label for roof in shown.roofs} >= {"DRAM", "FP32"}
    assert "stencil" in shown.title


def test_plain_numbers_on_paper() -> None:
    line = Roofline("H100")
    shown = paper_picture(line, line.estimate(flops=5, bytes=0))
    assert shown.points[0].intensity is None
    assert shown.rows[0].cells[2] == "unbounded"
    assert "5 FLOP and 0 B" in shown.title
