"""The policy of deep symbolic regression: a recurrent network that writes formulas token by token, in prefix order.

What may come next is decided while a formula is written, for a whole batch at once. All that a choice depends on, the
length and the number of constants aside, is in one whole number, the *place*: parent, sibling, and whether a sine or
cosine is above. So the rules are rows of a table, and so is what the network reads.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from prunesymnet.operators import OPERATORS

CONSTANT = "const"
TRIGONOMETRIC = ("sin", "cos")
INVERSE = {"exp": "log", "log": "exp", "square": "sqrt", "sqrt": "square"}
NEVER = -1e9  # added to a logit: the probability is 0 and, unlike with -inf, so is its share of the entropy


@dataclass(frozen=True, eq=False)
class Tokens:
    """The words of the language: operators, then columns, then perhaps a constant. One more number, `none`, stands for
    no token: the parent of a root, the sibling of a first child, what follows a formula's end."""

    operators: tuple[str, ...]
    columns: tuple[str, ...]
    constants: int = 0  # how many a formula may have

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.operators, *self.columns, *([CONSTANT] if self.constants else []))

    @property
    def none(self) -> int:
        return len(self.names)

    @property
    def arity(self) -> NDArray[np.int64]:
        leaves = self.none + 1 - len(self.operators)
        return np.array([*(OPERATORS[name].arity for name in self.operators), *([0] * leaves)])

    def place(self, parent: int, sibling: int, below_trig: bool) -> int:
        return (parent * (self.none + 1) + sibling) * 2 + below_trig

    def rules(self) -> NDArray[np.bool_]:
        """[places, tokens]: no operator of constants alone (so that a formula has a variable), no function of its own
        inverse, no sine or cosine below another."""
        names, arity, none = self.names, self.arity, self.none
        table = np.ones((none + 1, none + 1, 2, none), dtype=bool)
        table[:, :, 1, [name in TRIGONOMETRIC for name in names]] = False
        for parent, name in enumerate(names):
            if INVERSE.get(name) in names:
                table[parent, :, :, names.index(INVERSE[name])] = False
            if self.constants and arity[parent] == 1:
                table[parent, :, :, -1] = False
        if self.constants:
            table[:, none - 1, :, -1] = False
        return table.reshape(-1, none)

    def lengths(self, shortest: int, longest: int) -> NDArray[np.bool_]:
        """[tokens written, operands awaited, tokens]: what lets a formula end with `shortest` to `longest` tokens."""
        written, awaited = np.ogrid[:longest, : longest + 2]
        left = (awaited[..., None] - 1) + self.arity[:-1]  # operands awaited after the token
        length = written[..., None] + 1 + left  # of the formula if only leaves follow
        return (length <= longest) & ((left > 0) | (length >= shortest))


@dataclass(frozen=True, eq=False)
class Sample:
    """A batch of formulas: tokens and places [steps, batch] (`none` after the end), and what kept to the rules."""

    tokens: Tensor
    places: Tensor
    barred: Tensor  # [steps, batch, tokens]: 0, or far below it for a token that may not come

    def __getitem__(self, chosen: Tensor) -> "Sample":
        return Sample(self.tokens[:, chosen], self.places[:, chosen], self.barred[:, chosen])


