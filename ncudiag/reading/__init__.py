"""From what ncu prints to launches: every page, version, locale and encoding of ``ncu --csv``, and its plain text."""

from ncudiag.reading.names import short_name
from ncudiag.reading.stream import ReportStream, SourceLike, open_report, read_report

__all__ = ["ReportStream", "SourceLike", "open_report", "read_report", "short_name"]
