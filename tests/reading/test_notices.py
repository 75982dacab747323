"""Warnings are given once, and not without end."""

from __future__ import annotations

from ncudiag.reading.notices import Notices


def test_each_once_and_bounded() -> None:
    notices = Notices()
    for number in range(60):
        notices.add("unknown-unit", f"unit {number}")
        notices.add("unknown-unit", "unit 0")
    notices.once("rounded-values", "first")
    notices.once("rounded-values", "second")
    found = [(warning.code, warning.message) for warning in notices.collected()]
    assert found[:2] == [("unknown-unit", "unit 0"), ("unknown-unit", "unit 1")]
    assert found[50:] == [("unknown-unit", "and 10 more"), ("rounded-values", "first")]


def test_failed_launches_are_counted() -> None:
    notices = Notices()
    assert notices.collected() == ()
    notices.failed_launches = 3
    (warning,) = notices.collected()
    assert "3 launches" in warning.message
