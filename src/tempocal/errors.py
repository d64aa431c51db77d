"""All errors and warnings of tempocal.

::

    TempocalError
    ├── InputError (ValueError)            an argument is not what it must be
    │   ├── NoFiniteOptimumError           the data leave the parameters unbounded
    │   ├── TooManyCoefficientsError       a curve with more coefficients than can be fitted
    │   ├── NoPartialFitError              a calibrator that cannot be updated (AttributeError)
    │   └── TableError                     a table whose rows cannot all be read
    ├── ModelFileError (ValueError)        a model file is not to be trusted
    │   ├── NotAModelFileError             another kind of file
    │   ├── DamagedModelFileError          truncated, altered, or not the JSON that was written
    │   ├── NewerModelFileError            written by a later version
    │   └── MissingExtensionError          with a class that is defined elsewhere, not imported yet
    ├── LogError (ValueError)              the log of a tracker is damaged
    └── DatasetError (ValueError)          the file of a dataset is not what it must be
        └── DatasetNotFoundError           there is none (FileNotFoundError)

    TempocalWarning (UserWarning)
    ├── LooksLikeProbabilitiesWarning      logits that are most likely probabilities
    ├── LightWeightsWarning                weights that make the rows count for almost nothing
    ├── NotConvergedWarning                the solver stopped short of the optimum
    ├── AtBoundWarning                     the optimum is at a bound of a parameter
    ├── MixedLabelsWarning                 a few groups whose rows differ in their label
    ├── WorseOnItsRowsWarning              learning from forecasts raised the loss on its own rows
    ├── StrayTimesWarning                  a few times very far from all others
    ├── SingleRowsWarning                  most steps of time have a single row
    ├── NotSavedWarning                    a tracker's model could not be saved, and will be later
    ├── NotLearnedWarning                  a tracker could not learn from some of its sequences
    └── LogCutWarning                      the last record of a tracker's log was incomplete
"""

import sys
import warnings


class TempocalError(Exception):
    """Base of all errors."""


class InputError(TempocalError, ValueError):
    """An argument is not what it must be; the message says which, what it was and what to do."""


class NoFiniteOptimumError(InputError):
    """Plain maximum likelihood has no finite solution on these data."""


class TooManyCoefficientsError(InputError):
    """A calibrator along a curve has more coefficients than can be fitted."""


class NoPartialFitError(InputError, AttributeError):
    """A calibrator has no ``partial_fit``; ``hasattr`` is False, as scikit-learn expects."""


class TableError(InputError):
    """An engine failed on the rows of a table, perhaps after reading some of them."""


class ModelFileError(TempocalError, ValueError):
    """A model file cannot be read."""


class NotAModelFileError(ModelFileError):
    """The file is not a tempocal model."""


class DamagedModelFileError(ModelFileError):
    """The file is truncated, altered or malformed."""


class NewerModelFileError(ModelFileError):
    """The file was written by a later version of tempocal than this one."""


class MissingExtensionError(ModelFileError):
    """The model has a class that is defined outside tempocal, in a module that is not imported."""


class LogError(TempocalError, ValueError):
    """The log of a tracker cannot be replayed, or does not belong to its model."""


class DatasetError(TempocalError, ValueError):
    """The file of a dataset is damaged, or its values are invalid."""


class DatasetNotFoundError(DatasetError, FileNotFoundError):
    """No file of a dataset exists; the message says where to get one."""


class TempocalWarning(UserWarning):
    """Base of all warnings."""


class LooksLikeProbabilitiesWarning(TempocalWarning):
    """What was passed as logits is most likely probabilities."""


class LightWeightsWarning(TempocalWarning):
    """The weights make many rows count for almost nothing."""


class NotConvergedWarning(TempocalWarning):
    """The solver stopped before it reached the optimum."""


class AtBoundWarning(TempocalWarning):
    """The optimum is at a bound of a parameter."""


class MixedLabelsWarning(TempocalWarning):
    """A few groups have rows with different labels."""


class WorseOnItsRowsWarning(TempocalWarning):
    """A fit that learned from forecasts has a larger loss on its own rows than raw predictions."""


class StrayTimesWarning(TempocalWarning):
    """A few times are so far from all others that their rows are left out of the fit."""


class SingleRowsWarning(TempocalWarning):
    """Most steps of time have a single row, to which a model of their own is fitted."""


class NotSavedWarning(TempocalWarning):
    """The model of a tracker could not be saved this time; nothing is lost."""


class NotLearnedWarning(TempocalWarning):
    """A tracker could not learn from some sequences in its log, and continues without them."""


class LogCutWarning(TempocalWarning):
    """The log of a tracker ended within a record, which was truncated; the message shows it."""


def warn_user(message: str, category: type[TempocalWarning]) -> None:
    """Warn at the line of the user's code that called into the package."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("tempocal."):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level + 1)
