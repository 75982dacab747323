"""The JSON, its schema, and the error document."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import report_examples as examples
from hypothesis import given, settings
from hypothesis import strategies as st

from ncudiag.errors import ReportError
from ncudiag.report.document import Report
from ncudiag.report.json_output import dumps, error_document, many_to_json, to_json
from ncudiag.report.schema import Document, json_schema

ALL = [examples.varied(), examples.hostile(), examples.report(examples.unknown()), examples.report()]


def strict(text: str) -> Any:  # noqa: ANN401 - JSON
    """Parse without Python's extensions."""

    def refuse(word: str) -> None:
        message = f"{word} is no JSON"
        raise AssertionError(message)

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("report", ALL)
def test_the_json_is_what_pydantic_gives(report: Report) -> None:
    """The fast walk and the models' own serialisation are the same document."""
    assert strict(to_json(report)) == report.model_dump(mode="json")


@pytest.mark.parametrize("word", ["report", "comparison", "error"])
def test_every_document_has_a_schema(word: Document) -> None:
    """That is one itself, and in which every reference leads somewhere."""
    schema = json_schema(word)
    jsonschema.Draft202012Validator.check_schema(schema)
    definitions = schema["$defs"]
    assert isinstance(definitions, dict)
    for name in re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema)):
        assert name in definitions


def test_a_failure_is_no_report() -> None:
    """Each schema takes its own document only."""
    failure = error_document(ReportError("no-kernels", "a", "b"))
    assert jsonschema.Draft202012Validator(json_schema("error")).is_valid(failure)
    assert not jsonschema.Draft202012Validator(json_schema("report")).is_valid(failure)
    assert not jsonschema.Draft202012Validator(json_schema("comparison")).is_valid(failure)
    assert not jsonschema.Draft202012Validator(json_schema("error")).is_valid(strict(to_json(examples.varied())))
    unknown = failure | {"error": {"code": "oops", "message": "", "hint": "", "details": {}}}
    assert not jsonschema.Draft202012Validator(json_schema("error")).is_valid(unknown)


@pytest.mark.parametrize("report", ALL[:1])
def test_the_json_reads_back_as_the_report(report: Report) -> None:
    """Nothing is lost on the way."""
    assert Report.model_validate_json(to_json(report)) == report


@pytest.mark.parametrize("report", ALL)
def test_the_json_fits_its_schema(report: Report) -> None:
    """Every example, and its brief form."""
    validator = jsonschema.Draft202012Validator(json_schema())
    validator.validate(strict(to_json(report)))
    validator.validate(strict(to_json(report, brief=True)))


def test_the_schema_is_a_schema_that_tells_right_from_wrong() -> None:
    """Required names are required, later additions are welcome, words are closed."""
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    document = strict(to_json(examples.varied()))
    validator.validate(document | {"added_later": 1})
    for path in ("source", "kernels"):
        assert not validator.is_valid({key: value for key, value in document.items() if key != path})
    document["kernels"][0]["verdict"] = "io-bound"
    assert not validator.is_valid(document)


def test_every_field_is_described() -> None:
    """The schema says what the names mean."""
    schema: dict[str, Any] = json_schema()
    properties = schema["$defs"]["Diagnosis"]["properties"]
    assert properties["headroom"]["description"].startswith("The most that tuning")
    assert "try" in schema["$defs"]["Finding"]["properties"]
    assert schema["$defs"]["Duration"]["required"] == ["total", "mean", "median", "min", "max"]


def test_the_committed_schema_is_the_generated_one() -> None:
    """`ncudiag schema --output docs/report.schema.json` brings it up to date."""
    committed = Path(__file__).parents[2] / "docs" / "report.schema.json"
    assert committed.read_text(encoding="utf-8") == dumps(json_schema())


def test_missing_is_null() -> None:
    """Never zero, never absent."""
    document = strict(to_json(examples.report(examples.unknown())))
    kernel = document["kernels"][0]
    assert kernel["metrics"]["dram_pct"] is None
    assert kernel["limiter"] is None
    assert kernel["duration_ns"]["total"] is None


@settings(max_examples=50, deadline=None)
@given(name=st.text(max_size=60))
def test_names_survive_and_stay_ascii(name: str) -> None:
    """Under every output encoding, and without a control character on a terminal."""
    text = to_json(examples.report(examples.memory_bound(name)))
    assert text.isascii()
    assert all(char.isprintable() or char == "\n" for char in text)
    assert strict(text)["kernels"][0]["kernel"]["name"] == name


def test_not_a_number_cannot_pass() -> None:
    """The models refuse it; so does the writer."""
    with pytest.raises(ValueError, match="JSON"):
        dumps({"value": float("nan")})


def test_errors_have_a_document_of_their_own() -> None:
    """In an array, in the place of the Report."""
    error = ReportError(
        "no-kernels", "nothing in it", "Profile again.", details={"path": Path("x.csv"), "lines": (1, 2)}
    )
    expected = {
        "schema_version": "1.0",
        "error": {
            "code": "no-kernels",
            "message": "nothing in it",
            "hint": "Profile again.",
            "details": {"path": "x.csv", "lines": [1, 2]},
        },
    }
    assert error_document(error) == expected
    jsonschema.Draft202012Validator(json_schema("error")).validate(expected)
    both = strict(many_to_json([error, examples.varied()], brief=True))
    assert many_to_json([]) == many_to_json([], brief=True) == "[]\n"
    whole = many_to_json([error, examples.varied()])
    assert whole == dumps([error_document(error), strict(to_json(examples.varied()))])
    assert both[0] == expected
    assert both[1]["totals"]["kernels"] == 6
