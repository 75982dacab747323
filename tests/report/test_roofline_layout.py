"""The frame, its ticks, the lines and the places of labels."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
import report_examples as examples
import roofline_examples as rooflines

from ncudiag.report.roofline_layout import Frame, Label, Sheet, frame_of, lines, ridges, text_px
from ncudiag.report.roofline_picture import pictures

FRAME = Frame(500, 300, -2, 3, 10, 13)


def shown(**changes: object) -> object:
    (picture,) = pictures(examples.report(rooflines.kernel(point=rooflines.under(**changes))))  # type: ignore[arg-type]
    return picture


def test_places_there_and_back() -> None:
    assert FRAME.to_px(0.01, 1e13) == pytest.approx((0, 0))
    assert FRAME.to_px(1000, 1e10) == pytest.approx((500, 300))
    assert FRAME.to_values(*FRAME.to_px(4.2, 7e11)) == pytest.approx((4.2, 7e11))


def test_ticks_are_powers_of_ten() -> None:
    assert FRAME.ticks("x") == [0.01, 0.1, 1, 10, 100, 1000]
    assert FRAME.ticks("y") == [1e10, 1e11, 1e12, 1e13]
    assert Frame(1, 1, 0, 1, -11.5, 11.5).ticks("y") == [1e-9, 1e-6, 1e-3, 1, 1e3, 1e6, 1e9]


def test_a_slope_looks_as_steep_as_it_is() -> None:
    start, end = FRAME.to_px(1, 1e11), FRAME.to_px(10, 1e12)
    angle = math.degrees(math.atan2(end[1] - start[1], end[0] - start[0]))
    assert FRAME.slope_degrees == pytest.approx(angle)


def test_the_frame_holds_points_and_ridge_points() -> None:
    picture = shown()
    frame = frame_of(picture, width=500, height=300)  # type: ignore[arg-type]
    places = [(point.intensity, point.flops_per_s) for point in picture.points]  # type: ignore[attr-defined]
    places += [(ridge.intensity, ridge.flops_per_s) for ridge in ridges(picture)]  # type: ignore[arg-type]
    for x, y in places:
        px, py = frame.to_px(x, y)
        assert 0 < px < 500
        assert 0 < py < 300


def test_roofs_meet_where_they_should() -> None:
    picture = shown()
    drawn = {line.roof.name: line for line in lines(picture, frame_of(picture, width=500, height=300))}  # type: ignore[arg-type]
    assert drawn["DRAM"].y1 == pytest.approx(15e12)
    assert drawn["DRAM"].x1 == pytest.approx(10.0)
    assert drawn["fp32"].x0 == pytest.approx(3.0)  # the fastest slope: L2
    assert [ridge.intensity for ridge in ridges(picture)] == [10.0]  # type: ignore[arg-type]


def test_without_roofs_there_are_no_lines() -> None:
    bare = rooflines.under(peak=None, caches=False)
    level = bare.levels[0].model_copy(update={"bandwidth_bytes_per_s": None, "roof": None})
    (picture,) = pictures(examples.report(rooflines.kernel(point=bare.model_copy(update={"levels": (level,)}))))
    assert lines(picture, frame_of(picture, width=500, height=300)) == []
    assert ridges(picture) == []


def apart(one: Label, other: Label) -> bool:
    return abs(one.px - other.px) >= (text_px(one.text) + text_px(other.text)) / 2 - 6.2 or abs(one.py - other.py) >= 9


def test_labels_move_out_of_each_others_way() -> None:
    sheet = Sheet(FRAME)
    places = [(250.0, 150.0), (250.0, 170.0), (250.0, 190.0)]
    labels = [sheet.place("a label", places) for _ in range(3)]
    assert all(apart(one, other) for one, other in combinations(labels, 2))


def test_a_label_avoids_points_and_lines_and_the_edge() -> None:
    sheet = Sheet(FRAME)
    sheet.block(100, 100, 12)
    sheet.block_line((0, 50), (500, 50))
    places = [(2.0, 200.0), (100.0, 104.0), (100.0, 52.0), (300.0, 250.0)]
    assert sheet.place("text", places)[1:3] == (300.0, 250.0)


def test_a_label_without_a_free_place_covers_least() -> None:
    sheet = Sheet(FRAME)
    sheet.block(100, 100, 30)
    assert sheet.place("text", [(100.0, 100.0), (130.0, 112.0)])[1:3] == (130.0, 112.0)
    assert sheet.place("text", [])[1:3] == (0.0, 0.0)


def test_a_slanted_label_takes_the_room_of_a_slanted_label() -> None:
    sheet = Sheet(FRAME)
    sheet.place("a long slanted label", [(250.0, 150.0)], angle=-90.0)
    assert sheet.place("x", [(250.0, 100.0), (290.0, 100.0)])[1:3] == (290.0, 100.0)
