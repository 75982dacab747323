"""The probe: the calls of the driver in their order, the failures of each, and PTX that really assembles."""

from __future__ import annotations

import ctypes
import json
import runpy
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from ncudiag.ncu import probe

if TYPE_CHECKING:
    from pathlib import Path

ORDER = [
    *("cuInit", "cuDriverGetVersion", "cuDeviceGetCount"),
    *("cuDeviceGet", "cuDeviceGetName", "cuDeviceGetAttribute", "cuDeviceGetAttribute", "cuDeviceGetAttribute"),
    *("cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuModuleLoadData", "cuModuleGetFunction"),
    *("cuLaunchKernel", "cuCtxSynchronize"),
]


def put(reference: Any, value: object) -> None:  # noqa: ANN401 - what ctypes.byref() gives
    """Write through a reference, as the library does."""
    reference._obj.value = value  # noqa: SLF001 - ctypes has no public way back from byref()


class FakeCuda:
    """A driver's library with one GPU; a call may fail with a number."""

    def __init__(self, **fails: int) -> None:
        """Take the number that each failing function returns."""
        self.fails = fails
        self.calls: list[str] = []
        self.arguments: dict[str, tuple[Any, ...]] = {}

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - a function of the library
        """Give the function of that name."""

        def call(*arguments: Any) -> int:  # noqa: ANN401 - of any type, as in C
            self.calls.append(name)
            self.arguments[name] = arguments
            if name in self.fails:
                return self.fails[name]
            match name:
                case "cuDriverGetVersion":
                    put(arguments[0], 12_040)
                case "cuDeviceGetCount":
                    put(arguments[0], 1)
                case "cuDeviceGetName":
                    arguments[0].value = b"NVIDIA H100 80GB HBM3"
                case "cuDeviceGetAttribute":
                    put(arguments[0], {16: 132, 75: 9, 76: 0}[arguments[1]])
                case "cuGetErrorName":
                    put(arguments[1], b"CUDA_ERROR_INVALID_IMAGE" if arguments[0] == 200 else None)
            return 0

        return call


def test_one_kernel_is_launched_and_waited_for() -> None:
    cuda = FakeCuda()
    status, said = probe.answer(lambda: cuda)
    assert status == 0
    assert said == {
        "cuda": "12.4",
        "gpus": [{"name": "NVIDIA H100 80GB HBM3", "compute_capability": "9.0", "sm_count": 132}],
    }
    assert cuda.calls == ORDER
    assert cuda.arguments["cuLaunchKernel"][1:] == (1, 1, 1, 32, 1, 1, 0, None, None, None)
    assert probe.PTX.encode() == cuda.arguments["cuModuleLoadData"][1].value
    assert cuda.arguments["cuModuleGetFunction"][2].value == b"ncudiag_probe"


@pytest.mark.parametrize("step", list(dict.fromkeys(ORDER)))
def test_a_call_that_fails_is_named(step: str) -> None:
    status, said = probe.answer(lambda: FakeCuda(**{step: 200}))
    assert status == 1
    assert (said["step"], said["error"]) == (step, "CUDA_ERROR_INVALID_IMAGE (200)")
    assert ("gpus" in said) is (ORDER.index(step) > 7)


def test_an_error_without_a_name() -> None:
    assert probe.answer(lambda: FakeCuda(cuInit=12_345))[1]["error"] == "an unknown error (12345)"


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise OSError(None, f"{name}: cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", absent)
    status, said = probe.answer()
    assert status == 1
    assert said["step"] == "load"
    assert "cannot open shared object file" in str(said["error"])


def test_the_library_is_loaded_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: name)
    assert probe.load() in {"libcuda.so.1", "nvcuda.dll"}


def test_as_a_program_it_prints_one_object_and_imports_nothing_of_ours(tmp_path: Path) -> None:
    copy = tmp_path / "alone.py"
    shutil.copy(probe.__file__, copy)
    done = subprocess.run((sys.executable, "-I", copy), capture_output=True, text=True, check=False, timeout=60)
    said = json.loads(done.stdout)
    assert done.stderr == ""
    # With a GPU the kernel runs; without one the reason is told.
    assert (done.returncode == 0) is ("error" not in said)


def test_the_program_says_what_it_found(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: FakeCuda())
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(probe.__file__, run_name="__main__")
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out)["cuda"] == "12.4"


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"])
def test_the_kernel_assembles(arch: str, tmp_path: Path) -> None:
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        pytest.skip("no ptxas: the PTX of the probe is NOT assembled")
    source, binary = tmp_path / "probe.ptx", tmp_path / "probe.cubin"
    source.write_text(probe.PTX, encoding="ascii")
    done = subprocess.run(
        (ptxas, "-arch", arch, str(source), "-o", str(binary)), capture_output=True, text=True, check=False
    )
    if "not defined for option" in done.stderr:
        pytest.skip(f"this ptxas does not know {arch}")
    assert done.returncode == 0, done.stderr
    assert probe.KERNEL.encode() in binary.read_bytes()
