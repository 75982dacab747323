"""Every error that ncudiag raises on purpose.

The tree::

    NcudiagError                 code, message, hint, details; a script catches this one
    ├── ReportError              the report cannot be read, or holds no (matching) kernel     exit status 3
    │   ├── KernelNameError      no kernel has this name, or several; a KeyError too
    │   ├── EmptyReportError     read to its end, no kernel in it; carries the lines that are not CSV
    │   └── BinaryReportError    a report file of ncu's own, which must be converted first; carries its bytes
    ├── ProfilingError           ncu or its target failed                                     exit status 4
    ├── ComparisonError          two reports cannot be compared                               exit status 5
    ├── UsageError               the call itself is wrong                                     exit status 2
    └── RuleFileError            a rule file is wrong                                         exit status 2

Codes are kebab case and stable; they are listed in :data:`ERROR_CODES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ErrorCode = Literal[
    "file-not-found",
    "not-an-ncu-report",
    "no-kernels",
    "binary-report",
    "ambiguous-numbers",
    "permission-denied",
    "counters-in-use",
    "driver-incompatible",
    "gpu-unsupported",
    "no-gpu",
    "ncu-not-found",
    "filter-no-match",
    "target-not-found",
    "application-failed",
    "replay-out-of-memory",
    "metric-not-found",
    "timeout",
    "lock-file",
    "platform-unsupported",
    "unsupported-workload",
    "clocks-not-lockable",
    "replay-mismatch",
    "output-not-writable",
    "ncu-failed",
    "csv-not-in-log",
    "rule-file",
    "not-comparable",
    "usage",
    "interrupted",
    "internal",
]

ERROR_CODES: tuple[ErrorCode, ...] = get_args(ErrorCode)

EXIT_OK = 0
EXIT_GATE_FAILED = 1
EXIT_USAGE = 2
EXIT_REPORT = 3
EXIT_PROFILING = 4
EXIT_NOT_COMPARABLE = 5
EXIT_INTERNAL = 70


class NcudiagError(Exception):
    """The base of all errors of this package.

    Attributes:
        code: the stable kebab-case code, one of :data:`ERROR_CODES`.
        message: one line that says what happened.
        hint: one or more sentences that say what to do next.
        details: further facts as plain JSON values (file, line, command, the tool's own lines, ...).
        exit_status: what the command line exits with.
    """

    exit_status: ClassVar[int] = EXIT_INTERNAL

    def __init__(
        self, code: ErrorCode, message: str, hint: str, *, details: Mapping[str, object] | None = None
    ) -> None:
        """Keep the parts; ``str(error)`` is the message alone."""
        super().__init__(message)
        self.code: ErrorCode = code
        self.message = message
        self.hint = hint
        self.details: dict[str, object] = dict(details or {})

    def __reduce__(self) -> tuple[object, ...]:
        """Errors travel between processes whole; an exception's own way would call the class with the message alone."""
        return _revived, (type(self), self.__dict__.copy())


def _revived(kind: type[NcudiagError], state: dict[str, object]) -> NcudiagError:
    error = kind.__new__(kind, state["message"])
    error.__dict__.update(state)
    return error


class ReportError(NcudiagError):
    """The report cannot be read, or holds no (matching) kernel."""

    exit_status = EXIT_REPORT


class KernelNameError(ReportError, KeyError):
    """No kernel of an answer has this name (``filter-no-match``), or more than one (``usage``)."""

    def __str__(self) -> str:
        """The message and the hint; a KeyError alone would show its argument in quotes."""
        return f"{self.message}. {self.hint}"


class EmptyReportError(ReportError):
    """The input was read to its end and holds no kernel.

    Attributes:
        lines: the lines of the input that are not CSV (ncu's own and the program's), in order, at most
            the first and the last two hundred; whoever knows ncu's messages can say more from them.
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        hint: str,
        *,
        lines: tuple[str, ...] = (),
        details: Mapping[str, object] | None = None,
    ) -> None:
        """Keep the lines beside the parts."""
        super().__init__(code, message, hint, details=details)
        self.lines = lines


class BinaryReportError(ReportError):
    """The input is a report file of ncu's own.

    Attributes:
        content: its bytes, piece by piece, for sources that cannot be opened a second time; uncompressed.
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        hint: str,
        *,
        content: Iterable[bytes] = (),
        details: Mapping[str, object] | None = None,
    ) -> None:
        """Keep the bytes beside the parts."""
        super().__init__(code, message, hint, details=details)
        self.content = content


class ProfilingError(NcudiagError):
    """Nsight Compute or the program under it failed."""

    exit_status = EXIT_PROFILING


class ComparisonError(NcudiagError):
    """Two reports cannot be compared."""

    exit_status = EXIT_NOT_COMPARABLE


class UsageError(NcudiagError):
    """The call itself is wrong: an option, an argument, an output path."""

    exit_status = EXIT_USAGE


class RuleFileError(NcudiagError):
    """A rule file does not fit the schema; the message carries its file and key path."""

    exit_status = EXIT_USAGE


def internal_error(error: BaseException) -> NcudiagError:
    """An exception that nobody expected, as an error of ours."""
    return NcudiagError(
        "internal",
        f"{type(error).__name__}: {error}" if str(error) else type(error).__name__,
        "This is a bug in ncudiag; please report it with the command and, if you may, its input. "
        "NCUDIAG_DEBUG=1 in the environment shows where it happened.",
    )
