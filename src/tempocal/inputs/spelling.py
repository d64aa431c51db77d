"""How numbers and truth values are spelled in text of which no two spellings may become one."""

# Digits that are a name, such as 007, or too many for a double.
LOST_DIGITS = "[+-]?(0[0-9]+|[0-9]{16,})"
# Whole numbers as floats are written.
WHOLE_WITH_POINT = r"(0|-?[1-9][0-9]{0,14})\.0"
# Whole numbers of 64 bits with any sign, but without zeros before them.
SIGNED_WHOLE = "[+-]?(0|[1-9][0-9]{0,17})"
# Truth values, in one spelling throughout.
TRUTH = ("true|false", "True|False", "TRUE|FALSE")
