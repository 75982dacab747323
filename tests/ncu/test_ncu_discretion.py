"""What a log from another machine may tell about it."""

from __future__ import annotations

import pytest

from ncudiag.ncu.discretion import discreet, without_paths


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("wrote it to /home/alice/runs/report.ncu-rep", "wrote it to report.ncu-rep"),
        ("ncu --import /scratch/alice/r.ncu-rep --csv", "ncu --import r.ncu-rep --csv"),
        ("no such file: '/data/alice/in.bin'", "no such file: 'in.bin'"),
        ('in /home/alice/ and "/Users/alice/x y"', 'in alice and "x y"'),
        (r"wrote C:\Users\alice\r.ncu-rep now", "wrote r.ncu-rep now"),
        ("lock file /tmp/nsight-compute-lock, /dev/shm/x", "lock file /tmp/nsight-compute-lock, /dev/shm/x"),
        ("/scratch/alice/app failed", "app failed"),
        (
            "write /etc/modprobe.d/nvidia.conf; see /proc/sys/kernel",
            "write /etc/modprobe.d/nvidia.conf; see /proc/sys/kernel",
        ),
        ("see https://developer.nvidia.com/a/ERR_NVGPUCTRPERM", "see https://developer.nvidia.com/a/ERR_NVGPUCTRPERM"),
        ("12 byte/s and inst/cycle, ../a/b, ./a/b, ~/a/b", "12 byte/s and inst/cycle, ../a/b, ./a/b, ~/a/b"),
        ("plain", "plain"),
    ],
)
def test_files_keep_their_names(text: str, told: str) -> None:
    assert without_paths(text) == told


def test_programs_keep_their_names_wherever_they_lie() -> None:
    """Also in a folder of the system, with blanks in it, and under Windows."""
    processes = ("/usr/bin/python3.10", "/opt/my app/run", r"C:\work\app.exe", "bare", "")
    text = r"it was /usr/bin/python3.10, then /opt/my app/run, C:\work\app.exe and bare"
    assert without_paths(text, processes) == "it was python3.10, then run, app.exe and bare"


def test_values_of_every_kind() -> None:
    details = {
        "report": "/home/alice/b",
        "lines": ("/home/alice/c",),
        "deep": {"x": ["/home/alice/d"]},
        "status": 1,
        "no": None,
    }
    assert discreet(details) == {"report": "b", "lines": ["c"], "deep": {"x": ["d"]}, "status": 1, "no": None}
