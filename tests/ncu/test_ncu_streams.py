"""Output channels: bytes unchanged, a terminal stays a terminal; the end of processes."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from ncudiag.ncu import ending
from ncudiag.ncu.channels import Channel, same_place
from ncudiag.ncu.table import scan_log

if TYPE_CHECKING:
    from pathlib import Path


def passed(channel: Channel, data: bytes) -> None:
    inlet = os.dup(channel.inlet)
    channel.started()
    with os.fdopen(inlet, "wb") as file:
        file.write(data)
    assert channel.drain(10)


def test_bytes_pass_unchanged_and_lines_are_kept(tmp_path: Path) -> None:
    data = b"a\r\n\x00\xff\n==ERROR== one\n[rank 0] ==PROF== two\nplain " + b"y" * 200_000 + b"\n==WARNING== three"
    with (tmp_path / "out").open("wb") as out:
        channel = Channel(out.fileno())
        passed(channel, data)
    assert (tmp_path / "out").read_bytes() == data
    assert channel.marked_lines() == ("==ERROR== one", "[rank 0] ==PROF== two")
    assert channel.last_lines()[-1] == "==WARNING== three"
    assert len("".join(channel.last_lines())) <= 1 << 15


def test_a_reader_that_goes_away_ends_the_channel() -> None:
    source, outlet = os.pipe()
    os.close(source)
    channel = Channel(outlet)
    inlet = os.dup(channel.inlet)
    channel.started()
    os.write(inlet, b"x")
    assert channel.drain(10)
    with pytest.raises(BrokenPipeError):
        os.write(inlet, b"y")
    os.close(inlet)
    os.close(outlet)


def test_an_abandoned_channel_closes_both_ends(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out:
        channel = Channel(out.fileno())
        channel.abandon()
        with pytest.raises(OSError, match="descriptor"):
            os.fstat(channel.inlet)


def test_same_place(tmp_path: Path) -> None:
    with (tmp_path / "a").open("wb") as one, (tmp_path / "b").open("wb") as other:
        assert same_place(one.fileno(), os.dup(one.fileno()))
        assert not same_place(one.fileno(), other.fileno())
        closed = os.dup(one.fileno())
        os.close(closed)
        assert not same_place(one.fileno(), closed)


def test_a_terminal_stays_a_terminal_of_the_same_size() -> None:
    import termios

    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (11, 77))
    seen = bytearray()

    def read() -> None:
        while not seen.endswith(b"end\r\n"):
            seen.extend(os.read(master, 4096))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    channel = Channel(slave)
    script = "import os,sys; print(os.isatty(1), os.get_terminal_size(1)); print('end')"
    with subprocess.Popen([sys.executable, "-c", script], stdout=channel.inlet) as process:
        channel.started()
        assert process.wait(20) == 0
    assert channel.drain(10)
    reader.join(10)
    assert bytes(seen) == b"True os.terminal_size(columns=77, lines=11)\r\nend\r\n"
    os.close(master)
    os.close(slave)


def test_the_table_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert not scan_log(str(log)).exists
    words = "".join(f"line {number}\n" for number in range(1000))
    header = '"ID","Process ID","Kernel Name"\n'
    log.write_text(
        f'{words}"0","1","quoted"\n{header}"","",""\n"0","1","k"\n"0","1","k"\n"0","2","k"\n==PROF== x\n',
        encoding="utf-8",
    )
    found = scan_log(str(log))
    assert found.exists
    assert found.launches == 2
    assert len(found.lines) == 800
    assert found.lines[0] == "line 0\n"
    assert found.lines[-1] == "==PROF== x\n"
    log.write_text("ID,Process ID,Kernel Name\n0,7,k\n", encoding="utf-8")
    assert scan_log(str(log)).launches == 1


@pytest.fixture
def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "600"], start_new_session=True)


def test_ending_without_proc_uses_the_group(
    sleeper: subprocess.Popen[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "_PROC", tmp_path)
    assert ending.session_members(sleeper.pid, marker="X=1") is None
    reaper = threading.Thread(target=sleeper.wait)
    reaper.start()
    ending.end_processes(sleeper.pid, marker="X=1", grace_s=5)
    reaper.join(10)
    assert sleeper.returncode == -15
    ending.end_processes(sleeper.pid, marker="X=1", grace_s=0.1)
    ending.send_to_group(sleeper.pid, ending.signal.SIGTERM)


def test_ending_finds_the_session(sleeper: subprocess.Popen[bytes]) -> None:
    assert ending.session_members(sleeper.pid, marker="X=none") == (sleeper.pid,)
    start = time.monotonic()
    ending.end_processes(sleeper.pid, marker="X=none", grace_s=5)
    assert time.monotonic() - start < 4
    assert sleeper.wait(5) == -15


def test_a_system_without_groups_is_left_alone(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.delattr(os, "killpg")
        ending.end_processes(sleeper.pid, marker="X=none", grace_s=1)
    assert sleeper.poll() is None
    sleeper.kill()
    sleeper.wait()
