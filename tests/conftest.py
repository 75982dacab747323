"""Fixtures that all tests share."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# Machines differ and are shared: how long one example takes says nothing about the code.
settings.register_profile("ncudiag", deadline=None)
settings.load_profile("ncudiag")

# A shell that starts the tests in the background lets interrupts be ignored, and the programs under test inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with handed cases, real reports and the real ncu; loud when it is not there."""
    if not SHARED.is_dir():
        message = f"{SHARED.name}/ is not beside the checkout: cases and real reports are NOT tested"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return SHARED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the snippets of the documents and what became of each; in CI this is the record of what was run."""
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    shown = sorted({str(value) for report in reports for key, value in report.user_properties if key == "snippet"})
    if shown:
        terminalreporter.section("snippets of the documents")
        for line in shown:
            terminalreporter.write_line(line)
