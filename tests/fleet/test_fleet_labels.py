"""What a report's path says about its run and its time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ncudiag.errors import UsageError
from ncudiag.fleet.labels import captured_at, check_run_label, label_of


@pytest.mark.parametrize(
    ("name", "root", "run_label", "run", "report"),
    [
        ("runs/2026-11-01/rank3.csv", "runs/", None, "2026-11-01", "rank3.csv"),
        ("runs/7/deep/rank3.csv.gz", "runs/", None, "7", "deep/rank3.csv.gz"),
        ("runs/nightly-7.csv.gz", "runs/", None, "nightly-7", ""),
        ("s3://bucket/ci/7/a.csv", "s3://bucket/ci/", None, "7", "a.csv"),
        ("runs/main/2026-11-01/gpu0/a.csv", "runs/", None, "main/2026-11-01", "gpu0/a.csv"),
        ("runs/2026-11-01/rank3.csv", "runs/2026-11-01/", None, "2026-11-01", "rank3.csv"),
        ("runs/2026-11-01/b7/a.csv", "runs/2026-11-01/", None, "b7", "a.csv"),
        ("runs/nightly-20261101-rank3.csv", "runs/", None, "20261101", "nightly-*-rank3.csv"),
        ("runs/nightly-20260231.csv", "runs/", None, "nightly-20260231", ""),
        ("a.csv", "", None, "a", ""),
        ("runs/7/a.csv", "runs/", "main", "main", "7/a.csv"),
        ("ci/build-12/a.csv", "ci/", "regex:build-([0-9]+)", "12", "ci/build-*/a.csv"),
        ("ci/build-12/a.csv", "ci/", "regex:build-[0-9]+", "build-12", "ci/*/a.csv"),
        ("ci/a.csv", "ci/", "regex:(x)?a", "a", "ci/*.csv"),
        ("ci/a.csv", "ci/", "regex:build-[0-9]+", "", "a.csv"),
    ],
)
def test_runs(name: str, root: str, run_label: str | None, run: str, report: str) -> None:
    label = label_of(name, root=root, run_label=run_label)
    assert (label.run, label.report) == (run, report)


@pytest.mark.parametrize(
    ("path", "when"),
    [
        ("runs/2026-11-01/a.csv", datetime(2026, 11, 1, tzinfo=UTC)),
        ("a-20261101.csv", datetime(2026, 11, 1, tzinfo=UTC)),
        ("a_20261101_2359.csv", datetime(2026, 11, 1, 23, 59, tzinfo=UTC)),
        ("2026-11-01T02:03:04/a.csv", datetime(2026, 11, 1, 2, 3, 4, tzinfo=UTC)),
        ("20261101T020304Z.csv", datetime(2026, 11, 1, 2, 3, 4, tzinfo=UTC)),
        ("2026-11-01/again-2026-11-02.csv", datetime(2026, 11, 2, tzinfo=UTC)),
        ("2026-02-31/a.csv", None),
        ("2026-1101/a.csv", None),
        ("job-120261101/a.csv", None),
        ("rank12.csv", None),
    ],
)
def test_times(path: str, when: datetime | None) -> None:
    assert captured_at(path) == when


@pytest.mark.parametrize("label", ["", "regex:", "regex:("])
def test_labels_that_are_none(label: str) -> None:
    with pytest.raises(UsageError, match="run"):
        check_run_label(label)


def test_labels_that_are_fine() -> None:
    for label in (None, "main", "regex:build-([0-9]+)"):
        check_run_label(label)
