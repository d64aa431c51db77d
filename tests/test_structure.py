"""One name means one thing in the whole tree: ``make structure`` prints the counts."""

from benchmarks.structure import class_names_twice, file_stems_twice

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
    "spline",
    "surrogate",
    "time_bins",
}


def test_a_class_name_is_one_class():
    assert class_names_twice() == {}


def test_a_file_name_is_one_thing():
    assert set(file_stems_twice()) - TWO_LAYERS == set()
