"""The paper's network: its structure, its arithmetic, its training, and what pruning makes of it."""

from prunesymnet.network.network import Choice, Group, Network

__all__ = ["Choice", "Group", "Network"]
