"""The README's Python runs as it stands."""

import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_the_examples_run(tmp_path, monkeypatch, capsys):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 2
    monkeypatch.chdir(tmp_path)
    exec("\n".join(blocks), {})
    printed = capsys.readouterr().out
    assert "averaged, with the largest weight" in printed
    assert "gain on new rows" in printed
    raw, calibrated = map(float, printed.strip().splitlines()[-1].split())
    assert calibrated < raw
