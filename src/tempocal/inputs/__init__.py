"""Input validation: everything a user passes is checked and converted here, once.

Inside, numbers are float64, labels are codes, groups are codes; nothing further down checks again.
"""

from tempocal.inputs.arguments import (
    as_array,
    as_float64,
    check_bins,
    check_choice,
    check_positive_int,
    check_seed,
    first_missing,
    require_finite,
    require_same_length,
    text_array,
)
from tempocal.inputs.labels_and_groups import (
    LARGEST_FLOAT_ID,
    Codes,
    Groups,
    check_classes,
    check_groups,
    check_labels,
    encode_labels,
    require_column_order,
    require_nested_sequences,
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
from tempocal.inputs.sequence_order import (
    SequenceOrder,
    check_sequence,
    check_sequence_order,
    order_of_rows,
)
from tempocal.inputs.times import (
    LARGEST_TIME,
    TimeKind,
    Times,
    check_time,
    from_seconds,
    require_moderate,
    require_same_kind,
    time_text,
)
from tempocal.inputs.weights import check_weights, warn_of_light_weights
from tempocal.links import SMALLEST_PROBABILITY

__all__ = [
    "CERTAIN_LOGIT",
    "LARGEST_FLOAT_ID",
    "LARGEST_TIME",
    "SMALLEST_PROBABILITY",
    "Codes",
    "Groups",
    "Inputs",
    "SequenceOrder",
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
    "check_sequence",
    "check_sequence_order",
    "check_time",
    "check_weights",
    "encode_labels",
    "first_missing",
    "from_seconds",
    "order_of_rows",
    "read_logits",
    "require_column_order",
    "require_finite",
    "require_moderate",
    "require_nested_sequences",
    "require_same_kind",
    "require_same_length",
    "require_scale",
    "text_array",
    "time_text",
    "warn_of_light_weights",
    "warn_of_probabilities",
]
