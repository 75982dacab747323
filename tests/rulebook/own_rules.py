"""A small rule of one's own, as a user would write it, and changes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

RULE = """\
id = "MEM901"
name = "much-shared-memory"
title = "A block takes much shared memory"
family = "memory"
severity = "low"
since = "1.0"
why = "A block takes {shared} of shared memory."
try = ["Take less."]
verify = "`launch__shared_mem_per_block_dynamic` falls."
references = ["our own measurements"]

[metrics]
shared = "launch__shared_mem_per_block_dynamic"
busy = "derived:dram_pct"

[thresholds]
much = 50000 # half of what an SM has
low = "quadrants.high" # as for the verdict

[when]
all = [
  { metric = "shared", op = ">=", threshold = "much" },
  { any = [{ metric = "busy", op = "<", threshold = "low" }] },
]

[[examples]]
name = "much"
expect = "fired"
values = { shared = 60000, busy = 20 }

[[examples]]
name = "exactly at both"
expect = "passed"
values = { shared = 50000, busy = 60 }

[[examples]]
name = "not collected"
expect = "indeterminate"
values = { busy = 20 }
"""


def write_rule(folder: Path, *changes: tuple[str, str], name: str = "MEM901") -> Path:
    """Write the rule with some of its text replaced."""
    text = RULE
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path
