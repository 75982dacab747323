"""What derived metrics are computed from: values, and results that several of them share."""

from __future__ import annotations

from ncudiag.derived.inputs import Inputs, once


def test_missing_is_none() -> None:
    inputs = Inputs({"a": 1.0, "b": 0.0})
    assert (inputs.get("a"), inputs.get("c")) == (1.0, None)
    assert inputs.first("c", "b", "a") == 0.0
    assert inputs.first("c", "d") is None


def test_a_shared_result_is_computed_once_for_each_kernel_and_argument() -> None:
    calls = []

    @once
    def scaled(inputs: Inputs, factor: int, *, plus: int = 0) -> float | None:
        """Its own docstring."""
        calls.append((factor, plus))
        value = inputs.get("a")
        return None if value is None else value * factor + plus

    first, second, without = Inputs({"a": 1.0}), Inputs({"a": 2.0}), Inputs({})
    assert [scaled(first, 2), scaled(first, 2), scaled(second, 2), scaled(first, 3)] == [2, 2, 4, 3]
    assert [scaled(first, 2, plus=1), scaled(first, 2, plus=1)] == [3, 3]
    assert [scaled(without, 2), scaled(without, 2)] == [None, None]
    assert calls == [(2, 0), (2, 0), (3, 0), (2, 1), (2, 0)]
    assert scaled.__doc__ == "Its own docstring."


def test_what_was_computed_does_not_tell_kernels_apart() -> None:
    one, other = Inputs({"a": 1.0}), Inputs({"a": 1.0})
    one.memo["anything",] = 1
    assert one == other
    assert "memo" not in repr(one)
