"""Where ncu is looked for, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncudiag.errors import ProfilingError
from ncudiag.ncu.asking import answer_of
from ncudiag.ncu.locate import all_installs, find_ncu, version_of


def install(path: Path, version: str | None = "2024.1.1") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    says = f"echo 'Version {version}.0 (build 1)'" if version else "exit 3"
    path.write_text(f"#!/bin/sh\n{says}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


def test_the_named_one_wins(root: Path) -> None:
    named = install(root / "a/ncu", "2020.3.1")
    variable = install(root / "b/ncu")
    on_path = install(root / "c/ncu")
    env = {"NCUDIAG_NCU": variable, "PATH": str(root / "c")}
    assert find_ncu(named, env=env, root=root).path == named
    assert find_ncu(named, env=env, root=root).version == (2020, 3, 1)
    assert find_ncu(str(root / "a"), env=env, root=root).path == named
    assert find_ncu(None, env=env, root=root).path == variable
    assert find_ncu(None, env={"PATH": env["PATH"]}, root=root).path == on_path
    assert find_ncu("ncu", env=env, root=root).path == on_path


@pytest.mark.parametrize("source", ["--ncu", "NCUDIAG_NCU"])
def test_a_named_one_that_is_not_there_is_an_error(root: Path, source: str) -> None:
    install(root / "usr/local/cuda/bin/ncu")
    (root / "plain").write_text("", encoding="utf-8")
    for given, why in (
        (root / "no", "does not exist"),
        (root / "usr", "is a folder"),
        (root / "plain", "not executable"),
    ):
        with pytest.raises(ProfilingError) as caught:
            find_ncu(
                str(given) if source == "--ncu" else None,
                env={"NCUDIAG_NCU": str(given)} if source != "--ncu" else {},
                root=root,
            )
        assert caught.value.code == "ncu-not-found"
        assert source in caught.value.message
        assert why in caught.value.message
        assert "ncudiag explain" in caught.value.hint


def test_the_newest_of_the_usual_folders(root: Path) -> None:
    old = install(root / "opt/nvidia/nsight-compute/2022.3.0/ncu", "2022.3.0")
    new = install(root / "opt/nvidia/nsight-compute/2024.10.1/ncu", "2024.10.1")
    middle = install(root / "opt/nvidia/nsight-compute/2024.2.0/ncu", "2024.2.0")
    assert find_ncu(env={"PATH": ""}, root=root).path == new
    toolkit = install(root / "usr/local/cuda-11.8/bin/ncu", "2022.3.0")
    newer = install(root / "usr/local/cuda-12.4/bin/ncu")
    assert find_ncu(env={"PATH": ""}, root=root).path == newer
    chosen = install(root / "usr/local/cuda/bin/ncu")
    assert find_ncu(env={"PATH": ""}, root=root).path == chosen
    found = [one.path for one in all_installs(env={"PATH": ""}, root=root)]
    assert found == [chosen, newer, toolkit, new, middle, old]
    home = install(root / "home/cuda/bin/ncu")
    assert find_ncu(env={"PATH": "", "CUDA_HOME": str(root / "home/cuda")}, root=root).path == home


def test_each_file_is_listed_once(root: Path) -> None:
    real = install(root / "usr/local/cuda-12.4/bin/ncu")
    (root / "usr/local/cuda").symlink_to(root / "usr/local/cuda-12.4")
    (one,) = all_installs(env={"PATH": ""}, root=root)
    assert one.path in {real, str(root / "usr/local/cuda/bin/ncu")}
    assert one.version == (2024, 1, 1)


def test_nothing_found_says_where_it_looked(root: Path) -> None:
    with pytest.raises(ProfilingError) as caught:
        find_ncu(env={"PATH": str(root)}, root=root)
    assert caught.value.code == "ncu-not-found"
    assert "/usr/local/cuda*/bin" in caught.value.message
    assert "PATH" in str(caught.value.details["looked_at"])
    assert all_installs(env={"PATH": ""}, root=root) == ()


@pytest.mark.parametrize("on_path", [True, False])
def test_only_the_command_of_2019(root: Path, *, on_path: bool) -> None:
    old = install(root / "usr/local/cuda-10.2/bin/nv-nsight-cu-cli")
    with pytest.raises(ProfilingError) as caught:
        find_ncu(env={"PATH": str(root / "usr/local/cuda-10.2/bin") if on_path else ""}, root=root)
    assert caught.value.code == "ncu-not-found"
    assert "2019" in caught.value.message
    assert f"{old} --csv" in caught.value.hint


def test_a_version_that_is_not_said(root: Path) -> None:
    assert version_of(install(root / "silent/ncu", None)) is None
    assert version_of(str(root / "no/ncu")) is None
    assert find_ncu(str(root / "silent/ncu"), env={}, root=root).version is None


def test_a_tool_that_hangs_is_ended_with_its_children(root: Path) -> None:
    tool = root / "tool"
    tool.write_text('#!/bin/sh\nsleep 600 & echo $! > "$0.pid"\nwait\n', encoding="utf-8")
    tool.chmod(0o755)
    assert answer_of([str(tool)], seconds=0.5) is None
    child = int((root / "tool.pid").read_text(encoding="utf-8"))
    state = Path(f"/proc/{child}/stat")
    assert not state.exists() or state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
