"""The model of a report: frozen pydantic models without any input or output."""

from ncudiag.model.batch import LaunchBatch, Pattern
from ncudiag.model.launch import Dim3, Extremes, Launch, LazyRules, NcuRule
from ncudiag.model.metric import Columns, Metric, MetricRow
from ncudiag.model.profile import REPORT_FORMATS, Profile, ReportFormat, Source, SourceWarning

__all__ = [
    "REPORT_FORMATS",
    "Columns",
    "Dim3",
    "Extremes",
    "Launch",
    "LaunchBatch",
    "LazyRules",
    "Metric",
    "MetricRow",
    "NcuRule",
    "Pattern",
    "Profile",
    "ReportFormat",
    "Source",
    "SourceWarning",
]
