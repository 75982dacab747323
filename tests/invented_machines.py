"""Invented machines for the doctor: a folder as the root of the file system, with tools that answer as told."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ncudiag.ncu.doctor_check import Place
from ncudiag.ncu.doctor_counter import METRIC

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

H100 = {"name": "NVIDIA H100 80GB HBM3", "compute_capability": "9.0", "sm_count": 132}
WORKS = {"cuda": "13.0", "gpus": [H100]}
NO_LIBRARY = {"step": "load", "error": "libcuda.so.1: cannot open shared object file"}
CHIPS = "ad102, ga100, ga102, gh100, gv100, tu102"
COLUMNS = '"ID","Process ID","Kernel Name","CC"'
EVERY_RIGHT = "CapEff:\t000001ffffffffff\n"


def page(value: str) -> str:
    """A raw page with the counter, between ncu's own lines."""
    return (
        "==PROF== Connected to process 41 (/usr/bin/python3)\n"
        f'{COLUMNS},"{METRIC}"\n"","","","","inst"\n"0","41","ncudiag_probe","9.0","{value}"\n'
    )


@dataclass
class Invented:
    """A machine whose parts can be put in place one by one.

    Attributes:
        root: where its file system starts.
        env: its environment variables.
    """

    root: Path
    env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make the folders that every machine has."""
        for name in ("bin", "tmp", "home/alice", "proc/self", "cwd"):
            (self.root / name).mkdir(parents=True)
        self.env |= {"PATH": str(self.root / "bin"), "TMPDIR": str(self.root / "tmp"), "USER": "alice"}

    @property
    def home(self) -> Path:
        """The user's home folder."""
        return self.root / "home/alice"

    @property
    def place(self) -> Place:
        """Where the doctor looks."""
        return Place(env=self.env, root=self.root, cwd=self.root / "cwd", home=self.home)

    def file(self, name: str, text: str = "") -> Path:
        """Put a file below the root."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def program(self, name: str, python: str) -> str:
        """Put a program into place; it is Python with ``arguments`` for its command line."""
        head = f"#!{sys.executable} -I\nimport json, os, subprocess, sys, time\narguments = sys.argv[1:]\n"
        path = self.file(name, head + python)
        path.chmod(0o755)
        return str(path)

    def ncu(
        self, *, version: str = "2024.1.1", chips: str = CHIPS, log: str = "", out: str = "", then: str = ""
    ) -> str:
        """Put an ncu on PATH: what it lists, what it writes into its log and on standard output."""
        return self.program(
            "bin/ncu",
            f"""
if arguments == ["--version"]:
    print("Version {version}.0 (build 1)")
elif arguments == ["--list-chips"]:
    print({chips!r})
else:
    seen = {{"arguments": arguments, "env": dict(os.environ)}}
    open({str(self.root / "seen.json")!r}, "w").write(json.dumps(seen))
    log = {log!r}
    if log:
        open(arguments[arguments.index("--log-file") + 1], "w").write(log)
    sys.stdout.write({out!r})
    sys.stdout.flush()
    {then or "pass"}
""",
        )

    def seen(self) -> dict[str, object]:
        """How ncu was called to read the counter."""
        whole: dict[str, object] = json.loads((self.root / "seen.json").read_text(encoding="utf-8"))
        return whole

    def probe(self, says: object = WORKS, *, python: str = "") -> Sequence[str]:
        """A program that stands for the kernel."""
        return (self.program("bin/probe", python or f"print(json.dumps({says!r}))"),)

    def nvidia_smi(self, rows: str | None, *, fields: int = 4, header: str = "") -> None:
        """Put an nvidia-smi on PATH that knows so many fields."""
        self.program(
            "bin/nvidia-smi",
            f"""
if not arguments:
    print({header!r})
elif {rows!r} is None or arguments[0].count(",") + 1 != {fields}:
    sys.exit("Field is not a valid field to query")
else:
    print({rows!r})
""",
        )

    def driver(
        self, version: str = "580.95.05", *, restricted: int | None = 0, capabilities: str = EVERY_RIGHT
    ) -> None:
        """Put the driver's files into place."""
        self.file("proc/driver/nvidia/version", f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {version}  Mon\n")
        if restricted is not None:
            self.file("proc/driver/nvidia/params", f"EnableMSI: 1\nRmProfilingAdminOnly: {restricted}\n")
        self.file("proc/self/status", f"Name:\tpython\n{capabilities}")

    def process(self, number: int, name: str) -> None:
        """Let a program run."""
        self.file(f"proc/{number}/comm", f"{name[:15]}\n")
