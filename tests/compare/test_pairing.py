"""Which kernel after is which kernel before; none is lost, none is taken twice."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from compared_kernels import kernel
from hypothesis import given
from hypothesis import strategies as st

from ncudiag.compare.pairing import pair_kernels

if TYPE_CHECKING:
    from ncudiag.diagnose.diagnosis import Diagnosis

Side = list["Diagnosis"]


def places(before: Side, after: Side) -> list[tuple[int, int]]:
    """The pairs as places in the two lists."""
    first, second = ({id(entry): place for place, entry in enumerate(side)} for side in (before, after))
    return sorted((first[id(old)], second[id(new)]) for old, new in pair_kernels(before, after).pairs)


def test_name_and_shape_pair() -> None:
    before = [kernel(10), kernel(20, name="other"), kernel(30, grid=(1, 1, 1))]
    after = [kernel(30, grid=(1, 1, 1)), kernel(10), kernel(20, name="third")]
    assert places(before, after) == [(0, 1), (2, 0)]
    paired = pair_kernels(before, after)
    assert [entry.kernel.name for entry in paired.only_before] == ["other"]
    assert [entry.kernel.name for entry in paired.only_after] == ["third"]


def test_the_longest_pair_of_both_sides_together_leads() -> None:
    before = [kernel(10, name="a"), kernel(20, name="b"), kernel(name="c")]
    after = [kernel(500, name="a"), kernel(20, name="b"), kernel(name="c")]
    assert [old.kernel.name for old, _ in pair_kernels(before, after).pairs] == ["a", "b", "c"]
    assert [old.kernel.name for old, _ in pair_kernels(after[::-1], before[::-1]).pairs] == ["a", "b", "c"]


def test_device_decides_among_equals() -> None:
    assert places([kernel(1, device=0), kernel(1, device=1)], [kernel(1, device=1), kernel(1, device=0)]) == [
        (0, 1),
        (1, 0),
    ]


def test_the_same_gpu_counts_more_than_its_number() -> None:
    before = [kernel(1, device=0, gpu="A100"), kernel(1, device=1, gpu="T4")]
    after = [kernel(1, device=0, gpu="T4"), kernel(1, device=1, gpu="A100")]
    assert places(before, after) == [(0, 1), (1, 0)]


def test_registers_decide_where_processes_differ() -> None:
    before = [kernel(9, process_id=1, registers_per_thread=64), kernel(8, process_id=1, registers_per_thread=32)]
    after = [kernel(9, process_id=2, registers_per_thread=32), kernel(8, process_id=2, registers_per_thread=64)]
    assert places(before, after) == [(0, 1), (1, 0)]


def test_processes_decide_where_registers_changed() -> None:
    before = [kernel(9, process_id=7, registers_per_thread=64), kernel(8, process_id=8, registers_per_thread=64)]
    after = [kernel(9, process_id=8, registers_per_thread=40), kernel(8, process_id=7, registers_per_thread=40)]
    assert places(before, after) == [(0, 1), (1, 0)]


def test_ranks_with_new_processes_pair_in_the_order_of_the_reports() -> None:
    before = [kernel(9, process_id=100), kernel(8, process_id=101), kernel(7, process_id=102)]
    after = [kernel(9, process_id=200), kernel(8, process_id=201)]
    assert places(before, after) == [(0, 0), (1, 1)]
    assert pair_kernels(before, after).only_before == [before[2]]


def test_a_page_that_does_not_name_the_gpu_pairs_by_device() -> None:
    nameless = {"gpu": None, "compute_capability": None}
    before = [kernel(1, device=0), kernel(1, device=1)]
    after = [kernel(1, device=1, **nameless), kernel(1, device=0, **nameless)]
    assert places(before, after) == [(0, 1), (1, 0)]


def test_one_shape_on_each_side_pairs_across_shapes() -> None:
    assert places([kernel(1)], [kernel(1, grid=(8, 1, 1))]) == [(0, 0)]
    assert places([kernel(1)], [kernel(1, block=None, grid=None)]) == [(0, 0)]
    # On several devices too: each with its own.
    before = [kernel(1, device=0), kernel(1, device=1)]
    after = [kernel(1, device=1, grid=(8, 1, 1)), kernel(1, device=0, grid=(8, 1, 1))]
    assert places(before, after) == [(0, 1), (1, 0)]


def test_several_shapes_on_a_side_do_not_pair_across() -> None:
    a, b, c = ((count, 1, 1) for count in (1, 2, 3))
    before = [kernel(1, grid=a), kernel(1, grid=b)]
    after = [kernel(1, grid=a), kernel(1, grid=c)]
    paired = pair_kernels(before, after)
    assert places(before, after) == [(0, 0)]
    assert (paired.only_before, paired.only_after) == ([before[1]], [after[1]])
    assert places([kernel(1, grid=a)], [kernel(1, grid=b), kernel(1, grid=c)]) == []


def test_equal_entries_are_each_paired_once() -> None:
    one = kernel(1)
    assert places([one, kernel(1)], [kernel(1), kernel(1)]) == [(0, 0), (1, 1)]


def test_nothing_pairs_with_nothing() -> None:
    assert pair_kernels([], []) == ([], [], [])
    before = [kernel(1)]
    assert pair_kernels(before, []) == ([], before, [])
    assert pair_kernels([], before) == ([], [], before)


KERNELS = st.builds(
    lambda name, grid, device, process, registers, gpu, time: kernel(
        *time, name=name, grid=grid, device=device, process_id=process, registers_per_thread=registers, gpu=gpu
    ),
    st.sampled_from(["a", "b", ""]),
    st.sampled_from([None, (1, 1, 1), (2, 1, 1)]),
    st.sampled_from([None, 0, 1]),
    st.sampled_from([None, 7, 8]),
    st.sampled_from([None, 32, 64]),
    st.sampled_from([None, "T4", "A100"]),
    st.sampled_from([(), (10.0,), (10.0, 20.0)]),
)
SIDES = st.lists(KERNELS, max_size=8)


@given(SIDES, SIDES)
def test_no_kernel_is_lost_or_doubled(before: Side, after: Side) -> None:
    paired = pair_kernels(before, after)
    for side, seen in (
        (before, [old for old, _ in paired.pairs] + paired.only_before),
        (after, [new for _, new in paired.pairs] + paired.only_after),
    ):
        assert Counter(map(id, seen)) == Counter(map(id, side))
    assert all(old.kernel.name == new.kernel.name for old, new in paired.pairs)


@given(SIDES, SIDES)
def test_what_is_left_over_has_no_partner(before: Side, after: Side) -> None:
    paired = pair_kernels(before, after)
    left = {(entry.kernel.name, entry.kernel.grid) for entry in paired.only_before}
    assert left.isdisjoint({(entry.kernel.name, entry.kernel.grid) for entry in paired.only_after})


@given(SIDES)
def test_a_report_pairs_with_itself(side: Side) -> None:
    paired = pair_kernels(side, side)
    assert len(paired.pairs) == len(side)
    assert (paired.only_before, paired.only_after) == ([], [])
    assert all(old.kernel == new.kernel for old, new in paired.pairs)
