"""Exhaustive pruning: the exact least-squares loss of every pair of nodes of a bank, by dense matrix products.

`bank` grows the nodes, `scan` scores their pairs, `targets` unwraps the target, `asked` joins a question with the
formula that an answer stands for. `shortcuts`, `chains`, `powers`, `frequencies`, `phases`, `rates` and `pursuit` are
mechanisms on top, `grafts` and `blocks` build on formulas that are nearly right; `rounds` says which come when.
"""

from prunesymnet.bank.asked import Proposal, Scene, promising
from prunesymnet.search.stages.blocks import blocks
from prunesymnet.search.stages.rounds import ExhaustiveSettings, Rounds

__all__ = ["ExhaustiveSettings", "Proposal", "Rounds", "Scene", "blocks", "promising"]
