"""Rules as data: their types and how they are found and read."""

from ncudiag.rulebook.builtin import builtin_rules
from ncudiag.rulebook.quadrants import Limits, Quadrant, QuadrantTable, builtin_quadrants, load_quadrants
from ncudiag.rulebook.thresholds import Thresholds

__all__ = [
    "Limits",
    "Quadrant",
    "QuadrantTable",
    "Thresholds",
    "builtin_quadrants",
    "builtin_rules",
    "load_quadrants",
]
