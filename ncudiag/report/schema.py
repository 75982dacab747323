"""The JSON Schema of the Report, generated from the models; ``ncudiag schema`` prints it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from itertools import pairwise
from typing import cast, get_args

from pydantic import BaseModel

from ncudiag.report.document import SCHEMA_VERSION, Report

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, object]:
    """The JSON Schema (draft 2020-12) of what ``explain --format json`` prints.

    Objects are open: a later minor version may add properties, none changes its meaning within a major one.
    """
    schema = Report.model_json_schema(mode="serialization", by_alias=True)
    definitions: dict[str, dict[str, object]] = schema.pop("$defs", {})
    models = _models(Report)
    for name, definition in (("Report", schema), *definitions.items()):
        if name in models:
            _describe(definition, models[name])
        _open(definition)
    return {
        "$schema": _DIALECT,
        "title": "ncudiag report",
        "version": SCHEMA_VERSION,
        **schema,
        "$defs": definitions,
    }


def _open(definition: dict[str, object]) -> None:
    """Allow what a later minor version adds; require what every document has; drop titles that repeat the keys."""
    if definition.get("additionalProperties") is False:
        del definition["additionalProperties"]
    definition.pop("title", None)
    properties = cast("dict[str, dict[str, object]]", definition.get("properties", {}))
    for value in properties.values():
        value.pop("title", None)
    if properties:
        # The serialiser writes every field, null included, also those that have a default in Python.
        definition["required"] = list(properties)


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
