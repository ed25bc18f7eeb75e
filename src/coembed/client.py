"""A client of the HTTP API with types, and with nothing but the standard library.

>>> from coembed.client import Client
>>> ask = Client("http://127.0.0.1:8642", token="secret")

>>> ask.item("Denmark.n.01")["probabilities"][0]         # doctest: +SKIP
{'label': 'location', 'probability': 0.98...}
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from http.client import HTTPException, HTTPResponse
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, Request

from coembed.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

ARROW = "application/vnd.apache.arrow.stream"
Cell = str | float | bool | list[str] | None
LONGEST_QUERY = 1800
"""Characters of a query that go into an address; a longer question goes into a body."""


class ItemRef(TypedDict):
    """How an item is named in every answer."""

    id: str
    type: str
    title: str


class Match(ItemRef):
    """A line of an answer."""

    score: float
    std: float
    known: bool
    label: str | None


class Matches(ItemRef):
    items: list[Match]


class Completion(ItemRef):
    relation: str
    score: str
    text: str | None
    items: list[Match]


class LabelProbability(TypedDict):
    label: str
    probability: float


class Found(ItemRef):
    label: str | None
    weight: int
    score: float


class SearchAnswer(TypedDict):
    query: str
    total: int
    offset: int
    items: list[Found]


class Listed(ItemRef):
    label: str | None
    observed: bool | None
    probability: float | None
    weight: int


class FindAnswer(TypedDict):
    query: str
    total: int
    counts: dict[str, int]
    offset: int
    items: list[Listed]
    bits: dict[str, str] | None


class ItemCard(ItemRef):
    """All about an item; what is nested deeper is as the description of the API has it."""

    owner: str | None
    column: dict[str, Any] | None
    label: str | None
    true_label: str | None
    probabilities: list[LabelProbability]
    certainty: dict[str, Any]
    sets: list[dict[str, Any]]
    cells: list[dict[str, Any]]
    relations: list[dict[str, Any]]
    nearest: dict[str, list[Match]]
    numbers: dict[str, Any] | None
    classes: list[dict[str, Any]]
    place: dict[str, Any]


class Readiness(TypedDict):
    status: str
    doing: str | None
    progress: float | None
    loads: int
    since: str | None
    problem: str | None


class NewItem(TypedDict):
    """An item to be placed."""

    id: str
    type: NotRequired[str | None]
    relations: NotRequired[Mapping[str, Sequence[str] | Mapping[str, float]]]
    columns: NotRequired[Mapping[str, Cell]]


class ApiError(InputError):
    """What the server refused, in its own words.

    Attributes
    ----------
    status, code
        As in the table of errors of the documentation; 0 and ``gone`` if nobody answered.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


