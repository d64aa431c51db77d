"""The calibrators: scikit-learn classifiers from predictions to calibrated predictions."""
