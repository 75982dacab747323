"""Many items in real processes: order, deaths, errors, ends, and how far they run ahead."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from ncudiag.errors import EmptyReportError, NcudiagError, ReportError, UsageError
from ncudiag.fleet import processes
from ncudiag.fleet.processes import AHEAD, Died, in_order, serve

ITEMS = [str(number) for number in range(30)]


def odd_error() -> Exception:
    """One that cannot be read again elsewhere, whatever libraries teach pickle about exceptions: its class is local."""

    class OddError(Exception):
        pass

    return OddError("odd")


def doubled(item: str) -> str:
    """Later items are done sooner."""
    time.sleep(0.02 if int(item) % 3 == 0 else 0.0)
    return item * 2


def deadly(item: str) -> str:
    """Writes down that it was called; some items kill their process, in different ways."""
    path, _, number = item.rpartition(":")
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(f"{number}\n")
    if number == "3":
        os.kill(os.getpid(), signal.SIGKILL)
    if number in {"4", "11"}:
        os._exit(7)
    return number


def failing(item: str) -> str:
    """Fails in the way that the item says."""
    if item == "usage":
        raise UsageError("usage", "no such locale", "Name another.", details={"locale": "xx"})
    if item == "odd":
        raise odd_error()
    return item


def noted(item: str) -> str:
    """The first one takes long, all write down that they were begun."""
    path, _, number = item.rpartition(":")
    if number == "0":
        time.sleep(0.5)
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(f"{number}\n")
    return number


def process_of(item: str) -> tuple[str, int]:
    """Who did it."""
    return item, os.getpid()


def endless(item: str) -> str:
    """The first item is quick, the others never end."""
    if item != "0":
        time.sleep(600)
    return item


@pytest.mark.parametrize("jobs", [1, 4])
def test_results_come_in_order(jobs: int) -> None:
    assert list(in_order(doubled, ITEMS, jobs=jobs)) == [item * 2 for item in ITEMS]


def environment(name: str) -> str | None:
    """A variable, as the process sees it."""
    return os.environ.get(name)


def test_processes_have_the_environment_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server that forks them may have started long before."""
    assert list(in_order(environment, ["NCUDIAG_TEST_VARIABLE"], jobs=1)) == [None]
    monkeypatch.setenv("NCUDIAG_TEST_VARIABLE", "yes")
    assert list(in_order(environment, ["NCUDIAG_TEST_VARIABLE"], jobs=1)) == ["yes"]


def test_nothing_to_do() -> None:
    assert list(in_order(doubled, [], jobs=3)) == []


def test_a_death_is_the_answer_to_one_item(tmp_path: Path) -> None:
    log = tmp_path / "log"
    results = list(in_order(deadly, [f"{log}:{item}" for item in ITEMS], jobs=2))
    expected: list[object] = [*ITEMS]
    expected[3] = Died(-signal.SIGKILL)
    expected[4] = expected[11] = Died(7)
    assert results == expected
    # Each was begun once: nothing was lost, nothing done twice.
    assert sorted(map(int, log.read_text(encoding="utf-8").split())) == list(range(30))


@pytest.mark.parametrize(
    ("code", "words"),
    [(-9, "killed by SIGKILL"), (-200, "killed by signal 200"), (1, "exit status 1"), (None, "no exit status")],
)
def test_how_it_died(code: int | None, words: str) -> None:
    assert Died(code).how == words


def test_a_process_that_dies_while_it_rests_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "AHEAD", 0)
    seen = []
    with closing(in_order(process_of, ITEMS, jobs=1)) as results:
        for result in results:
            assert not isinstance(result, Died)
            seen.append(result[0])
            if len(seen) == 6:
                os.kill(result[1], signal.SIGKILL)
                while multiprocessing.active_children():
                    time.sleep(0.01)
    assert seen == ITEMS


def test_an_exception_is_raised_when_its_turn_comes() -> None:
    results = in_order(failing, ["a", "usage", "b"], jobs=2)
    assert next(results) == "a"
    with pytest.raises(UsageError, match="no such locale") as caught:
        next(results)
    assert caught.value.details == {"locale": "xx"}
    with pytest.raises(RuntimeError, match="OddError: odd"):
        list(in_order(failing, ["odd"], jobs=1))


def test_some_items_are_done_in_this_process() -> None:
    results = list(in_order(process_of, ["a", "-", "b", "c"], jobs=2, here=["-"]))
    own = [item for item, process in results if process == os.getpid()]  # type: ignore[misc]
    assert own == ["-"]
    assert [item for item, _ in results] == ["a", "-", "b", "c"]  # type: ignore[misc]


def test_processes_do_not_run_far_ahead(tmp_path: Path) -> None:
    """What waits for the first result is bounded, in number and in size."""
    log = tmp_path / "log"
    items = [f"{log}:{number}" for number in range(200)]
    with closing(in_order(noted, items, jobs=2)) as results:
        assert next(results) == "0"
        begun = log.read_text(encoding="utf-8").split()
    assert 2 < len(begun) <= 2 * AHEAD + 2


def test_large_results_stop_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "MOST_WAITING_BYTES", 1)
    log = tmp_path / "log"
    with closing(in_order(noted, [f"{log}:{number}" for number in range(20)], jobs=2)) as results:
        assert next(results) == "0"
        begun = log.read_text(encoding="utf-8").split()
        assert len(begun) <= 3
        assert list(results) == [str(number) for number in range(1, 20)]


def test_leaving_early_ends_all_processes_at_once() -> None:
    start = time.monotonic()
    with closing(in_order(endless, ITEMS, jobs=3)) as results:
        assert next(results) == "0"
        assert multiprocessing.active_children()
    assert multiprocessing.active_children() == []
    assert time.monotonic() - start < 30


def test_without_a_fork_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    assert list(in_order(doubled, ["1", "2"], jobs=1)) == ["11", "22"]


def test_what_a_process_does() -> None:
    """The loop itself, in a thread of this process."""
    ours, theirs = multiprocessing.Pipe()
    thread = threading.Thread(target=serve, args=(theirs, failing))
    thread.start()
    try:
        answers = []
        for item in ("a", "usage", "odd"):
            ours.send_bytes(pickle.dumps(item))
            answers.append(pickle.loads(ours.recv_bytes()))  # noqa: S301 - our own
    finally:
        ours.close()
        thread.join(10)
        theirs.close()
        gc.unfreeze()
    assert answers[0] == (True, "a")
    assert isinstance(answers[1][1], UsageError)
    assert isinstance(answers[2][1], RuntimeError)


@pytest.mark.parametrize(
    "error",
    [
        NcudiagError("internal", "m", "h"),
        ReportError("no-kernels", "m", "h", details={"path": "x"}),
        EmptyReportError("no-kernels", "m", "h", lines=("a", "b")),
    ],
    ids=["base", "details", "lines"],
)
def test_errors_travel_whole(error: NcudiagError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    assert type(again) is type(error)
    assert (again.__dict__, str(again)) == (error.__dict__, str(error))
