import pytest
from experiments.generated import make_places


@pytest.fixture(scope="session")
def made_up(tmp_path_factory):
    return make_places(tmp_path_factory.mktemp("made up"))
