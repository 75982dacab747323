"""From launches to verdicts."""

from ncudiag.diagnose.diagnosis import Diagnosis
from ncudiag.diagnose.engine import Diagnosed, Options, diagnose_launches

__all__ = ["Diagnosed", "Diagnosis", "Options", "diagnose_launches"]
