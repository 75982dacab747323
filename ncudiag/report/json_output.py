"""The Report as JSON, and the JSON Schema of it.

The Report *is* the JSON: :func:`to_json` gives what pydantic's own serialisation gives (a test holds the two
together), by a plain walk over the models. Building pydantic's serialiser for all of them costs more time than
reading, diagnosing and writing a small report does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import BaseModel

from ncudiag.diagnose.launch_ids import LaunchIds
from ncudiag.report.document import SCHEMA_VERSION
from ncudiag.report.escape import json_for_logs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ncudiag.compare.comparison import Comparison
    from ncudiag.errors import NcudiagError
    from ncudiag.report.document import Report

MEASURED: tuple[str, ...] = ("sm_pct", "dram_pct", "memory_pct", "l2_pct", "l1_pct", "sm_frequency_hz")
"""The keys that ``metrics`` always has."""


def to_json(report: Report, *, brief: bool = False) -> str:
    r"""One strict JSON document: null for missing, no NaN, no Infinity, ASCII only.

    ASCII (other characters as ``\uXXXX``) keeps the document the same under every output encoding, and keeps
    control characters of hostile kernel names away from terminals.

    Args:
        report: what to write.
        brief: the short document of :mod:`ncudiag.report.brief`.
    """
    if brief:
        from ncudiag.report.brief import brief_json

        return brief_json(report)
    return dumps(plain(report))


def document_json(document: Report | NcudiagError, *, brief: bool = False) -> str:
    """A Report, or the error document of an input that there is none of."""
    if isinstance(document, BaseModel):
        return to_json(document, brief=brief)
    if brief:
        from ncudiag.report.brief_json import compact

        return compact(error_document(document))
    return dumps(error_document(document))


def many_to_json(documents: Iterable[Report | NcudiagError], *, brief: bool = False) -> str:
    """A JSON array with one document per input: a Report, or an error document for one that could not be read."""
    return "".join(array_parts((document_json(each, brief=brief) for each in documents), brief=brief))


def array_parts(documents: Iterable[str], *, brief: bool = False) -> Iterator[str]:
    """The text of a JSON array, part by part: together what :func:`dumps` gives for a list of all documents.

    Args:
        documents: JSON as :func:`document_json` writes it.
        brief: whether it is brief JSON, which has no line breaks.
    """
    opening, between, closing = ("[", ",", "]\n") if brief else ("[\n  ", ",\n  ", "\n]\n")
    before = opening
    for document in documents:
        # No text has a line break in it: JSON spells those out.
        yield before + document.rstrip("\n").replace("\n", "\n  ")
        before = between
    yield closing if before is between else "[]\n"


def comparison_to_json(comparison: Comparison, error: NcudiagError | None = None) -> str:
    """A comparison as one strict JSON document; an error stands beside the pairs when none can be compared."""
    document = plain(comparison)
    if error is not None and isinstance(document, dict):
        document |= {"error": error_document(error)["error"]}
    return dumps(document)


def error_document(error: NcudiagError) -> dict[str, object]:
    """The document that stands in the Report's place after a failure."""
    parts = {"code": error.code, "message": error.message, "hint": error.hint, "details": plain(error.details)}
    return {"schema_version": SCHEMA_VERSION, "error": parts}


def dumps(document: object) -> str:
    """Strict JSON text with a line break at its end.

    Raises:
        ValueError: a number is NaN or infinite; the models let none through.
    """
    return json_for_logs(json.dumps(document, indent=2, allow_nan=False)) + "\n"


def plain(value: object) -> object:
    """Models, mappings and sequences as what :mod:`json` writes; field names by their alias."""
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        return {fields[name].serialization_alias or name: plain(part) for name, part in value.__dict__.items()}
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple, LaunchIds)):
        return [plain(part) for part in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return str(value)
