"""Runs tests inside this process, as pytest would: once to see which lines each covers, then once per mutant."""

from __future__ import annotations

import os
import pickle
import resource
import signal
import sys
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import coverage
import pytest
from hypothesis import Phase, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ROOT = Path(__file__).resolve().parents[2]
_TESTS = (
    *("diagnose", "derived", "reading", "rulebook", "regressions", "roofline", "compare", "samples", "gate"),
    *("test_api.py", "test_units.py", "test_metric_row.py", "test_sides.py"),
)
TESTS = [str(ROOT / "tests" / name) for name in _TESTS]
OPTIONS = [
    *[
        "-q",
        "-q",
        "--tb=no",
        "--no-header",
        "-x",
        "--capture=fd",
        f"--rootdir={ROOT}",
        "-c",
        str(ROOT / "pyproject.toml"),
    ],
    # Without what lies beside the checkout: a mutant that only a published report kills deserves a test of its own.
    *["-W", "ignore::pytest.PytestAssertRewriteWarning"],
    *["-m", "not real_ncu and not shared and not slow"],
    *["-n0", "-p", "no:cov", "-p", "no:benchmark", "-p", "no:cacheprovider", "-p", "no:randomly"],
]
EXAMPLES = 12
LONGEST_TEST = 6.0  # seconds; there is a narrower test for what a longer one finds
MEMORY = 6 * 2**30


@dataclass
class Covered:
    """What the tests did when nothing was changed."""

    seconds: dict[str, float] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    lines: dict[str, dict[int, set[str]]] = field(default_factory=dict)
    at_import: dict[str, set[int]] = field(default_factory=dict)

    def tests_of(self, path: Path, lines: Iterable[int], *, budget: float) -> list[str]:
        """The tests of these lines, nearest first and then the quickest first; budget in seconds."""
        by_line = self.lines.get(str(path), {})
        return self._within(set().union(*(by_line.get(line, set()) for line in lines)), path, budget)

    def nearest(self, path: Path, *, budget: float) -> list[str]:
        """The quickest tests of a package's folder, for code that no test runs by itself."""
        folder = f"tests/{path.parts[-2]}/"
        return self._within({test for test in self.seconds if test.startswith(folder)}, path, budget)

    def _within(self, found: set[str], path: Path, budget: float) -> list[str]:
        folder = f"tests/{path.parts[-2]}/"
        # text_table.py is tested by test_text_page.py, memory_levels.py by test_memory_metrics.py.
        first = (f"{folder}test_{path.stem.partition('_')[0]}", _GOLDENS)
        usable = [test for test in found if test in self.seconds and test not in self.left_out]
        usable.sort(key=lambda test: (not test.startswith(first), not test.startswith(folder), self.seconds[test]))
        chosen, total = [], 0.0
        for test in usable:
            total += self.seconds[test]
            if total > budget and not test.startswith(first):
                break
            chosen.append(test)
        return chosen


# What whole reports must look like, to the last number; a second of tests that many mutants do not survive.
_GOLDENS = "tests/samples/test_samples.py::test_golden_report_is_current"


class Session:
    """A pytest plugin: collects, then hands the tests to `work` instead of running them."""

    def __init__(self, work: Callable[[pytest.Session, dict[str, pytest.Item]], None]) -> None:
        """Remember what to do with the tests."""
        self._work = work

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Do that instead of running every test once."""
        for item in session.items:
            _few_examples(item)
        self._work(session, {item.nodeid: item for item in session.items})
        return True


def _few_examples(item: pytest.Item) -> None:
    """The same few examples every time, and no search for a smaller one: a mutant is killed by any."""
    function = getattr(getattr(item, "obj", None), "__func__", getattr(item, "obj", None))
    given = getattr(function, "_hypothesis_internal_use_settings", None)
    if given is not None:
        function._hypothesis_internal_use_settings = settings(
            given,
            max_examples=min(given.max_examples, EXAMPLES),
            derandomize=True,
            database=None,
            deadline=None,
            phases=(Phase.explicit, Phase.generate),
        )


def first_failure(session: pytest.Session, items: list[pytest.Item]) -> str | None:
    """Run tests in this process up to the first that fails; its name."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return item.nodeid
    return None


def measure(session: pytest.Session, items: dict[str, pytest.Item], forget: Callable[[], None]) -> Covered:
    """Run every test with coverage, each as a context of its own and without what the one before had computed."""
    covered = Covered()
    cov = coverage.Coverage(data_file=None, config_file=False, include=[str(ROOT / "ncudiag" / "*")])
    started: list[str] = []
    sys.addaudithook(lambda event, _: started.append(event) if event in _PROCESSES else None)
    todo = list(items.values())
    cov.start()
    for item, following in zip(todo, [*todo[1:], None], strict=True):
        cov.switch_context(item.nodeid)
        forget()
        started.clear()
        before, failed = time.perf_counter(), session.testsfailed
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        covered.seconds[item.nodeid] = seconds = time.perf_counter() - before
        if session.testsfailed > failed:
            covered.left_out[item.nodeid] = "fails without a change"
        elif started:
            covered.left_out[item.nodeid] = "starts a process"
        elif seconds > LONGEST_TEST:
            covered.left_out[item.nodeid] = "takes too long"
    cov.stop()
    data = cov.get_data()
    for path in data.measured_files():
        covered.lines[path] = {
            line: {name for name in names if name} for line, names in data.contexts_by_lineno(path).items()
        }
    return covered


_PROCESSES = {"subprocess.Popen", "os.fork", "os.posix_spawn", "os.exec"}


def in_fork(work: Callable[[], object], *, seconds: float, silent: bool = True) -> tuple[object, str]:
    """What `work` returns in a copy of this process, and how that ended: done, timeout or crash."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reader)
            silence = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2) if silent else (0,):
                os.dup2(silence, number)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, seconds)
            if silent:
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            with os.fdopen(writer, "wb") as pipe:
                pickle.dump(work(), pipe)
            status = 0
        except Exception:  # noqa: BLE001 # whatever it is, it ends this fork
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return None, "timeout" if os.WTERMSIG(status) == signal.SIGALRM else "crash"
    return (pickle.loads(answer), "done") if answer and status == 0 else (None, "crash")  # noqa: S301 # our own fork's
