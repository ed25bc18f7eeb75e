"""What the OpenAPI description promises is kept, whatever is asked."""

from __future__ import annotations

import contextlib

import pytest

schemathesis = pytest.importorskip("schemathesis")

from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis.errors import Unsatisfiable  # noqa: E402
from schemathesis import GenerationMode  # noqa: E402
from schemathesis.specs.openapi.checks import positive_data_acceptance  # noqa: E402

from coembed.explorer import make_app  # noqa: E402


def ask_everything(explorer, examples: int) -> int:
    """Made-up questions to every address, sensible ones and others; returns how many were asked."""
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", make_app(explorer, any_host=True))
    asked = 0
    for found in schema.get_all_operations():
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

            @settings(
                max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None
            )
            @given(case=found.ok().as_strategy(generation_mode=mode))
            def check(case):
                nonlocal asked
                asked += 1
                response = case.call()
                if response.status_code == 413:  # too large is refused before anybody looks at what it says
                    return
                # what a model cannot do, or that columns are of one length, no description can tell
                told = response.status_code == 400
                case.validate_response(response, excluded_checks=[positive_data_acceptance] if told else [])

            # an address without parameters cannot be asked wrongly
            with contextlib.suppress(Unsatisfiable):
                check()
    return asked


def test_no_question_breaks_the_server_or_the_promise(explorer):
    assert ask_everything(explorer, examples=1) > 20


@pytest.mark.slow
def test_no_question_of_many_breaks_the_server_or_the_promise(explorer):
    assert ask_everything(explorer, examples=300) > 6000


def test_every_question_has_examples_and_every_failure_a_shape(client):
    paths = client.get("/api/openapi.json").json()["paths"]
    names = ("health", "types", "search", "item", "nearest", "similar", "complete", "map", "place", "score")
    assert {f"/api/v1/{name}" for name in names} <= set(paths)
    for path, methods in paths.items():
        for operation in methods.values():
            assert operation["summary"], path
            if path.startswith("/api/"):
                assert {"400", "401", "403", "404", "413", "422", "503"} <= set(operation["responses"]), path
