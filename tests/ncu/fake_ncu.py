#!/usr/bin/env python3
"""A stand-in for ncu that behaves as a JSON file says: a real executable for tests of the process side.

The file named by FAKE_NCU holds an object:

* ``version``, ``log`` (what ncu says, with the table that it would print: the table goes into the report where one is
  asked for with -o, and stands in the log file else), ``details`` (the details page of the report);
* ``stderr_log`` (text for --log-file stderr), ``no_log`` (make no log file), ``stdout``, ``stderr`` (text), ``bytes``
  (so many on stdout), ``exit``;
* ``no_export`` (refuse to write a report), ``no_report`` (write none, without a word), ``import_exit``, ``import_says``
  (the end of --import, and what it says on stderr), ``details_exit`` (the same for the details page alone);
* ``run_target`` (run the program, as ncu would), ``hangs``, ``saves`` (write the report when interrupted),
  ``ignore_term``, ``children`` (leave processes behind: "group" or "session"), ``dies`` (by this signal);
* ``refuse`` (metrics that it does not know; the log is written only without them);
* ``rank_log`` (the log by MPI rank, in place of ``log``);
* ``seen`` (a file that gets one JSON line per call: argv and what it saw of its environment).
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

FLAGS = {"--csv", "-f", "--nvtx"}
HEADER = re.compile(r'^"?(?:ID|Process ID)"?,', re.MULTILINE)


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
    if "--import" in arguments:
        return print_report(says, arguments)
    if says.get("ignore_term"):
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
    try:
        return profile(says, arguments)
    except KeyboardInterrupt:
        if says.get("saves"):
            write_report(says, arguments, text_of(says))
        return 130


def profile(says: dict[str, Any], arguments: list[str]) -> int:
    """Behave like a run that profiles."""
    text = text_of(says)
    metrics = value_of(arguments, "--metrics") or ""
    refused = [name for name in says.get("refuse", []) if name in metrics.split(",")]
    text = "".join(f"==ERROR== Failed to find metric {name}\n" for name in refused) or text
    exporting = value_of(arguments, "-o") is not None
    if exporting and says.get("no_export"):
        text = "==ERROR== Unable to write to file x.ncu-rep. Please verify this file is not locked, and writable.\n"
    write_log(says, arguments, text)
    sys.stderr.write(says.get("stderr", ""))
    sys.stderr.flush()
    sys.stdout.write(says.get("stdout", ""))
    sys.stdout.flush()
    write_much(says.get("bytes", 0))
    leave_children(says.get("children"))
    if exporting and says.get("no_export"):
        return 1
    status = 0
    if says.get("run_target"):
        status = subprocess.run(arguments[target_at(arguments) :], check=False).returncode
    if says.get("hangs"):
        time.sleep(600)
    write_report(says, arguments, text)
    if "dies" in says:
        os.kill(os.getpid(), says["dies"])
    return int(says.get("exit", status))


def text_of(says: dict[str, Any]) -> str:
    """What this rank says, table included."""
    return str(says["rank_log"][os.environ["OMPI_COMM_WORLD_RANK"]] if "rank_log" in says else says.get("log", ""))


def table_at(text: str) -> int:
    """Where the table starts."""
    found = HEADER.search(text)
    return found.start() if found else len(text)


def write_log(says: dict[str, Any], arguments: list[str], text: str) -> None:
    """The log file: ncu's words, and the table where there is no report."""
    log = value_of(arguments, "--log-file") or "stdout"
    if log == "stderr":
        sys.stderr.write(says.get("stderr_log", ""))
        return
    if says.get("no_log"):
        return
    if value_of(arguments, "-o") is not None and not says.get("table_in_log"):
        lines = text[table_at(text) :].splitlines(keepends=True)
        text = text[: table_at(text)] + "".join(line for line in lines if line.startswith("=="))
    Path(log).write_text(text, encoding="utf-8")


def write_report(says: dict[str, Any], arguments: list[str], text: str) -> None:
    """The report, as ncu writes it when kernels were profiled."""
    path = value_of(arguments, "-o")
    table = text[table_at(text) :]
    if path is None or not table or says.get("no_report") or says.get("table_in_log"):
        return
    table = "".join(line for line in table.splitlines(keepends=True) if not line.startswith("=="))
    Path(path).write_text(json.dumps({"raw": table, "details": says.get("details", "")}), encoding="utf-8")


def print_report(says: dict[str, Any], arguments: list[str]) -> int:
    """--import: a page of a report that exists."""
    sys.stderr.write(says.get("import_says", ""))
    if says.get("import_exit"):
        return int(says["import_exit"])
    if says.get("details_exit") and value_of(arguments, "--page") == "details":
        return int(says["details_exit"])
    pages = json.loads(Path(value_of(arguments, "--import") or "").read_text(encoding="utf-8"))
    sys.stdout.write(pages[value_of(arguments, "--page") or "details"])
    return 0


def value_of(arguments: list[str], option: str) -> str | None:
    """The value of an option of ncu's."""
    return arguments[arguments.index(option) + 1] if option in arguments else None


def record(path: Path, arguments: list[str]) -> None:
    """Append what this call saw."""
    tmp = Path(os.environ["TMPDIR"])
    seen = {
        "argv": arguments,
        "env": {name: os.environ.get(name) for name in ("LC_ALL", "TMPDIR", "LANG", "NCUDIAG_RUN")},
        "stock": os.environ.get("NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT"),
        "folder_mode": tmp.parent.stat().st_mode & 0o777,
        "tty": [os.isatty(number) for number in (0, 1, 2)],
    }
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(seen) + "\n")


def target_at(arguments: list[str]) -> int:
    """Where the program starts."""
    at = 0
    while arguments[at].startswith("-"):
        at += 1 if arguments[at] in FLAGS else 2
    return at


def write_much(count: int) -> None:
    """Write so many bytes on stdout."""
    block = (b"x" * 1023 + b"\n") * 64
    for _ in range(count // len(block)):
        os.write(1, block)


def leave_children(how: str | None) -> None:
    """Leave processes behind that outlive this one."""
    if how is not None:
        subprocess.Popen(["sleep", "600"], start_new_session=how == "session")


if __name__ == "__main__":
    sys.exit(main())
