"""One service for those tests that do not change it, and one model for processes."""

import pytest

from serve.asking import model_of, save, service_of
from serve.sockets import OLD


@pytest.fixture(scope="session")
def along_time(tmp_path_factory):
    return service_of(model_of(), tmp_path_factory.mktemp("served") / "model.json")


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    return save(OLD, tmp_path_factory.mktemp("served") / "model.json")
