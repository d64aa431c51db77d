"""The command line: one file for each verb, all of them on files of predictions.

Nothing is imported before it is needed: help needs only click, and `apply` no scikit-learn.
"""

import sys
from importlib.util import find_spec


def main() -> None:
    """Run the command line, or say in a sentence what it needs."""
    from tempocal.cli.streams import occupy_closed

    occupy_closed()
    if find_spec("click") is None:
        sys.stderr.write(
            'Error: the command line needs click, which is missing: pip install "tempocal[cli]"\n'
        )
        raise SystemExit(1)
    from tempocal.cli.group import tempocal

    tempocal(prog_name="tempocal")
