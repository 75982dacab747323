#!/usr/bin/env python3
"""A stand-in for ncu that behaves as a JSON file says: a real executable for tests of the process side.

The file named by FAKE_NCU holds an object:

* ``version``, ``log`` (text for --log-file), ``stderr_log`` (text for --log-file stderr), ``no_log`` (make no log
  file), ``stdout``, ``stderr`` (text), ``bytes`` (so many on stdout), ``exit``;
* ``run_target`` (run the program, as ncu would), ``hangs``, ``ignore_term``, ``children`` (leave processes behind:
  "group" or "session");
* ``refuse`` (metrics that it does not know; the log is written only without them);
* ``seen`` (a file that gets one JSON line per call: argv and what it saw of its environment).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def main() -> int:
    """Do what the file says."""
    says = json.loads(Path(os.environ["FAKE_NCU"]).read_text(encoding="utf-8"))
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        version = says.get("version", "2024.1.1")
        sys.stdout.write(f"NVIDIA (R) Nsight Compute Command Line Profiler\nVersion {version}.0 (build 1)\n")
        return 0
    if "seen" in says:
        record(Path(says["seen"]), arguments)
    if says.get("ignore_term"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    log = arguments[arguments.index("--log-file") + 1]
    refused = [
        name for name in says.get("refuse", []) if name in arguments[arguments.index("--metrics") + 1].split(",")
    ]
    text = "".join(f"==ERROR== Failed to find metric {name}\n" for name in refused) or says.get("log", "")
    if log == "stderr":
        sys.stderr.write(says.get("stderr_log", ""))
    elif not says.get("no_log"):
        Path(log).write_text(text, encoding="utf-8")
    sys.stderr.write(says.get("stderr", ""))
    sys.stderr.flush()
    sys.stdout.write(says.get("stdout", ""))
    sys.stdout.flush()
    write_much(says.get("bytes", 0))
    leave_children(says.get("children"))
    status = 0
    if says.get("run_target"):
        status = subprocess.run(arguments[target_at(arguments) :], check=False).returncode
    if says.get("hangs"):
        time.sleep(600)
    return int(says.get("exit", status))


def record(path: Path, arguments: list[str]) -> None:
    """Append what this call saw."""
    tmp = Path(os.environ["TMPDIR"])
    seen = {
        "argv": arguments,
        "env": {name: os.environ.get(name) for name in ("LC_ALL", "TMPDIR", "LANG")},
        "stock": os.environ.get("NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT"),
        "folder_mode": tmp.parent.stat().st_mode & 0o777,
        "tty": [os.isatty(number) for number in (0, 1, 2)],
    }
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(seen) + "\n")


def target_at(arguments: list[str]) -> int:
    """Where the program starts; every option that ncudiag gives except --csv takes one value."""
    at = 0
    while arguments[at].startswith("--"):
        at += 1 if arguments[at] == "--csv" else 2
    return at


def write_much(count: int) -> None:
    """Write so many bytes on stdout."""
    line = b"x" * 1023 + b"\n"
    for _ in range(count // 1024):
        os.write(1, line)


def leave_children(how: str | None) -> None:
    """Leave processes behind that outlive this one."""
    if how is not None:
        subprocess.Popen(["sleep", "600"], start_new_session=how == "session")


if __name__ == "__main__":
    sys.exit(main())
