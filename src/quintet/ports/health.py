"""What `quintet doctor` reports."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One line of the report: what was checked, whether it is sound, and what to do if it is not."""

    name: str
    ok: bool
    message: str
