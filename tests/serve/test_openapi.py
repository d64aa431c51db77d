"""The description is true: what it allows is answered, and what it does not allow is refused."""

import asyncio

import pytest
import schemathesis
from hypothesis import HealthCheck, given
from schemathesis import GenerationMode

from serve.asking import ask, model_of, refused, save, service_of
from support.examples import examples

MODELS = {
    "one column": model_of(),
    "three classes": model_of(3, ("away", "draw", "home")),
    "probability": model_of(inputs="proba", kinds=("timedelta",)),
    "moments": model_of(kinds=("datetime",)),
    "two clocks": model_of(kinds=("number", "timedelta")),
    "no time": model_of(kinds=()),
}


@pytest.mark.parametrize("mode", GenerationMode, ids=str)
@pytest.mark.parametrize("model", MODELS)
def test_the_service_is_as_described(tmp_path, model, mode):
    service = service_of(MODELS[model], tmp_path / "model.json", max_rows=20)
    described = schemathesis.openapi.from_asgi("/openapi.json", service.asgi)
    operation = described["/v1/score"]["POST"]

    @examples(20, without=tuple(HealthCheck))
    @given(operation.as_strategy(generation_mode=mode))
    def try_it(case):
        case.call_and_validate()

    try_it()


@pytest.mark.parametrize("path", ["/", "/docs", "/healthz", "/readyz", "/metrics", "/openapi.json"])
def test_the_other_paths_are_as_described(along_time, path):
    described = schemathesis.openapi.from_asgi("/openapi.json", along_time.asgi)
    described[path]["GET"].Case().call_and_validate()


def test_a_token_is_described(tmp_path):
    service = service_of(model_of(), tmp_path / "model.json", token="s3cret")
    assert refused(service, 401, path="/openapi.json")["code"] == "unauthorized"
    described = ask(
        service, path="/openapi.json", headers={"authorization": "Bearer s3cret"}
    ).json()
    assert described["components"]["securitySchemes"] == {
        "token": {"type": "http", "scheme": "bearer"}
    }
    closed = {
        path
        for path, methods in described["paths"].items()
        for operation in methods.values()
        if "security" in operation and "401" in operation["responses"]
    }
    assert closed == {"/v1/score", "/metrics", "/", "/docs", "/openapi.json"}


def test_the_description_is_that_of_the_model_at_present(tmp_path):
    path = tmp_path / "model.json"
    service = service_of(model_of(), path)
    save(model_of(3, ("away", "draw", "home")), path)
    asyncio.run(service.reloader.reload())
    schemas = ask(service, path="/openapi.json").json()["components"]["schemas"]
    assert schemas["Row"]["properties"]["logits"]["minItems"] == 3
    assert schemas["Scores"]["properties"]["classes"] == {"const": ["away", "draw", "home"]}
