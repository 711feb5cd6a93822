"""What a run has to show: the report of it as one HTML file, and pictures of formulas, fits and networks."""

from prunesymnet.report.collapse import draw_collapse
from prunesymnet.report.effects import draw_effects
from prunesymnet.report.formula import draw_formula
from prunesymnet.report.loss import draw_loss
from prunesymnet.report.networks import draw_network, draw_subnetwork
from prunesymnet.report.page import write_report
from prunesymnet.report.plots import draw_front, draw_predictions, draw_residuals
from prunesymnet.report.pruning import Pictures, draw_pruning, save_pictures

__all__ = [
    "Pictures", "draw_collapse", "draw_effects", "draw_formula", "draw_front", "draw_loss", "draw_network",
    "draw_predictions", "draw_pruning", "draw_residuals", "draw_subnetwork", "save_pictures", "write_report",
]  # fmt: skip
