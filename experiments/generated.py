"""Small made-up data in the layouts of the real ones, to run everything within minutes.

Reviews are words of no meaning, of which some lean to one side; the encoder is a tiny network of
the BERT architecture with random weights. Nothing that is measured on them says anything about the
methods.
"""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from experiments.cache import code_of
from experiments.inputs import Places
from experiments.words import WIDTH

WORDS, REVIEWS, MAPS = 400, 400, 300


def make_places(folder: Path) -> Places:
    """Write the data, vectors and encoder into a folder of a folder, unless they are there."""
    folder = folder / f"generated-{code_of(sys.modules[__name__])}"
    places = Places(folder, folder / "vectors_300d.npy", folder / "encoder", folder / "cache")
    done = folder / "complete"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(0)
        words = [_spelled(number) for number in range(WORDS)]
        _write_vectors(places.vectors, words, rng)
        _write_reviews(folder, words, rng)
        _write_rounds(folder, rng)
        _write_encoder(places.encoder, words)
        done.touch()
    return places


def _spelled(number: int) -> str:
    letters = "bdfgklmnprst"
    return "".join(
        letters[number // 12**place % 12] + "aeiou"[(number + place) % 5] for place in range(3)
    )


def _lean(rng: np.random.Generator) -> np.ndarray:
    """How much a word speaks for a good review: most do not."""
    return np.where(rng.random(WORDS) < 0.2, rng.normal(size=WORDS), 0.0)


def _write_vectors(path: Path, words: list[str], rng: np.random.Generator) -> None:
    vectors = rng.normal(size=(WORDS, WIDTH))
    np.save(path, vectors.astype(np.float16))
    table = pa.table({"word": words, "row": np.arange(WORDS, dtype=np.uint16)})
    parquet.write_table(table, path.with_name(path.stem + "_words.parquet"))


def _write_reviews(folder: Path, words: list[str], rng: np.random.Generator) -> None:
    lean = _lean(rng)
    label = np.arange(REVIEWS) % 2
    lengths = rng.integers(3, 60, REVIEWS)
    texts = []
    for good, length in zip(label, lengths, strict=True):
        share = np.exp((1 if good else -1) * 0.5 * lean)
        texts.append(" ".join(rng.choice(words, length, p=share / share.sum())))
    half = np.arange(REVIEWS) < REVIEWS // 2
    columns = {"split": np.where(half, "train", "test"), "label": label, "text": texts}
    columns["review_id"] = np.arange(REVIEWS)
    parquet.write_table(pa.table(columns), folder / "imdb.parquet")
    stars = np.where(label == 1, 5, 2)
    table = pa.table({"Score": stars, "Text": texts})
    parquet.write_table(table, folder / "amazon_fine_food_sample.parquet")


def _write_rounds(folder: Path, rng: np.random.Generator) -> None:
    games = []
    for number in range(MAPS):
        won = (rng.random(25) < rng.beta(8, 8)).astype(int)
        first, second = np.cumsum(won), np.cumsum(1 - won)
        overtime = bool(first[23] == 12)
        rounds = won[:24] if overtime else won[: np.argmax(np.maximum(first, second) == 13) + 1]
        games.append(
            {
                "match": number // 2,
                "date": np.datetime64("2024-01-01", "us") + np.timedelta64(number // 2, "D"),
                "event": "made up",
                "map": number % 2 + 1,
                "team1_start": "ct" if rng.random() < 0.5 else "t",
                "rounds": rounds.tolist(),
                "team1_won": int(won[24] if overtime else 2 * rounds.sum() > len(rounds)),
                "overtime": overtime,
            }
        )
    parquet.write_table(pa.Table.from_pylist(games), folder / "cs2_rounds.parquet")


def _write_encoder(folder: Path, words: list[str]) -> None:
    import torch  # noqa: PLC0415 - takes seconds, and is needed once
    from tokenizers import BertWordPieceTokenizer  # noqa: PLC0415
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast  # noqa: PLC0415

    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    rows = {word: row for row, word in enumerate([*marks, *words])}
    PreTrainedTokenizerFast(
        tokenizer_object=BertWordPieceTokenizer(rows),
        pad_token=marks[0],
        unk_token=marks[1],
        cls_token=marks[2],
        sep_token=marks[3],
        mask_token=marks[4],
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(rows),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
    )
    BertModel(config).save_pretrained(folder)
