"""Structure found from the data: reductions of a problem to fewer quantities."""

from prunesymnet.structure.reduction import Reduction

__all__ = ["Reduction"]
