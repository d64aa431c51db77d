"""Input validation: everything a user passes is checked and converted here, once.

Inside, numbers are float64, labels are codes, groups are codes; nothing further down checks again.
"""

from tempocal.inputs.arrays import as_array, as_float64
from tempocal.inputs.labels import (
    Codes,
    check_classes,
    check_labels,
    encode_labels,
    require_column_order,
)
from tempocal.inputs.logits import (
    CERTAIN_LOGIT,
    Inputs,
    as_logits,
    as_logits_and_range,
    check_proba,
    read_logits,
    require_scale,
    warn_of_probabilities,
)
from tempocal.inputs.seconds import TimeKind, from_seconds, time_text
from tempocal.inputs.settings import check_bins, check_choice, check_positive_int, check_seed
from tempocal.inputs.times import LARGEST_TIME, Times, check_time, require_same_kind
from tempocal.inputs.weights import (
    Groups,
    check_groups,
    check_weights,
    require_nested_sequences,
    warn_of_light_weights,
)
from tempocal.links import SMALLEST_PROBABILITY

__all__ = [
    "CERTAIN_LOGIT",
    "LARGEST_TIME",
    "SMALLEST_PROBABILITY",
    "Codes",
    "Groups",
    "Inputs",
    "TimeKind",
    "Times",
    "as_array",
    "as_float64",
    "as_logits",
    "as_logits_and_range",
    "check_bins",
    "check_choice",
    "check_classes",
    "check_groups",
    "check_labels",
    "check_positive_int",
    "check_proba",
    "check_seed",
    "check_time",
    "check_weights",
    "encode_labels",
    "from_seconds",
    "read_logits",
    "require_column_order",
    "require_nested_sequences",
    "require_same_kind",
    "require_scale",
    "time_text",
    "warn_of_light_weights",
    "warn_of_probabilities",
]
