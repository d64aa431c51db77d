"""One name means one thing, and a fit is read in few files: ``make structure`` counts."""

import pytest

from benchmarks.structure import class_names_twice, entered_by, file_stems_twice, typical_calls
from tempocal.kernels import native

# A file name is used twice only for the same thing at two layers, or for a verb of the CLI.
TWO_LAYERS = {
    "apply",
    "base",
    "bayesian",
    "constant",
    "csv_files",
    "demo",
    "document",
    "events",
    "examples",
    "exponential",
    "features",
    "histogram",
    "in_memory",
    "isotonic",
    "links",
    "mixin",
    "monitor",
    "near_isotonic",
    "one_vs_rest",
    "proba",
    "reliability",
    "row_source",
    "sequence_order",
    "spline",
    "surrogate",
    "time_bins",
}


def test_a_class_name_is_one_class():
    assert class_names_twice() == {}


def test_a_file_name_is_one_thing():
    assert set(file_stems_twice()) - TWO_LAYERS == set()


# At most so many files and functions are entered; lower these numbers when there are fewer.
MOST_ENTERED = {
    "TemperatureScaling().fit": (31, 200),
    "TemporalCalibrator(PlattScaling(), Spline()).fit": (49, 356),
}


@pytest.mark.skipif(native is None, reason="the numbers are those with the compiled loops")
@pytest.mark.parametrize("name", MOST_ENTERED)
def test_a_fit_is_not_spread_over_more_files_and_functions(name):
    call = typical_calls()[name]
    call()
    entered = entered_by(call)
    n_files, n_functions = len(entered), sum(map(len, entered.values()))
    print(f"{name}: {n_files} files, {n_functions} functions")
    most_files, most_functions = MOST_ENTERED[name]
    assert n_files <= most_files
    assert n_functions <= most_functions
