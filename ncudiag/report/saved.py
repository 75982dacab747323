"""Saved answers: what ``--format json`` wrote, back as the documents that every output is made from."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from pydantic import ValidationError

from ncudiag.compare.comparison import Comparison
from ncudiag.diagnose.engine import name_matcher
from ncudiag.diagnose.ranking import focus
from ncudiag.errors import ComparisonError, NcudiagError, ReportError
from ncudiag.reading.decode import TextBlocks
from ncudiag.reading.failures import OversizedError
from ncudiag.reading.notices import Notices
from ncudiag.report.document import SCHEMA_VERSION, Report, Totals
from ncudiag.report.json_output import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import NoReturn

    from pydantic_core import ErrorDetails

    from ncudiag.diagnose.diagnosis import KernelIdentity
    from ncudiag.errors import ErrorCode
    from ncudiag.reading import SourceLike

    Item = TypeVar("Item")

JsonObject: TypeAlias = dict[str, object]
Document = TypeVar("Document", Report, Comparison)

_CODE: ErrorCode = "not-an-ncu-report"
_VERSION = re.compile(r"(\d+)\.(\d+)")
_HOW = "Save one with `ncudiag explain FILE --format json --output report.json`."
_SMALLER = "Save fewer kernels or fewer reports in one file: --top, --kernel, --output-dir."
_CHANGED = "The file was changed or cut off after ncudiag wrote it; make it again from the ncu report."
_LOOKS_LIKE_CSV = re.compile(r'^"?(?:ID|Kernel Name)"?,', re.MULTILINE)
_LOG_LINE = "==PROF=="
_SNIFFED = 1 << 16
# Ten thousand kernels; JSON takes ten times its size in memory.
_LARGEST = 1 << 28


@dataclass(frozen=True, slots=True)
class Compared:
    """A saved comparison; where no pair is comparable, with the error that stands beside the pairs."""

    comparison: Comparison
    error: NcudiagError | None


@dataclass(frozen=True, slots=True)
class Saved:
    """What a file holds.

    Attributes:
        content: a report, a comparison, or what ``--many`` wrote: for each input a report, or why there is none.
        notes: what the reader of the answer must know about the file.
    """

    content: Report | Compared | tuple[Report | NcudiagError, ...]
    notes: tuple[str, ...]


def read_saved(source: SourceLike, *, name: str) -> Saved:
    """Read what ``ncudiag explain --format json`` or ``ncudiag compare --format json`` wrote.

    Args:
        source: a path (``.gz`` too), ``-`` for standard input, or a file object.
        name: what it is called in messages.

    Raises:
        ReportError: it cannot be read (``file-not-found``), or is no such document (``not-an-ncu-report``).
    """
    # Brief JSON is one line, however much it holds.
    blocks = TextBlocks(source, Notices(), longest_line=_LARGEST)
    text = _whole_text(blocks, name)
    if blocks.damaged or blocks.bad_encoding:
        _refuse(f"{name} cannot be read: {blocks.damaged or blocks.bad_encoding}", _CHANGED)
    content = _parsed(text, name)
    notes: list[str] = []
    if not isinstance(content, list):
        document = _single(_object(content, name), name, notes)
        return Saved(document, tuple(notes))
    entries = tuple(_entry(each, f"entry {number} of {name}", notes) for number, each in enumerate(content, 1))
    if not entries:
        _refuse(f"{name} is an empty array: it holds no report", _HOW)
    return Saved(entries, tuple(notes))


def _whole_text(blocks: TextBlocks, name: str) -> str:
    """All of the text, unless it is larger than any answer."""
    parts: list[str] = []
    size = 0
    try:
        for block in blocks:
            parts.append(block)
            size += len(block)
            _check_size(size, name)
    except OversizedError:
        _check_size(_LARGEST + 1, name)
    return "".join(parts)


def _check_size(size: int, name: str) -> None:
    if size > _LARGEST:
        _refuse(f"{name} is larger than {_LARGEST >> 20} MiB, as no saved answer is", _SMALLER)


def only(report: Report, words: Sequence[str], *, name: str) -> Report:
    """The report with only those kernels that a filter selects, as ``explain --kernel`` would have it.

    Args:
        report: the saved report.
        words: filters as for :func:`ncudiag.diagnose`; none keeps every kernel.
        name: the file, for messages.

    Raises:
        ReportError: no kernel matches (``filter-no-match``).
    """
    if not words:
        return report
    kernels = _matching(report.kernels, words, lambda entry: (entry.kernel,))
    if not kernels:
        raise _no_match(words, name, [entry.kernel.short_name for entry in report.kernels])
    times = [entry.duration_ns.total for entry in kernels if entry.duration_ns.total is not None]
    totals = Totals(
        launches=sum(entry.launch_count for entry in kernels),
        kernels=len(kernels),
        duration_ns=fsum(times) if times else None,
    )
    # A gate was about all kernels.
    return report.model_copy(update={"kernels": kernels, "totals": totals, "focus": focus(kernels), "gate": None})


def only_pairs(comparison: Comparison, words: Sequence[str], *, name: str) -> Comparison:
    """The comparison with only those kernels that a filter selects, under their name before or after.

    Raises:
        ReportError: no kernel matches (``filter-no-match``).
    """
    if not words:
        return comparison
    kept = {
        "pairs": _matching(comparison.pairs, words, lambda pair: (pair.kernel, pair.kernel_before)),
        "only_before": _matching(comparison.only_before, words, lambda alone: (alone.kernel,)),
        "only_after": _matching(comparison.only_after, words, lambda alone: (alone.kernel,)),
    }
    if not any(kept.values()):
        alone = (*comparison.only_before, *comparison.only_after)
        kernels = [*(pair.kernel for pair in comparison.pairs), *(each.kernel for each in alone)]
        raise _no_match(words, name, [kernel.short_name for kernel in kernels])
    return comparison.model_copy(update={**kept, "gate": None})


def _matching(
    items: Sequence[Item], words: Sequence[str], kernels_of: Callable[[Item], tuple[KernelIdentity, ...]]
) -> tuple[Item, ...]:
    matches = [name_matcher(word) for word in words]
    return tuple(
        item
        for item in items
        if any(match(kernel.name, kernel.short_name) for match in matches for kernel in kernels_of(item))
    )


def _no_match(words: Sequence[str], name: str, short_names: Sequence[str]) -> ReportError:
    known = list(dict.fromkeys(short_names))
    return ReportError(
        "filter-no-match",
        f"no kernel in {name} matches {' or '.join(repr(word) for word in words)}",
        f"It holds, among others: {', '.join(known[:3])}. A plain word is searched in the short name, whatever its "
        "case; `regex:...` is searched in the full name.",
        details={"kernels": known[:50], "filter": list(words)},
    )


def _parsed(text: str, name: str) -> object:
    """The text as JSON, strictly."""
    if not text.strip():
        _refuse(f"{name} is empty", _HOW)

    def refused(word: str) -> NoReturn:
        _refuse(f"{name} holds {word}, which JSON does not have", _CHANGED)

    try:
        return cast("object", json.loads(text, parse_constant=refused))
    except RecursionError:
        _refuse(f"{name} is nested too deeply to be a saved report", _HOW)
    except ValueError as error:
        if _LOOKS_LIKE_CSV.search(text, endpos=_SNIFFED) or _LOG_LINE in text[:_SNIFFED]:
            _refuse(f"{name} is no saved report but looks like one of ncu", f"Use `ncudiag explain {name}`.")
        # ValueError itself: a whole number of thousands of digits.
        where = f" (line {error.lineno}: {error.msg})" if isinstance(error, json.JSONDecodeError) else ""
        _refuse(f"{name} is not JSON{where}", _HOW)


def _object(content: object, name: str) -> JsonObject:
    if not isinstance(content, dict):
        _refuse(f"{name} holds JSON, but no report", _HOW)
    return content


def _single(content: JsonObject, name: str, notes: list[str]) -> Report | Compared:
    """The one document of a file."""
    if "pairs" in content:
        content = content.copy()
        beside = content.pop("error", None)
        error = None if beside is None else _saved_error(beside, ComparisonError)
        return Compared(_validated(Comparison, content, name, notes), error)
    report = _entry(content, name, notes)
    if isinstance(report, NcudiagError):
        told = f": {report.message} [{report.code}]" if report.message else ""
        _refuse(f"{name} holds no report but the error of a run that failed{told}", report.hint or _HOW)
    return report


def _entry(content: object, name: str, notes: list[str]) -> Report | NcudiagError:
    """A report or, as an input that could not be read has it, an error document."""
    document = _object(content, name)
    if "error" in document and "kernels" not in document:
        return _saved_error(document["error"], ReportError)
    return _validated(Report, document, name, notes)


def _saved_error(content: object, kind: type[NcudiagError]) -> NcudiagError:
    """An error document as an error."""
    parts = content if isinstance(content, dict) else {}
    details = parts.get("details")
    return kind(
        cast("ErrorCode", str(parts.get("code", "internal"))),
        str(parts.get("message", "")),
        str(parts.get("hint", "")),
        details=details if isinstance(details, dict) else {},
    )


def _validated(kind: type[Document], content: JsonObject, name: str, notes: list[str]) -> Document:
    """The document with every value checked; what a later minor version added is left out."""
    version = content.get("schema_version")
    found = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if found is None:
        _refuse(f"{name} holds JSON, but no report: schema_version is missing or none", _HOW)
    major, own_major = found[1], SCHEMA_VERSION.partition(".")[0]
    if major != own_major:
        age, hint = ("a newer", "Update ncudiag.") if int(major) > int(own_major) else ("an older", _CHANGED)
        _refuse(f"{name} was written by {age} ncudiag: schema {version}, this one reads {own_major}.x", hint)
    if not {"kernels", "pairs"} & content.keys():
        _refuse(f"{name} is another document of ncudiag: neither a report nor a comparison", _HOW)
    content = {**content, "schema_version": SCHEMA_VERSION}
    try:
        if version == SCHEMA_VERSION:
            document = kind.model_validate(content)
        else:
            notes.append(f"{name} has schema {version}; what is newer than {SCHEMA_VERSION} is left out")
            document = _without_additions(kind, content)
    except ValidationError as error:
        _refuse(f"{name} is no report of ncudiag: {_first(error)}", _CHANGED)
    for place in _made_numbers(content, plain(document), ""):
        _refuse(f"{name} is no report of ncudiag: {place.removeprefix('.')}: a number is expected here", _CHANGED)
    return document


def _made_numbers(given: object, read: object, place: str) -> Iterator[str]:
    """Where pydantic made a number of something else, as of ``true`` or ``"5"``: nothing of ours ever wrote that."""
    if isinstance(read, Mapping) and isinstance(given, Mapping):
        for key in read.keys() & given.keys():
            yield from _made_numbers(given[key], read[key], f"{place}.{key}")
    elif isinstance(read, list) and isinstance(given, list):
        for number, parts in enumerate(zip(given, read, strict=False)):
            yield from _made_numbers(*parts, f"{place}[{number}]")
    elif isinstance(read, (int, float)) and not isinstance(read, bool) and isinstance(given, (bool, str)):
        yield place


def _without_additions(kind: type[Document], content: JsonObject) -> Document:
    """Validate, leaving out the properties that this version does not know."""
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_input=False):
            if problem["type"] == "extra_forbidden":
                _remove(content, problem)
    return kind.model_validate(content)


def _remove(content: object, problem: ErrorDetails) -> None:
    *way, last = problem["loc"]
    place = content
    for step in way:
        place = cast("dict[str | int, object]", place)[step]
    cast("dict[str | int, object]", place).pop(last, None)


def _first(error: ValidationError) -> str:
    """The first problem and its place, as in ``kernels[3].verdict``."""
    problem = error.errors(include_url=False, include_input=False)[0]
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in problem["loc"]).removeprefix(".")
    return f"{place}: {problem['msg']}" if place else problem["msg"]


def _refuse(message: str, hint: str) -> NoReturn:
    raise ReportError(_CODE, message, hint)
