"""What any argument is checked for, whatever it means: arrays from any container, and settings."""

from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tempocal.errors import InputError
from tempocal.kernels.min_max import min_max

# float() would accept each of these, but a column of them is not one of numbers.
_NOT_NUMBERS = (str, bytes, bool, np.bool_, np.timedelta64)
# More bins of confidence take megabytes, and no probability is known to a millionth.
MAX_BINS = 1_000_000


def as_array(values: Any, name: str) -> NDArray[Any]:
    """Turn a list, NumPy array, pandas or polars object, or CPU tensor into a NumPy array.

    Values are taken by position: the index of a pandas object is ignored.
    """
    if type(values) is np.ndarray and values.dtype.kind in "biuf":
        return values
    if hasattr(values, "nnz") and hasattr(values, "toarray"):
        raise InputError(
            f"{name} is a sparse matrix, and a zero is a real value here: "
            f"pass a dense array, for instance {name}.toarray()"
        )
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(f"{name} is a masked array with masked entries: drop or fill them first")
    if hasattr(values, "detach"):
        values = _from_tensor(values, name)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{name} cannot be read as an array: {error}") from error
    if np.iscomplexobj(array):
        raise InputError(f"{name}: Complex data not supported, it must be real numbers")
    if array.dtype.kind in "US" and isinstance(values, list | tuple):
        _require_only_text(values, name)
        array = text_array(values, array)
    # Variable-width strings are converted to objects, which everything below handles.
    return array.astype(object) if array.dtype.kind == "T" else array


def as_float64(values: Any, name: str) -> NDArray[np.float64]:
    """Turn numbers of any kind and width into float64; what is not a number is refused."""
    array = as_array(values, name)
    if array.dtype.kind in "fiu":
        # Numbers in extended precision may overflow to infinity. What is not aligned, as a memory
        # map behind a header, is copied: the loops cannot read it.
        with np.errstate(over="ignore"):
            return np.require(array, np.float64, "A")
    if array.dtype.kind == "O":
        return _from_objects(array, name)
    raise InputError(f"{name} must be numbers, but its type is {array.dtype}")


def require_finite(array: NDArray[np.float64], name: str) -> None:
    """Refuse NaN and infinities, naming the first row that has one."""
    # min_max returns NaN if there is one: no temporary in the usual case.
    if array.size == 0 or np.isfinite(min_max(array)).all():
        return
    finite = np.isfinite(array)
    if finite.all():
        return
    row = tuple(np.argwhere(~finite)[0])
    what = "NaN" if np.isnan(array[row]) else "infinity"
    raise InputError(f"{name} contains {what} (first at row {row[0]}): {name} must be finite")


def require_same_length(array: NDArray[Any], name: str, n_rows: int, beside: str) -> None:
    """Refuse an array that does not have one entry for each row."""
    if array.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, but its shape is {array.shape}")
    if len(array) != n_rows:
        raise InputError(
            f"{name} has {len(array)} entries and {beside} {n_rows} rows: "
            "inconsistent numbers of samples"
        )


def first_missing(array: NDArray[Any]) -> int | None:
    """Row of the first NaN, NaT, None or pandas NA; None where nothing is missing."""
    if array.dtype.kind == "O":
        missing = [value is None or not _equals_itself(value) for value in array]
    elif array.dtype.kind in "fmM":
        # min_max returns NaN or NaT if there is one: no temporary in the usual case.
        if array.size == 0 or not np.isnan(min_max(array)).any():
            return None
        missing = np.isnan(array)
    else:
        return None
    return int(np.argmax(missing)) if np.any(missing) else None


def _equals_itself(value: Any) -> bool:
    """Detect missing values: NaN and NaT are unequal to themselves, NA has no truth value."""
    try:
        return bool(value == value)  # noqa: PLR0124 - a missing value is unequal to itself
    except TypeError:
        return False
    except ValueError:
        # An array, which compares element by element.
        return True


def _from_tensor(tensor: Any, name: str) -> Any:
    tensor = tensor.detach()
    device = getattr(getattr(tensor, "device", None), "type", "cpu")
    if device != "cpu":
        raise InputError(f"{name} is a tensor on {device}: pass {name}.cpu()")
    # NumPy has no bfloat16.
    return tensor.double() if str(tensor.dtype) == "torch.bfloat16" else tensor


def _require_only_text(values: Any, name: str) -> None:
    """Refuse values mixed with text: NumPy would convert 1 to "1" and NaN to "nan"."""
    firsts: dict[type, Any] = {}
    for value in np.array(values, dtype=object).flat:
        firsts.setdefault(_kind_of_text(value), value)
    if len(firsts) > 1:
        mixed = " and ".join(repr(value) for value in firsts.values())
        raise InputError(f"{name} mixes text with other kinds of values: {mixed}")


def text_array(values: Any, array: NDArray[Any]) -> NDArray[Any]:
    """Return objects if some text ends in NUL, which an ``array`` of text would strip."""
    nul: Any = "\0" if array.dtype.kind == "U" else b"\0"
    objects = np.array(values, dtype=object)
    return objects if any(value.endswith(nul) for value in objects.flat) else array


def _kind_of_text(value: Any) -> type:
    return str if isinstance(value, str) else bytes if isinstance(value, bytes) else object


def _from_objects(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Numbers in an object array, such as pandas columns with missing values or Decimals."""
    invalid = [value for value in array.ravel() if isinstance(value, _NOT_NUMBERS)]
    if invalid:
        raise InputError(f"{name} must be numbers, but it contains {invalid[0]!r}")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{name} must be numbers without missing values that a double can hold ({error})"
        ) from error


def check_positive_int(value: Any, name: str, *, least: int = 1) -> int:
    """Return an integer of at least 1, or ``least``."""
    try:
        number = index(value)
    except TypeError:
        number = least - 1
    # bool is a subclass of int, but a mistake here.
    if number < least or isinstance(value, bool):
        raise InputError(f"{name} must be a whole number of at least {least}, but it is {value!r}")
    return number


def check_bins(value: Any, name: str = "bins") -> int:
    """Return a number of bins of confidence, from 1 to a million."""
    number = check_positive_int(value, name)
    if number > MAX_BINS:
        raise InputError(
            f"{name} must be at most {MAX_BINS:,}, but it is more: 15 are usual, and bins beyond "
            "the number of rows stay empty"
        )
    return number


def check_seed(value: Any, name: str = "seed") -> int:
    """Return an integer of at least 0."""
    return check_positive_int(value, name, least=0)


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> None:
    """Refuse a value that is not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        allowed = " or ".join(f'"{choice}"' for choice in choices)
        raise InputError(f"{name} must be {allowed}, but it is {value!r}")


def check_flag(value: Any, name: str) -> bool:
    """Return a boolean."""
    if not isinstance(value, bool):
        raise InputError(f"{name} must be True or False, but it is {value!r}")
    return value
