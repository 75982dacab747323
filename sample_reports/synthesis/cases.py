"""All samples, in the order in which a newcomer should read them."""

from __future__ import annotations

from synthesis import cases_application, cases_compute, cases_latency, cases_memory

CASES = (*cases_memory.CASES, *cases_compute.CASES, *cases_latency.CASES, *cases_application.CASES)
