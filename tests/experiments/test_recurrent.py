"""The GRU over frozen vectors is torch's own, states and gradients."""

import pytest
import torch
from experiments.models.recurrent import Recurrent

NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def pair(width, units):
    """Return ours and torch's, with the same weights, in doubles."""
    torch.manual_seed(0)
    ours = Recurrent(width, units).double()
    theirs = torch.nn.GRU(width, units, batch_first=True).double()
    with torch.no_grad():
        for name in NAMES:
            getattr(theirs, f"{name}_l0").copy_(getattr(ours, name))
    return ours, theirs


@pytest.mark.parametrize(("texts", "length"), [(1, 1), (3, 1), (2, 9), (5, 40)])
def test_states_and_gradients(texts, length):
    ours, theirs = pair(7, 6)
    # Few rows, so that words come again and again.
    vectors, words = torch.randn(4, 7).double(), torch.randint(0, 4, (texts, length))
    found, (wanted, _) = ours(vectors, words), theirs(vectors[words])
    torch.testing.assert_close(found, wanted)
    pull = torch.randn_like(wanted)
    (found * pull).sum().backward()
    (wanted * pull).sum().backward()
    for name in NAMES:
        torch.testing.assert_close(getattr(ours, name).grad, getattr(theirs, f"{name}_l0").grad)


def test_weights_begin_as_those_of_torch():
    torch.manual_seed(0)
    ours = Recurrent(300, 256)
    for weights in ours.parameters():
        assert 0.99 / 16 < weights.abs().max() <= 1 / 16
        assert weights.mean().abs() < 1e-2