class Policy(nn.Module):
    """One LSTM layer that reads parent and sibling of the next token and gives a logit for each token.

    Its weights start at 0, and only the layer after it at random, so the first formulas are uniform choices of what is
    allowed.
    """

    def __init__(self, tokens: Tokens, units: int, shortest: int, longest: int, seed: int) -> None:
        super().__init__()
        self.tokens, self.longest = tokens, longest
        self.random = torch.Generator().manual_seed(seed)
        self.lstm = nn.LSTM(2 * (tokens.none + 1), units)
        self.logits = nn.Linear(units, tokens.none)
        for weight in self.lstm.parameters():
            nn.init.zeros_(weight)
        nn.init.ones_(self.lstm.bias_ih_l0[units : 2 * units])  # of the gate that forgets: it remembers at first
        nn.init.xavier_uniform_(self.logits.weight, generator=self.random)
        nn.init.zeros_(self.logits.bias)
        self.arity = torch.as_tensor(tokens.arity)
        self.rules = _barred(tokens.rules())
        self.lengths = _barred(tokens.lengths(shortest, longest))
        none = tokens.none
        places = torch.arange(len(self.rules))
        parent, sibling = places // (2 * (none + 1)), places // 2 % (none + 1)
        self.reads = torch.stack([parent, none + 1 + sibling], 1)  # the two inputs that are 1
        self.first = ((self.arity[parent] == 2) & (sibling == none)).long()  # places whose sibling is still to come
        trig = torch.tensor([name in TRIGONOMETRIC for name in (*tokens.names, "")])
        self.child = (torch.arange(none + 1) * (none + 1) + none) * 2 + trig  # the place of a token's first operand

    @torch.no_grad()
    def sample(self, batch: int) -> Sample:
        """Formulas, one token of all of them at a time.

        `stack` has the places to fill, row by row, of each formula: that of a second operand takes the place of the
        first one's. Its first cell is never emptied, so a formula that has ended needs no case of its own.
        """
        none, units = self.tokens.none, self.lstm.hidden_size
        read = self.lstm.weight_ih_l0.T[self.reads].sum(1) + self.lstm.bias_ih_l0 + self.lstm.bias_hh_l0
        recurrent = self.lstm.weight_hh_l0.T.contiguous()
        stack = torch.full((batch, self.longest + 3), self.tokens.place(none, none, False))
        cells, base = stack.view(-1), torch.arange(batch) * stack.shape[1]
        top, awaited, constants = (torch.full((batch,), start) for start in (1, 1, 0))
        hidden, cell = torch.zeros(batch, units), torch.zeros(batch, units)
        noise = torch.rand(self.longest, batch, none, generator=self.random).log_().neg_().log_()
        steps: list[tuple[Tensor, Tensor, Tensor]] = []
        # index_select is several times as fast here as brackets, and this loop is where the time goes.
        for step in range(self.longest):
            if not awaited.any():
                break
            here = base + top
            place = cells.take(here)
            gates = torch.addmm(read.index_select(0, place), hidden, recurrent)
            enter, forget, new, out = gates.split(units, 1)
            cell = forget.sigmoid() * cell + enter.sigmoid() * new.tanh()
            hidden = out.sigmoid() * cell.tanh()
            barred = self.rules.index_select(0, place) + self.lengths[step].index_select(0, awaited)
            if self.tokens.constants:
                barred[:, -1] += NEVER * (constants >= self.tokens.constants)
            choice = (self.logits(hidden) + barred - noise[step]).argmax(1)  # Gumbel's way to draw
            token = torch.where(awaited > 0, choice, none)
            steps.append((token, place, barred))
            cells.put_(here, place + 2 * (token - none))
            top = (top + self.first.take(place) - 1).clamp_(min=0)
            cells.put_(base + top + 1, self.child.take(token) | (place & 1))
            arity = self.arity.take(token)
            top += arity > 0
            awaited += (arity - 1) * (token < none)
            if self.tokens.constants:
                constants += token == none - 1
        return Sample(*map(torch.stack, zip(*steps, strict=True)))

    def log_likelihood_and_entropy(self, sample: Sample) -> tuple[Tensor, Tensor]:
        """[batch] each: sums over the tokens of a formula, differentiable."""
        width = self.lstm.input_size
        inputs = torch.zeros(*sample.places.shape, width).scatter_(2, self.reads[sample.places], 1.0)
        logs = (self.logits(self.lstm(inputs)[0]) + sample.barred).log_softmax(2)
        there = sample.tokens < self.tokens.none
        chosen = logs.gather(2, sample.tokens.clamp(max=self.tokens.none - 1)[..., None])[..., 0]
        entropy = -(logs.exp() * logs).sum(2)
        return (chosen * there).sum(0), (entropy * there).sum(0)


def _barred(allowed: NDArray[np.bool_]) -> Tensor:
    return torch.as_tensor(np.where(allowed, 0.0, NEVER), dtype=torch.float32)
