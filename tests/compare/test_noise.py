"""What is no difference although the times differ: timers, clocks, first launches; what only qualifies."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest
from compared_kernels import CYCLES, kernel, source
from hypothesis import given
from hypothesis import strategies as st

from ncudiag.compare.comparison import ReasonCode
from ncudiag.compare.judge import judge_pair
from ncudiag.compare.noise import Noise, noise_of
from ncudiag.diagnose.repeats import FileShare
from ncudiag.report import comparison_words as said

if TYPE_CHECKING:
    from ncudiag.compare.comparison import Pair
    from ncudiag.diagnose.diagnosis import Diagnosis

MEMORY_CLOCK = "dram__cycles_elapsed.avg.per_second"


def judged(before: Diagnosis, after: Diagnosis, noise: tuple[Noise, Noise] | None = None) -> Pair:
    return judge_pair(before, after, noise=noise)


def at(mhz: float, *times: float, cycles: float | None = None) -> Diagnosis:
    """A kernel at a clock; its cycles are what the clock counts in that time."""
    counted = times[0] * mhz / 1e3 if cycles is None else cycles
    return kernel(*times, clock_hz=mhz * 1e6, metrics={CYCLES: counted})


@pytest.mark.parametrize("steps", [1, 2])
def test_a_step_or_two_of_the_timer_is_no_difference(steps: int) -> None:
    pair = judged(kernel(2048, 2048), kernel(2048 + 32 * steps, 2048 + 32 * steps))
    assert (pair.status, pair.reasons) == ("no-clear-difference", ("timer-resolution",))
    assert pair.summary.endswith("which the GPU's timer with its steps of 32 ns cannot tell apart.")


def test_three_steps_are_a_difference() -> None:
    pair = judged(kernel(2048, 2048), kernel(2144, 2144))
    assert (pair.status, pair.reasons) == ("regressed", ())


def test_equal_times_need_no_reason() -> None:
    pair = judged(kernel(2048, 2048), kernel(2048, 2048))
    assert pair.reasons == ()
    assert pair.summary == "No clear difference: a launch takes 2.05 us on both sides."


def test_a_change_that_is_the_clock_s_is_none_of_the_code() -> None:
    pair = judged(at(1410, 500_000, 500_100), at(1466, 480_900, 481_000))
    assert (pair.status, pair.reasons) == ("no-clear-difference", ("clock-explains",))
    assert pair.summary == (
        "No clear difference: a launch takes 480.95 us after 500.05 us, 3.8 % less, but in cycles it takes under 0.1 % "
        "fewer: the SM clock explains it."
    )
    back = judged(at(1466, 480_900, 481_000), at(1410, 500_000, 500_100))
    assert back.reasons == ("clock-explains",)


@pytest.mark.parametrize(
    ("before", "after", "status"),
    [
        (at(1410, 500_000, 500_100), at(1452, 400_000, 400_100), "improved"),  # far more than the clock gives
        (at(1466, 500_000, 500_100), at(1410, 480_000, 480_100), "improved"),  # faster although the clock is slower
        (at(1410, 500_000, 500_100), at(1412, 480_000, 480_100, cycles=7e5), "improved"),  # the clock hardly moved
        (at(1410, 500_000, 500_100), at(1466, 480_000, 480_100, cycles=5e5), "improved"),  # the cycles fell as well
        (kernel(500_000, 500_100, clock_hz=1.41e9), kernel(480_000, 480_100, clock_hz=1.466e9), "improved"),
    ],
    ids=["more", "against", "steady", "cycles", "without cycles"],
)
def test_the_clock_does_not_explain_everything(before: Diagnosis, after: Diagnosis, status: str) -> None:
    pair = judged(before, after)
    assert (pair.status, pair.reasons) == (status, ())


@pytest.mark.parametrize(("mhz", "reasons"), [(1100, ("memory-clock-differs",)), (1200, ())])
def test_another_memory_clock_qualifies(mhz: float, reasons: tuple[str, ...]) -> None:
    old, new = (kernel(500_000, 500_100, metrics={MEMORY_CLOCK: clock * 1e6}) for clock in (1215, mhz))
    assert judged(old, new).reasons == reasons
    # A launch of some microseconds is too short to measure a rate.
    old, new = (kernel(5000, 5100, metrics={MEMORY_CLOCK: clock * 1e6}) for clock in (1215, mhz))
    assert judged(old, new).reasons == ()


def share(*times: float, file: int = 0, clocks: tuple[float, float] | None = None) -> FileShare:
    ordered = sorted(times)
    warm = times[1:]
    return FileShare(
        file, len(times), ordered[len(ordered) // 2], clocks, (min(warm), max(warm)) if len(warm) > 1 else None
    )


def with_shares(*files: tuple[float, ...]) -> tuple[Diagnosis, Noise]:
    entry = kernel(*(time for file in files for time in file))
    shares = [share(*times, file=number) for number, times in enumerate(files)]
    return entry, noise_of(entry, shares, [source(f"{number}.csv") for number in range(len(files))])


def pair_of(before: tuple[Diagnosis, Noise], after: tuple[Diagnosis, Noise]) -> Pair:
    return judged(before[0], after[0], (before[1], after[1]))


def test_a_first_launch_that_hides_a_change_is_named() -> None:
    before = with_shares((900_000, 500_000, 501_000, 502_000))
    pair = pair_of(before, with_shares((850_000, 400_000, 401_000, 402_000)))
    assert (pair.status, pair.reasons) == ("no-clear-difference", ("first-launch-differs",))
    assert pair.summary.endswith(
        "which is within the spread of the launches (112.1 %); without the first launch, which is unlike the others, "
        "it would not be: leave it out (--launch-skip)."
    )
    assert pair_of(before, with_shares((900_000, 500_500, 501_500))).reasons == ()
    steady = with_shares((400_000, 401_000, 402_000))
    assert pair_of(before, steady).reasons == ("first-launch-differs",)
    assert pair_of(steady, steady).reasons == ()
    # Two launches do not tell which of them is unlike the others.
    assert pair_of(with_shares((900_000, 500_000)), steady).reasons == ()


def test_what_files_add_to_the_noise() -> None:
    _, noise = with_shares((100_000, 101_000, 102_000), (110_000, 111_000, 112_000))
    assert (noise.launches, noise.files, noise.known) == (6, 2, True)
    assert noise.spread == pytest.approx(12_000 / 106_000)
    assert noise.file_spread == pytest.approx(10_000 / 106_000)
    assert noise.warm_spread == pytest.approx(11_000 / 106_000)
    _, single = with_shares((100_000,))
    assert (single.file_spread, single.warm_spread, single.known) == (None, None, False)
    _, untimed = with_shares((100_000,), (101_000,))
    assert untimed.known


def test_averages_of_several_files_alone_have_a_spread() -> None:
    entry = kernel(duration=kernel(100_000).duration_ns.model_copy(update={"min": None, "max": None}), launch_count=2)
    shares = [FileShare(0, 5, 95_000.0, None), FileShare(1, 5, 105_000.0, None)]
    noise = noise_of(entry, shares, [source("a"), source("b")])
    assert noise.spread == noise.file_spread == pytest.approx(0.1)
    assert noise.known


@given(st.lists(st.lists(st.integers(1000, 10**6).map(float), min_size=1, max_size=5), min_size=1, max_size=4))
def test_the_spread_of_launches_holds_that_of_files(files: list[list[float]]) -> None:
    _, noise = with_shares(*map(tuple, files))
    assert noise.spread is not None
    assert noise.spread >= (noise.file_spread or 0.0)
    assert noise.spread >= (noise.warm_spread or 0.0)


def test_every_reason_has_words() -> None:
    for code in get_args(ReasonCode):
        pair = judged(kernel(1000), kernel(1000)).model_copy(update={"reasons": (code,)})
        assert said.reasons(pair)
