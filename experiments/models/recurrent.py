"""A GRU over frozen word vectors, with its gradient written out.

The equations are those of ``torch.nn.GRU``, and the tests hold it to that. But here vectors are
not learned, so that a word that stands in a batch many times goes through the input weights once;
and the gradient of each matrix is one product over all words of the batch. That takes about
seven tenths of the time.
"""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable


class Recurrent(nn.Module):
    """A GRU over texts whose words are rows of a table of vectors.

    Parameters
    ----------
    width : int
        Numbers in a vector.
    units : int
        Numbers in the hidden state.
    """

    def __init__(self, width: int, units: int) -> None:
        super().__init__()
        # Rows of the reset gate, of the update gate and of the candidate, as in torch.nn.GRU.
        self.weight_ih = nn.Parameter(torch.empty(3 * units, width))
        self.weight_hh = nn.Parameter(torch.empty(3 * units, units))
        self.bias_ih = nn.Parameter(torch.empty(3 * units))
        self.bias_hh = nn.Parameter(torch.empty(3 * units))
        for weights in self.parameters():
            nn.init.uniform_(weights, -1 / math.sqrt(units), 1 / math.sqrt(units))

    def forward(self, vectors: Tensor, words: Tensor) -> Tensor:
        """Return the hidden state after each word, of shape (texts, words, units).

        Parameters
        ----------
        vectors : Tensor of shape (rows, width)
            The table of vectors.
        words : Tensor of int, shape (texts, words)
            Rows of the table.
        """
        distinct, place = torch.unique(words.T, return_inverse=True)  # place: (words, texts)
        seen = vectors[distinct] @ self.weight_ih.T + self.bias_ih  # (distinct, 3 units)
        # torch does not say of what type the outcome of a function with its own gradient is.
        states: Tensor = _States.apply(seen, place, self.weight_hh, self.bias_hh)  # type: ignore[no-untyped-call]
        return states.transpose(0, 1)


class _States(torch.autograd.Function):
    """Hidden states h after each word, from what the input weights make of the distinct words.

    With a the part of a word and b that of the state before it, each in three::

        r = sigmoid(a_r + b_r)    u = sigmoid(a_u + b_u)    c = tanh(a_c + r b_c)
        h = u h_before + (1 - u) c
    """

    @staticmethod
    def forward(ctx: Any, seen: Tensor, place: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        (steps, texts), units = place.shape, weight.shape[1]
        states = seen.new_zeros(steps + 1, texts, units)
        # What backward needs of each word: r, u, c and b_c.
        kept = seen.new_empty(steps, texts, 4, units)
        for step, before in enumerate(states[:-1]):
            a = seen[place[step]].view(texts, 3, units)
            b = torch.addmm(bias, before, weight.T).view(texts, 3, units)
            r, u, c, b_c = kept[step].unbind(dim=1)
            torch.add(a[:, :2], b[:, :2], out=kept[step, :, :2]).sigmoid_()
            b_c.copy_(b[:, 2])
            torch.addcmul(a[:, 2], r, b_c, out=c).tanh_()
            torch.lerp(c, before, u, out=states[step + 1])
        ctx.save_for_backward(seen, place, weight, states, kept)
        return states[1:]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slopes: Tensor) -> tuple[Tensor, None, Tensor, Tensor]:
        seen, place, weight, states, kept = ctx.saved_tensors
        (steps, texts), units = place.shape, weight.shape[1]
        by_seen = torch.zeros_like(seen)
        by_b = seen.new_empty(steps, texts, 3, units)
        by_h = torch.zeros_like(states[0])
        for step in reversed(range(steps)):
            r, u, c, b_c = kept[step].unbind(dim=1)
            by_h += slopes[step]
            by_a = by_b[step]
            through_c = (1 - u).mul_(by_h)
            torch.mul(by_h.mul(states[step] - c), u * (1 - u), out=by_a[:, 1])
            torch.mul(through_c, 1 - c * c, out=by_a[:, 2])
            torch.mul(by_a[:, 2] * b_c, r * (1 - r), out=by_a[:, 0])
            by_seen.index_add_(0, place[step], by_a.view(texts, -1))
            by_a[:, 2] *= r  # b_c, unlike a_c, stands behind the reset gate
            by_h = torch.addmm(by_h.mul_(u), by_a.view(texts, -1), weight)
        flat = by_b.view(steps * texts, -1)
        return by_seen, None, flat.T @ states[:-1].flatten(0, 1), flat.sum(dim=0)
