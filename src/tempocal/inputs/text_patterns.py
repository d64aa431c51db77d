"""Regular expressions for numbers and booleans in text that may not merge when they are parsed."""

# Digits that are an id, such as 007, or too many for float64.
LOST_DIGITS = "[+-]?(0[0-9]+|[0-9]{16,})"
# Integers written as floats.
INTEGER_WITH_POINT = r"(0|-?[1-9][0-9]{0,14})\.0"
# 64-bit integers with an optional sign and without leading zeros.
SIGNED_INTEGER = "[+-]?(0|[1-9][0-9]{0,17})"
# Booleans, in one spelling throughout.
TRUTH = ("true|false", "True|False", "TRUE|FALSE")
