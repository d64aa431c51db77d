"""The models are the paper's: their sizes, and that a prefix knows nothing of what follows it."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from experiments.models.dan import DAN, prefix_means
from experiments.models.encoder import MOST_TOKENS, Encoder, LastLayer
from experiments.models.gru import GRU
from experiments.models.rounds import RoundsGRU
from experiments.padded import pad
from experiments.words import Corpus

VECTORS = np.random.default_rng(0).normal(size=(40, 300)).astype(np.float32)


def corpus(lengths):
    rng = np.random.default_rng(1)
    words = rng.integers(0, 40, sum(lengths)).astype(np.int32)
    return Corpus(words, np.concatenate([[0], np.cumsum(lengths)]))


def layers(units):
    """Weights and biases of layers that follow each other."""
    return sum(a * b + b for a, b in pairwise(units))


def recurrent(inputs, units):
    """A GRU has three gates, each with two matrices and two biases."""
    return 3 * (inputs * units + units * units + 2 * units)


@pytest.mark.parametrize(
    ("model", "count"),
    [
        (DAN(), layers([300, 512, 256, 1])),
        (GRU(torch.from_numpy(VECTORS)), recurrent(300, 256) + layers([256, 256, 1])),
        (RoundsGRU(6), recurrent(6, 96) + layers([96, 96, 96, 1])),
        (LastLayer(384), 385),
    ],
    ids=lambda one: type(one).__name__,
)
def test_the_number_of_parameters(model, count):
    assert sum(one.numel() for one in model.parameters() if one.requires_grad) == count


@pytest.mark.parametrize("model", [DAN(), GRU(torch.from_numpy(VECTORS)), RoundsGRU(6)])
def test_dropout_is_a_quarter_between_the_layers(model):
    dropped = [one.p for one in model.modules() if isinstance(one, torch.nn.Dropout)]
    linear = [one for one in model.modules() if isinstance(one, torch.nn.Linear)]
    assert dropped == [0.25] * (len(linear) - 1)


def test_the_mean_of_a_prefix():
    texts = corpus([7, 3, 11])
    sequence, length = np.array([0, 0, 1, 2, 2]), np.array([2, 7, 3, 1, 10])
    found = prefix_means(texts, VECTORS, sequence, length)
    for row, (text, words) in enumerate(zip(sequence, length, strict=True)):
        expected = VECTORS[texts.text(text)[:words]].mean(axis=0)
        np.testing.assert_allclose(found[row], expected, rtol=1e-5, atol=1e-6)


def test_a_pass_over_a_text_gives_all_its_prefixes():
    torch.manual_seed(0)
    model, texts = GRU(torch.from_numpy(VECTORS)).eval(), corpus([12, 5])
    lengths = torch.tensor([[1, 6, 12], [2, 4, 5]])
    with torch.inference_mode():
        together = model(pad(texts, np.array([0, 1])), lengths)
        for text in range(2):
            for column in range(3):
                words = int(lengths[text, column])
                alone = model(pad(texts, np.array([text]), most=words), torch.tensor([[words]]))
                torch.testing.assert_close(together[text, column], alone[0, 0])


def test_the_layers_above_a_gru_see_the_sum_of_its_outputs():
    torch.manual_seed(0)
    model, words = GRU(torch.from_numpy(VECTORS)).eval(), torch.tensor([[3, 17, 5, 9]])
    first, last = (one for one in model.modules() if isinstance(one, torch.nn.Linear))
    with torch.inference_mode():
        outputs = model.recurrent(torch.from_numpy(VECTORS), words)
        hidden = outputs[0, 0] + outputs[0, 1] + outputs[0, 2]
        wanted = last.weight @ torch.clamp(first.weight @ hidden + first.bias, min=0.0) + last.bias
        torch.testing.assert_close(model(words, torch.tensor([[3]]))[0], wanted)


def test_layers_are_rectified_between():
    for model in (DAN(), GRU(torch.from_numpy(VECTORS)), RoundsGRU(6)):
        kinds = [
            type(one).__name__
            for one in model.modules()
            if isinstance(one, torch.nn.Linear | torch.nn.ReLU | torch.nn.Dropout)
        ]
        count = kinds.count("Linear")
        assert kinds == ["Linear", "ReLU", "Dropout"] * (count - 1) + ["Linear"]


def test_later_rounds_do_not_touch_earlier_predictions():
    torch.manual_seed(0)
    model, rounds = RoundsGRU(4).eval(), torch.randn(3, 20, 4)
    with torch.inference_mode():
        torch.testing.assert_close(model(rounds)[:, :8], model(rounds[:, :8]))


@pytest.fixture(scope="module")
def encoder(made_up):
    return Encoder(made_up.encoder)


class TestEncoder:
    def test_padding_changes_nothing(self, encoder):
        texts = [[5, 6, 7], [8], [9, 10, 11, 12, 13]]
        together = encoder.features(texts)
        for text, row in zip(texts, together, strict=True):
            torch.testing.assert_close(encoder.features([text])[0], row, rtol=1e-4, atol=1e-5)

    def test_texts_are_cut_to_what_fits(self, encoder):
        word = encoder.tokenizer.convert_ids_to_tokens(9)
        (tokens,) = encoder.tokenize([" ".join([word] * 1000)])
        assert len(tokens) == MOST_TOKENS - 2
        assert set(tokens) == {9}

    def test_a_text_without_words_is_one_unknown_token(self, encoder):
        assert encoder.tokenize([""]) == [[encoder.tokenizer.unk_token_id]]

    def test_its_weights_are_not_learned(self, encoder):
        assert not encoder.features([[5, 6]]).requires_grad
