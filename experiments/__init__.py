"""The experiments of the paper, run again: models, protocol, tables and figures.

Outside the package and built on it. ``python -m experiments --help`` says what there is.
"""
