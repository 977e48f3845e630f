"""Endpoints: contracts from types, values both ways, and what a deployment reads."""

import dataclasses
import datetime
import enum
import importlib.util
import io
import json
import sys
import tempfile
import types
import unittest
import uuid
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict
from unittest import mock

from forecourt_agent import EndpointError, endpoint
from forecourt_agent.cli import main
from forecourt_agent.schema import SchemaError, json_of, schema_of, value_of


class Bed(enum.Enum):
    SINGLE = "single"
    DOUBLE = "double"


@dataclasses.dataclass
class Guest:
    name: str
    born: datetime.date | None = None
    tags: list[str] = dataclasses.field(default_factory=list)


class Reservation(TypedDict):
    reservation_id: str
    nights: int


class Schemas(unittest.TestCase):
    def test_types_have_schemas(self) -> None:
        for kind, schema in (
            (str, {"type": "string"}),
            (int | None, {"type": ["integer", "null"]}),
            (list[float], {"type": "array", "items": {"type": "number"}}),
            (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
            (Sequence[bool], {"type": "array", "items": {"type": "boolean"}}),
            (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
            (Literal["a", 1], {"enum": ["a", 1]}),
            (Bed, {"enum": ["single", "double"]}),
            (uuid.UUID, {"type": "string", "format": "uuid"}),
            (Any, {}),
            (Guest | str, {"anyOf": [schema_of(Guest), {"type": "string"}]}),
            (
                Annotated[int, "How many.", {"minimum": 1}],
                {"type": "integer", "description": "How many.", "minimum": 1},
            ),
        ):
            self.assertEqual(schema_of(kind), schema, kind)
        guest = schema_of(Guest)
        self.assertEqual((guest["required"], guest["additionalProperties"]), (["name"], False))
        self.assertEqual(guest["properties"]["born"]["anyOf"][0], {"type": "string", "format": "date"})

    def test_a_type_without_a_schema_is_an_error_that_says_where(self) -> None:
        with self.assertRaisesRegex(SchemaError, "the elements of `x` has the type"):
            schema_of(list[complex], "`x`")

    def test_values_go_both_ways(self) -> None:
        given = {"name": "Ada", "born": "1815-12-10", "tags": ["a"]}
        guest = value_of(Guest, given)
        self.assertEqual(guest, Guest("Ada", datetime.date(1815, 12, 10), ["a"]))
        self.assertEqual(json_of(guest), given)
        for kind, raw, value in (
            (Bed, "double", Bed.DOUBLE),
            (list[Guest], [{"name": "a"}], [Guest("a")]),
            (dict[str, Bed], {"x": "single"}, {"x": Bed.SINGLE}),
            (int | str, "7", "7"),
            (Guest | str, "x", "x"),
            (float, 1, 1.0),
            (
                datetime.datetime,
                "2026-01-02T03:04:05Z",
                datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc),
            ),
        ):
            self.assertEqual(value_of(kind, raw), value)

    @unittest.skipUnless(importlib.util.find_spec("pydantic"), "pydantic is not installed")
    def test_models_of_pydantic(self) -> None:
        import pydantic

        model = pydantic.create_model("Room", number=(int, ...), bed=(Bed, Bed.SINGLE))
        self.assertEqual(schema_of(model)["required"], ["number"])
        self.assertEqual(json_of(value_of(model, {"number": 7})), {"number": 7, "bed": "single"})


@endpoint("BOOK", "/rooms/{room_id}", errors=["room_unavailable"], scopes=["booking:room"], impact="reversible")
def book(room_id: str, guest: Guest, nights: Annotated[int, {"minimum": 1}] = 1) -> Reservation:
    """Books a room for a guest.

    The room is booked.
    """
    if room_id == "7":
        raise EndpointError("room_unavailable", "The room is taken.", {"try": "8"})
    return {"reservation_id": f"r-{room_id}-{guest.name}", "nights": nights}


@endpoint("QUERY", "/guests")
async def find(asked: Guest) -> Guest:
    return asked


class Endpoints(unittest.IsolatedAsyncioTestCase):
    def test_the_contract_follows_from_the_types(self) -> None:
        told = book.describe()
        self.assertEqual(
            (told["input_schema"]["required"], told["description"]), (["room_id", "guest"], "Books a room for a guest.")
        )
        self.assertEqual(told["input_schema"]["properties"]["nights"], {"type": "integer", "minimum": 1, "default": 1})
        self.assertEqual(told["output_schema"]["required"], ["reservation_id", "nights"])
        self.assertEqual(
            (told["semantic"]["outcome"], told["semantic"]["impact"]), ("The room is booked.", "reversible")
        )
        self.assertEqual(find.describe()["input_schema"]["required"], ["name"])
        # The host refuses a file without them.
        self.assertEqual((told["errors"], find.describe()["errors"]), (["room_unavailable"], []))

    async def test_a_deployment_calls_it_with_a_context(self) -> None:
        context = types.SimpleNamespace(input={"room_id": "8", "guest": {"name": "Ada"}}, agent_id=None)
        self.assertEqual(book(context), {"reservation_id": "r-8-Ada", "nights": 1})
        self.assertEqual(book("8", Guest("Ada"), nights=2)["nights"], 2)
        context.input = {"name": "Ada", "born": "1815-12-10"}
        self.assertEqual(await find(context), {"name": "Ada", "born": "1815-12-10", "tags": []})

    async def test_its_errors_are_those_of_the_host(self) -> None:
        class OfHost(Exception):
            def __init__(self, code: str, message: str, details: Any) -> None:
                super().__init__(code)

        context = types.SimpleNamespace(input={"room_id": "7", "guest": {"name": "Ada"}}, agent_id=None)
        with self.assertRaises(EndpointError):
            book(context)
        host = types.ModuleType("forecourt")
        host.EndpointError = OfHost  # type: ignore[attr-defined]
        with mock.patch.dict(sys.modules, {"forecourt": host}), self.assertRaises(OfHost):
            book(context)

    def test_what_is_no_contract_is_an_error_where_it_is_written(self) -> None:
        def no_type(room): ...  # type: ignore[no-untyped-def]

        def no_object(room: str) -> int:
            return 1

        def no_parameter() -> dict[str, int]:
            return {}

        def variadic(*rooms: str) -> dict[str, int]:
            return {}

        for function, path in ((no_type, "/"), (no_object, "/"), (no_parameter, "/rooms/{room}"), (variadic, "/")):
            with self.assertRaises(TypeError):
                endpoint("BOOK", path)(function)
        for method, path in (("book", "/"), ("BOOK", "rooms")):
            with self.assertRaises(ValueError):
                endpoint(method, path)

    def test_a_file_below_functions_has_its_dotted_path(self) -> None:
        text = (
            "from forecourt_agent import endpoint\nfrom prices import PRICE\n"
            "@endpoint('QUERY', '/prices')\ndef price() -> dict[str, int]:\n    return {'price': PRICE}\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "functions", "stay", "night.py")
            file.parent.mkdir(parents=True)
            file.write_text(text)
            file.parents[1].joinpath("prices.py").write_text("PRICE = 7\n")
            shown = io.StringIO()
            with redirect_stdout(shown):
                main(["describe", str(file), "--json"])
        self.assertEqual(json.loads(shown.getvalue())[0]["handler"]["function"], "stay.night.price")

    def test_describe_prints_files_that_are_toml(self) -> None:
        text = (
            "from forecourt_agent import endpoint\n"
            "@endpoint('BOOK', '/rooms/{room}', errors=['full'])\n"
            "def book(room: str, note: str | None = 'a \"quoted\" \\u00e4\\n\\x7f') -> dict[str, str]:\n"
            "    'Books a room.'\n"
            "    return {}\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "rooms_of_house.py")
            file.write_text(text)
            shown = io.StringIO()
            with redirect_stdout(shown):
                self.assertEqual(main(["describe", str(file)]), 0)
                self.assertEqual(main(["describe", str(file), "--json"]), 0)
            toml, bracket, rest = shown.getvalue().partition("[\n")
            (told,) = json.loads(bracket + rest)
            self.assertEqual(main(["describe", str(file), "--out", folder]), 0)
            written = Path(folder, "rooms-of-house-book.toml").read_text()
            self.assertEqual(main(["describe", str(file), "--out", folder]), 0)
            Path(folder, "rooms-of-house-book.toml").write_text("# mine\n")
            self.assertEqual(main(["describe", str(file), "--out", folder]), 2)
            self.assertEqual(Path(folder, "rooms-of-house-book.toml").read_text(), "# mine\n")
        self.assertIn("# endpoints/rooms_of_house.book.toml".replace(".book", "-book"), toml)
        if sys.version_info >= (3, 11):
            import tomllib

            self.assertEqual(tomllib.loads(written)["endpoint"], told)
        self.assertEqual(told["handler"]["function"], "rooms_of_house.book")


if __name__ == "__main__":
    unittest.main()
