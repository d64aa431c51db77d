"""Print the oldest versions that pyproject.toml allows, as constraints for pip: `make test-oldest`.

The bound that users are given wins over that of the tests: if the tests ask for more, pip says so.
Torch is not among them: the tests name one version of it, so its own bound is not run.
"""

import re
import tomllib
from pathlib import Path

NOT_FOR_USERS = {"test", "lint", "docs", "bench", "experiments"}


def oldest_versions(project):
    """Return name -> version for what the tests install: "numpy>=1.26" is numpy 1.26."""
    extras = project["optional-dependencies"]
    tested = _bounds(extras["test"])
    for_users = project["dependencies"] + [
        requirement
        for extra, requirements in extras.items()
        if extra not in NOT_FOR_USERS
        for requirement in requirements
    ]
    bounds = tested | _bounds(for_users)
    pinned = {_name(requirement) for requirement in extras["test"] if "==" in requirement}
    return {name: version for name, version in bounds.items() if name not in pinned}


def _name(requirement):
    return re.match(r"[\w.-]+", requirement)[0]


def _bounds(requirements):
    """Return the version after >= of those that have one; of two, the higher is needed for both."""
    pairs = [r.split(">=") for r in requirements if ">=" in r]
    ordered = sorted(pairs, key=lambda pair: [int(part) for part in pair[1].split(".")])
    return {_name(name): version for name, version in ordered}


if __name__ == "__main__":
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    for name, version in oldest_versions(tomllib.loads(text)["project"]).items():
        print(f"{name}=={version}")
