"""The three numbers that every verdict rests on."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Thresholds(BaseModel):
    """What counts as high, as saturated, and as too close to call; all in percentage points of peak.

    The defaults live in ``rules/quadrants.toml``; a report prints the ones that it used.

    Attributes:
        high: a percentage at or above this is high.
        saturated: a unit at or above this is saturated.
        borderline: a number within this distance of ``high`` (inclusive) makes a verdict borderline.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    high: float = Field(gt=0, le=100)
    saturated: float = Field(gt=0, le=100)
    borderline: float = Field(ge=0, le=100)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.saturated < self.high:
            message = f"saturated ({self.saturated:g}) must not be below high ({self.high:g})"
            raise ValueError(message)
        return self
