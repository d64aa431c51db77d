"""Curves: how the coefficients of a calibrator may change along time. One file each."""
