"""The JSON Schemas of the documents that are printed, generated from the models; ``ncudiag schema`` prints them."""

from __future__ import annotations

import ast
import inspect
import textwrap
from itertools import pairwise
from typing import Literal, TypeAlias, cast, get_args

from pydantic import BaseModel

from ncudiag.compare.comparison import Comparison
from ncudiag.diagnose.diagnosis import Entry
from ncudiag.errors import ERROR_CODES
from ncudiag.report.brief_json import OPTIONAL
from ncudiag.report.document import SCHEMA_VERSION, Report

Document: TypeAlias = Literal["report", "comparison", "error"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Failure(Entry):
    """What happened instead of an answer."""

    code: str
    """Stable, kebab case."""
    message: str
    """What happened, in one line."""
    hint: str
    """What to do next."""
    details: dict[str, object]
    """Further facts (file, command, the tool's own lines, ...)."""


class FailureDocument(Entry):
    """What stands in the report's place after a failure."""

    schema_version: Literal["1.0"]
    error: Failure


_ROOTS: dict[Document, type[BaseModel]] = {"report": Report, "comparison": Comparison, "error": FailureDocument}


def json_schema(document: Document = "report") -> dict[str, object]:
    """The JSON Schema (draft 2020-12) of a document.

    Objects are open: a later minor version may add properties, none changes its meaning within a major one.

    Args:
        document: ``report`` (``explain``, ``run`` and ``show`` with ``--format json``), ``comparison`` (``compare``),
            or ``error``, which every command prints in its document's place after a failure.
    """
    definitions = _definitions(_ROOTS[document])
    schema = definitions.pop(_ROOTS[document].__name__)
    if document != "report":
        failure = definitions.get("Failure") or _definitions(Failure)["Failure"]
        cast("dict[str, dict[str, object]]", failure["properties"])["code"]["enum"] = list(ERROR_CODES)
        definitions["Failure"] = failure
    if document == "comparison":
        error = {"$ref": "#/$defs/Failure", "description": "Stands beside the pairs where none can be compared."}
        schema["properties"] = {**cast("dict[str, object]", schema["properties"]), "error": error}
    return {
        "$schema": _DIALECT,
        "title": f"ncudiag {document}",
        "version": SCHEMA_VERSION,
        **schema,
        "$defs": dict(sorted(definitions.items())),
    }


def _definitions(root: type[BaseModel]) -> dict[str, dict[str, object]]:
    """The schema of a model and of all models inside it, by name."""
    schema = root.model_json_schema(mode="serialization", by_alias=True)
    definitions: dict[str, dict[str, object]] = {root.__name__: schema, **schema.pop("$defs", {})}
    models = _models(root)
    for name, definition in definitions.items():
        if name in models:
            _describe(definition, models[name])
        _open(definition, OPTIONAL.get(name, frozenset()))
    return definitions


def _open(definition: dict[str, object], optional: frozenset[str]) -> None:
    """Allow what a later minor version adds; require what every document has; drop titles that repeat the keys."""
    if definition.get("additionalProperties") is False:
        del definition["additionalProperties"]
    definition.pop("title", None)
    properties = cast("dict[str, dict[str, object]]", definition.get("properties", {}))
    for value in properties.values():
        value.pop("title", None)
    if properties:
        # The serialiser writes every field, null included, also those that have a default in Python; but a brief
        # document leaves out what is optional and says nothing.
        definition["required"] = [key for key in properties if key not in optional]


def _models(root: type[BaseModel]) -> dict[str, type[BaseModel]]:
    """A model and all models inside it, by name."""
    found: dict[str, type[BaseModel]] = {}
    waiting: list[object] = [root]
    while waiting:
        kind = waiting.pop()
        waiting.extend(get_args(kind))
        if inspect.isclass(kind) and issubclass(kind, BaseModel) and kind.__name__ not in found:
            found[kind.__name__] = kind
            waiting.extend(info.annotation for info in kind.model_fields.values())
    return found


def _describe(definition: dict[str, object], model: type[BaseModel]) -> None:
    """Put each field's docstring (the string below it) into its property."""
    properties = cast("dict[str, dict[str, object]]", definition.get("properties", {}))
    texts = _field_docstrings(model)
    for field, info in model.model_fields.items():
        key = info.serialization_alias or field
        if field in texts and key in properties:
            properties[key].setdefault("description", texts[field])


def _field_docstrings(model: type[BaseModel]) -> dict[str, str]:
    """The strings that stand below the fields of a class, by field.

    pydantic can do this too (``use_attribute_docstrings``), but then at every start of the program: it parses
    the source of each class as soon as the class is defined.
    """
    body = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    texts: dict[str, str] = {}
    statements = body.body if isinstance(body, ast.ClassDef) else []
    for field, text in pairwise(statements):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                texts[name] = inspect.cleandoc(words)
    return texts
