"""What a search gives: equations, and the front of them."""

from prunesymnet.equations.equation import Equation
from prunesymnet.equations.front import Front

__all__ = ["Equation", "Front"]
