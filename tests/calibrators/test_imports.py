"""What a first fit has to wait for."""

import subprocess
import sys

CODE = """
import sys
import tempocal as tc
tc.TemperatureScaling().fit([-1.0, 2.0, 0.5], [0, 1, 0])
print(*sorted(name for name in sys.modules if name.startswith("tempocal.tables.")))
"""


def test_a_fit_to_arrays_does_not_import_what_fits_to_tables_need():
    found = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert found.stdout.split() == [
        f"tempocal.tables.{name}" for name in ("column_names", "column_roles", "mixin")
    ]
