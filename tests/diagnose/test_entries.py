"""Objects of an answer are made without checks, and are the same as pydantic's own."""

from __future__ import annotations

import pickle

import pytest
from pydantic import ValidationError

from ncudiag.diagnose.diagnosis import Evidence

FIELDS = {
    "metric": "dram__bytes.sum",
    "value": 1.0,
    "unit": "byte",
    "op": ">=",
    "threshold": 2.0,
    "distance": -1.0,
    "label": None,
}


def test_with_all_fields() -> None:
    made = Evidence.model_construct(**FIELDS)
    checked = Evidence.model_validate(FIELDS)
    assert made == checked
    assert made.model_fields_set == checked.model_fields_set
    assert made.model_dump_json() == checked.model_dump_json()
    assert pickle.loads(pickle.dumps(made)) == made.model_copy() == made  # noqa: S301 - our own
    with pytest.raises(ValidationError, match="frozen"):
        made.value = 2.0  # type: ignore[misc]  # it is frozen


def test_a_copy_with_another_value_leaves_the_others_alone() -> None:
    first, second = (Evidence.model_construct(**FIELDS) for _ in range(2))
    changed = first.model_copy(update={"value": 3.0, "more": 1})
    assert "more" in changed.model_fields_set
    assert first.model_fields_set == second.model_fields_set == FIELDS.keys()
    assert (first.value, second.value) == (1.0, 1.0)


def test_with_some_fields_or_in_another_order() -> None:
    some = {name: FIELDS[name] for name in ("unit", "metric", "value", "op", "threshold")}
    made = Evidence.model_construct(**some)
    assert list(made.model_dump()) == list(FIELDS)
    assert made.distance is None
    assert made.model_fields_set == some.keys()
    assert Evidence.model_construct({"unit"}, **FIELDS).model_fields_set == {"unit"}
