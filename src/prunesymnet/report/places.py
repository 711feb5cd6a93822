"""Where the nodes of a network stand, and where their operands enter.

All pictures of a network have the same places: one column per layer, from the inputs on the left to the output on the
right, and one row per operator. So the same node is found at the same place in each.
"""

from dataclasses import dataclass

from prunesymnet.network import Choice, Network
from prunesymnet.report.drawing import COLUMN, PORT, Point


@dataclass(frozen=True)
class Places:
    """The node -1 is the output."""

    network: Network

    @property
    def inputs(self) -> list[float]:
        """The heights of the inputs: as far apart as there is room, but not more than two rows."""
        count = self.network.sizes[0]
        step = min(2.0, max(1.0, (len(self.network.rows) - 1) / max(count - 1, 1)))
        return [((count - 1) / 2 - k) * step for k in range(count)]

    @property
    def high(self) -> float:
        """The height of the highest node; the lowest is as far below 0."""
        return max(self.inputs[0], (len(self.network.rows) - 1) / 2)

    @property
    def width(self) -> float:
        return (self.network.layers + 1) * COLUMN

    @property
    def longest(self) -> str:
        """The longest name of an input."""
        return max(self.network.inputs, key=len)

    def column(self, node: int) -> int:
        if node < 0:
            return self.network.layers + 1
        return max(0, 1 + (node - self.network.sizes[0]) // len(self.network.rows))

    def node(self, node: int) -> Point:
        rows, inputs = len(self.network.rows), self.network.sizes[0]
        if node < 0:
            return self.width, 0.0
        height = self.inputs[node] if node < inputs else (rows - 1) / 2 - (node - inputs) % rows
        return self.column(node) * COLUMN, height

    def port(self, group: int) -> Point:
        """Where the edges of a group end: the first operand of two enters above the second."""
        end = self.network.groups[group]
        x, y = self.node(end.node)
        return x, y if len(self.network.groups_of[end.node]) == 1 else y + PORT * (1 - 2 * end.operand)

    def chains(self, choice: Choice) -> dict[int, list[Point]]:
        """The `id` nodes that carry each retained node on to the layers that read it, between the other nodes."""
        readers: dict[int, list[int]] = {}
        for i in self.network.needed(choice):
            readers.setdefault(choice[i], []).append(i)
        rows = len(self.network.rows)
        gaps = [rows / 2 - k for k in range(rows + 1)]
        gaps += [side * (rows / 2 + 0.5 * k) for k in range(1, 1 + len(readers)) for side in (1, -1)]
        free = {column: list(gaps) for column in range(self.network.layers + 1)}
        found: dict[int, list[Point]] = {}
        for source in sorted(readers, key=lambda n: -self.node(n)[1]):
            furthest = max(readers[source], key=lambda i: self.network.groups[i].layer)
            goal, y = self.port(furthest)[1], self.node(source)[1]
            columns = range(self.column(source) + 1, self.network.groups[furthest].layer)
            found[source] = []
            for column in columns:
                wanted = y + (goal - y) / (columns.stop - column + 1)
                y = min(free[column], key=lambda gap, wanted=wanted: abs(gap - wanted))  # type: ignore[misc]
                free[column].remove(y)
                found[source].append((column * COLUMN, y))
        return found
