"""Writes the generated pages of docs/ again.

python docs/write_pages.py                            rule pages, the table of NVIDIA's rules from stored counts,
                                                      and the outputs that pages show
python docs/write_pages.py --count CORPUS --ncu NCU   counts over public reports first, with a real ncu to import them
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "sample_reports")]

import figures  # noqa: E402 - the modules lie beside this script, or in sample_reports
import nvidia_rules  # noqa: E402
from generate import with_outputs  # noqa: E402
from rule_pages import rule_pages  # noqa: E402


def pages() -> dict[str, str]:
    """Every generated page by its path below docs/."""
    return rule_pages() | {"nvidia-rules.md": nvidia_rules.page(nvidia_rules.counted())}


def with_fresh_outputs() -> dict[str, str]:
    """Every page that shows the output of a command between marks, with the output of now."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(HERE.rglob("*.md"))}
    return {
        path.relative_to(HERE).as_posix(): with_outputs(text) for path, text in texts.items() if "<!-- begin: " in text
    }


def main() -> None:
    """Write what changed and remove pages of rules that are gone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=Path, metavar="CORPUS", help="folder with csv/ and ncu-rep/")
    parser.add_argument("--ncu", type=Path, default=Path("ncu"), help="the real ncu; found on PATH where left out")
    choices = parser.parse_args()
    if choices.count is not None:
        with tempfile.TemporaryDirectory() as scratch:
            seen = nvidia_rules.measured(choices.count, choices.ncu, Path(scratch))
        nvidia_rules.SEEN.write_text(nvidia_rules.stored(seen), encoding="utf-8")
    for name in figures.write():
        print(f"wrote docs/images/{name}")
    wanted = pages() | with_fresh_outputs()
    (HERE / "rules").mkdir(exist_ok=True)
    for path in HERE.glob("rules/*.md"):
        if path.relative_to(HERE).as_posix() not in wanted:
            path.unlink()
            print(f"removed {path.name}")
    for name, text in wanted.items():
        path = HERE / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
