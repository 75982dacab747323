"""The doctor on whole machines: what it finds, what it advises, and that only a counter is a yes."""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from invented_machines import H100, NO_LIBRARY, WORKS, Invented, page

from ncudiag.ncu import doctor_counter
from ncudiag.ncu.doctor import Examination, examine
from ncudiag.ncu.doctor_check import Check, Place
from ncudiag.ncu.doctor_counter import METRIC, counted, probe_command, run_alone
from ncudiag.ncu.environment import Environment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NAMES = [
    *("ncu", "other-ncu", "driver", "cuda", "gpus", "permission", "container", "wsl", "mig", "mps", "dcgm", "tmpdir"),
    *("home", "config-file", "counter"),
]
REFUSED = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters\n"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invented:
    """A machine with nothing on it; temporary files go below the test's own folder."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    return Invented(tmp_path / "root")


@pytest.fixture
def healthy(machine: Invented) -> Invented:
    """A machine that can profile."""
    machine.driver()
    machine.ncu(log=page("184"))
    machine.file("home/alice/.config/other")
    return machine


def named(examination: Examination) -> dict[str, Check]:
    return {check.name: check for check in examination.checks}


def looked(machine: Invented, *, probe: Sequence[str] | None = None, ncu: str | None = None) -> dict[str, Check]:
    """The checks by name."""
    command = machine.probe() if probe is None else probe
    return named(examine(ncu, place=machine.place, command=command))


def test_a_healthy_machine(healthy: Invented) -> None:
    examination = examine(place=healthy.place, command=healthy.probe())
    assert examination.can_profile is True
    assert [check.name for check in examination.checks] == NAMES
    assert {check.status for check in examination.checks} == {"ok"}
    found = {name: check.found for name, check in named(examination).items()}
    assert found["ncu"].startswith("ncu 2024.1.1, ")
    assert found["driver"] == "NVIDIA driver 580.95.05"
    assert found["cuda"] == "the driver can do CUDA 13.0; no toolkit was found"
    assert found["gpus"] == "NVIDIA H100 80GB HBM3 (compute capability 9.0): ncu 2024.1.1 knows it"
    assert found["counter"] == f"{METRIC} of ncudiag_probe was read by ncu 2024.1.1: 184"


def test_how_ncu_is_called_for_the_counter(healthy: Invented) -> None:
    command = healthy.probe()
    looked(healthy, probe=command)
    seen = healthy.seen()
    arguments, env = seen["arguments"], seen["env"]
    assert isinstance(arguments, list)
    assert isinstance(env, dict)
    assert arguments[-1:] == list(command)
    assert arguments[:7] == ["--csv", "--page", "raw", "--print-units", "base", "--config-file", "off"]
    assert arguments[arguments.index("--metrics") + 1] == METRIC
    assert env["LC_ALL"] == "C"
    assert env["TMPDIR"] != healthy.env["TMPDIR"]
    assert env["NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT"] == "1"
    assert not Path(env["TMPDIR"]).exists()
    healthy.program("other/ncu", "")  # whatever it is, it is not this one
    old = Invented(healthy.root / "old")
    old.driver()
    old.ncu(version="2022.3.0", log=page("1"))
    looked(old)
    assert "--config-file" not in str(old.seen()["arguments"])


def test_no_all_clear_without_a_counter(machine: Invented) -> None:
    machine.driver()
    machine.ncu()
    command = machine.probe(WORKS | {"step": "cuLaunchKernel", "error": "CUDA_ERROR_INVALID_IMAGE (200)"})
    examination = examine(place=machine.place, command=command)
    assert examination.can_profile is None
    counter = named(examination)["counter"]
    assert counter.status == "unknown"
    assert counter.found == (
        "could not try: no kernel runs here even without ncu (cuLaunchKernel: CUDA_ERROR_INVALID_IMAGE (200))"
    )
    assert counter.hint is not None
    assert not (machine.root / "seen.json").exists()


def test_a_bare_machine(machine: Invented) -> None:
    examination = examine(place=machine.place, command=machine.probe(NO_LIBRARY))
    checks = named(examination)
    assert examination.can_profile is False
    failed = [check.name for check in examination.checks if check.status == "failed"]
    assert failed == ["ncu", "driver", "gpus"]
    assert all(check.hint for check in examination.checks if check.status == "failed")
    assert "Install the NVIDIA driver" in (checks["driver"].hint or "")
    assert checks["counter"].found == "could not try: no ncu"
    assert checks["cuda"].status == "unknown"
    assert checks["permission"].status == "unknown"


def test_without_the_drivers_library_the_counter_says_so(healthy: Invented) -> None:
    counter = looked(healthy, probe=healthy.probe(NO_LIBRARY))["counter"]
    assert counter.found.endswith("even without ncu (libcuda.so.1: cannot open shared object file)")
    assert "--gpus all" in (counter.hint or "")


# ------------------------------------------------------------------------------------------------ the counter


def test_refused_by_the_driver(machine: Invented) -> None:
    machine.driver(restricted=1, capabilities="CapEff:\t0000000000000000\n")
    machine.ncu(log=REFUSED)
    examination = examine(place=machine.place, command=machine.probe())
    checks = named(examination)
    assert examination.can_profile is False
    assert checks["permission"].status == "failed"
    assert checks["counter"].status == "failed"
    assert checks["counter"].found.endswith("[permission-denied]")
    assert checks["counter"].hint


def test_held_by_another_tool(machine: Invented) -> None:
    machine.driver()
    machine.process(77, "nv-hostengine")
    machine.process(78, "dcgm-exporter")
    machine.process(79, "python")
    machine.ncu(out="==ERROR== Failed to profile: a driver resource was unavailable. Ensure that no other tool\n")
    checks = looked(machine)
    assert checks["counter"].found.endswith("[counters-in-use]")
    assert (checks["dcgm"].status, checks["dcgm"].found) == ("warning", "nv-hostengine and dcgm-exporter runs")
    assert "dcgmi profile --pause" in (checks["dcgm"].hint or "")


@pytest.mark.parametrize(
    ("value", "words"),
    [("0", "came back as 0, though the kernel ran"), ("n/a", "no counter came back"), ("nan", "no counter came back")],
)
def test_a_counter_without_a_count_is_none(machine: Invented, value: str, words: str) -> None:
    machine.driver()
    machine.ncu(log=page(value))
    counter = looked(machine)["counter"]
    assert counter.status == "failed"
    assert words in counter.found
    assert METRIC in (counter.hint or "")


def test_an_ncu_that_hangs(machine: Invented, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.driver()
    machine.ncu(then="time.sleep(600)")
    monkeypatch.setattr(doctor_counter.check_counter, "__kwdefaults__", {"seconds": 1.0})
    counter = looked(machine)["counter"]
    assert (counter.status, counter.found) == ("failed", "ncu did not end within 1 s")


def test_an_ncu_that_says_nothing_or_does_not_start(machine: Invented) -> None:
    machine.driver()
    machine.ncu()
    counter = looked(machine)["counter"]
    assert counter.status == "failed"
    assert "no counter came back" in counter.found
    broken = machine.file("broken/ncu", "#!/nowhere/interpreter\n")
    broken.chmod(0o755)
    checks = looked(machine, ncu=str(broken))
    assert checks["ncu"].status == "warning"
    assert checks["counter"].found == "ncu could not be started: No such file or directory"


def test_without_room_for_temporary_files(healthy: Invented, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(healthy.root / "absent"))
    counter = looked(healthy)["counter"]
    assert (counter.status, counter.found) == (
        "unknown",
        "could not try: no folder for temporary files (no such file or directory)",
    )


def test_when_a_counter_was_read_nothing_else_can_fail(machine: Invented) -> None:
    machine.driver(restricted=1, capabilities="CapEff:\t0000000000000000\n")
    machine.ncu(log=page("1,184"), chips="gv100")
    examination = examine(place=machine.place, command=machine.probe())
    checks = named(examination)
    assert examination.can_profile is True
    assert [checks[name].status for name in ("permission", "gpus", "counter")] == ["warning", "warning", "ok"]
    assert checks["counter"].found.endswith("1,184")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (page("184"), 184.0),
        (page("1,184"), 1184.0),
        (page("184").replace("\n", "\r\n"), 184.0),
        (page("inf"), None),
        (page("n/a"), None),
        ("", None),
        ("==WARNING== No kernels were profiled.\n", None),
        (f'"ID","{METRIC}"\n"","inst"\n"0"\n==PROF== Disconnected\n"1","7"\n', 7.0),
        (f'"ID","{METRIC}"\n', None),
        ('"ID","other"\n"","inst"\n"0","5"\n', None),
    ],
    ids=["plain", "separator", "crlf", "infinite", "absent", "empty", "no page", "cut row", "no row", "other metric"],
)
def test_the_counter_in_a_page(text: str, value: float | None) -> None:
    assert counted(text.splitlines()) == value


# --------------------------------------------------------------------------------------------- the kernel alone


@pytest.mark.parametrize(
    ("python", "step", "error"),
    [
        ("sys.exit('Traceback: no ctypes')", "start", "the program ended with status 1: Traceback: no ctypes"),
        ("print('[]')", "start", "the program ended with status 0: without a word"),
        ("time.sleep(600)", "time", "the program did not end within 1 s"),
        ("os.kill(os.getpid(), 11)", "start", "the program ended with status -11: without a word"),
    ],
)
def test_a_probe_that_breaks(machine: Invented, python: str, step: str, error: str) -> None:
    command = machine.probe(python=python)
    assert run_alone(command, machine.place, seconds=1) == {"step": step, "error": error}


def test_a_python_that_does_not_know_where_it_is(healthy: Invented, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    assert probe_command() == ()
    counter = looked(healthy, probe=())["counter"]
    assert counter.status == "unknown"
    assert "does not say where it lies" in counter.found


# ------------------------------------------------------------------------------------------------ ncu and files


def test_an_ncu_that_is_named(healthy: Invented) -> None:
    other = healthy.program("home/alice/tools/ncu", "print('Version 2025.3.0.0')")
    checks = looked(healthy, ncu=other)
    assert checks["ncu"].found == "ncu 2025.3.0, ~/tools/ncu"
    assert checks["other-ncu"].found.startswith("ncu 2024.1.1, ")
    absent = looked(healthy, ncu="/home/alice/absent/ncu")
    assert absent["ncu"].status == "failed"
    assert "does not exist: ~/absent/ncu" in absent["ncu"].found


def test_a_settings_file_of_ncu(healthy: Invented) -> None:
    healthy.file("cwd/config.ncu-cfg", "<default>\n")
    healthy.file("home/alice/.config/NVIDIA Corporation/config.ncu-cfg")
    check = looked(healthy)["config-file"]
    assert check.status == "warning"
    assert check.found.endswith("/cwd/config.ncu-cfg, ~/.config/NVIDIA Corporation/config.ncu-cfg")
    assert "--config-file off" in (check.hint or "")
    healthy.ncu(version="2022.3.0")
    healthy.program("old/ncu", "print('Version 2022.3.0.0')")
    check = looked(healthy, ncu=str(healthy.root / "old/ncu"))["config-file"]
    assert (check.status, check.hint) == ("ok", None)
    assert check.found.endswith("which this ncu does not read yet")


def test_folders_that_cannot_be_written(healthy: Invented) -> None:
    healthy.env["TMPDIR"] = str(healthy.root / "absent")
    place = dataclasses.replace(healthy.place, home=healthy.root / "nobody")
    checks = named(examine(place=place, command=healthy.probe()))
    assert checks["tmpdir"].status == "warning"  # the counter was read all the same
    assert checks["tmpdir"].found.endswith("/absent: no such file or directory")
    assert (checks["home"].status, checks["home"].found) == ("warning", "not writable: no such file or directory")
    homeless = dataclasses.replace(healthy.place, home=None)
    assert named(examine(place=homeless, command=healthy.probe()))["home"].found == "there is no home folder"
    healthy.program("bin/ncu", "")
    assert looked(healthy)["tmpdir"].status == "failed"
    del healthy.env["TMPDIR"]
    assert looked(healthy)["tmpdir"].status == "ok"


def test_a_lock_of_another_user(healthy: Invented, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = healthy.file("tmp/nsight-compute-lock")
    assert looked(healthy)["tmpdir"].status == "ok"
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != lock and real(path, mode))
    check = looked(healthy)["tmpdir"]
    assert check.status == "warning"
    assert "nsight-compute-lock in it belongs to another user" in check.found


# ------------------------------------------------------------------------------------------------ driver and GPUs


def gpu(capability: str, name: str = "GPU") -> dict[str, object]:
    return {"name": name, "compute_capability": capability, "sm_count": 10}


@pytest.mark.parametrize(
    ("capability", "version", "status", "words", "hint"),
    [
        ("8.0", "2024.1.1", "ok", "knows it", ""),
        ("12.0", "2024.1.1", "failed", "does not know it yet", "needs ncu 2025.1 or later"),
        ("6.1", "2024.1.1", "failed", "supports it no more", "The last ncu for compute capability 6.1 is 2019.5"),
        ("7.0", "2025.3.0", "failed", "supports it no more", "is 2025.2"),
        ("7.0", "2025.2.1", "ok", "knows it", ""),
        ("13.7", "2024.1.1", "unknown", "nothing says whether", ""),
        ("odd", "2024.1.1", "unknown", "nothing says whether", ""),
        ("7.2", "2024.1.1", "failed", "does not know it yet", "needs a newer ncu"),
    ],
)
def test_whether_ncu_knows_the_gpu(  # noqa: PLR0917 - one row a case
    machine: Invented, capability: str, version: str, status: str, words: str, hint: str
) -> None:
    machine.driver()
    machine.ncu(version=version)
    check = looked(machine, probe=machine.probe({"cuda": "13.0", "gpus": [gpu(capability)]}))["gpus"]
    assert check.status == status
    assert words in check.found
    assert hint in (check.hint or "")
    assert (check.hint is None) is (hint == "")


def test_one_gpu_that_fits_is_enough(machine: Invented) -> None:
    machine.driver()
    machine.ncu()
    both = [gpu("8.0", "NVIDIA A100"), gpu("12.0", "NVIDIA RTX 5090")]
    check = looked(machine, probe=machine.probe({"cuda": "13.0", "gpus": both}))["gpus"]
    assert check.status == "warning"
    assert check.hint == "Compute capability 12.0 needs ncu 2025.1 or later; name one with --ncu PATH."
    silent = looked(machine, probe=machine.probe({"cuda": "13.0", "gpus": [gpu("8.0")]}), ncu="/nowhere")["gpus"]
    assert silent.status == "unknown"


def test_an_ncu_that_lists_no_chips_is_not_guessed_about(machine: Invented) -> None:
    machine.driver()
    machine.ncu(chips="")
    assert looked(machine)["gpus"].status == "unknown"
    machine.program("odd/ncu", "sys.exit(1)")
    check = looked(machine, probe=machine.probe({"gpus": [gpu("7.0")]}), ncu=str(machine.root / "odd/ncu"))["gpus"]
    assert check.status == "unknown"


def test_gpus_that_are_hidden(healthy: Invented) -> None:
    none = healthy.probe({"step": "cuInit", "error": "CUDA_ERROR_NO_DEVICE (100)"})
    healthy.env["CUDA_VISIBLE_DEVICES"] = ""
    checks = looked(healthy, probe=none)
    assert (checks["gpus"].status, checks["gpus"].found) == ("failed", "no GPU with CUDA_VISIBLE_DEVICES=''")
    assert "CUDA_VISIBLE_DEVICES" in (checks["counter"].hint or "")
    assert checks["counter"].found.endswith("(cuInit: CUDA_ERROR_NO_DEVICE (100))")


def test_what_nvidia_smi_says(machine: Invented) -> None:
    machine.ncu()
    machine.nvidia_smi(
        "NVIDIA A100-SXM4-40GB, 8.0, 550.54.14, Enabled\nodd line",
        header="| NVIDIA-SMI 550.54.14   Driver Version: 550.54.14   CUDA Version: 12.4 |",
    )
    checks = looked(machine, probe=machine.probe(NO_LIBRARY))
    assert checks["driver"].found == "NVIDIA driver 550.54.14"
    assert checks["cuda"].found.startswith("the driver can do CUDA 12.4")
    assert checks["gpus"].found == "NVIDIA A100-SXM4-40GB (compute capability 8.0): ncu 2024.1.1 knows it"
    assert (checks["mig"].status, checks["mig"].found) == ("warning", "MIG is on")
    assert "--clock-control none" in (checks["mig"].hint or "")


def test_an_old_nvidia_smi(machine: Invented) -> None:
    machine.ncu()
    machine.nvidia_smi("Tesla V100-SXM2-16GB, 450.80.02", fields=2)
    checks = looked(machine, probe=machine.probe(NO_LIBRARY))
    assert checks["driver"].found == "NVIDIA driver 450.80.02"
    assert checks["gpus"].found == "Tesla V100-SXM2-16GB: nothing says whether ncu 2024.1.1 knows it"
    assert checks["cuda"].status == "unknown"
    machine.nvidia_smi(None)
    assert looked(machine, probe=machine.probe(NO_LIBRARY))["driver"].status == "failed"


@pytest.mark.parametrize("name", ["NVIDIA A100-SXM4-40GB MIG 1g.5gb", "NVIDIA A100-SXM4-40GB"])
def test_a_slice_that_a_program_sees(healthy: Invented, name: str) -> None:
    healthy.nvidia_smi("NVIDIA A100-SXM4-40GB, 8.0, 580.1, Enabled")
    checks = looked(healthy, probe=healthy.probe({"cuda": "13.0", "gpus": [gpu("8.0", name), "odd"]}))
    assert checks["mig"].status == "warning"
    assert checks["gpus"].found.startswith(name)


def test_a_driver_without_its_files(machine: Invented) -> None:
    machine.ncu()
    assert looked(machine)["driver"].found == "an NVIDIA driver that does not say its version"
    busy = {"step": "cuInit", "error": "CUDA_ERROR_NO_DEVICE (100)"}
    assert looked(machine, probe=machine.probe(busy))["driver"].status == "ok"
    stub = {"step": "cuInit", "error": "CUDA_ERROR_STUB_LIBRARY (34)"}
    assert looked(machine, probe=machine.probe(stub))["driver"].status == "failed"


def test_the_toolkit(healthy: Invented) -> None:
    (healthy.root / "usr/local/cuda-12.6/bin").mkdir(parents=True)
    (healthy.root / "usr/local/cuda").symlink_to("cuda-12.6")
    assert looked(healthy)["cuda"].found.endswith("the toolkit is 12.6")
    healthy.file("opt/kit/version.json", '{"cuda": {"name": "CUDA SDK", "version": "12.8.1"}}')
    healthy.env["CUDA_HOME"] = str(healthy.root / "opt/kit")
    assert looked(healthy)["cuda"].found.endswith("the toolkit is 12.8")


def test_an_ncu_that_needs_a_newer_driver(machine: Invented) -> None:
    machine.driver("550.54.14")
    machine.ncu(version="2026.3.0")
    check = looked(machine, probe=machine.probe({"cuda": "12.4", "gpus": [H100]}))["cuda"]
    assert check.status == "warning"
    assert "needs a driver for CUDA 13" in (check.hint or "")
    assert looked(machine)["cuda"].status == "ok"


# ------------------------------------------------------------------------------------------------ rights and places


@pytest.mark.parametrize(
    ("rights", "driver", "status", "words"),
    [
        ("CapEff:\t000001ffffffffff\n", "580.1", "ok", "has CAP_SYS_ADMIN"),
        ("CapEff:\t0000004000000000\n", "580.1", "ok", "has CAP_PERFMON"),
        ("CapEff:\t0000004000000000\n", "550.1", "failed", "without CAP_SYS_ADMIN"),
        ("CapEff:\t0000000000000000\n", "580.1", "failed", "without CAP_SYS_ADMIN"),
    ],
    ids=["admin", "perfmon", "perfmon, old driver", "nothing"],
)
def test_rights_that_the_driver_asks_for(machine: Invented, rights: str, driver: str, status: str, words: str) -> None:
    machine.driver(driver, restricted=1, capabilities=rights)
    check = looked(machine)["permission"]
    assert check.status == status
    assert check.found.startswith("reserved for administrators (RmProfilingAdminOnly: 1)")
    assert words in check.found
    assert (check.hint is None) is (status == "ok")


@pytest.mark.parametrize("text", ["", "CapEff:\tnonsense\n"])
@pytest.mark.parametrize("root", [True, False])
def test_a_system_without_capabilities(
    machine: Invented, monkeypatch: pytest.MonkeyPatch, text: str, *, root: bool
) -> None:
    monkeypatch.setattr("ncudiag.ncu.environment._is_root", lambda: root)
    machine.driver(restricted=1, capabilities=text)
    check = looked(machine)["permission"]
    assert check.status == ("ok" if root else "failed")
    assert ("has root's rights" if root else "is an ordinary user without CAP_SYS_ADMIN") in check.found


def test_rights_in_a_user_namespace_do_not_count(machine: Invented) -> None:
    machine.driver(restricted=1)
    machine.file("proc/self/uid_map", "         0       1000          1\n")
    check = looked(machine)["permission"]
    assert check.status == "failed"
    assert "only in a user namespace" in check.found
    machine.file("proc/self/uid_map", "         0          0 4294967295\n")
    assert looked(machine)["permission"].status == "ok"


@pytest.mark.parametrize(
    ("env", "mark", "words"),
    [
        ({}, "", "sudo -E env"),
        ({}, ".dockerenv", "--cap-add=SYS_ADMIN"),
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "", "securityContext.capabilities.add"),
        ({"SLURM_JOB_ID": "1"}, "", "Ask the site"),
        ({"PBS_JOBID": "1"}, "", "Ask the site"),
    ],
    ids=["plain", "container", "kubernetes", "slurm", "pbs"],
)
def test_the_remedy_fits_the_place(machine: Invented, env: dict[str, str], mark: str, words: str) -> None:
    machine.env |= env
    if mark:
        machine.file(mark)
    machine.driver(restricted=1, capabilities="CapEff:\t0000000000000000\n")
    checks = looked(machine)
    assert words in (checks["permission"].hint or "")
    inside = bool(mark) or "KUBERNETES_SERVICE_HOST" in env
    assert checks["container"].found.startswith("in a" if inside else "not in a container")
    assert checks["dcgm"].status == ("unknown" if inside else "ok")


def test_a_container_without_its_gpus(machine: Invented) -> None:
    machine.file(".dockerenv")
    check = looked(machine, probe=machine.probe(NO_LIBRARY))["driver"]
    assert check.status == "failed"
    assert "--gpus all" in (check.hint or "")


def test_under_wsl(machine: Invented) -> None:
    machine.env["WSL_DISTRO_NAME"] = "Ubuntu"
    machine.ncu(version="2022.3.0")
    checks = looked(machine, probe=machine.probe(NO_LIBRARY))
    assert (checks["wsl"].status, checks["permission"].status) == ("failed", "unknown")
    assert "wsl --shutdown" in (checks["permission"].hint or "")
    assert "On Windows's side only" in (checks["driver"].hint or "")
    machine.program("new/ncu", "print('Version 2024.1.1.0')")
    assert looked(machine, ncu=str(machine.root / "new/ncu"))["wsl"].found == "under WSL"


def test_on_windows(machine: Invented) -> None:
    from ncudiag.ncu.doctor_access import check_permission
    from ncudiag.ncu.doctor_gpu import Hardware

    hardware = Hardware(driver="580.1", cuda="13.0", gpus=())
    check = check_permission(machine.place, Environment(windows=True), hardware)
    assert check.status == "unknown"
    assert "Manage GPU Performance Counters" in (check.hint or "")
    assert "wsl" not in (check.hint or "")


def test_the_multi_process_service(healthy: Invented) -> None:
    healthy.process(5, "nvidia-cuda-mps-control")
    check = looked(healthy)["mps"]
    assert (check.status, check.found) == ("warning", "MPS runs")
    assert "echo quit | nvidia-cuda-mps-control" in (check.hint or "")


# ------------------------------------------------------------------------------------------------ discretion


def test_names_of_user_and_host_are_left_out(healthy: Invented) -> None:
    healthy.file("etc/hostname", "secrethost\n")
    healthy.program("alice/secrethost/ncu", "print('Version 2024.1.1.0')")
    healthy.env["TMPDIR"] = str(healthy.root / "tmp/alice")
    (healthy.root / "tmp/alice").mkdir()
    checks = looked(healthy, ncu=str(healthy.root / "alice/secrethost/ncu"))
    assert checks["ncu"].found.endswith("/<user>/<host>/ncu")
    assert checks["tmpdir"].found.endswith("<user> is writable")
    assert "alice" not in str(checks)
    assert "secrethost" not in str(checks)


def test_ordinary_words_are_not_taken_for_names(healthy: Invented) -> None:
    healthy.env["USER"] = "nvidia"
    healthy.driver(restricted=None)
    assert healthy.place.shown("/usr/local/nvidia/bin/ncu") == "/usr/local/nvidia/bin/ncu"
    (healthy.root / "proc/driver/nvidia/params").unlink()
    assert "/proc/driver/nvidia/params" in looked(healthy)["permission"].found


def test_homes_in_messages_are_shortened() -> None:
    place = Place(env={}, root=Path("/absent"), cwd=Path("/"), home=Path("/data/people/me"))
    hint = "see /home/alice/app, /Users/alice/b:x and /data/people/me/tools, not /data/people/meow"
    check = place.discreet(Check("a", "failed", "at /data/people/me", hint))
    assert check.found == "at ~"
    assert check.hint == "see ~/app, ~/b:x and ~/tools, not /data/people/meow"
    rootless = dataclasses.replace(place, home=Path("/"))
    assert rootless.without_homes("/usr/bin") == "/usr/bin"


def test_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place.here()
    assert place.root == Path("/")
    assert place.cwd == Path.cwd()
    assert place.env == dict(os.environ)

    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", homeless)
    assert Place.here().home is None


def test_this_machine_is_examined_as_it_is() -> None:
    examination = examine()
    assert [check.name for check in examination.checks] == NAMES
    assert examination.can_profile is not None or examination.checks[-1].status == "unknown"
    assert (examination.can_profile is True) is (examination.checks[-1].status == "ok")


@pytest.mark.real_ncu
@pytest.mark.parametrize(
    ("suite", "known"),
    [("bullseye", ("8.6",)), ("bookworm", ("8.6", "8.9")), ("trixie", ("7.0", "8.9", "9.0"))],
)
def test_the_real_ncu(
    machine: Invented, real_ncu_folder: Callable[[str], str], suite: str, known: tuple[str, ...]
) -> None:
    gpus = [*(gpu(capability, "known") for capability in known), gpu("12.0", "too new")]
    command = machine.probe({"cuda": "13.0", "gpus": gpus})
    examination = examine(real_ncu_folder(suite), place=machine.place, command=command)
    checks = named(examination)
    assert checks["ncu"].status == "ok"
    answers = checks["gpus"].found.split("; ")
    assert ["knows it" in answer for answer in answers] == [True] * len(known) + [False]
    # This program launches no kernel, so no ncu can read a counter of it, and without a driver none can start.
    assert checks["counter"].status == "failed"
    assert examination.can_profile is False
