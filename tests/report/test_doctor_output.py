"""What the doctor found, as text and as JSON."""

from __future__ import annotations

import json
import re

import pytest
from report_examples import HOSTILE_NAMES

from ncudiag._version import __version__
from ncudiag.ncu.doctor import Examination
from ncudiag.ncu.doctor_check import Check, Status
from ncudiag.report.doctor_output import doctor_json, render_doctor
from ncudiag.report.escape import columns

SGR = re.compile(r"\x1b\[[0-9;]*m")


def examined(counter: Status = "ok", *, ncu: Status = "ok", found: str = "there") -> Examination:
    """Three checks, the counter last."""
    return Examination(
        (
            Check("ncu", ncu, found, "Take another one, for example the one that came with the CUDA toolkit."),
            Check("config-file", "warning", "one", "Mind it."),
            Check("counter", counter, "read", None),
        )
    )


def test_every_check_has_its_line_and_its_hint() -> None:
    assert (
        render_doctor(examined("failed", ncu="failed"), width=60)
        == """\
  failed   ncu          there
                        • Take another one, for example the
                          one that came with the CUDA
                          toolkit.
  warning  config-file  one
                        • Mind it.
  failed   counter      read

Profiling does not work here: ncu, counter.
"""
    )


def test_a_hint_beside_ok_is_not_advice() -> None:
    assert "Take another one" not in render_doctor(examined(), width=80)


@pytest.mark.parametrize(
    ("counter", "ncu", "can", "last"),
    [
        ("ok", "ok", True, "Profiling works here: a counter was read."),
        ("failed", "ok", False, "Profiling does not work here: counter."),
        ("unknown", "failed", False, "Profiling does not work here: ncu."),
        ("unknown", "unknown", None, "Nobody can know whether profiling works here"),
        ("unknown", "ok", None, "Nobody can know whether profiling works here"),
    ],
)
def test_the_answer(counter: Status, ncu: Status, *, can: bool | None, last: str) -> None:
    examination = examined(counter, ncu=ncu)
    assert examination.can_profile is can
    assert last in render_doctor(examination, width=120).splitlines()[-1]
    assert json.loads(doctor_json(examination))["can_profile"] is can


def test_json_has_the_fixed_names() -> None:
    assert json.loads(doctor_json(examined())) == {
        "schema_version": "1.0",
        "tool": {"name": "ncudiag", "version": __version__},
        "checks": [
            {
                "name": "ncu",
                "status": "ok",
                "found": "there",
                "hint": "Take another one, for example the one that came with the CUDA toolkit.",
            },
            {"name": "config-file", "status": "warning", "found": "one", "hint": "Mind it."},
            {"name": "counter", "status": "ok", "found": "read", "hint": None},
        ],
        "can_profile": True,
    }


def test_colour_repeats_the_words() -> None:
    examination = examined("unknown", ncu="failed")
    painted = render_doctor(examination, width=80, colour=True)
    assert "\x1b[31mfailed\x1b[0m" in painted
    assert SGR.sub("", painted) == render_doctor(examination, width=80)


@pytest.mark.parametrize("text", HOSTILE_NAMES)
@pytest.mark.parametrize("width", [10, 80])
def test_foreign_text_does_no_harm(text: str, width: int) -> None:
    examination = examined(ncu="failed", found=text)
    for unicode in (True, False):
        out = render_doctor(examination, width=width, unicode=unicode)
        assert all(line.isprintable() for line in out.removesuffix("\n").split("\n"))
        assert max(map(columns, out.splitlines())) <= max(width, 40)
        assert unicode or out.isascii()
    assert json.loads(doctor_json(examination))["checks"][0]["found"] == text
