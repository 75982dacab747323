"""The two sides of ``ncudiag.compare``: one source or several, copies, files that disagree, errors with names."""

from __future__ import annotations

import gzip
import io
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ncudiag
from ncudiag.errors import ProfilingError, ReportError, UsageError

if TYPE_CHECKING:
    from ncudiag.compare.comparison import Comparison, Pair

NS = "gpu__time_duration.sum"
HEAD = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device",'
    f'"CC","{NS}","gpc__cycles_elapsed.avg.per_second","device__attribute_display_name"\n'
    '"","","","","","","","","","","","ns","hz",""\n'
)


def page(*durations_ns: float, process: int = 41, mhz: int = 1410, gpu: str = "NVIDIA H100", ncu: str = "") -> str:
    """A raw page with a launch for each duration."""
    version = f"==PROF== Connected to process 1\n==PROF== Version {ncu}\n" if ncu else ""
    rows = (
        f'"{number}","{process}","app","host","stencil(float *)","1","7","(256, 1, 1)","(64, 1, 1)","0","9.0",'
        f'"{time}","{mhz}000000","{gpu}"\n'
        for number, time in enumerate(durations_ns)
    )
    return version + HEAD + "".join(rows)


def file(path: Path, *durations_ns: float, process: int = 41, mhz: int = 1410, gpu: str = "NVIDIA H100") -> str:
    path.write_text(page(*durations_ns, process=process, mhz=mhz, gpu=gpu), encoding="utf-8")
    return str(path)


def one(comparison: Comparison) -> Pair:
    (pair,) = comparison.pairs
    return pair


def test_one_launch_in_each_of_several_files_says_how_far_runs_lie_apart(tmp_path: Path) -> None:
    """So a difference beyond it is one, and a difference inside it is none."""
    before = [file(tmp_path / f"a{n}.csv", time, process=n) for n, time in enumerate((100_000, 102_000, 101_000))]
    after = [file(tmp_path / f"b{n}.csv", time, process=9 + n) for n, time in enumerate((81_000, 80_000))]
    comparison = ncudiag.compare(before, after)
    pair = one(comparison)
    assert (pair.status, pair.reasons) == ("improved", ())
    assert pair.duration_ns.model_dump() == {
        "before": 101_000, "after": 80_500, "change": pytest.approx(-20.5 / 101),
    }  # fmt: skip
    assert pair.spread.before == pair.file_spread.before == pytest.approx(2 / 101)
    assert pair.launches.model_dump() == pair.files.model_dump() == {"before": 3, "after": 2}
    assert [each.path for each in comparison.before_files] == before
    assert comparison.before.path == ", ".join(before)
    assert (comparison.before.launches, comparison.after.launches) == (3, 2)
    near = [file(tmp_path / f"c{n}.csv", time) for n, time in enumerate((101_500, 102_500))]
    assert one(ncudiag.compare(before, near)).status == "no-clear-difference"
    assert one(ncudiag.compare(before[0], after[0])).reasons == ("one-launch-each",)


def test_the_spread_between_files_counts_where_launches_of_a_file_agree(tmp_path: Path) -> None:
    """Each file by itself is steady; the runs are not."""
    before = [file(tmp_path / "a.csv", 100_000, 100_100), file(tmp_path / "b.csv", 120_000, 120_100)]
    after = [file(tmp_path / "c.csv", 95_000, 95_100)]
    pair = one(ncudiag.compare(before, after))
    assert (pair.status, pair.duration_ns.before) == ("no-clear-difference", 110_050)
    assert pair.file_spread.before == pytest.approx(20_000 / 110_050)
    assert pair.file_spread.after is None
    assert one(ncudiag.compare(before[0], after)).status == "improved"


def test_a_copy_is_no_further_measurement(tmp_path: Path) -> None:
    """Given twice, under another name, or the same object: everything stays as with one."""
    first, after = file(tmp_path / "a.csv", 100_000), file(tmp_path / "b.csv", 90_000)
    alone = ncudiag.compare(first, after)
    copy = str(shutil.copy(first, tmp_path / "copy.csv"))
    for side in ([first, first], (first, first), [tmp_path / "a.csv", first]):
        assert one(ncudiag.compare(side, after)) == one(alone)
    copied = ncudiag.compare([first, copy], after)
    assert one(copied) == one(alone)
    assert [each.code for each in copied.before.warnings] == ["short-kernel", "repeat-ignored"][1:]
    assert copy in copied.before.warnings[-1].message
    read = ncudiag.read(first)
    assert one(ncudiag.compare([read, read], after)) == one(alone)


def test_a_gzipped_copy_is_no_further_measurement(tmp_path: Path) -> None:
    first, after = file(tmp_path / "a.csv", 100_000), file(tmp_path / "b.csv", 90_000)
    text = (tmp_path / "a.csv").read_bytes()
    packed, again, other, cut = (str(tmp_path / f"{name}.csv.gz") for name in ("a", "again", "other", "cut"))
    Path(packed).write_bytes(gzip.compress(text, mtime=1))
    Path(again).write_bytes(gzip.compress(text, mtime=2))
    Path(other).write_bytes(gzip.compress((tmp_path / "b.csv").read_bytes()))
    Path(cut).write_bytes(gzip.compress(text)[:-12])
    alone = ncudiag.compare(first, after)
    for side in ([first, packed], [packed, first], [packed, again]):
        copied = ncudiag.compare(side, after)
        assert one(copied).reasons == one(alone).reasons == ("one-launch-each",)
        assert [each.code for each in copied.before.warnings] == ["repeat-ignored"]
    assert one(ncudiag.compare([first, other], after)).launches.before == 2
    assert not [each for each in ncudiag.compare([first, cut], after).before.warnings if each.code == "repeat-ignored"]


