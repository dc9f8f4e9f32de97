"""What would have been best? Exact values, the best policy in hindsight, Slater's constant, all with certificates."""

from __future__ import annotations

from tightrope.oracle.best import METHODS, best_policy
from tightrope.oracle.certificate import TOLERANCE, BestPolicy, Slater
from tightrope.oracle.evaluation import feature_occupancy, occupancy, q_values, start_value, values
from tightrope.oracle.restless import restless_losses
from tightrope.oracle.slater_policy import slater

__all__ = [
    "METHODS",
    "TOLERANCE",
    "BestPolicy",
    "Slater",
    "best_policy",
    "feature_occupancy",
    "occupancy",
    "q_values",
    "restless_losses",
    "slater",
    "start_value",
    "values",
]
