"""What one machine does with one report: read it where it is, diagnose it, put its part into the data set.

Doing it again gives the same file under the same name, so a scheduler may try as often as it likes: a report whose
machine dies in the middle is done by another one, and none counts twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ncudiag._version import __version__
from ncudiag.errors import EXIT_OK, NcudiagError, UsageError, internal_error
from ncudiag.fleet.finished import digest, options_digest
from ncudiag.fleet.labels import label_of
from ncudiag.fleet.storage import Folder, opened, protocol_of
from ncudiag.fleet.tables import ERRORS, KERNELS, error_row, kernel_rows, parquet, state_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.fleet.storage import Input
    from ncudiag.report.document import Report

Status = Literal["written", "kept", "failed"]
_PREFIX, _SUFFIX = "part-", ".parquet"


class Outcome(NamedTuple):
    """What came of one report.

    Attributes:
        source: the report.
        status: written, kept from an earlier call, or failed.
        kernels: rows in its part.
        state: what the part was made from.
        error: why it failed.
    """

    source: Input
    status: Status
    kernels: int
    state: str
    error: NcudiagError | None = None

    @property
    def exit_status(self) -> int:
        """Of this report alone."""
        return EXIT_OK if self.error is None else self.error.exit_status


@dataclass(frozen=True)
class Job:
    """What is done with every report of a call.

    Attributes:
        dataset: where the parts go.
        options: as :func:`ncudiag.diagnose` takes them.
        run_label: as :func:`ncudiag.fleet.labels.label_of` takes it.
        known: keys of parts that may be kept; empty without ``--resume``.
        version: of the ncudiag that started the call.
    """

    dataset: Folder
    options: Mapping[str, Any] = field(default_factory=dict)
    run_label: str | None = None
    known: frozenset[str] = frozenset()
    version: str = __version__

    def state(self, source: Input) -> str:
        """What the part of a report is made from: the report's content, all options, and the version."""
        options = {**self.options, "run_label": self.run_label, "version": self.version}
        return digest(source.state, source.name, source.root, options_digest(options))


def part_of(key: str) -> str:
    """The name of a report's part in its table's folder."""
    return f"{_PREFIX}{key}{_SUFFIX}"


def key_of_part(name: str) -> str | None:
    """The other way round; None for a file that is no part."""
    if not name.startswith(_PREFIX) or not name.endswith(_SUFFIX):
        return None
    return name.removeprefix(_PREFIX).removesuffix(_SUFFIX)


def explain_one(job: Job, source: Input) -> Outcome:
    """Diagnose one report and write its part; a report that cannot be diagnosed becomes a row of the errors.

    Raises:
        OSError: the store did not answer; worth another try.
        UsageError: this machine has another version of ncudiag.
    """
    if job.version != __version__:
        raise UsageError(
            "usage",
            f"a worker has ncudiag {__version__}, this call {job.version}",
            "Install the same version everywhere: the rules differ, and so would the answers.",
        )
    state = job.state(source)
    if source.key in job.known:
        kernels = _kept(job, source, state)
        if kernels is not None:
            return Outcome(source, "kept", kernels, state)
    try:
        report = _report(job, source)
    except NcudiagError as error:
        return failed(job, source, error)
    except (OSError, MemoryError):
        # Of the store, or of a machine with too little memory: another try, elsewhere, may work.
        raise
    except Exception as error:  # noqa: BLE001 - a bug that one report shows is that report's error
        return failed(job, source, internal_error(error))
    records = kernel_rows(report, source, label_of(source.name, root=source.root, run_label=job.run_label))
    # In this order: whatever happens in between, no report counts in both tables.
    job.dataset.delete(f"{ERRORS}/{part_of(source.key)}")
    job.dataset.write(f"{KERNELS}/{part_of(source.key)}", parquet(KERNELS, records, state=state))
    return Outcome(source, "written", len(records), state)


def failed(job: Job, source: Input, error: NcudiagError) -> Outcome:
    """Write the row of a report that cannot be diagnosed; numbers of an earlier time go away."""
    state = job.state(source)
    row = error_row(error, source, label_of(source.name, root=source.root, run_label=job.run_label))
    job.dataset.write(f"{ERRORS}/{part_of(source.key)}", parquet(ERRORS, [row], state=state))
    job.dataset.delete(f"{KERNELS}/{part_of(source.key)}")
    return Outcome(source, "failed", 0, state, error)


def _kept(job: Job, source: Input, state: str) -> int | None:
    """The rows of the part that is there, if it was made from the same."""
    try:
        with job.dataset.open(f"{KERNELS}/{part_of(source.key)}") as file:
            before, kernels = state_of(file)
    except FileNotFoundError:
        return None
    return kernels if before == state else None


def _report(job: Job, source: Input) -> Report:
    from ncudiag.api import diagnose

    if protocol_of(source.url) == "file":
        report = diagnose(source.url.removeprefix("file://"), name=source.name, **job.options)
    else:
        fs, path = opened(source.url)
        with fs.open(path, "rb") as file:
            report = diagnose(file, name=source.name, **job.options)
    return report