def test_any_kind_of_source_is_one_of_several(tmp_path: Path) -> None:
    """Paths, profiles, file objects, CSV text; a list of lines is one report."""
    text = page(100_000)
    sources = [
        file(tmp_path / "a.csv", 101_000),
        tmp_path / "a.csv",
        ncudiag.read(io.StringIO(page(102_000))),
        io.BytesIO(page(103_000).encode()),
        text,
        page(104_000).splitlines(),
    ]
    comparison = ncudiag.compare(sources, text.splitlines())
    assert one(comparison).launches.model_dump() == {"before": 5, "after": 1}
    assert len(comparison.after_files) == 1
    assert one(ncudiag.compare([text], iter(text.splitlines(keepends=True)))).launches.after == 1
    assert one(ncudiag.compare(text, text.splitlines(keepends=True))).launches.after == 1


@pytest.mark.parametrize("side", [[], ()])
def test_a_side_needs_a_source(side: list[str]) -> None:
    """An empty list is a wrong call."""
    for sides in ((side, page(1)), (page(1), side)):
        with pytest.raises(UsageError, match="no report"):
            ncudiag.compare(*sides)


def test_an_error_names_the_file_of_several(tmp_path: Path) -> None:
    """And keeps its kind."""
    good = file(tmp_path / "good.csv", 1000)
    empty = tmp_path / "empty.csv"
    empty.write_text("", encoding="utf-8")
    with pytest.raises(ReportError) as caught:
        ncudiag.compare([good, str(empty)], good)
    assert caught.value.code == "no-kernels"
    assert str(empty) in caught.value.message
    failed = tmp_path / "failed.log"
    failed.write_text("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", encoding="utf-8")
    with pytest.raises(ProfilingError) as met:
        ncudiag.compare(good, [good, str(failed)])
    assert met.value.message.startswith(f"{failed}: ")
    assert met.value.details["path"] == str(failed)
    with pytest.raises(ReportError) as lost:
        ncudiag.compare([good, str(tmp_path / "absent.csv")], good)
    assert lost.value.message.count("absent.csv") == 1
    with pytest.raises(ReportError, match="the text given is no output"):
        ncudiag.compare([page(5).splitlines(), ["nothing"]], good)


def test_files_at_different_clocks_qualify(tmp_path: Path) -> None:
    """The medians mix two clocks then."""
    slow, fast = file(tmp_path / "a.csv", 120_000, mhz=1200), file(tmp_path / "b.csv", 100_000, mhz=1400)
    pair = one(ncudiag.compare([slow, fast], [slow, fast]))
    assert "repeats-differ" in pair.reasons
    assert "repeats-differ" not in one(ncudiag.compare(slow, slow)).reasons


def test_files_of_different_gpus_stay_apart_and_are_told(tmp_path: Path) -> None:
    """Each GPU is compared with itself."""
    a = [file(tmp_path / f"a{n}.csv", 100_000 + n, gpu=gpu) for n, gpu in enumerate(("NVIDIA H100", "NVIDIA A100"))]
    comparison = ncudiag.compare(a, a[:1])
    assert one(comparison).kernel.gpu == "NVIDIA H100"
    assert [each.kernel.gpu for each in comparison.only_before] == ["NVIDIA A100"]
    (warning,) = [each for each in comparison.before.warnings if each.code == "repeats-differ"]
    assert "NVIDIA A100" in warning.message
    assert "kept apart" in warning.message


def test_files_of_different_versions_of_ncu_qualify() -> None:
    """A version that all of a side's files share is the side's."""
    profiles = [
        ncudiag.read(page(100_000 + number)).model_copy(
            update={
                "source": ncudiag.read(page(1)).source.model_copy(
                    update={"path": f"{number}.csv", "ncu_version": version}
                )
            }
        )
        for number, version in enumerate(("2022.3.0", "2022.3.0", "2024.1.0", None))
    ]
    mixed = ncudiag.compare([profiles[0], profiles[2]], [profiles[1]])
    assert (mixed.before.ncu_version, mixed.after.ncu_version) == (None, "2022.3.0")
    assert one(mixed).reasons == ("ncu-version-differs", "repeats-differ")
    assert [each.code for each in mixed.before.warnings] == ["repeats-differ"]
    assert "2022.3.0 (0.csv), 2024.1.0 (2.csv)" in mixed.before.warnings[0].message
    same = ncudiag.compare([profiles[0], profiles[1]], [profiles[1]])
    assert same.before.ncu_version == "2022.3.0"
    assert one(same).reasons == ("timer-resolution",)
    unknown = ncudiag.compare([profiles[0], profiles[3]], [profiles[1]])
    assert unknown.before.ncu_version is None
    assert one(unknown).reasons == ("timer-resolution",)


def test_swapping_the_sides_mirrors_the_document(tmp_path: Path) -> None:
    """Statuses, spreads and files."""
    before = [file(tmp_path / f"a{n}.csv", 100_000 + 500 * n) for n in range(3)]
    after = [file(tmp_path / f"b{n}.csv", 80_000 + 500 * n) for n in range(2)]
    there, back = ncudiag.compare(before, after), ncudiag.compare(after, before)
    assert (one(there).status, one(back).status) == ("improved", "regressed")
    assert (there.before_files, there.after_files) == (back.after_files, back.before_files)
    assert one(there).file_spread.before == one(back).file_spread.after
    assert one(there).launches.before == one(back).launches.after
