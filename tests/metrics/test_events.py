import numpy as np

from tempocal.metrics.events import events_of, one_class, top_label
from tempocal.metrics.predictions import check_predictions

PROBA = [[0.2, 0.5, 0.3], [0.4, 0.2, 0.4], [0.4, 0.2, 0.4]]


def test_top_label_is_the_first_most_probable_class():
    events = top_label(check_predictions(["b", "a", "c"], PROBA, None, None))
    np.testing.assert_array_equal(events.confidence, [0.5, 0.4, 0.4])
    np.testing.assert_array_equal(events.outcome, [True, True, False])


def test_one_class_is_its_column():
    events = one_class(check_predictions(["b", "a", "c"], PROBA, [1, 2, 3], None), 2, "c")
    np.testing.assert_array_equal(events.confidence, [0.3, 0.4, 0.4])
    np.testing.assert_array_equal(events.outcome, [False, False, True])
    np.testing.assert_array_equal(events.weight, [1, 2, 3])


def test_positive_class_is_the_second_of_the_classes():
    rows = check_predictions(["b", "a"], [0.3, 0.9], None, ["b", "a"])
    events = events_of(rows, "positive_class")
    np.testing.assert_array_equal(events.confidence, [0.3, 0.9])
    np.testing.assert_array_equal(events.outcome, [False, True])
