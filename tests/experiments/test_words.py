"""Texts become rows of word vectors."""

import numpy as np
import pyarrow as pa
import pytest
from experiments.words import WIDTH, encode, read_vectors, tokenize
from pyarrow import parquet


def vectors(n):
    return np.random.default_rng(0).normal(size=(n, WIDTH)).astype(np.float32)


@pytest.fixture
def npy(tmp_path):
    np.save(tmp_path / "v.npy", vectors(3).astype(np.float16))
    words = {"word": ["good", "do", "n't"], "row": np.array([2, 0, 1], dtype=np.uint16)}
    parquet.write_table(pa.table(words), tmp_path / "v_words.parquet")
    return tmp_path / "v.npy"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't go.", ["do", "n't", "go"]),
        (
            "It's the film's best<br /><br />scene",
            ["it", "'s", "the", "film", "'s", "best", "scene"],
        ),
        ("10/10!", ["10", "10"]),
        ("can't", ["ca", "n't"]),
        ("...", []),
    ],
)
def test_words(text, words):
    assert tokenize(text) == words


def test_texts_one_after_the_other(npy):
    read = read_vectors(npy)
    found = encode(["Good. Don't!", "?", "nobody"], read)
    assert found.text(0).tolist() == [2, 0, 1]
    # Neither a word nor one with a vector: the row of zeros.
    assert found.text(1).tolist() == found.text(2).tolist() == [read.unknown]
    assert not read.rows[read.unknown].any()
    assert found.lengths.tolist() == [3, 1, 1]
    assert found.known(read.unknown) == pytest.approx(3 / 5)


def test_vectors_as_text(tmp_path):
    rows = vectors(2)
    lines = [
        f"{word} {' '.join(map(str, row))}" for word, row in zip(["a", ". ."], rows, strict=True)
    ]
    (tmp_path / "glove.300d.txt").write_text("\n".join(lines) + "\n")
    found = read_vectors(tmp_path / "glove.300d.txt")
    assert found.row_of == {"a": 0, ". .": 1}
    np.testing.assert_array_equal(found.rows[:2], rows)


def test_vectors_of_another_width(tmp_path):
    (tmp_path / "glove.txt").write_text("a 1 2 3\n")
    with pytest.raises(ValueError, match=r"line 1 of glove\.txt is not a word and 300 numbers"):
        read_vectors(tmp_path / "glove.txt")
    np.save(tmp_path / "v.npy", np.zeros((4, 50)))
    parquet.write_table(pa.table({"word": ["a"], "row": [0]}), tmp_path / "v_words.parquet")
    with pytest.raises(ValueError, match=r"shape \(4, 50\), not \(words, 300\)"):
        read_vectors(tmp_path / "v.npy")
