"""What the gates of one call found: told on standard error, and written for CI systems."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ncudiag.cli.output import check_output, tell_failed, write_lines, write_text
from ncudiag.errors import EXIT_GATE_FAILED, EXIT_OK, NcudiagError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ncudiag.cli.many import Answer
    from ncudiag.compare.comparison import Comparison
    from ncudiag.diagnose.checks import Check, Gate
    from ncudiag.gate.gates import Budget
    from ncudiag.report.document import Report
    from ncudiag.report.junit import Suite


class Annotate(StrEnum):
    """For whom to annotate."""

    GITHUB = "github"


class GateOutputs(NamedTuple):
    """Where the answers go besides the report itself.

    Attributes:
        junit: the file for JUnit XML.
        sarif: the file for SARIF.
        annotate: whose workflow commands to write.
        alone: whether standard output carries no document that nothing may be mixed into.
    """

    junit: str | None = None
    sarif: str | None = None
    annotate: Annotate | None = None
    alone: bool = True

    @property
    def about_findings(self) -> bool:
        """Whether anything is told about findings, for which whole reports are needed."""
        return self.sarif is not None or self.annotate is not None

    def check(self, others: Iterable[str], *, gated: bool, resume: bool = False) -> None:
        """Fail early where a file cannot be written, or there is nothing to write into it.

        Args:
            others: files that the call reads or writes already.
            gated: whether anything is checked.
            resume: whether answers of an earlier call stand for some inputs.

        Raises:
            UsageError: ``output-not-writable`` or ``usage``.
        """
        taken = list(others)
        for option, name in (("--junit", self.junit), ("--sarif", self.sarif)):
            if name == "-":  # as --output writes to standard output
                raise UsageError(
                    "usage", f"{option} - is no file: standard output is the answer's", f"Name a file behind {option}."
                )
            check_output(name, taken, option=option)
            taken += [] if name is None else [name]
        if resume and (self.junit is not None or self.about_findings):
            message = "--resume leaves out inputs that --junit, --sarif and --annotate would have to tell about"
            raise UsageError("usage", message, "Leave out --resume, or the others.")
        if self.junit is not None and not gated:
            message = "--junit has nothing to report: no gate was asked for"
            raise UsageError("usage", message, "Add --fail-on 'dram_pct<80', or a [[budget]] to ncudiag.toml.")


NOTHING = GateOutputs()


@dataclass(slots=True)
class GateRecord:
    """The gates of the inputs of one call, noted as the answers come.

    Attributes:
        outputs: where the answers go.
        budgets: those that were split off because several inputs are meant together.
        results: what was noted, input by input.
    """

    outputs: GateOutputs = NOTHING
    budgets: tuple[Budget, ...] = ()
    results: list[tuple[str, Report | NcudiagError]] = field(default_factory=list)

    def watched(self, answers: Iterable[Answer]) -> Iterator[Answer]:
        """Hand the answers on and note them."""
        for answer in answers:
            self.note(answer.name, answer.report if answer.error is None else answer.error)
            yield answer

    def note(self, name: str, result: Report | NcudiagError | None) -> None:
        """Note one answer, as far as it is needed later."""
        if isinstance(result, NcudiagError):
            self.results.append((name, result))
            return
        report = None if result is None else kept(result, whole=self.outputs.about_findings)
        if report is not None:
            self.results.append((name, report))

    def finish(self) -> int:
        """Tell and write everything.

        Returns:
            The exit status as far as the gates decide it.

        Raises:
            UsageError: a file cannot be written (``output-not-writable``).
        """
        several = len(self.results) > 1
        absent = self._absent()
        gates = [(name, gate) for name, gate in self._gates() if not gate.passed]
        for name, gate in gates:
            for check in gate.not_passed:
                _tell(check, name if several else None)
        for check in absent:
            _tell(check, None)
        self._write(absent)
        return EXIT_GATE_FAILED if gates or absent else EXIT_OK

    def _gates(self) -> Iterator[tuple[str, Gate]]:
        for name, result in self.results:
            if not isinstance(result, NcudiagError) and result.gate is not None:
                yield name, result.gate

    def _absent(self) -> tuple[Check, ...]:
        """The budgets that no input has a kernel for, where several inputs are meant together."""
        if not self.budgets:
            return ()
        from ncudiag.gate.gates import absent_check

        met = {check.budget for _, gate in self._gates() for check in gate.checks}
        missed = (budget for budget in self.budgets if budget.kernel not in met)
        return tuple(absent_check(budget.kernel, (), where="the reports") for budget in missed)

    def _write(self, absent: Sequence[Check]) -> None:
        """The files and the workflow commands that were asked for."""
        reports = [result for _, result in self.results if not isinstance(result, NcudiagError)]
        if self.outputs.annotate is not None:
            lines = _annotations(self.results, absent)
            write_lines(lines, to_stderr=not self.outputs.alone)
        if self.outputs.junit is not None:
            from ncudiag.report.junit import render_junit

            write_text(render_junit(self._suites(absent)), output=self.outputs.junit)
        if self.outputs.sarif is not None:
            from ncudiag._version import __version__
            from ncudiag.report.sarif import render_sarif

            write_text(render_sarif(reports, version=__version__, exists=in_project), output=self.outputs.sarif)

    def _suites(self, absent: Sequence[Check]) -> list[Suite]:
        from ncudiag.diagnose.checks import gate_of
        from ncudiag.report.junit import Suite

        suites = [
            Suite(name, result, {}) if isinstance(result, NcudiagError) else _suite(name, result)
            for name, result in self.results
        ]
        return [*suites, Suite("budgets", gate_of(tuple(absent)), {})] if absent else suites


def record_for(
    outputs: GateOutputs, budgets: tuple[Budget, ...], *, inputs: int, filtered: bool
) -> tuple[GateRecord, tuple[Budget, ...]]:
    """The record of a call, and the budgets for each single report.

    Args:
        outputs: where the answers go.
        budgets: those of the settings.
        inputs: how many reports are explained.
        filtered: whether the user selected kernels.
    """
    if inputs < 2 or not budgets:  # noqa: PLR2004 - one input speaks for itself
        return GateRecord(outputs), budgets
    # Each report may hold other kernels: a budget has to be met by one of them. With --kernel it may be about a
    # kernel that was left out.
    must = [budget for budget in budgets if budget.about_report and not (budget.optional or filtered)]
    each = tuple(budget.model_copy(update={"optional": True}) for budget in budgets)
    return GateRecord(outputs, tuple(must)), each


@contextmanager
def telling(outputs: GateOutputs, name: str) -> Iterator[None]:
    """What cannot be explained or compared is told to the CI system too, and stays an error.

    Args:
        outputs: where it is told.
        name: what the inputs are called.
    """
    try:
        yield
    except UsageError:
        raise
    except NcudiagError as error:
        record = GateRecord(outputs)
        record.note(name, error)
        record.finish()
        raise


def finish_comparison(outputs: GateOutputs, comparison: Comparison) -> int:
    """Tell and write what the gate of a comparison found.

    Returns:
        The exit status as far as the gate decides it.

    Raises:
        UsageError: a file cannot be written (``output-not-writable``).
    """
    gate = comparison.gate
    if gate is not None:
        for check in gate.not_passed:
            _tell(check, None)
    if outputs.annotate is not None:
        from ncudiag.report.annotations import pair_annotations

        write_lines(pair_annotations(gate), to_stderr=not outputs.alone)
    if outputs.junit is not None:
        from ncudiag.diagnose.checks import gate_of
        from ncudiag.report.junit import Suite, render_junit

        sides = {"before": comparison.before.path, "after": comparison.after.path, "ncudiag": comparison.tool.version}
        suite = Suite(f"{sides['before']} against {sides['after']}", gate_of(()) if gate is None else gate, sides)
        write_text(render_junit([suite]), output=outputs.junit)
    return EXIT_OK if gate is None or gate.passed else EXIT_GATE_FAILED


def is_gated(options: Mapping[str, Any]) -> bool:
    """Whether options of :func:`ncudiag.diagnose` ask for any check."""
    return bool(options.get("fail_on")) or any(budget.about_report for budget in options.get("budgets", ()))


def gate_status(report: Report) -> int:
    """The exit status as far as the gate of a report decides it."""
    return EXIT_OK if report.gate is None or report.gate.passed else EXIT_GATE_FAILED


def kept(report: Report, *, whole: bool) -> Report | None:
    """What has to be known of a report when it is written: all of it, what its gate found, or nothing."""
    if whole:
        return report
    return None if report.gate is None else report.model_copy(update={"kernels": (), "focus": ()})


def in_project(path: str) -> bool:
    """Whether a relative path is a file below the current folder."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def _tell(check: Check, name: str | None) -> None:
    from ncudiag.report.gate_words import line

    tell_failed(f"{name}: {line(check)}" if name is not None else line(check))


def _annotations(results: Iterable[tuple[str, Report | NcudiagError]], absent: Sequence[Check]) -> list[str]:
    from ncudiag.diagnose.checks import gate_of
    from ncudiag.report.annotations import command, github_annotations

    lines: list[str] = []
    for name, result in results:
        if isinstance(result, NcudiagError):
            lines.append(command("error", f"{result.message}. {result.hint}", title=f"ncudiag: {name}"))
        else:
            lines += github_annotations(result.gate, result.kernels, exists=in_project)
    return lines + github_annotations(gate_of(tuple(absent)), (), exists=in_project)


def _suite(name: str, report: Report) -> Suite:
    from ncudiag.diagnose.checks import gate_of
    from ncudiag.report.junit import Suite

    gate = gate_of(()) if report.gate is None else report.gate
    source = report.source
    return Suite(
        name,
        gate,
        {
            "ncudiag": report.tool.version,
            "ncu": source.ncu_version,
            "format": source.format,
            "thresholds": f"high {report.thresholds.high:g}, saturated {report.thresholds.saturated:g}",
        },
    )
