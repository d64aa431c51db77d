"""The same numbers in every container that a user may have them in.

Each function takes float64 numbers that bfloat16 can hold, so that no container changes one.
"""

import tempfile
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import torch

Container = Callable[[np.ndarray], Any]


class Subclass(np.ndarray):
    """An array of another class."""


def read_only(a: np.ndarray) -> np.ndarray:
    a = a.copy()
    a.setflags(write=False)
    return a


def on_disk(a: np.ndarray) -> np.memmap:
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, dtype=a.dtype, shape=a.shape)
    mapped[:] = a
    return mapped


def decimals(a: np.ndarray) -> np.ndarray:
    return np.reshape(np.array([Decimal(value) for value in a.ravel().tolist()]), a.shape)


def columns(a: np.ndarray) -> dict[str, np.ndarray]:
    return {f"class {k}": a[:, k] for k in range(a.shape[1])}


def shuffled_index(a: np.ndarray) -> pd.Index:
    return pd.Index(np.random.default_rng(0).permutation(len(a)))


def multi_index(a: np.ndarray) -> pd.MultiIndex:
    return pd.MultiIndex.from_arrays([np.arange(len(a))[::-1] // 3, np.arange(len(a)) % 2])


OF_ANY_SHAPE: Mapping[str, Container] = {
    "list": np.ndarray.tolist,
    "float16": lambda a: a.astype(np.float16),
    "float32": lambda a: a.astype(np.float32),
    "longdouble": lambda a: a.astype(np.longdouble),
    "other byte order": lambda a: a.astype(">f8"),
    "objects": lambda a: a.astype(object),
    "decimals": decimals,
    "read-only": read_only,
    "strided": lambda a: np.repeat(a, 2, axis=0)[::2],
    "negative stride": lambda a: a[::-1].copy()[::-1],
    "memory map": on_disk,
    "subclass": lambda a: a.view(Subclass),
    "masked array, nothing masked": np.ma.masked_invalid,
    "torch float16": lambda a: torch.tensor(a, dtype=torch.float16),
    "torch bfloat16": lambda a: torch.tensor(a, dtype=torch.bfloat16),
    "torch float32": lambda a: torch.tensor(a, dtype=torch.float32),
    "torch with gradient": lambda a: torch.tensor(a, requires_grad=True),
    "torch bfloat16 with gradient": lambda a: torch.tensor(
        a, dtype=torch.bfloat16, requires_grad=True
    ),
    "torch strided": lambda a: torch.tensor(np.repeat(a, 2, axis=0))[::2],
}

OF_ONE_COLUMN: Mapping[str, Container] = OF_ANY_SHAPE | {
    "tuple": tuple,
    "list of NumPy scalars": list,
    "pandas": pd.Series,
    "pandas, shuffled index": lambda a: pd.Series(a, index=shuffled_index(a)),
    "pandas, duplicate index": lambda a: pd.Series(a, index=np.zeros(len(a), dtype=int)),
    "pandas, two-level index": lambda a: pd.Series(a, index=multi_index(a)),
    "pandas Float64": lambda a: pd.Series(a, dtype="Float64"),
    "pandas Float32": lambda a: pd.Series(a, dtype="Float32"),
    "pandas on Arrow": lambda a: pd.Series(a, dtype="double[pyarrow]"),
    "pandas objects": lambda a: pd.Series(a, dtype=object),
    "pandas Index": pd.Index,
    "polars": pl.Series,
    "polars float32": lambda a: pl.Series(a, dtype=pl.Float32),
    "Arrow": pa.array,
    "Arrow, two chunks": lambda a: pa.chunked_array([a[:5], a[5:]]),
}

OF_SEVERAL_COLUMNS: Mapping[str, Container] = OF_ANY_SHAPE | {
    "tuple of tuples": lambda a: tuple(map(tuple, a)),
    "list of arrays": list,
    "Fortran order": np.asfortranarray,
    "transposed": lambda a: a.T.copy().T,
    "columns of a wider array": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "columns reversed": lambda a: a[:, ::-1].copy()[:, ::-1],
    "pandas": lambda a: pd.DataFrame(columns(a)),
    "pandas without column names": pd.DataFrame,
    "pandas, shuffled index": lambda a: pd.DataFrame(columns(a), index=shuffled_index(a)),
    "pandas, duplicate index": lambda a: pd.DataFrame(columns(a), index=np.zeros(len(a), int)),
    "pandas, two-level index": lambda a: pd.DataFrame(columns(a), index=multi_index(a)),
    "pandas Float64": lambda a: pd.DataFrame(columns(a), dtype="Float64"),
    "pandas, one column Float64": lambda a: pd.DataFrame(columns(a)).astype({"class 0": "Float64"}),
    "pandas on Arrow": lambda a: pd.DataFrame(columns(a), dtype="double[pyarrow]"),
    "polars": lambda a: pl.DataFrame(columns(a)),
    "Arrow": lambda a: pa.table(columns(a)),
    "torch transposed": lambda a: torch.tensor(a.T.copy()).T,
}
