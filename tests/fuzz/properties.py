"""What must hold for any input at all; the fuzzer looks for one that breaks it, the tests try those that once did."""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ncudiag import diagnose
from ncudiag.errors import NcudiagError
from ncudiag.model import LaunchBatch
from ncudiag.reading.stream import ReportStream, collect
from ncudiag.report.escape import visible
from ncudiag.report.json_output import to_json
from ncudiag.report.saved import read_saved
from ncudiag.report.text import render_text
from ncudiag.rulebook.book import ready_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from ncudiag.model import Launch, Profile


def _order(launch: Launch) -> tuple[object, ...]:
    process = -1 if launch.process_id is None else launch.process_id
    number = -1 if launch.id is None else launch.id
    # Not the whole launch: in its repr stand addresses.
    rest = (
        launch.process_name,
        launch.host_name,
        launch.block,
        launch.grid,
        launch.device,
        sorted(launch.values.items()),
    )
    return launch.report, process, number, launch.kernel_name, repr(rest)


def _read(data: bytes, *, fast: bool) -> Profile | str:
    try:
        return collect(ReportStream(io.BytesIO(data), locale=None, name=None, fast=fast))
    except NcudiagError as error:
        return error.code


def _no_constant(word: str) -> NoReturn:
    message = f"{word} is no JSON"
    raise AssertionError(message)


def report(data: bytes) -> None:
    """Both ways of reading agree, only our own errors come out, and the answer is strict JSON and plain text."""
    fast, careful = _read(data, fast=True), _read(data, fast=False)
    if isinstance(fast, str) or isinstance(careful, str):
        assert fast == careful
        return
    assert fast.source == careful.source
    assert sorted(fast.launches, key=_order) == sorted(careful.launches, key=_order)
    parts = list(ReportStream(io.BytesIO(data), locale=None, name=None).batches())
    assert sum(part.invocations for part in parts if isinstance(part, LaunchBatch)) <= len(fast.launches)
    found = diagnose(io.BytesIO(data))
    json.loads(to_json(found), parse_constant=_no_constant)
    text = render_text(found, width=80, colour=False, unicode=True, top=3, all_findings=True, with_ncu_rules=True)
    assert visible(text, unicode=True) == text.replace("\n", visible("\n", unicode=True))


def rule(data: bytes) -> None:
    """A rule file is taken or refused with a message; it never breaks the program."""
    with tempfile.TemporaryDirectory() as folder:
        family = Path(folder) / "memory"
        family.mkdir()
        (family / "MEM999.toml").write_bytes(data)
        try:
            book = ready_folder(Path(folder))
        except NcudiagError:
            return
        assert bool(book.rules) != bool(book.problems)


def saved(data: bytes) -> None:
    """A saved answer is shown or refused with a message."""
    try:
        read_saved(io.BytesIO(data), name="saved.json")
    except NcudiagError:
        return


PROPERTIES: dict[str, Callable[[bytes], None]] = {"report": report, "rule": rule, "saved": saved}
