"""One service for those tests that do not change it."""

import pytest

from serve.asking import model_of, service_of


@pytest.fixture(scope="session")
def along_time(tmp_path_factory):
    return service_of(model_of(), tmp_path_factory.mktemp("served") / "model.json")
