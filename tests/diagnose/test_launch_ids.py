"""Launch ids that are used like a tuple of them."""

from __future__ import annotations

import json
import pickle
from copy import deepcopy

import pytest
from pydantic import BaseModel, ValidationError

from ncudiag.diagnose.launch_ids import LaunchIds


class Holder(BaseModel):
    """A model with ids."""

    ids: LaunchIds


def test_it_is_used_like_a_tuple() -> None:
    ids = LaunchIds([3, 1, 2**62])
    assert ids == (3, 1, 2**62) == ids
    assert ids != (3, 1)
    assert ids != [3, 1, 2**62]
    assert ids == LaunchIds((3, 1, 2**62))
    assert {ids: 1}[(3, 1, 2**62)] == 1  # type: ignore[index]  # it hashes as the tuple does
    assert (ids[0], ids[-1], len(ids), list(ids), 1 in ids) == (3, 2**62, 3, [3, 1, 2**62], True)
    assert ids[:2] == (3, 1)
    assert repr(ids[1:2]) == "(1,)"
    assert not LaunchIds()
    assert pickle.loads(pickle.dumps(ids)) == deepcopy(ids) == ids  # noqa: S301 - our own
    with pytest.raises(IndexError):
        ids[3]


def test_models_check_and_write_it() -> None:
    holder = Holder.model_validate_json('{"ids": [4, 5]}')
    assert holder.ids == (4, 5)
    assert holder.model_dump() == {"ids": (4, 5)}
    assert json.loads(holder.model_dump_json()) == {"ids": [4, 5]}
    for mode in ("validation", "serialization"):
        schema = Holder.model_json_schema(mode=mode)  # type: ignore[arg-type]  # mode is one of the two
        assert schema["properties"]["ids"] == {"items": {"type": "integer"}, "title": "Ids", "type": "array"}
    with pytest.raises(ValidationError):
        Holder.model_validate({"ids": ["x"]})
