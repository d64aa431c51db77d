"""How large a model file may be: kept by the writer, so that the reader may insist on it."""

MAX_BYTES = 64 * 2**20
"""Size of the file. Fitted models take kilobytes, an ensemble of step functions some megabytes."""

MAX_STATE_BYTES = 2**30
"""Size of the file of a monitor, which holds 16 bytes for each sequence that it has seen."""

MAX_DEPTH = 32
"""Lists and dictionaries inside one another, the content itself being the first."""

MAX_DIGITS = 640
"""Digits of an integer: the least that Python can be told to convert, hence safe everywhere."""
