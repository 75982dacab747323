"""What is seen of a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ncudiag.ncu.environment import Environment, compute_capabilities, detect

if TYPE_CHECKING:
    from pathlib import Path


def put(root: Path, name: str, text: str = "") -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_a_bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert detect({}, root=tmp_path) == Environment()
    assert detect({}, root=tmp_path).conditions() == {"linux"}
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert detect({}, root=tmp_path).root
    assert isinstance(detect(), Environment)


@pytest.mark.parametrize(
    ("name", "text", "field"),
    [
        (".dockerenv", "", "in_container"),
        ("run/.containerenv", "", "in_container"),
        ("proc/1/cgroup", "0::/system.slice/docker-abc.scope", "in_container"),
        ("proc/version", "Linux version 5.15 (Microsoft@Microsoft.com)", "wsl"),
    ],
)
def test_files(tmp_path: Path, name: str, text: str, field: str) -> None:
    put(tmp_path, name, text)
    assert getattr(detect({}, root=tmp_path), field) is True


@pytest.mark.parametrize(
    ("env", "word"),
    [
        ({"SUDO_USER": "me"}, "sudo"),
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "container"),
        ({"APPTAINER_CONTAINER": "x.sif"}, "container"),
        ({"SLURM_JOB_ID": "1"}, "cluster"),
        ({"PBS_JOBID": "1"}, "cluster"),
        ({"CUDA_VISIBLE_DEVICES": "MIG-1234"}, "mig"),
        ({"WSL_DISTRO_NAME": "Ubuntu"}, "wsl"),
    ],
)
def test_variables(tmp_path: Path, env: dict[str, str], word: str) -> None:
    assert word in detect(env, root=tmp_path).conditions()


@pytest.mark.parametrize(("value", "restricted"), [("1", True), ("0", False), (None, None)])
def test_the_driver(tmp_path: Path, value: str | None, *, restricted: bool | None) -> None:
    put(tmp_path, "proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5")
    put(
        tmp_path,
        "proc/driver/nvidia/params",
        "ResmanDebugLevel: 1\n" + (f"RmProfilingAdminOnly: {value}\n" if value else ""),
    )
    seen = detect({}, root=tmp_path)
    assert seen.driver == "550.54.15"
    assert seen.counters_restricted is restricted
    assert ("unrestricted" in seen.conditions()) is (restricted is False)


def test_windows() -> None:
    assert "linux" not in Environment(windows=True).conditions()


@pytest.mark.parametrize(
    ("says", "found"),
    [
        ("echo 8.6; echo 9.0", ("8.6", "9.0")),
        ("echo 'Field compute_cap is not a valid field'; exit 2", ()),
        ("echo '[N/A]'", ()),
        ("exit 0", ()),
    ],
)
def test_compute_capabilities(tmp_path: Path, says: str, found: tuple[str, ...]) -> None:
    put(tmp_path, "nvidia-smi", f"#!/bin/sh\n{says}\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    assert compute_capabilities({"PATH": str(tmp_path)}) == found


def test_no_driver_tool(tmp_path: Path) -> None:
    assert compute_capabilities({"PATH": str(tmp_path)}) == ()
    put(tmp_path, "nvidia-smi", "\x7fELF broken")
    (tmp_path / "nvidia-smi").chmod(0o755)
    assert compute_capabilities({"PATH": str(tmp_path)}) == ()
