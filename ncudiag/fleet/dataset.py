"""A data set: tables in parts, one part for each report, and a manifest of what is in them.

::

    dataset/
      kernels/part-<key>.parquet    a row for each kernel of one report
      errors/part-<key>.parquet     one row: why there is no such report
      manifest.json                 written at the end of each call

A key is a digest of the report's place, so a call with further reports adds to the data set and one with the same
reports replaces them.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ncudiag._version import __version__
from ncudiag.fleet.labels import label_of
from ncudiag.fleet.storage import reachable
from ncudiag.fleet.tables import ERRORS, KERNELS
from ncudiag.fleet.task import key_of_part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ncudiag.fleet.storage import Folder
    from ncudiag.fleet.task import Job, Outcome

MANIFEST = "manifest.json"
MANIFEST_VERSION = "1.0"


def keys(dataset: Folder, table: str) -> frozenset[str]:
    """The keys of the parts that a table has.

    Raises:
        UsageError: the store does not answer.
    """
    with reachable(dataset.url):
        found = (key_of_part(name) for name in dataset.names(table))
        return frozenset(key for key in found if key is not None)


def read_manifest(dataset: Folder) -> dict[str, Any] | None:
    """The manifest; None where there is none that can be read.

    Raises:
        UsageError: the store does not answer.
    """
    with reachable(dataset.url):
        content = dataset.read(MANIFEST)
    try:
        manifest = json.loads(content or b"null")
    except ValueError:
        return None
    return manifest if isinstance(manifest, dict) and isinstance(manifest.get("reports"), dict) else None


class Manifest:
    """Follows a call, and is written at its end."""

    def __init__(self, job: Job) -> None:
        """Begin with what the data set has already."""
        self._job = job
        self._reports: dict[str, Any] = dict((read_manifest(job.dataset) or {}).get("reports", {}))
        self.counts: Counter[str] = Counter()
        self.kernels = 0
        self.exit_status = 0

    def following(self, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
        """The same outcomes, noted."""
        for outcome in outcomes:
            source = outcome.source
            self._reports[source.key] = {
                "input": source.name,
                "run": label_of(source.name, root=source.root, run_label=self._job.run_label).run,
                "status": "failed" if outcome.error else "ok",
                "kernels": outcome.kernels,
                "state": outcome.state,
            }
            self.counts[outcome.status] += 1
            self.kernels += outcome.kernels
            self.exit_status = max(self.exit_status, outcome.exit_status)
            yield outcome

    def write(self) -> None:
        """Write it; reports whose parts somebody took away are left out.

        Raises:
            UsageError: the store does not answer.
        """
        dataset = self._job.dataset
        there = keys(dataset, KERNELS) | keys(dataset, ERRORS)
        document = {
            "schema_version": MANIFEST_VERSION,
            "tool": {"name": "ncudiag", "version": __version__},
            "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "reports": {key: entry for key, entry in sorted(self._reports.items()) if key in there},
        }
        with reachable(dataset.url):
            dataset.write(MANIFEST, (json.dumps(document, indent=1) + "\n").encode())
