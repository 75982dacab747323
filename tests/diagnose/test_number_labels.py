"""What the numbers of findings are called."""

from __future__ import annotations

import re

import pytest

from ncudiag.diagnose.labels import GAIN, label_of
from ncudiag.rulebook.loader import builtin_book


@pytest.mark.parametrize(
    ("alias", "metric", "label"),
    [
        ("issue_rate", "smsp__issue_active.avg.per_cycle_active", "issue rate"),
        ("fp64_of_peak", "derived:fp64_peak_pct", "FP64 of peak"),
        ("ai_l2", "derived:ai_l2", "intensity at L2"),
        ("stall", "derived:stall_long_scoreboard_pct", "long scoreboard stall"),
        ("lg", "derived:stall_lg_throttle_pct", "LG throttle stall"),
        ("left", "derived:dram_headroom_pct", GAIN),
        ("gain", "derived:tail_gain_pct", GAIN),
        ("lead", "derived:l2_lead", "lead over the other levels"),
        (
            "used_pct",
            "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
            "bytes used of each loaded sector",
        ),
        ("r", "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", "bytes used per stored sector"),
        ("hit_rate_pct", "my__metric", "hit rate"),
        ("hits_pct", "my__metric", "hits"),
        ("pct", "my__metric", "pct"),
        ("grid", "launch__grid_size", "blocks in the grid"),
    ],
)
def test_labels(alias: str, metric: str, label: str) -> None:
    assert label_of(alias, metric) == label


def test_every_label_of_the_built_in_rules_reads_as_words() -> None:
    for rule in builtin_book().rules:
        for alias, metric in rule.metrics.items():
            label = label_of(alias, metric)
            assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9/, ]*", label), (rule.id, label)
