"""Settings that must be there before anything is imported."""

import os

# Without it scikit-learn skips one of its checks.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
