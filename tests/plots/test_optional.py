"""What happens without matplotlib, and what importing plots costs."""

import subprocess
import sys

MADE = """
import sys
sys.modules["matplotlib"] = None
import tempocal as tc
display = {made}
try:
    display.plot({ax})
except ImportError as error:
    print(error)
"""
SENTENCE = 'tempocal.plots needs matplotlib, which is not installed: pip install "tempocal[plots]"'
DISPLAYS = [
    "tc.plots.ReliabilityDisplay.from_predictions([0, 1, 1], [0.2, 0.4, 0.6], bins=2)",
    "tc.plots.ReliabilityOverTimeDisplay.from_predictions("
    "[0, 1, 1, 0], [0.2, 0.4, 0.6, 0.3], [0, 0, 1, 1], bins=2)",
    "tc.plots.ErrorOverTimeDisplay.from_predictions("
    "[0, 1, 1, 0], [0.2, 0.4, 0.6, 0.3], time=[0, 0, 1, 1], bins=2)",
    "tc.plots.CurveDisplay([0.0, 1.0], {'slope': [0.5, 0.9]})",
    "tc.plots.CriticalDifferenceDisplay(['a', 'b'], [1.2, 1.8], 0.5)",
]


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_without_matplotlib_one_sentence_says_how_to_install_it():
    attempts = "\n".join(MADE.format(made=made, ax="") for made in DISPLAYS)
    assert run(attempts).splitlines() == [SENTENCE] * len(DISPLAYS)


def test_importing_and_computing_does_not_load_matplotlib():
    code = f"import sys; import tempocal as tc; {DISPLAYS[0]}; print('matplotlib' in sys.modules)"
    assert run(code) == "False"
