"""What a run has to show: the report of it as one HTML file, and pictures of formulas, fits and networks."""

from prunesymnet.report.formula import draw_formula
from prunesymnet.report.loss import draw_loss
from prunesymnet.report.networks import Pictures, draw_network, draw_pruning, draw_subnetwork, save_pictures
from prunesymnet.report.page import write_report
from prunesymnet.report.plots import draw_effects, draw_front, draw_predictions, draw_residuals

__all__ = [
    "Pictures",
    "draw_effects",
    "draw_formula",
    "draw_front",
    "draw_loss",
    "draw_network",
    "draw_predictions",
    "draw_pruning",
    "draw_residuals",
    "draw_subnetwork",
    "save_pictures",
    "write_report",
]
