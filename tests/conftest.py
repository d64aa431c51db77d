"""Settings that must be there before anything is imported."""

import os

# Without it scikit-learn skips one of its checks.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# Tests run side by side: threads of matrix products would be in each other's way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