class Client:
    """Asks the API of a server.

    Parameters
    ----------
    address
        As `coembed serve` prints it, token and all, or with a token beside it.
    timeout
        Seconds for one answer.
    """

    def __init__(self, address: str, token: str | None = None, timeout: float = 60.0) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise InputError(f"{address[:80]!r} is no address; give one such as http://127.0.0.1:8642")
        self.base = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        given = parts.fragment.removeprefix("token=") if parts.fragment.startswith("token=") else None
        self.token, self.timeout = token or given, timeout
        # no redirects: a token must not follow one to another place
        self._opener = OpenerDirector()
        for handler in (HTTPHandler(), HTTPSHandler()):
            self._opener.add_handler(handler)

    # The service

    def ready(self) -> Readiness:
        """Whether the model answers yet, and what the server is doing if not."""
        return self._json("GET", "/ready", accept=(200, 503))

    def wait(self, seconds: float = 600.0) -> Readiness:
        """Wait until the model answers."""
        ends = time.monotonic() + seconds
        while True:
            try:
                told = self.ready()
                if told["status"] == "ready":
                    return told
            except ApiError as error:
                if error.code != "gone" or time.monotonic() > ends:
                    raise
            if time.monotonic() > ends:
                raise ApiError(503, "starting", f"the model was not ready within {seconds:g} seconds")
            time.sleep(0.2)

    def model(self) -> dict[str, Any]:
        """The model in short: types, relations, classes, sizes, what it can do."""
        return self._json("GET", "/api/v1/model")

    def reload(self) -> None:
        """Have the model's folder loaded again; needs a server with `--allow-changes`."""
        self._json("POST", "/api/v1/reload", accept=(202,))

    # Items

    def search(self, text: str, *, type: str | None = None, limit: int = 10, offset: int = 0) -> SearchAnswer:
        """Items whose names fit, typing errors included."""
        return self._get("search", q=text, type=type, limit=limit, offset=offset)

    def find(self, query: str, *, limit: int = 50, offset: int = 0) -> FindAnswer:
        """Items that fit a query such as ``class:fish p<0.6 has:river``."""
        return self._get("find", q=query, limit=limit, offset=offset)

    def item(self, id: str, *, type: str | None = None, k: int = 10) -> ItemCard:
        """All about an item."""
        return self._asked("item", id=id, type=type, k=k)

    def similar(self, id: str, *, type: str | None = None, k: int = 10) -> Matches:
        """The items of its own type most like it."""
        return self._asked("similar", id=id, type=type, k=k)

    def nearest(self, id: str, *, type: str | None = None, to: str | None = None, k: int = 10) -> Matches:
        """The items of a type nearest to it."""
        return self._asked("nearest", id=id, type=type, to=to, k=k)

    def complete(
        self,
        id: str,
        *,
        type: str | None = None,
        relation: str | None = None,
        column: str | None = None,
        known: bool = False,
        backwards: bool = False,
        fdr: float | None = None,
        coverage: float = 0.9,
        k: int = 10,
    ) -> Completion:
        """What it should have by a relation, or what the cell of a column should hold."""
        asked = {"relation": relation, "column": column, "known": known, "backwards": backwards, "fdr": fdr}
        return self._asked("complete", id=id, type=type, k=k, coverage=coverage, **asked)

    def why(self, id: str, **question: Any) -> dict[str, Any]:
        """What speaks for its class and answers: `type`, `label`, `relation`, `column`, `targets`, `k`."""
        return self._post("why", {"id": id, **question})

    def place(self, items: Sequence[NewItem], *, k: int = 8) -> list[dict[str, Any]]:
        """Where new items fall, and what the model says of them; nothing is kept."""
        return self._post("place", {"items": list(items), "k": k})["items"]

    # Tables: columns by name in and out, or tables of pyarrow in and out

    def predict(self, table: Any, **parameters: Any) -> Any:
        """Classes of rows: `type`, `id`, `as_new`, `coverage`. Only ids: of known items."""
        return self._batch("predict", table, parameters)

    def sets(self, table: Any, **parameters: Any) -> Any:
        """Sets of classes of known items (column `id`) that hold the true one: `type`, `coverage`."""
        return self._batch("sets", table, parameters)

    def complete_many(self, table: Any, **parameters: Any) -> Any:
        """What many items (column `id`) should have.

        Parameters: `type`, `relation` or `column`, `known`, `backwards`, `fdr`, `coverage`, `k`.
        """
        return self._batch("complete", table, parameters)

    def score(self, table: Any, relation: str) -> Any:
        """Scores of pairs (columns `source` and `target`) in a relation."""
        return self._batch("score", table, {"relation": relation})

    def embed(self, table: Any, **parameters: Any) -> Any:
        """Codes and places of rows, known or new: `type`, `id`, `as_new`."""
        return self._batch("embed", table, parameters)

    # Over the wire

    def _get(self, name: str, **parameters: Any) -> Any:
        return self._json("GET", f"/api/v1/{name}?{_query(parameters)}")

    def _asked(self, name: str, **parameters: Any) -> Any:
        query = _query(parameters)
        if len(query) <= LONGEST_QUERY:
            return self._json("GET", f"/api/v1/{name}?{query}")
        return self._post(name, {key: value for key, value in parameters.items() if value is not None})

    def _post(self, name: str, question: Mapping[str, Any]) -> Any:
        return self._json("POST", f"/api/v1/{name}", json.dumps(question).encode())

    def _batch(self, name: str, table: Any, parameters: Mapping[str, Any]) -> Any:
        path = f"/api/v1/batch/{name}?{_query(parameters)}"
        if isinstance(table, Mapping):
            columns = {key: list(values) for key, values in table.items()}
            return self._json("POST", path, json.dumps({"columns": columns}).encode())["columns"]
        return _read_stream(self._send("POST", path, _stream(table), ARROW)[1])

    def _json(self, method: str, path: str, body: bytes | None = None, accept: Sequence[int] = (200,)) -> Any:
        status, found = self._send(method, path, body, "application/json", accept)
        try:
            return json.loads(found)
        except ValueError:
            raise ApiError(status, "failed", f"{self.base} does not answer in JSON; is it coembed?") from None

    def _send(
        self, method: str, path: str, body: bytes | None, kind: str, accept: Sequence[int] = (200,)
    ) -> tuple[int, bytes]:
        headers = {"Accept": kind}
        if body is not None:
            headers["Content-Type"] = kind
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        request = Request(self.base + path, body, headers, method=method)
        try:
            answer: HTTPResponse = self._opener.open(request, timeout=self.timeout)  # type: ignore[assignment]
            with answer:
                status, found = answer.status, answer.read()
        except HTTPError as error:
            status, found = error.code, error.read()
        except (URLError, OSError, HTTPException) as error:
            raise ApiError(0, "gone", f"{self.base} does not answer ({error}); is it running?") from None
        if status not in accept:
            raise _refusal(status, found)
        return status, found


def _query(parameters: Mapping[str, Any]) -> str:
    """Parameters that were given; what is true is written as JSON has it.

    Examples
    --------
    >>> _query({"id": "a&b", "k": 3, "known": True, "type": None})
    'id=a%26b&k=3&known=true'
    """
    given = {key: value for key, value in parameters.items() if value is not None}
    texts = {key: str(value).lower() if isinstance(value, bool) else value for key, value in given.items()}
    return urlencode(texts, quote_via=quote)


def _refusal(status: int, body: bytes) -> ApiError:
    try:
        error = json.loads(body)["error"]
        return ApiError(status, str(error["code"]), str(error["message"]))
    except (ValueError, KeyError, TypeError):
        return ApiError(status, "failed", f"the server answered {status}")


def _stream(table: Any) -> bytes:
    import pyarrow as pa

    sink, whole = pa.BufferOutputStream(), pa.table(table)
    with pa.ipc.new_stream(sink, whole.schema) as writer:
        writer.write_table(whole)
    return bytes(sink.getvalue().to_pybytes())


def _read_stream(body: bytes) -> pa.Table:
    import pyarrow as pa

    return pa.ipc.open_stream(body).read_all()
