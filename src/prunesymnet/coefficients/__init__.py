"""From an expression and data to the fitted expression: fit, round, and say how sure it is."""

from prunesymnet.coefficients.fit import Fit, FitSettings, fit
from prunesymnet.coefficients.least_squares import FitStatus
from prunesymnet.coefficients.snapping import SnapSettings, snap
from prunesymnet.coefficients.uncertainty import Estimate, covariance, estimate_constants

__all__ = [
    "Estimate",
    "Fit",
    "FitSettings",
    "FitStatus",
    "SnapSettings",
    "covariance",
    "estimate_constants",
    "fit",
    "snap",
]
