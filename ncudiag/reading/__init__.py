"""From the text of a report to its launches: every page, version, locale and encoding of ``ncu --csv``."""

from ncudiag.reading.names import short_name
from ncudiag.reading.stream import ReportStream, SourceLike, open_report, read_report

__all__ = ["ReportStream", "SourceLike", "open_report", "read_report", "short_name"]
