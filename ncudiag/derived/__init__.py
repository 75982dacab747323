"""Named derived metrics: pure functions of measured values; missing in, missing out."""
